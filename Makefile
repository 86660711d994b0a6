# On a machine with Python >= 3.11 and make:
#   make select   set up .venv and select features of a dataset that ships with scikit-learn
#                 (DATA=breast_cancer, diabetes, digits, iris or wine; K=number of features or auto)
#   make select FILE=patients.csv TARGET=diagnosis K=10 REPORT=report.html
#                 the same for a file of your own; K is a number or auto, and K and REPORT
#                 can be left out
#   make test     set up .venv, then lint, types and all tests
#                 (LOCK=1: with exactly the versions of requirements/ci.txt, checked by their hashes)
#   make oldest   the tests with the oldest versions that pyproject.toml allows, in build/oldest
#                 (PYTHON=python3.11; TESTS="tests/test_files.py": only these)
#   make newest   the tests with the newest versions, pre-releases too, in build/newest
#   make lock     write requirements/ci.txt anew, with uv (UV=command)
#   make docs     the documentation as a site in build/docs, every example run (minutes)
#   make release-check   build what would be published, and use it without the checkout (minutes)
#                 (FINAL=1: the changelog must have a date; EXTRAS=1: each extra alone;
#                 PYTHONS="python3.12 python3.13": the wheel with each of these)
#   make bench    the speed and accuracy tables (minutes)
#   make fuzz MINUTES=10   generated inputs and damaged files over everything; prints what reproduces a
#                 failure (JOBS=number of processes, PART=fits, files or invariances)
#   make peers    answers and speed beside other packages, which it installs
#   make paper-toys   the paper's two tables of artificial data at full size (minutes)
#   make paper        all of the paper's tables and its figure, and the page that shows them (hours; it can
#                     be stopped and continued; JOBS=number of processes)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# torch is tested where it is asked for, as .ci/run does: TORCH=torch==2.13.0 make test. It is not
# installed unasked, because it can be gigabytes; without it those tests skip, saying so.
TORCH ?=
# LOCK=1: versions and hashes of requirements/ci.txt, and nothing that is not in it. torch is not in it.
LOCK ?=
INSTALL = $(BIN)/python -m pip install --quiet $(if $(LOCK),--no-build-isolation --no-index)
UV ?= uv
# Arguments of pytest for the oldest and newest versions; none is all tests.
TESTS ?=
# Directory of new results of the experiments; the committed ones are in experiments/results.
RESULTS ?= build/paper
JOBS ?= 2
EXPERIMENTS = $(BIN)/python -m experiments

.PHONY: select test oldest newest lock lint docs release-check bench fuzz peers paper-toys paper clean

select: $(VENV)/.installed
ifdef FILE
	$(if $(TARGET),,$(error TARGET is missing, the column to predict: make select FILE=$(FILE) TARGET=column))
	$(BIN)/l1lsmi select '$(FILE)' --target '$(TARGET)' $(if $(K),-k $(K)) $(if $(REPORT),--report '$(REPORT)')
else
	$(BIN)/python examples/select_features.py $(if $(DATA),--data $(DATA)) $(if $(K),-k $(K))
endif

# One thread for each of two processes: threads of both on two cores wait for each other.
test: $(VENV)/.tested $(if $(TORCH),$(VENV)/.torch) lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup --max-worker-restart 0

# Old libraries with newer ones that they require: these deprecate what the old ones use.
oldest: build/oldest/.tested
	build/oldest/bin/python -m pytest -n 2 --dist loadgroup -W ignore::DeprecationWarning $(TESTS)

newest: build/newest/.tested
	build/newest/bin/python -m pytest -n 2 --dist loadgroup $(TESTS)

# For all versions of Python that pyproject.toml names; the header states no folder and no index.
lock:
	$(UV) pip compile --quiet pyproject.toml --extra test --extra lint --extra docs --universal --python-version 3.11 \
	    --upgrade --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links \
	    --custom-compile-command 'make lock' --output-file requirements/ci.txt

lint: $(VENV)/.tested
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Pages of names that are gone would be left over: the reference is written anew each time.
docs: $(VENV)/.documented
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -q -W --keep-going docs build/docs

release-check: $(VENV)/.release
	$(BIN)/python scripts/release_check.py $(if $(FINAL),--final) $(if $(EXTRAS),--extras) $(PYTHONS:%=--python %)

bench: $(VENV)/.tested
	$(BIN)/python benchmarks/rivals.py
	$(BIN)/python benchmarks/parts.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/toys.py
	$(BIN)/python benchmarks/choose.py

fuzz: $(VENV)/.tested
	$(BIN)/python -m fuzz --minutes $(or $(MINUTES),10) --jobs $(JOBS) $(if $(PART),--part $(PART))

peers: $(VENV)/.tested
	$(BIN)/python -m pip install --quiet --editable '.[peers]'
	$(BIN)/python benchmarks/peers.py

paper-toys: $(VENV)/.experiments
	rm -rf $(RESULTS)/toys.* $(RESULTS)/subsets.*
	$(EXPERIMENTS) run toys --out $(RESULTS) --jobs $(JOBS)
	$(EXPERIMENTS) run subsets --out $(RESULTS) --jobs $(JOBS)
	$(EXPERIMENTS) tables toys --out $(RESULTS)
	$(EXPERIMENTS) tables subsets --out $(RESULTS)
	$(EXPERIMENTS) page --out $(RESULTS) --to $(RESULTS)/paper.md

paper: $(VENV)/.experiments
	$(EXPERIMENTS) run toys --out $(RESULTS) --jobs $(JOBS)
	$(EXPERIMENTS) run subsets --out $(RESULTS) --jobs $(JOBS)
	$(EXPERIMENTS) run real --out $(RESULTS) --jobs $(JOBS)
	$(EXPERIMENTS) run rivals --out $(RESULTS) --jobs $(JOBS)
	$(EXPERIMENTS) run figure --out $(RESULTS) --jobs $(JOBS)
	$(EXPERIMENTS) tables --out $(RESULTS)
	$(EXPERIMENTS) figures --out $(RESULTS) --to $(RESULTS)/images
	$(EXPERIMENTS) page --out $(RESULTS) --to $(RESULTS)/paper.md

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# pip changes nothing unless it has every file, and each has a hash of the list.
$(VENV)/.locked: requirements/ci.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/ci.txt
	touch $@

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml $(if $(LOCK),$(VENV)/.locked)
	$(INSTALL) --editable '.[cli]'
	touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(INSTALL) --editable '.[test,lint]'
	touch $@

$(VENV)/.experiments: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[experiments]'
	touch $@

$(VENV)/.documented: $(VENV)/.installed
	$(INSTALL) --editable '.[docs]'
	touch $@

$(VENV)/.release: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[lint,release]'
	touch $@

$(VENV)/.torch: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	touch $@

build/oldest/.tested: pyproject.toml scripts/lower_bounds.py
	$(PYTHON) -m venv --clear build/oldest
	build/oldest/bin/python scripts/lower_bounds.py > build/oldest/constraints.txt
	build/oldest/bin/python -m pip install --quiet --constraint build/oldest/constraints.txt --editable '.[test]'
	touch $@

build/newest/.tested: pyproject.toml
	$(PYTHON) -m venv --clear build/newest
	build/newest/bin/python -m pip install --quiet --pre --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
	rm -rf dist build/docs build/oldest build/newest docs/api/generated docs/api/backreferences docs/auto_examples docs/auto_tutorials
