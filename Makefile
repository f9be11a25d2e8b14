# One word for each thing to do; .ci/run does the same as `make test lint test-embedded fuzz`.
#
#   make test           every test that this machine can run; in parts: rust vectors c go py interop rmcp
#   make lint           formats, lints, docs, generated pages; in parts: rustfmt clippy pages header-fresh python scripts
#   make test-embedded  the core without std and without a way to panic, and the C library on bare devices
#   make footprint      what the C library takes on two devices
#   make fuzz           each fuzz target for SECONDS_EACH seconds (30)
#   make soak           the tracker against its model in RUNS random sessions (100000)
#   make faults         every fault of tests/interop/servers by its own scenario, TIMES times (20)
#   make comparison     what check says of the official SDKs: docs/comparison.md
#   make soak-run       `linegate run` under random traffic, kills and stalls for SOAK_SECONDS (600)
#   make bench          the benchmarks
#   make bench-run      what `linegate run` costs a session, beside a plain pipe
#   make docs           write docs/rules.md again
#   make header         write include/linegate.h again
#   make py-stubs       write ffi-python/python/linegate/_names.pyi again
#   make install        the C library and its header, to PREFIX (/usr/local)
#   make venv           the Python tools, into .venv
#   make wheel          the Python package as it is published, to dist/, installed and tried
#   make python-versions  the Python package's tests on each Python at hand (PYTHONS)
#   make py-soak        a million messages through the Python package, and eight threads
#   make py-bench       the Python package's speed beside JSON parsers

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := test

PYTHON ?= python3
SECONDS_EACH ?= 30
RUNS ?= 100000
TIMES ?= 20
SOAK_SECONDS ?= 600
CARGO ?= cargo
PREFIX ?= /usr/local
BIN := $(CURDIR)/.venv/bin
export PYTHONDONTWRITEBYTECODE := 1
# Seen by pip: quiet about its own new versions.
export PIP_DISABLE_PIP_VERSION_CHECK := 1

MYPY := $(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.venv/mypy-cache --no-error-summary
RULES := $(CARGO) run --quiet -p linegate-cli -- rules --format markdown
# Workspaces of their own.
SIDE := tests/bench tests/embedded/proof tests/fuzz tests/rmcp
SCRIPTS := .ci/run scripts/pre-commit ffi-c/install tests/c/run tests/go/run tests/embedded/run tests/embedded/firmware/run tests/fuzz/run
# The header is a page that people read: another version would write it another way.
CBINDGEN_VERSION := 0.29.4
CBINDGEN ?= $(CURDIR)/.tools/cbindgen-$(CBINDGEN_VERSION)/bin/cbindgen
HEADER := $(CBINDGEN) --quiet --config ffi-c/cbindgen.toml --crate linegate-c ffi-c --output include/linegate.h

.PHONY: test rust vectors c go py py-install py-stubs py-soak py-bench python-versions wheel interop faults rmcp lint rustfmt clippy pages header-fresh python scripts test-embedded footprint fuzz soak soak-run bench bench-run comparison \
  docs header install venv clean

test: rust vectors c go py interop rmcp

rust:
	$(CARGO) test --workspace --no-fail-fast

# The oracle in plain Python against the vectors, and against the command: no packages needed.
vectors:
	$(PYTHON) tests/oracle/check_vectors.py
	$(PYTHON) tests/oracle/check_sessions.py
	$(PYTHON) tests/oracle/check_actions.py
	$(PYTHON) tests/oracle/check_examples.py
	$(PYTHON) tests/oracle/check_scan.py

# The C face: header, library, package, example.
c:
	tests/c/run

# The Go module, its example, and the official Go SDK behind it.
go:
	tests/go/run

# The Python package: a wheel of it, in .venv, and its tests. What was built for `make rust` is used again.
py: py-install
	$(BIN)/python ffi-python/stubs.py --check
	$(BIN)/python -m pytest tests/python

py-install: .venv/ready
	cd ffi-python && CARGO='$(CARGO)' $(BIN)/maturin build --quiet --profile dev --out $(CURDIR)/.venv/wheels
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps --no-index --find-links .venv/wheels linegate

# The same tests on other Pythons, those that pyenv has and are given by name: PYTHONS=/usr/bin/python3.12 make python-versions
PYTHONS ?= $(foreach minor,9 10 11 12 13 14,$(lastword $(sort $(wildcard $(HOME)/.pyenv/versions/3.$(minor).*/bin/python3))))
python-versions: py-install
	for python in $(PYTHONS); do \
	  echo "== $$python"; home=.venv/versions/$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  $$python -m venv $$home; $$home/bin/python -m pip install --quiet pytest pydantic; \
	  $$home/bin/python -m pip install --quiet --force-reinstall --no-deps --no-index --find-links .venv/wheels linegate; \
	  $$home/bin/python -m pytest -q tests/python --deselect tests/python/test_sdks.py; \
	done

# What is published: a wheel for any Linux since 2014, by zig's linker, and an sdist; each installed in an environment of its own.
wheel: .venv/ready
	$(BIN)/python -m pip install --quiet -r ffi-python/requirements-wheel.txt
	rm -rf dist
	cd ffi-python && PATH=$(BIN):$$PATH CARGO='$(CARGO)' $(BIN)/maturin build --quiet --zig --compatibility manylinux2014 --out $(CURDIR)/dist
	cd ffi-python && $(BIN)/maturin sdist --out $(CURDIR)/dist
	$(BIN)/python tests/python/check_dist.py dist

# A million messages, and threads that write at once: MESSAGES=100000 for fewer.
py-soak: py-install
	$(BIN)/python tests/python/soak.py $(or $(MESSAGES),1000000)

# Gate.feed against json.loads, orjson, msgspec and the SDK's own validation, on the same lines in one process.
py-bench: .venv/ready
	$(BIN)/python -m venv .venv/bench
	cd ffi-python && CARGO='$(CARGO)' $(BIN)/maturin build --quiet --out $(CURDIR)/.venv/bench
	.venv/bench/bin/python -m pip install --quiet --force-reinstall .venv/bench/*.whl -r ffi-python/requirements-bench.txt
	mkdir -p .venv/bench/corpora
	cd tests/bench && $(CARGO) run --release -- --dump $(CURDIR)/.venv/bench/corpora
	.venv/bench/bin/python tests/python/bench.py .venv/bench/corpora

# Real clients and servers around the binary.
interop: .venv/ready
	$(BIN)/python -m pytest tests/interop

# Each fault of tests/interop/servers so many times by its own scenario: none may be missed once.
faults: .venv/ready
	LINEGATE_TIMES=$(TIMES) $(BIN)/python -m pytest -q tests/interop/test_faults.py -k each_fault

# A server on the Rust SDK, gated from inside.
rmcp:
	cd tests/rmcp && $(CARGO) test

lint: rustfmt clippy pages header-fresh python scripts

rustfmt:
	$(CARGO) fmt --all --check
	for side in $(SIDE); do $(CARGO) fmt --check --manifest-path $$side/Cargo.toml; done

clippy:
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings
	cd tests/rmcp && $(CARGO) clippy --quiet --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --workspace --no-deps --document-private-items

# What is generated is fresh.
pages:
	$(RULES) | diff -u docs/rules.md - || { echo "docs/rules.md is stale: run make docs"; exit 1; }
	$(PYTHON) scripts/mcp_tables.py --check
	$(PYTHON) tests/comparison/compare.py --form

header-fresh: $(CBINDGEN)
	$(HEADER) --verify || { echo "include/linegate.h is stale: run make header"; exit 1; }

# Each folder as its programs see it: a package from outside, loose scripts from inside.
python: .venv/ready
	$(BIN)/ruff check --quiet tests scripts ffi-python
	$(BIN)/ruff format --quiet --diff tests scripts ffi-python
	cd ffi-python && $(MYPY) -p linegate && $(MYPY) stubs.py
	$(BIN)/pyright
	for room in scripts tests/*/ tests/embedded/firmware/ tests/interop/servers/python/; do \
	  compgen -G "$$room/*.py" >/dev/null || continue; \
	  if [ -e $$room/__init__.py ]; then from=$$room/.. what=$$(basename $$room); else from=$$room what=.; fi; \
	  (cd $$from && $(MYPY) $$what); \
	done

scripts:
	for script in $(SCRIPTS); do bash -n $$script; done

test-embedded:
	tests/embedded/run
	tests/embedded/firmware/run

# Sizes of the bare C library on two devices, as the README has them.
footprint:
	tests/embedded/firmware/run footprint

fuzz:
	tests/fuzz/run $(SECONDS_EACH)

soak:
	LINEGATE_RUNS=$(RUNS) $(CARGO) test --release -p linegate-tests --test tracker_model -- --nocapture

bench:
	cd tests/bench && $(CARGO) run --release

# `linegate run` under random traffic, kills, closed pipes and stalls.
soak-run: .venv/ready
	LINEGATE_SOAK_SECONDS=$(SOAK_SECONDS) LINEGATE_TIMES=100 $(BIN)/python -m pytest -q -s tests/interop/test_soak.py

# Servers on the official SDKs, bare and gated: writes docs/comparison.md again. Needs go and npm, and the package indexes.
comparison:
	$(PYTHON) tests/comparison/compare.py --write

bench-run:
	$(CARGO) test --release -p linegate-tests --test cli_run_speed -- --nocapture

# The enums of the package as type checkers read them.
py-stubs: py-install
	$(BIN)/python ffi-python/stubs.py

docs:
	$(RULES) > docs/rules.md

header: $(CBINDGEN)
	$(HEADER)

# It runs for a second: how fast it is built counts for more than how fast it is.
$(CURDIR)/.tools/%/bin/cbindgen:
	$(CARGO) install --quiet --debug --locked --version $(CBINDGEN_VERSION) --root $(dir $(@D)) --no-track cbindgen

install:
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' ffi-c/install

venv: .venv/ready

.venv/ready: tests/requirements.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r $<
	touch $@

clean:
	rm -rf target dist .venv .venv-interop .tools $(addsuffix /target,$(SIDE)) tests/fuzz/artifacts tests/fuzz/corpus
