# The two commands of the README: make demo, make test. Everything else is for those who build devteam.
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
PYTHON ?= python3

.PHONY: demo test lint check torture test-real bench screenshots clean

$(STAMP): pyproject.toml constraints.txt
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv -q --allow-existing $(VENV) && uv pip install -q --python $(PY) -c constraints.txt -e '.[dev]'; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(PY) -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'; \
	fi
	@touch $@

demo: $(STAMP) ## a sample sprint with a scripted agent: no key, no network
	@$(VENV)/bin/devteam demo

test: $(STAMP) lint ## lint, types, import contracts, tests
	@$(PY) -m pytest -m "not torture and not real" -n auto --dist loadgroup

lint: $(STAMP)
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports

torture: $(STAMP) ## slow kill and fault runs
	@$(PY) -m pytest -m torture --timeout 3600 tests

test-real: $(STAMP) ## the real agent CLIs from npm against a model server on loopback
	@$(PY) -m pytest -m real --timeout 900 -rs tests/real

bench: $(STAMP) ## the numbers of the design, as ratios and CPU counts
	@$(PY) -m tests.benchmarks

screenshots: $(STAMP)
	@$(PY) -m screenshots.make

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
