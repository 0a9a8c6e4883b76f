# `make demo`: the first table, no torch. `make test`: linters, types, tests. `make docs`: the site,
# and every command on its pages and in the README.
PYTHON ?= python3
BIN := .venv/bin
export HF_HUB_OFFLINE = 1
export HF_HUB_DISABLE_TELEMETRY = 1
export NO_MKDOCS_2_WARNING = 1
export PYTHONWARNINGS = ignore
# what one test has imported, the next need not compile again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo help test pytest lowest lint docs clean

DEMO_SYSTEMS = toy-nine-in-ten toy-blind-to-xe toy-stereotypes first-mention random

demo: .venv/core
	@rm -rf demo
	@$(BIN)/pronominal build sample -o demo > /dev/null
	@$(BIN)/pronominal evaluate -d demo/sample -c double -o demo/runs $(DEMO_SYSTEMS:%=-s %)
	@$(BIN)/pronominal report demo/runs -d demo/sample -o demo/report.html --svg demo/charts > /dev/null
	@echo "Each system's planted fault stands above. To see more, open demo/report.html, or"
	@echo "the picture demo/charts/sample-double-test.accuracy-by-pronoun-set.svg"

help:
	@sed -n '1,2s/^# //p' Makefile

# the linters use one core, so that the tests need not wait for them
test: .venv/all
	@$(MAKE) --no-print-directory --jobs 2 lint pytest

pytest: .venv/all
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations 30 -m "not docs"

# the oldest versions that setup.cfg allows for the core, hub and stats, and the tests of these:
# without CI, as those that need torch are skipped; pandas 3 has strings that its oldest pyarrow lacks
lowest: build/lowest/made
	env -u CI build/lowest/bin/python -m pytest tests/core tests/cli tests/dataset_scripts \
	  tests/eval --ignore tests/dataset_scripts/construction --ignore tests/eval/training

build/lowest/made: setup.cfg tests/lowest_versions.py
	rm -rf build/lowest
	$(PYTHON) -m venv build/lowest
	$(PYTHON) tests/lowest_versions.py hub stats > build/lowest/constraints.txt
	build/lowest/bin/pip install --quiet --no-compile -c build/lowest/constraints.txt \
	  -e ".[hub,stats]" hypothesis "pandas<3" pytest
	touch $@

lint: .venv/all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/link_tree.py
	$(BIN)/mypy
	PYTHONPATH=.links $(BIN)/lint-imports --no-cache --no-logo

# the documentation, as a site in build/site, and every command that stands in it
docs: .venv/all
	$(BIN)/python tests/link_tree.py
	$(BIN)/mkdocs build --strict
	test -f build/site/gallery/report.html -a -f build/site/gallery/leaderboard/index.html
	$(BIN)/python -m pytest -n 2 -m docs

# most of what is installed is never imported, so only what is gets compiled
INSTALL = $(BIN)/pip install --quiet --no-compile

.venv/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pronominal needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(INSTALL) --upgrade pip
	touch $@

.venv/core: .venv/pip setup.cfg pyproject.toml constraints.txt
	$(INSTALL) -c constraints.txt -e .
	touch $@

# the versions are known, so two at once need not look for any, torch first as the largest, which
# is compiled while pip looks what the constraints lack
.venv/all: .venv/pip setup.cfg pyproject.toml constraints.txt
	sed '/^#/d; s/^torch=/ &/' constraints.txt | LC_ALL=C sort | xargs -P 2 -n 30 $(INSTALL) --no-deps
	$(BIN)/python -c "import torch._dynamo, torch.distributed.tensor" & \
	  $(INSTALL) -c constraints.txt -e ".[all,test]" && wait
	touch .venv/core $@

clean:
	rm -rf .venv .links demo build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
