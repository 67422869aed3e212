# One file of commands; continuous integration calls the same ones. `make` lists them.

PYTHON ?= python3
CARGO  ?= cargo
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

# The same interpreter for every build of the bindings, or they would be built again.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export MPLBACKEND  := Agg
# Else each process that a test starts compiles again what it imports.
unexport PYTHONDONTWRITEBYTECODE

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml')
# Python folders that exist; the checks look at all of them.
PY_DIRS := $(wildcard python papers tests examples benches docs)

.DEFAULT_GOAL := help
.PHONY: page check-page help setup build demo wasm test test-programs test-wasm fresh soak specification mutants test-rust test-virtual test-live check bench bench-live docs fuzz digests lock wheel try-wheel adding release-check clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: $(STAMPS)/packages ## the environment in .venv, with the package built into it

build: setup ## the same, and every Rust crate in release
	$(CARGO) build --locked --release

demo: $(STAMPS)/module ## a cellular link, two congestion controls, three queues, one picture
	$(BIN)/python examples/demo.py

wasm: ## the simulator as a WebAssembly module: target/wasm, tidegate lab --static, wheels, the site
	crates/tidegate-wasm/build

test: ## every test; builds fuzz targets
	@# Each build has long stretches on one processor.
	$(MAKE) -j3 setup test-programs test-wasm
	@# Those in Rust mostly wait, and most of them on one processor.
	$(MAKE) -j2 test-rust test-virtual
	$(MAKE) test-live

test-programs: $(STAMPS)/venv
	$(CARGO) test --locked --no-run
	$(build_libfuzzer)

test-wasm:
	@+crates/tidegate-wasm/build --installed || echo "skipped: WebAssembly module not built"

# Random tests draw the same cases every time, so that a failure speaks of the change at hand; new ones: make soak.
test-rust: export PROPTEST_RNG_SEED = 1996
test-rust: $(STAMPS)/venv
	$(CARGO) test --locked

# Python's tests in virtual time.
test-virtual: setup
	$(BIN)/python -m pytest -n auto --dist worksteal --durations=25 -m "not live"

# Python's tests in real time mostly wait: two files at once, and nothing beside them. Only their files are read for them.
test-live: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile -m live $$(grep -rl 'mark\.live' tests --include='test_*.py')

# The fuzz targets are tests too: ordinary functions on a fixed seed, a second each, on any toolchain. The libFuzzer
# programs need a C++ compiler to build. Built with the same packages as the tests, or the core would be compiled again.
define build_libfuzzer
@if command -v c++ >/dev/null; \
then set -x; $(CARGO) build --locked --features tidegate-fuzz/libfuzzer --bins; \
else echo "skipped: libFuzzer programs not built, no C++ compiler (c++) here"; fi
endef

# The documentation of Rust, where a broken link is an error.
rustdoc = RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps

check: setup ## formatting, lints, types, stubs, every test, then random tests with new draws
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then set -x; $(CARGO) deny --locked check; \
	else echo "skipped: licences and advisories of crates not checked, no cargo-deny here"; fi
	@if command -v pip-audit >/dev/null; then set -x; pip-audit --strict --no-deps --disable-pip --requirement requirements.lock; \
	else echo "skipped: advisories of Python packages not checked, no pip-audit here"; fi
	$(BIN)/ruff check $(PY_DIRS)
	$(BIN)/ruff format --check $(PY_DIRS)
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/stubtest tidegate._core
	$(rustdoc)
	$(MAKE) check-page
	$(MAKE) test
	$(MAKE) adding
	$(MAKE) fresh

# Users need no Node: what this makes is committed, and a test compares it with web/ where Node is.
page: web/node_modules/.stamp ## the scripts of HTML pages, from web/ into python/tidegate/_page/built (needs Node)
	npm --prefix web run --silent check
	npm --prefix web run --silent build

check-page:
	@if command -v npm >/dev/null && $(MAKE) --no-print-directory web/node_modules/.stamp; \
	then set -x; npm --prefix web run --silent check; \
	else echo "skipped: web/ not linted and typed, no Node and npm here, or its packages cannot be had"; fi

web/node_modules/.stamp: web/package.json web/package-lock.json
	npm ci --prefix web --silent
	@touch $@

bench: setup ## instructions and speed, beside the peers that are installed
	$(BIN)/python benches/bench.py

bench-live: ## timing of the live engine beside the machine's own floor (root; a quiet machine)
	$(CARGO) run --locked --release -p tidegate-live --example timing -- $(or $(SECONDS_EACH),5)

docs: setup ## docs/reference, the outputs shown in the guide, and the documentation site in target/site
	$(BIN)/python docs/generate.py
	$(rustdoc)
	$(BIN)/python docs/site/build.py --rust target/doc $(if $(REPORTS),--reports $(REPORTS))

# What fails here becomes a test of its own: SEED=N draws the same again.
fresh: ## about two minutes of random tests with new draws, or those of SEED
	@seed=$(or $(SEED),$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')); echo "new draws: make fresh SEED=$$seed"; \
	  export PROPTEST_RNG_SEED=$$seed PROPTEST_DISABLE_FAILURE_PERSISTENCE=1 TIDEGATE_RANDOM_SCENARIOS="$$seed 300"; \
	  $(CARGO) test --locked -p tidegate-core -p tidegate-sim -- --quiet && \
	  $(CARGO) test --locked -p tidegate-fuzz --test random_scenarios -- --quiet

soak: setup ## random tests with new draws, ROUNDS times, conversations beside the kernel, each fuzz target for SECONDS_EACH
	@# Not in release: the build of the tests is the one that ends where arithmetic overflows.
	@for round in $$(seq $(or $(ROUNDS),5)); do first=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); \
	  echo "TIDEGATE_RANDOM_SCENARIOS=\"$$first 2000\""; \
	  TIDEGATE_RANDOM_SCENARIOS="$$first 2000" $(CARGO) test --locked -p tidegate-fuzz --test random_scenarios -- --quiet || exit 1; done
	@for round in $$(seq $(or $(ROUNDS),5)); do \
	  $(CARGO) test --locked --release -p tidegate-core -p tidegate-scenario -p tidegate-sim -- --quiet || exit 1; done
	@cd tests && $(abspath $(BIN))/python -m conformance.table --count 60
	@if ! $(CARGO) +nightly --version >/dev/null 2>&1; \
	then echo "skipped: libFuzzer programs not run, no nightly toolchain (rustup toolchain install nightly)"; \
	elif ! command -v c++ >/dev/null; then echo "skipped: libFuzzer programs not run, no C++ compiler (c++) here"; \
	else $(MAKE) fuzz SECONDS_EACH=$(or $(SECONDS_EACH),60); fi

specification: setup ## edits of the code below each row of docs/specification.md: a test that the row names fails
	@cd tests && $(abspath $(BIN))/python -m specification.check $(foreach line,$(LINES),--line $(line))

fuzz: ## each fuzz target for SECONDS_EACH=30 (needs a nightly toolchain and a C++ compiler)
	@for target in $$(sed -n 's/^name = "fuzz_\(.*\)"/\1/p' fuzz/Cargo.toml); do \
	  echo "$$target, $(or $(SECONDS_EACH),30) s:"; fuzz/run $$target $(or $(SECONDS_EACH),30) || exit 1; done

# One mutant is one build and one round of the core's unit tests: 7 to 10 s on two cores that are not busy (1 to 2 s of
# them tests), so the 4,000 mutants take about ten hours; SHARD=3/40 is every fortieth of them. A run begins with a
# minute for a build of everything. The test that is left out is about pools of circuits, and takes as long as all
# the others together. Fields left out of a struct are tried whatever --re says (cargo-mutants 27).
mutants: export PROPTEST_RNG_SEED = 1996
mutants: export PROPTEST_CASES = 64
# Else what one mutant fails at is tried on the next.
mutants: export PROPTEST_DISABLE_FAILURE_PERSISTENCE = 1
mutants: ## edits of the core that no unit test notices: FOLDER=gate, SHARD=3/40 (needs cargo-mutants)
	nice -n 19 $(CARGO) mutants $(foreach folder,$(or $(FOLDER),gate tcp cc gcra cells dtm),$(foreach file,$(folder).rs $(folder)/**,-f 'crates/tidegate-core/src/$(file)')) \
	  $(if $(SHARD),--shard $(SHARD) --sharding round-robin) --output target/mutants -- -- --skip circuits_never_over_commit

digests: setup ## digests of 1,000 runs, written to FILE or, where FILE is there, compared with it
	$(BIN)/python tests/determinism/digests.py $(or $(FILE),target/digests.json)

lock: $(STAMPS)/packages ## write the installed Python versions to requirements.lock
	@{ echo "# The development environment, exactly (make setup installs it); made by make lock."; \
	   $(BIN)/pip freeze --exclude tidegate --exclude tidegate-papers; } > requirements.lock.new
	@mv requirements.lock.new requirements.lock

# The wheels run with every Python from 3.11 on, and where glibc is 2.28 or later (Debian 10, Ubuntu 20.04, RHEL 8), whatever
# this machine has: Zig links against the older C library, for both processors. Its tools have an environment of their own.
WHEEL_TOOLS := target/wheel-tools
WHEEL_ARCHS ?= x86_64 aarch64
TRAINED := target/train/runs.profdata
wheel: setup ## wheels for Linux on x86_64 and aarch64 (manylinux_2_28), of the papers, and the sources: target/wheels
	@test -x $(WHEEL_TOOLS)/bin/maturin || $(PYTHON) -m venv $(WHEEL_TOOLS)
	$(WHEEL_TOOLS)/bin/pip install --quiet --disable-pip-version-check "$$(grep ^maturin== requirements.lock)" "ziglang==0.17.1"
	@crates/tidegate-wasm/build || echo "skipped: these wheels cannot make the laboratory as files (tidegate lab --static)"
	@crates/tidegate-py/train $(BIN)/python || echo "skipped: these wheels are not compiled for what runs do most (10 to 30% slower)"
	rm -rf target/wheels
	@export PATH="$(CURDIR)/$(WHEEL_TOOLS)/bin:$$PATH"; set -e; for arch in $(WHEEL_ARCHS); do \
	  target=$$arch-unknown-linux-gnu; \
	  if ! ls $$(rustc --print target-libdir --target $$target)/libstd-* >/dev/null 2>&1 && ! rustup target add $$target; \
	  then echo "skipped: no wheel for $$arch, Rust's standard library for it cannot be had (rustup target add $$target)"; continue; fi; \
	  if test -f $(TRAINED) && test $$arch = "$$(uname -m)"; then export RUSTFLAGS="-Cprofile-use=$(CURDIR)/$(TRAINED)"; else unset RUSTFLAGS; fi; \
	  (set -x; maturin build --locked --zig --compatibility manylinux_2_28 --target $$target --out target/wheels); done
	$(WHEEL_TOOLS)/bin/maturin sdist --out target/wheels
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir target/wheels ./papers
	cd papers && $(CURDIR)/$(BIN)/python -c "from flit_core import buildapi; buildapi.build_sdist('../target/wheels')"

# With SOURCE=1 pip builds the source distribution instead. Papers come last: without them the command says what to install.
TRY := target/wheel-try
try_install = $(TRY)/venv/bin/pip install --quiet --disable-pip-version-check --find-links target/wheels $(if $(SOURCE),--no-binary tidegate)
try-wheel: ## what make wheel made, in a new environment and an empty folder: a template, a run, a page, a paper
	rm -rf $(TRY) && mkdir -p $(TRY)/empty && $(PYTHON) -m venv $(TRY)/venv
	$(try_install) "tidegate==$(VERSION)"
	cd $(TRY)/empty && export PATH="$(CURDIR)/$(TRY)/venv/bin:$$PATH" && tidegate init policer > x.toml \
	  && tidegate run x.toml --report x.html && test -s x.html && tidegate init --examples examples && tidegate check examples/web.toml \
	  && test -s ../venv/share/man/man1/tidegate-run.1 && { tidegate reproduce dtm; test $$? = 2; } \
	  && if test -f $(CURDIR)/python/tidegate/_page/built/tidegate.wasm.gz; then tidegate lab --static page && test -s page/tidegate.wasm.gz; fi
	$(try_install) "tidegate[papers]==$(VERSION)"
	cd $(TRY)/empty && ../venv/bin/tidegate reproduce dtm/fig-3 --quick --no-store && test -s reproduced/dtm/fig-3.svg

adding: ## a toy law, controller, discipline and column in a copy: do docs/design/adding.md's lists name each file that they take?
	$(PYTHON) tests/structure/adding.py

release-check: setup ## what a release needs, item by item: what is done, what is not, what only a person can do
	$(BIN)/python docs/release.py

clean: ## remove everything that was built, .venv included
	rm -rf target $(VENV) build dist demo runs .pytest_cache .mypy_cache .ruff_cache
	find python -name '*.so' -delete 2>/dev/null || true

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tidegate needs Python 3.11 or later: make PYTHON=python3.12 setup"; exit 1; }
	$(PYTHON) -m venv $(VENV) || \
	  { echo "could not make .venv (on Debian: apt install python3-venv)"; rm -rf $(VENV); exit 1; }
	@mkdir -p $(STAMPS) && touch $@

# Python compiles a module when it is first imported: most are never.
pip_install = $(BIN)/pip install --quiet --disable-pip-version-check --no-compile

# What the package needs; the tools of its developers are twice as many again.
$(STAMPS)/needs: pyproject.toml requirements.lock $(STAMPS)/venv
	$(pip_install) --constraint requirements.lock maturin $$($(BIN)/python -c \
	  "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'])")
	@touch $@

$(STAMPS)/module: $(RUST) $(STAMPS)/needs
	PIP_QUIET=1 $(BIN)/maturin develop --locked --quiet
	@touch $@

$(STAMPS)/packages: requirements.lock papers/pyproject.toml $(STAMPS)/module
	$(pip_install) -r requirements.lock
	$(pip_install) --no-deps --no-build-isolation --editable papers
	@touch $@
