# Two commands for a fresh clone: `make demo` and `make test`. Each makes .venv and installs what it
# needs; Python 3.11 or newer and make are all that must be there.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint benchmark clean

demo: .venv/.installed
	$(BIN)/textassay demo --out textassay-demo

test: .venv/.test
	$(BIN)/python -m pytest

lint: .venv/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: .venv/.benchmark
	$(BIN)/python benchmarks/novelty.py

.venv/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed (make PYTHON=...)"; exit 2; }
	$(PYTHON) -m venv .venv
	$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

.venv/.installed: .venv/.made pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

.venv/.test .venv/.lint .venv/.benchmark: .venv/.%: .venv/.installed
	$(PIP) install --constraint constraints.txt --group $*
	@touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache
