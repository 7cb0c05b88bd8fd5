# The two commands of the README: make demo, make test. Everything else is for those who build devteam.
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
PYTHON ?= python3

CALLED := unused (function|method|class|import)

.DEFAULT_GOAL := help
.PHONY: help demo test lint simulate test-foreign pictures torture test-real test-no-bwrap test-ordinary proof-suite bench bench-compare rivals screenshots clean

$(STAMP): pyproject.toml constraints.txt
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv -q --allow-existing $(VENV) && uv pip install -q --python $(PY) -c constraints.txt -e '.[dev]'; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(PY) -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'; \
	fi
	@touch $@

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP) ## a sample sprint with a scripted agent: no key, no network
	@$(VENV)/bin/devteam demo

test: $(STAMP) ## lint, types, import contracts, tests, and those that depend on bubblewrap with it hidden, side by side
	@$(PY) -m tests.run_suite --all

test-no-bwrap: $(STAMP) ## processes, sandbox, secrets and whole runs with bubblewrap hidden; CI runs both
	@$(PY) -m tests.without_bwrap

test-ordinary: $(STAMP) ## processes, sandbox and workspace as a user without rights; with bubblewrap and without
	@$(PY) -m tests.as_ordinary_user
	@$(PY) -m tests.as_ordinary_user --no-bwrap tests/process

lint: $(STAMP) ## style, types, import contracts, code that nobody calls
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports
	@if $(VENV)/bin/vulture | grep -E "$(CALLED)"; then echo "nobody calls these: remove them, or say in tests/called_elsewhere.py who does"; exit 1; fi

torture: $(STAMP) ## slow kill and fault runs
	@$(PY) -m pytest -m torture --timeout 3600 tests
	@$(PY) -m tests.simulate 0 10000
	@DEVTEAM_DEEP=1 $(PY) -m pytest -m hypothesis -n auto tests
	@DEVTEAM_DEEP=1 $(PY) -m pytest -n auto $$(cat tests/dear_tests.txt)

pictures: $(STAMP) ## every screen at every size in every look, also those that make test leaves out
	@$(PY) -m pytest -n auto tests/tui/test_screens.py tests/tui/test_screenshots.py

test-real: $(STAMP) ## the real agent CLIs from npm against a model server on loopback
	@$(PY) -m pytest -m real --timeout 900 -rs tests/real

proof-suite: $(STAMP) ## wrong and honest changes by the real command line: who is accepted, asked, refused (an hour)
	@$(PY) -m tests.redteam

test-foreign: $(STAMP) ## real projects from the package registries, from init to land; prints a table. MORE=1 takes all that are known
	@$(PY) -m tests.foreign $(if $(MORE),--more)

simulate: $(STAMP) ## the whole engine under seeds: make simulate SEEDS=10000
	@$(PY) -m tests.simulate 0 $(or $(SEEDS),1000)

bench: $(STAMP) ## the numbers of the design, as ratios and CPU counts
	@$(PY) -m tests.benchmarks

bench-compare: $(STAMP) ## the work tree against a commit, turn by turn, as ratios: make bench-compare BASE=main~10
	@$(PY) -m tests.benchmarks.compare $(BASE) $(ROUNDS)

rivals: $(STAMP) ## other loops with the same stub agent, repository and check, fetched by package name; prints a table
	@$(PY) -m tests.rivals

screenshots: $(STAMP) ## the pictures of the README
	@$(PY) -m screenshots.make

clean: ## everything that make made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
