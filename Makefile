# Everything is set up on first use; a second call starts at once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup

.PHONY: run test test-all lint clean

run: $(READY)  ## plays and shows a game of each kind and prints the bench table
	$(BIN)/rookery play domineering:rows=6,cols=6 --seat none --seed 1
	$(BIN)/rookery play pylos --seat none --seed 1
	$(BIN)/rookery play gomoku:size=9 --seat none --seed 1
	$(BIN)/rookery play texas42 --seat none --seed 1
	$(BIN)/rookery play chess --seat none --seed 1
	$(BIN)/rookery play examples/connect_four.py --seat none --seed 1
	$(BIN)/rookery bench rules

test: $(READY)  ## the tests that take no card, no patience and break nothing
	$(PYTEST) -m "not slow and not gpu and not faults and not fuzz"

test-all: $(READY)  ## all tests but those that need a card
	$(PYTEST) -m "not gpu"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Rookery needs Python 3.11 or newer, not " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)
