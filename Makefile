# Everything runs in .venv, which each target makes and refreshes as far as it needs.
#
# The package is installed as a user gets it, not linked to the sources: what is tested is what
# is shipped (a module that the wheel forgot would show). Python sources count as inputs too, so
# `make test` always tests what stands in src/.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# Folders are listed besides files, so that a file that was removed is noticed.
SOURCES := pyproject.toml CMakeLists.txt README.md LICENSE \
	$(shell find src native -not -name '__pycache__' -not -name '*.pyc')

.DEFAULT_GOAL := help
.PHONY: help quickstart test check bench clean
.DELETE_ON_ERROR:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s%s\n", $$1, $$2 }' Makefile

quickstart: $(VENV)/.package ## train a first tokenizer and look at it
	$(BIN)/toksmith quickstart

test: $(VENV)/.package $(VENV)/.test ## run all tests on all cores
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

check: $(VENV)/.package $(VENV)/.test $(VENV)/.check ## lint, types, format, warnings, kernel stub, documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	find native \( -name '*.?pp' -o -name '*.inc' \) | xargs $(BIN)/clang-format --dry-run -Werror
	$(BIN)/cmake -S . -B build/check -G Ninja -DCMAKE_MAKE_PROGRAM="$(abspath $(BIN))/ninja" \
		-DCMAKE_BUILD_TYPE=Release -DTOKSMITH_WERROR=ON \
		-DPython_EXECUTABLE="$(abspath $(BIN))/python" \
		-Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" > build/check.log \
		|| { cat build/check.log; exit 1; }
	$(BIN)/cmake --build build/check
	$(BIN)/python -m nanobind.stubgen --quiet -m toksmith._kernel -o build/check/_kernel.pyi
	$(BIN)/ruff format --quiet --stdin-filename src/toksmith/_kernel.pyi - \
		< build/check/_kernel.pyi | diff src/toksmith/_kernel.pyi -
	$(BIN)/python -m pytest -q tests/test_docs.py

bench: $(VENV)/.package $(VENV)/.bench ## measure against the peers (BENCH_ARGS="encode --quick")
	$(BIN)/python -m benchmarks $(or $(BENCH_ARGS),all)

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks tools -name __pycache__ -type d -exec rm -rf {} +

# Dependency groups need pip 25.1, which is newer than what most Pythons bring along.
$(VENV)/.pip: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) --group build
	@touch $@

# Built with the build tools of .venv: in pip's isolated environment, which is another folder
# each time, CMake would compile the whole kernel anew for every changed line of Python.
$(VENV)/.package: $(VENV)/.pip $(SOURCES)
	$(PIP) --no-build-isolation .
	@touch $@

$(VENV)/.test $(VENV)/.check $(VENV)/.bench: $(VENV)/.%: $(VENV)/.pip
	$(PIP) --group $*
	@touch $@
