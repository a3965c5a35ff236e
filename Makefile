# Everything is set up on first use; a second call starts at once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FUZZER := $(VENV)/.fuzzer
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup

.PHONY: run test test-all faults fuzz lint clean

RUN := runs/first
RATE := ROOKERY_LEDGER=$(RUN)/games.db $(BIN)/rookery

run: $(READY)  ## trains a small Pylos network by self-play for some minutes, rates it, then serves it on a page
	test -d $(RUN) || $(BIN)/rookery train pylos_quick --folder $(RUN)
	$(BIN)/rookery resume $(RUN)
	$(RATE) match net:$(RUN),sims=32 random --game pylos --games 40 --opening random:2 --seed 1
	$(RATE) match net:$(RUN),sims=32 alphabeta:depth=1 --game pylos --games 40 --opening random:2 --seed 1
	$(RATE) match alphabeta:depth=1 random --game pylos --games 40 --opening random:2 --seed 1
	$(RATE) ratings pylos
	@echo "play against it: $(BIN)/rookery play pylos --against net:$(RUN),sims=200"
	@echo "or on a page, /play/pylos: $(BIN)/rookery serve"
	@if [ -t 1 ]; then $(BIN)/rookery serve; fi

test: $(READY)  ## the tests that take no card, no patience and break nothing
	$(PYTEST) -m "not slow and not gpu and not faults and not fuzz"

test-all: $(READY)  ## all tests but those that need a card
	$(PYTEST) -m "not gpu"

faults: $(READY)  ## kills 200 processes, fills disks, puts clocks back, and watches memory for two minutes
	$(PYTEST) -m faults

fuzz: $(FUZZER)  ## looks for inputs that break a reader, ten minutes in all; FUZZ_SECONDS: for each target
	PYTHONPATH=tests $(BIN)/python -m fuzz.run

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

$(FUZZER): $(READY)  # guides by coverage; where it has no wheel, mutations alone are tried
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt atheris && touch $(FUZZER)
