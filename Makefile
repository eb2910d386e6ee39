PYTHON ?= .venv/bin/python
JOBS ?= $(shell nproc)

.PHONY: check lint types imports test check-long fuzz planted help

check:  ## all that CI runs, side by side
	$(MAKE) -j 4 lint types imports test

lint:  ## style and format
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

types:  ## strict types
	$(PYTHON) -m mypy

imports:  ## import direction
	$(dir $(PYTHON))lint-imports --no-logo

test:  ## the tests
	$(PYTHON) -m pytest -n $(JOBS) --dist worksteal

check-long:  ## exhaustive function tests, all kernels on all targets, 5,000 random programs
	$(PYTHON) -m pytest -n $(JOBS) -m slow

fuzz:  ## 200,000 random pairs of a program and legal moves, executed before and after, 5,000 for Snitch, 5,000 for GPUs
	$(PYTHON) -m tests.fuzz.run --pairs 200000 --jobs $(JOBS)
	$(PYTHON) -m tests.fuzz.snitch --pairs 5000 --jobs $(JOBS)
	$(PYTHON) -m tests.fuzz.cuda --pairs 5000 --jobs $(JOBS)

planted:  ## whether CI's share of that finds faults planted in the compiler, one at a time; hours
	$(PYTHON) -m tests.fuzz.planted --jobs $(JOBS)
	$(PYTHON) -m tests.fuzz.snitch.planted --jobs $(JOBS)
	$(PYTHON) -m tests.fuzz.cuda.planted --jobs $(JOBS)

help:  ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/'
