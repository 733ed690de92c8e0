# make demo     look at symgrad at work
# make test     run the tests
# make lint     formatting, style and types
# make bench    measure speed, against other libraries
# make docs     build the documentation into site/
# make sanitize run the tests of the core with address and undefined-behaviour checks
# make clean    remove all that make has made
#
# Needed: Python 3.10 or newer, a C++ compiler, make. The rest is installed into .venv.

PYTHON ?= python3
BIN := .venv/bin
BUILT_FROM := pyproject.toml CMakeLists.txt $(wildcard src/symgrad/core/*)
CPP := $(wildcard src/symgrad/core/*.cpp src/symgrad/core/*.hpp)
PIP_FLAGS := --quiet --disable-pip-version-check
# All tests but those that hardly touch the core.
CORE_TESTS := $(filter-out $(patsubst %,tests/test_%.py,adam adapters architecture bounds charts cli commands complaints deap_gp demo device docs enclosure \
	exports figures fold functions grammar harness highdim interval kernels layout mathml names needles one_run page paper peers plots primitive problems published recovery score \
	render report_browser simplify size summaries sympy_form targets task train), \
	$(wildcard tests/test_*.py))

.PHONY: demo test lint bench docs sanitize clean

demo: .venv/.installed
	@$(BIN)/python -m symgrad demo

test: .venv/.dev
	$(BIN)/python -m pytest -n 2

lint: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CPP)

bench: .venv/.bench
	$(BIN)/python -m symgrad bench speed
	$(BIN)/python benchmarks/training.py

docs: .venv/.docs
	$(BIN)/mkdocs build --strict --site-dir site

# gcc's runtime must be the first library of the process, and Python is not linked to it.
sanitize: .venv-sanitize/.installed
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	.venv-sanitize/bin/python -m pytest -n 2 $(CORE_TESTS)

clean:
	rm -rf .venv .venv-sanitize build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.installed: $(BUILT_FROM) | .venv/bin/python
	$(BIN)/python -m pip install $(PIP_FLAGS) --editable .
	@touch $@

# The tools of an extra alone, read off the installed package: the core is not built again.
.venv/.dev .venv/.bench .venv/.docs: .venv/.%: .venv/.installed
	$(BIN)/python -c 'import importlib.metadata as m; \
		print(*(r.split(";")[0] for r in m.requires("symgrad") if "$*" in r.split("extra")[-1]), sep="\n")' \
		| $(BIN)/python -m pip install $(PIP_FLAGS) -r /dev/stdin
	@touch $@

.venv-sanitize/.installed: $(BUILT_FROM)
	$(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/python -m pip install $(PIP_FLAGS) --editable ".[dev]" \
		-C build-dir=build/sanitize -C cmake.define.SYMGRAD_SANITIZE=ON
	@touch $@
