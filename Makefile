# Everything runs in .venv, which each target makes and refreshes as far as it needs. Targets that
# need other versions of Python or of packages have environments of their own: test-freethreaded,
# test-frameworks, test-wheel and test-lowest.
#
# The package is installed as a user gets it, not linked to the sources: what is tested is what
# is shipped (a module that the wheel forgot would show). Python sources count as inputs too, so
# `make test` always tests what stands in src/.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
pip_install = $(1)/bin/python -m pip --disable-pip-version-check install --quiet
PIP := $(call pip_install,$(VENV))

# Folders are listed besides files, so that a file that was removed is noticed.
SOURCES := pyproject.toml CMakeLists.txt README.md LICENSE \
	$(shell find src native -not -name '__pycache__' -not -name '*.pyc' -not -path 'native/tests/*')

# WERROR=ON compiles the package with warnings as errors, and `make check` adds its tests to the same
# build folder, so that nothing is compiled twice. By default it has a folder of its own: a new
# compiler's warning does not stop those who only want to install.
WERROR ?= OFF
checked := build/$(if $(filter ON,$(WERROR)),package,check)

# Configures a build of the kernel with its own tests.
configure = $(BIN)/cmake -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM="$(abspath $(BIN))/ninja" \
	-DCMAKE_BUILD_TYPE=Release -DTOKSMITH_TESTS=ON -DPython_EXECUTABLE="$(abspath $(BIN))/python" \
	-Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" > /dev/null

.DEFAULT_GOAL := help
.PHONY: help quickstart test test-freethreaded kill-test test-frameworks test-in-frameworks test-in-torch test-in-olmo test-arm check docs sanitize fuzz fuzz-native bench clean
.PHONY: wheel pure-wheel test-wheel test-lowest cross-check release-check
.DELETE_ON_ERROR:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s%s\n", $$1, $$2 }' Makefile

quickstart: $(VENV)/.package ## train a first tokenizer and look at it
	$(BIN)/toksmith quickstart

test: $(VENV)/.package $(VENV)/.test $(VENV)/.browser ## run all tests on all cores
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

# The threaded tests alone: PYTEST_ARGS="tests/unit/test_shutdown.py tests/unit/test_first_use_by_threads.py".
test-freethreaded: $(VENV)-freethreaded/.package ## run the tests without a GIL (PYTHON=python3.14t)
	$(<D)/bin/python -W error -c "import sys, toksmith._kernel; assert not sys._is_gil_enabled()"
	$(<D)/bin/python -m pytest -n auto --dist worksteal $(or $(PYTEST_ARGS),tests/unit tests/properties)

kill-test: $(VENV)/.package $(VENV)/.frameworks ## kill toksmith tokenize, train and counts at random moments and compare the files
	$(BIN)/python -m tests.kill_test

test-frameworks: test-in-frameworks test-in-torch test-in-olmo ## run the tests inside transformers and other frameworks
	$(BIN)/python -m tools.tests_never_run build/frameworks/frameworks.xml \
		build/frameworks/torch.xml build/frameworks/olmo.xml

# All environments run the same tests. Each skips those whose framework it lacks.
frameworks_tests = $(1)/bin/python -m pytest tests/frameworks \
	--junitxml=build/frameworks/$(2).xml $(PYTEST_ARGS)

test-in-frameworks: $(VENV)/.package $(VENV)/.test $(VENV)/.frameworks
	$(call frameworks_tests,$(VENV),frameworks)

test-in-torch test-in-olmo: test-in-%: $(VENV)-%/.package
	$(call frameworks_tests,$(VENV)-$*,$*)

check: $(VENV)/.package $(VENV)/.test $(VENV)/.check ## lint, types, format, warnings, native tests, stub
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	find native \( -name '*.?pp' -o -name '*.inc' \) | xargs $(BIN)/clang-format --dry-run -Werror
	$(call configure,$(checked)) -DTOKSMITH_WERROR=ON
	$(BIN)/cmake --build $(checked)
	$(BIN)/ctest --test-dir $(checked) --output-on-failure --parallel 2
	$(BIN)/python -m nanobind.stubgen --quiet -m toksmith._kernel -o $(checked)/_kernel.pyi
	$(BIN)/ruff format --quiet --stdin-filename src/toksmith/_kernel.pyi - \
		< $(checked)/_kernel.pyi | diff src/toksmith/_kernel.pyi -

docs: $(VENV)/.package $(VENV)/.docs ## run the course and build the documentation in build/site
	$(BIN)/python -m tools.build_docs $(DOCS_ARGS)

FUZZ_SECONDS ?= 20

# Needs Debian's g++-aarch64-linux-gnu and qemu-user.
test-arm: $(VENV)/.pip ## compile the native tests and fuzz targets for 64-bit ARM and run them with qemu
	$(BIN)/cmake -S . -B build/arm -G Ninja -DCMAKE_MAKE_PROGRAM="$(abspath $(BIN))/ninja" \
		-DCMAKE_TOOLCHAIN_FILE=native/toolchains/aarch64.cmake -DCMAKE_BUILD_TYPE=Release \
		-DTOKSMITH_MODULE=OFF -DTOKSMITH_TESTS=ON -DTOKSMITH_WERROR=ON \
		-DTOKSMITH_FUZZ_SECONDS=$(FUZZ_SECONDS) > /dev/null
	$(BIN)/cmake --build build/arm
	$(BIN)/ctest --test-dir build/arm --output-on-failure

# PIECES="leaks tests/unit" runs parts.
sanitize: $(VENV)/.package $(VENV)/.test ## all tests with sanitizers, and fuzzing, and a table of what ran (Linux)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m tools.sanitize --seconds $(FUZZ_SECONDS) $(PIECES)

wheel: $(VENV)/.release ## build the wheel in dist/, on Linux for manylinux
	rm -rf build/unrepaired dist
	$(BIN)/python -m build --wheel --no-isolation -C build-dir=build/package \
		-C cmake.define.TOKSMITH_WERROR=$(WERROR) -o build/unrepaired
	mkdir dist
	$(repair)

# Names the oldest manylinux that the wheel runs on.
repair = $(if $(filter Linux,$(shell uname)),PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair \
	-w dist build/unrepaired/*.whl,mv build/unrepaired/*.whl dist)

pure-wheel: $(VENV)/.release ## build the wheel of the Python files alone in dist/
	$(BIN)/python -m build --wheel --no-isolation -C wheel.cmake=false -o dist

# A new environment with a wheel and the tests: (1) its folder, (2) options of uv, with the group of the tests.
tested_wheel = $(BIN)/uv venv --quiet --clear --python $(BIN)/python $(1) \
	&& $(BIN)/uv pip compile --quiet --python $(1)/bin/python $(2) pyproject.toml -o $(1)/versions.txt \
	&& $(BIN)/uv pip install --quiet --python $(1)/bin/python -r $(1)/versions.txt dist/*-cp*.whl
run_wheel = PATH="$(abspath $(1))/bin:$(abspath build/no-compiler)" $(1)/bin/python -m pytest -p no:cacheprovider -n auto $(PYTEST_ARGS)

# The programs of the system, but for compilers and CMake: the PATH of those who install a wheel.
build/no-compiler:
	mkdir -p $@
	find /usr/bin/ /bin/ -maxdepth 1 ! -type d ! -name '*gcc*' ! -name '*[+][+]*' ! -name '*clang*' \
		! -name '*cc' ! -name ccache ! -name 'c[89]9*' ! -name '*cmake*' -exec sh -c 'ln -sf "$$@" $@' sh {} +

# Without the extras for Ray and Spark, which `make test-frameworks` tests.
extras := $(addprefix --extra ,arrow segment corpus polars remote hub explorer)

WHEEL_TESTS ?= tests
test-wheel: wheel build/no-compiler ## run all tests with the wheel, in a new environment without a compiler
	$(call tested_wheel,build/wheel-venv,$(extras) --group test)
	$(call run_wheel,build/wheel-venv) $(WHEEL_TESTS)

test-lowest: wheel build/no-compiler ## test the wheel with the lowest versions of all dependencies
	$(call tested_wheel,build/lowest-venv,$(extras) --group test-lowest --resolution lowest-direct)
	$(call run_wheel,build/lowest-venv) tests/unit

cross-check: $(VENV)/.release ## compile the kernel and the bindings for macOS, Windows and musl
	$(BIN)/python -m tools.cross_check

release-check: $(VENV)/.release ## build the sdist, and a wheel from it, and check both
	rm -rf build/release
	$(BIN)/python -m build -o build/release .
	$(BIN)/check-wheel-contents build/release/*.whl
	$(BIN)/twine check --strict build/release/*
	$(BIN)/python -m tools.release_check build/release

FUZZ_JOBS ?= 2
# Another seed makes other inputs.
FUZZ_SEED ?= 1
fuzz_options = --seconds $(FUZZ_SECONDS) --jobs $(FUZZ_JOBS) --seed $(FUZZ_SEED)
fuzz: $(VENV)/.package $(VENV)/.test fuzz-native ## fuzz the parsers and the kernel, FUZZ_SECONDS each, and print what they reach
	$(BIN)/python -m tests.fuzz $(fuzz_options)

fuzz-native: $(VENV)/.pip ## fuzz the kernel alone, without Python
	PATH="$(abspath $(BIN)):$$PATH" native/tests/build_fuzz.sh build/fuzz-native
	$(BIN)/python native/tests/fuzz.py build/fuzz-native/native/tests $(fuzz_options)

bench: $(VENV)/.package $(VENV)/.bench ## measure against the peers (BENCH_ARGS="bars", "encode --quick")
	$(BIN)/python -m benchmarks $(or $(BENCH_ARGS),all)

clean: ## remove the environments and everything that was built
	rm -rf $(VENV) $(VENV)-freethreaded $(VENV)-torch $(VENV)-olmo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks tools -name __pycache__ -type d -exec rm -rf {} +

# Only wheels: the newest version of a package may have none for such a Python.
$(VENV)-freethreaded/.package: $(SOURCES)
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -c "import sysconfig; assert sysconfig.get_config_var('Py_GIL_DISABLED'), \
		'PYTHON=$(PYTHON) has a GIL: use one such as python3.14t'"
	$(call pip_install,$(@D)) --upgrade 'pip>=25.1'
	$(call pip_install,$(@D)) --only-binary :all: --group build --group test-freethreaded
	$(call pip_install,$(@D)) --only-binary :all: --no-build-isolation -C build-dir=build/freethreaded \
		-C cmake.define.TOKSMITH_WERROR=$(WERROR) .
	@touch $@

# Dependency groups need pip 25.1, which is newer than what most Pythons bring along.
$(VENV)/.pip: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) --group build
	@touch $@

# The explorer is tested in a real browser, which is installed where nobody has to be asked; the
# tests are skipped where there is none.
BROWSER := chromium chromium-driver fonts-noto-cjk fonts-noto-color-emoji
$(VENV)/.browser: $(VENV)/.pip
	@{ command -v chromedriver || { test "$$(id -u)" = 0 && export DEBIAN_FRONTEND=noninteractive \
		&& timeout 120 apt-get update && timeout 600 apt-get install -y --no-install-recommends \
		$(BROWSER); }; } > /dev/null 2>&1 < /dev/null || true
	@touch $@

# Built with the build tools of .venv: in pip's isolated environment, which is another folder
# each time, CMake would compile the whole kernel anew for every changed line of Python.
$(VENV)/.package: $(VENV)/.pip $(SOURCES)
	$(PIP) --no-build-isolation -C build-dir=build/package -C cmake.define.TOKSMITH_WERROR=$(WERROR) .
	@touch $@

$(VENV)/.test $(VENV)/.check $(VENV)/.docs $(VENV)/.bench $(VENV)/.release $(VENV)/.frameworks: $(VENV)/.%: $(VENV)/.pip
	$(PIP) --group $*
	@touch $@

# The environments of test-frameworks install a wheel, so that the kernel is compiled once.
build/wheel/.made: $(VENV)/.package
	rm -rf build/wheel
	$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation \
		-C build-dir=build/package -C cmake.define.TOKSMITH_WERROR=$(WERROR) -w build/wheel .
	@touch $@

# A release, because pip takes the newest build for GPUs otherwise, whose dependencies are large.
# TORCH can also be the path of a wheel.
TORCH ?= torch==2.13.0

# pip leaves an installed package alone if its version is the wheel's, hence the last line.
$(VENV)-torch/.package $(VENV)-olmo/.package: $(VENV)-%/.package: build/wheel/.made
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(call pip_install,$(@D)) --upgrade 'pip>=25.1'
	$(call pip_install,$(@D)) $(TORCH) --group $* build/wheel/*.whl
	$(call pip_install,$(@D)) --force-reinstall --no-deps build/wheel/*.whl
	@touch $@
