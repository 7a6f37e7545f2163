# The only list of commands. `make` without a target prints those for every day; CONTRIBUTING.md has the table of all checks.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
TARGET ?=
SUITE ?=
# The number of tests at a time. Without a limit, tests that wait for a server block the threads of other tests for minutes.
export TEST_WIDTH ?= 4
SECONDS_EACH := $(or $(SECONDS),60)
TOOL := $(CURDIR)/.build/release/pintle
SWIFT_SOURCES := Package.swift Sources Tests $(wildcard Fuzz Benchmarks Snippets Examples)

# Inputs of the tests. A test whose input is missing is skipped and says so.
export PINTLE_SHARED_DATA ?= $(abspath $(CURDIR)/../shared/data)
export PINTLE_VENV ?= $(CURDIR)/.build/venv
export PINTLE_TOOL ?= $(TOOL)
# Each Package.swift reads it.
export PINTLE_WARNINGS_AS_ERRORS ?= 1

.PHONY: help setup build demo test test-apple corpus-accept ci nightly touched format lint doors docs api reference fuzz bench install deb clean \
  release-tool builds apple-build apple-tests test-setup unit corpus linkage format-check api-check examples \
  asan tsan fuzz-smoke plugin model states mutants mutants-all costs darwin verdicts modern engines peers nio packages package-test reproduce rehearse-clients

help: ## Print this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## Install what is missing of what building and testing need
	@Scripts/setup.sh build test bench

build: ## Build the tool: .build/release/pintle
	@Scripts/setup.sh build
	@$(MAKE) release-tool

demo: build ## Start servers here and show what pinning does with each
	@$(TOOL) demo
	@echo "The tool is .build/release/pintle; make install PREFIX=\$$HOME/.local installs it in a folder of your own."

test: ## Run all the tests
	@Scripts/timed.sh builds
	@Scripts/timed.sh unit
	@Scripts/timed.sh corpus
	@Scripts/timed.sh linkage
	@echo "make test: everything passed; skipped tests are listed above"

test-apple: apple-tests ## Compile and test Apple's side here, with stand-ins
	@Scripts/apple_facts.py

corpus-accept: build ## Record the tool's output again after an intended change
	@Scripts/corpus.py record Tests/Corpus/expected

# The lanes compile everything once, so each module is compiled as a whole, and no debugger needs more than lines. That takes a third
# less of the processors' time; lld links faster.
ci nightly touched: export DEBUG_BUILD_OPTIONS := -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -gline-tables-only -Xswiftc -use-ld=lld
ci: ## Run what a change must pass; a pull request runs the same
	@rm -f .build/ci-times
	@Scripts/timed.sh format-check
	@Scripts/timed.sh lint
	@$(MAKE) test
	@Scripts/timed.sh examples
	@Scripts/timed.sh demo
	@Scripts/timed.sh docs
	@echo "make ci: everything passed ($$(paste -sd ',' .build/ci-times | sed 's/,/, /g'))"

NIGHTLY := plugin model states mutants costs darwin verdicts fuzz-smoke asan tsan engines modern peers nio packages
nightly: ## Run the slow checks: sanitizers, fuzzing, peers, packages
	@rm -f .build/ci-times; failed=''; \
	for part in $(NIGHTLY); do Scripts/timed.sh $$part || failed+=" $$part"; done; \
	[ -z "$$failed" ] || { echo "make nightly: failed:$$failed" >&2; exit 1; }; \
	echo "make nightly: everything passed ($$(paste -sd ',' .build/ci-times | sed 's/,/, /g'))"

# The parts of make nightly that the change touches, without those that take a quarter of an hour. .ci/run says when it began.
touched:
	@for part in $$(Scripts/touched.sh $(filter-out asan tsan mutants,$(NIGHTLY))); do \
	  if [ -n "$${CI_BEGAN:-}" ] && [ $$(($$(date +%s) - CI_BEGAN)) -gt 900 ]; then \
	    echo "$$part is left to make nightly, because 15 minutes have passed"; \
	  else Scripts/timed.sh $$part; fi; \
	done

format: ## Format the sources in place
	swift format --in-place --parallel --recursive $(SWIFT_SOURCES)

lint: ## Check the house rules that the compiler does not check
	@Scripts/setup.sh docs
	@Scripts/lint.sh

doors: ## Write down what a user's import compiles, after an intended change
	@Scripts/doors.py write

docs: api-check ## Build the documentation: .build/docs/site; warnings are errors
	@Scripts/docs.sh

api: ## Write the dump of the public API after an intended change
	@Scripts/setup.sh build docs
	@Scripts/api.sh symbols && Scripts/api.sh write
	@Scripts/api.sh symbols Apple && Scripts/api.sh write Apple

reference: build ## Write the documentation pages of the tool's commands
	@rm -f Sources/PintleTools/PintleTools.docc/Command*.md
	@$(TOOL) --generate-reference docc Sources/PintleTools/PintleTools.docc

fuzz: ## Fuzz one target: make fuzz TARGET=Policy SECONDS=600
	@Scripts/setup.sh build
	@Fuzz/run.sh long "$(TARGET)" $(SECONDS_EACH)

bench: ## Measure Pintle against C baselines that are built here
	@Scripts/setup.sh build bench
	@Benchmarks/run.sh

install: build ## Install tool, manual pages and completions: PREFIX=/usr/local
	@Packaging/stage.sh $(TOOL) "$(DESTDIR)$(PREFIX)"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/pintle, manual pages, and completions for bash, zsh and fish"

deb: build ## Build a Debian package, a tarball and an SBOM: .build/packages
	@Scripts/setup.sh package
	@Packaging/build.sh

clean: ## Remove everything that was built
	rm -rf .build Tests/LinkageTest/.build Fuzz/.build Benchmarks/.build

# The parts of `make test` and `make ci`.

# These options make the tool smaller, and cost no time when it runs. Packaging/README.md lists them.
# Without debug information the same commit gives the same bytes in each folder.
RELEASE_OPTIONS := --static-swift-stdlib --disable-local-rpath -Xswiftc -gnone -Xswiftc -Xfrontend -Xswiftc -function-sections \
  -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker -O2 -Xlinker --no-eh-frame-hdr \
  -Xlinker -T -Xlinker "$(CURDIR)/Packaging/unwind.ld"
# An older C library cannot load packed relocations.
ifeq ($(shell printf '2.36\n%s\n' "$$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort -VC && echo yes),yes)
RELEASE_OPTIONS += -Xlinker -z -Xlinker pack-relative-relocs
endif

# Examples/clients/clients.json has the options of the compiler too: with others it would compile the modules again.
release-tool:
	swift build -c release --product pintle $(RELEASE_OPTIONS)

# A release build uses one processor, and SwiftPM runs one build at a time in a folder. Apple's side has a folder of its own, so it
# is built and tested meanwhile.
builds:
	@Scripts/setup.sh build docs
	@$(MAKE) -j3 --output-sync=target release-tool apple-tests

apple-build:
	@Scripts/setup.sh build
	swift build --package-path Tests/StandIns --scratch-path .build/apple --build-tests --disable-build-manifest-caching \
	  $(DEBUG_BUILD_OPTIONS)
	@Scripts/stand-ins.sh

apple-tests: apple-build test-setup
	swift test --package-path Tests/StandIns --scratch-path .build/apple --skip-build --disable-xctest \
	  --experimental-maximum-parallelization-width $(TEST_WIDTH)
	swift test --package-path Tests/StandIns --scratch-path .build/apple --skip-build --disable-swift-testing

test-setup:
	@Scripts/setup.sh build test

unit: test-setup
	swift build --build-tests --disable-build-manifest-caching $(DEBUG_BUILD_OPTIONS)
	swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width $(TEST_WIDTH)
	swift test --skip-build --disable-swift-testing

corpus: build
	@if command -v python3 >/dev/null; then Scripts/corpus.py compare Tests/Corpus/expected; else echo "corpus: skipped, because there is no python3"; fi

linkage: build # after unit and apple-build
	@Scripts/linkage.sh
	@Scripts/debug-only.sh
	@Scripts/apple_facts.py

format-check:
	swift format lint --strict --parallel --recursive $(SWIFT_SOURCES)

api-check:
	@Scripts/setup.sh build docs
	@Scripts/api.sh symbols && Scripts/api.sh check
	@Scripts/api.sh symbols Apple && Scripts/api.sh check Apple

examples: # after unit
	@Scripts/setup.sh build
	@Scripts/type-check.sh
	@Scripts/examples.sh

# The parts of `make nightly`.

plugin:
	@Scripts/setup.sh build docs
	@Scripts/plugin.sh

model:
	@Scripts/setup.sh model
	@Models/check.sh

states: test-setup
	swift build --build-tests --disable-build-manifest-caching $(DEBUG_BUILD_OPTIONS)
	PINTLE_ALL_STATES=1 swift test --skip-build --disable-xctest --filter 'DecisionModelTests|ScopeEnumerationTests|StoreModelTests|SequenceTests'

mutants: test-setup
	@Scripts/mutants.py sample

# Before a release.
mutants-all: test-setup
	@Scripts/mutants.py all

darwin: test-setup
	swift build --build-tests --disable-build-manifest-caching $(DEBUG_BUILD_OPTIONS)
	@Scripts/darwin.sh

# On a Mac the workflow mac runs the same script.
verdicts: build apple-build
	@Scripts/verdicts.py .build/apple/debug/Client

costs:
	@Scripts/setup.sh build bench
	@Benchmarks/run.sh --check

fuzz-smoke:
	@Scripts/setup.sh build
	@Fuzz/run.sh smoke

asan tsan: test-setup
	@Scripts/sanitize.sh $@

engines: build test-setup
	@Scripts/engines.py

modern: build test-setup
	swift build --build-tests --disable-build-manifest-caching $(DEBUG_BUILD_OPTIONS)
	@Scripts/modern.sh

peers:
	@Scripts/setup.sh build test peers
	@Scripts/peers.sh

nio: build
	@Scripts/setup.sh docs
	@Scripts/nio.sh

packages: package-test reproduce

package-test: deb # of SUITE=trixie, or of this machine's; needs root
	@Packaging/test.sh $(SUITE)

reproduce: deb
	@Packaging/reproduce.sh .build/packages

# Writes the table of ClientTable.md.
rehearse-clients: build
	@Scripts/rehearse_clients.py run
	@Scripts/rehearse_clients.py survey
