# Every target does its own set-up: a fresh machine needs Python 3.11+, git and make only.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DATA ?=

.PHONY: demo test quick check bench format setup clean

demo: $(READY)
	@$(BIN)/python -m codesynapse demo

test: $(READY)
	@$(BIN)/python tests/run.py all

quick: $(READY)
	@$(BIN)/python tests/run.py quick

check: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/architecture

bench: $(READY)
	@$(BIN)/python -m tests.bench $(if $(DATA),--data $(DATA))

format: $(READY)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

setup: $(READY)

$(READY): pyproject.toml tests/constraints.txt tests/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh tests/setup.sh
	@touch $@

clean:
	rm -rf $(VENV) .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis
