"""Shared fixtures: the published data, a folder for kernels, a command runner."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# TEXTASSAY_EXAMPLES=20 tries twenty times as many random cases, other ones in every run.
EXAMPLES = int(os.environ.get("TEXTASSAY_EXAMPLES", "1"))
hypothesis.settings.register_profile(
    "suite",
    deadline=None,
    derandomize=EXAMPLES == 1,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("suite")

PUBLISHED = Path(
    os.environ.get("TEXTASSAY_PUBLISHED") or Path(__file__).resolve().parents[2] / "shared" / "data"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, saying so, what needs the published data where it is absent."""
    if PUBLISHED.is_dir():
        return
    skip = pytest.mark.skip(reason=f"the published data is not at {PUBLISHED}")
    for item in items:
        if "published" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def published() -> Path:
    """Folder of the published data."""
    return PUBLISHED
