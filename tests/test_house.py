"""The house: floors, public names, lazy imports, the kernel cache, the wheel."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import textassay

PACKAGE = Path(textassay.__file__).parent

# A module imports only from lower numbers, or from its own folder.
FLOORS = {
    "errors": 0,
    "compiled": 1,
    "memory_kernels": 1,
    "corpus": 2,
    "writing": 1,
    "results": 3,
    "parallel": 3,
    "resume": 4,
    "text_warnings": 5,
    "stats": 5,
    "report": 5,
    "models": 6,
    "languages": 7,
    "generators": 7,
    "tendencies": 7,
    "overlap": 7,
    "novelty": 7,
    "likelihood": 7,
    "streams": 6,
    "progress": 7,
    "config_file": 6,
    "options": 6,
    "settings": 8,
    "scorer_check": 8,
    "demo": 8,
    "sampling": 9,
    "inputs": 10,
    "work": 11,
    "families": 12,
    "assay": 13,
    "bench": 14,
    "model_commands": 14,
    "cli": 15,
    "__main__": 16,
}
# `import textassay` reads the version from the package itself.
ROOT = {"__version__"}


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "textassay":
                found.update(alias.name for alias in node.names)
            elif node.module.startswith("textassay."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found.update(
                a.name.split(".")[1] for a in node.names if a.name.startswith("textassay.")
            )
    return found - ROOT


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_floors_import_downwards_only(path: Path) -> None:
    place = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if place == "__init__":
        return
    for other in imports_of(path):
        assert other == place or FLOORS[other] < FLOORS[place], f"{path} imports {other}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_files_hold_one_idea(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_public_names_are_what_init_exports() -> None:
    assert textassay.__all__ == sorted(textassay.__all__, key=lambda n: (not n[0].isupper(), n))
    for name in textassay.__all__:
        assert getattr(textassay, name) is not None
    assert set(textassay._WHERE) | {"__version__"} == set(textassay.__all__)
    assert dir(textassay) == sorted(textassay.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = textassay.nonsense


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_importing_and_helping_load_nothing_heavy() -> None:
    code = (
        "import sys, textassay, textassay.cli\n"
        "try: textassay.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'numba', 'scipy', 'matplotlib', 'pyarrow', 'torch', 'nltk'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    found = python(code)
    assert found.returncode == 0, found.stderr


def test_kernels_work_where_nothing_can_be_cached(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    code = (
        "import numpy as np, warnings\n"
        "warnings.simplefilter('always')\n"
        "from textassay.stats.resampling import signed_sums\n"
        "from textassay.corpus.scan_kernels import first_invalid\n"
        "print(signed_sums(np.ones((2, 1)), 3, np.random.default_rng(0)).shape)\n"
    )
    found = python(code, TEXTASSAY_CACHE=str(blocked / "cache"))
    assert found.stdout == "(3, 1)\n"
    assert found.stderr.count("TextassayWarning") == 1
    assert "TEXTASSAY_CACHE" in found.stderr


def test_kernels_are_cached_by_a_digest_of_their_sources(tmp_path: Path) -> None:
    code = (
        "import numpy as np\n"
        "from textassay.stats.resampling import signed_sums\n"
        "signed_sums(np.ones((2, 1)), 3, np.random.default_rng(0))\n"
        "from textassay.stats.draw_kernels import sign_rows\n"
        "print(sum(sign_rows.stats.cache_hits.values()))\n"
    )
    assert python(code, TEXTASSAY_CACHE=str(tmp_path)).stdout == "0\n"
    assert python(code, TEXTASSAY_CACHE=str(tmp_path)).stdout == "1\n"
    damaged = list(tmp_path.rglob("*.nbc"))
    assert damaged
    for path in damaged:  # a single bit of what would be run
        raw = bytearray(path.read_bytes())
        raw[len(raw) // 2] ^= 1
        path.write_bytes(raw)
    assert python(code, TEXTASSAY_CACHE=str(tmp_path)).stdout == "0\n"
    assert python(code, TEXTASSAY_CACHE=str(tmp_path)).stdout == "1\n"
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("kernels-")


def test_threads_that_import_kernels_at_once_share_one_cache(tmp_path: Path) -> None:
    code = (
        "import sys, threading, numba\n"
        "from textassay.compiled import cache_folder, kernel\n"
        "sys.setswitchinterval(1e-6)\n"
        "paths = []\n"
        "def one(x): return x + 1\n"
        "def make():\n"
        "    for _ in range(20): paths.append(kernel(one)._cache._cache_path)\n"
        "threads = [threading.Thread(target=make) for _ in range(6)]\n"
        "[t.start() for t in threads]\n"
        "[t.join() for t in threads]\n"
        "assert len(paths) == 120\n"
        "assert all(p.startswith(str(cache_folder())) for p in paths), set(paths)\n"
        "assert not numba.config.CACHE_DIR\n"
    )
    (tmp_path / "threads.py").write_text(code)  # what is cached needs a file
    found = python(
        f"import runpy; runpy.run_path({str(tmp_path / 'threads.py')!r})",
        TEXTASSAY_CACHE=str(tmp_path / "cache"),
    )
    assert found.returncode == 0, found.stderr


def test_the_wheel_holds_the_package(tmp_path: Path) -> None:
    root = PACKAGE.parents[1]
    if not (root / "pyproject.toml").is_file():
        pytest.skip("not a source tree")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(build, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in PACKAGE.rglob("*.py"):
        assert f"textassay/{path.relative_to(PACKAGE).as_posix()}" in names
    assert "textassay/py.typed" in names
    assert not any(name.startswith("tests") for name in names)
