# The only list of commands. `make` without a target prints it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
TARGET ?=
SUITE ?=
# The number of tests at a time. Without a limit, tests that wait for a server block the threads of other tests for minutes.
TEST_WIDTH ?= 4
SECONDS_EACH := $(or $(SECONDS),60)
TOOL := $(CURDIR)/.build/release/pintle
SWIFT_SOURCES := Package.swift Sources Tests $(wildcard Fuzz Benchmarks Snippets Examples)

# Inputs of the tests. A test whose input is missing is skipped and says so.
export PINTLE_SHARED_DATA ?= $(abspath $(CURDIR)/../shared/data)
export PINTLE_VENV ?= $(CURDIR)/.build/venv
export PINTLE_TOOL ?= $(TOOL)
# Package.swift and Fuzz/Package.swift read it.
export PINTLE_WARNINGS_AS_ERRORS ?= 1

.PHONY: help setup setup-ci build release-tool ci-builds ci-apple ci-tests demo test unit corpus corpus-accept apple-build test-apple darwin modern engines peers peers-smoke rehearse-clients ci bench fuzz fuzz-smoke format format-check lint linkage debug-only docs api asan tsan examples model nio reference install deb package-test reproduce clean

help: ## Print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name what; do \
	  printf '  make %-14s %s\n' "$$name" "$$what"; done

setup: ## Install what building and testing need, and only what is missing
	@Scripts/setup.sh build test bench

build: ## Build the tool: .build/release/pintle
	@Scripts/setup.sh build
	@$(MAKE) release-tool

# SwiftPM runs one build at a time in a folder, and a release build uses one processor. So the tool and Apple's side, which
# have separate folders, are built in parallel, while the set-up downloads packages.
ci-builds:
	@Scripts/setup.sh build docs
	@$(MAKE) -j3 --output-sync=target release-tool ci-apple setup-ci

ci-apple: apple-build
	@Scripts/oldest-apple.sh
	@Scripts/darwin.sh
	@Scripts/symbols.sh apple && Scripts/api.sh check apple

setup-ci:
	@Scripts/setup.sh test model

# The tests wait for servers half of the time. Meanwhile the fuzz targets are compiled, for the later steps asan and fuzz-smoke. Their
# modules are compiled one after the other, so with a lower priority they would end last, on one processor.
ci-tests:
	@set -m; Fuzz/run.sh build >.build/fuzz-build.log 2>&1 & fuzz=$$!; set +m; \
	trap 'kill -- -$$fuzz 2>/dev/null || true' EXIT; \
	make test; \
	wait $$fuzz || { cat .build/fuzz-build.log; exit 1; }

# These options make the tool a quarter smaller, and cost no time when it runs. Packaging/README.md has what each of them saves.
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

demo: build ## Start servers on this machine and show what pinning does with each
	@$(TOOL) demo
	@echo "The tool is .build/release/pintle; make install PREFIX=\$$HOME/.local installs it in a folder of your own."

test: build unit corpus linkage debug-only test-apple ## Run all the tests
	@echo "make test: everything passed; skipped tests are listed above"

unit:
	@Scripts/setup.sh test
	swift build --build-tests --disable-build-manifest-caching $(DEBUG_BUILD_OPTIONS)
	swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width $(TEST_WIDTH)
	swift test --skip-build --disable-swift-testing

corpus: build ## Compare what the tool prints, writes and returns with Tests/Corpus/expected
	@if command -v python3 >/dev/null; then Scripts/corpus.py compare Tests/Corpus/expected; else echo "corpus: skipped, because there is no python3"; fi

corpus-accept: build ## Write Tests/Corpus/expected again after an intended change
	@Scripts/corpus.py record Tests/Corpus/expected

apple-build:
	for product in pintlePackageTests ApplePlatforms FirstRequest PinnedSession ChangingPolicy Migrating AppViews; do \
	  PINTLE_APPLE_STANDINS=1 swift build --scratch-path .build/apple $(DEBUG_BUILD_OPTIONS) --product $$product; \
	done
	@Scripts/stand-ins.sh

# Uses its own build folder, because with PINTLE_APPLE_STANDINS the package has other targets.
test-apple: ## Compile and test Apple's side here, with stand-ins for Apple's modules
	@Scripts/setup.sh test
	@$(MAKE) apple-build
	@Scripts/oldest-apple.sh
	PINTLE_APPLE_STANDINS=1 swift test --scratch-path .build/apple --skip-build --disable-xctest \
	  --experimental-maximum-parallelization-width $(TEST_WIDTH)
	PINTLE_APPLE_STANDINS=1 swift test --scratch-path .build/apple --skip-build --disable-swift-testing

darwin: ## Compile the tool for macOS's C library, with a stand-in, and run it and the tests that start it (after unit)
	@Scripts/darwin.sh all

peers: ## Run the tests with peers that take long to install or to run, such as OkHttp on a JVM
	@Scripts/setup.sh build test peers
	@Scripts/peers.sh

peers-smoke: # after unit
	@Scripts/peers.sh smoke

modern: build ## Run tests, demo and rehearse with OpenSSL 3.5 and 3.6 and libcurl 8; skipped where pip cannot fetch them
	@Scripts/setup.sh test
	@swift build --build-tests --disable-build-manifest-caching
	@Scripts/modern.sh

engines: build ## Run the SQL of Examples/collector on ClickHouse and PostgreSQL, and check OTLP bodies; skips what cannot be had
	@Scripts/setup.sh test
	@Scripts/engines.py

rehearse-clients: build ## Attack the clients of Examples/clients that are installed, and write the table of ClientTable.md
	@Scripts/rehearse_clients.py run

# CI compiles everything once, so each module is compiled as a whole, and no debugger needs more than lines. That takes a third less
# of the processors' time; lld links faster.
ci: export DEBUG_BUILD_OPTIONS := -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -gline-tables-only -Xswiftc -use-ld=lld
ci: ## Run all checks that a change must pass: the tests, format, lint, documentation, the model, sanitizers, fuzzing
	@rm -f .build/ci-times
	@Scripts/timed.sh format format-check
	@Scripts/timed.sh lint lint
	@Scripts/timed.sh builds ci-builds
	@Scripts/timed.sh test ci-tests
	@Scripts/timed.sh peers-smoke peers-smoke
	@Scripts/timed.sh examples examples
	@Scripts/timed.sh docs docs
	@Scripts/timed.sh model model
	@Scripts/timed.sh asan asan
	@Scripts/timed.sh fuzz-smoke fuzz-smoke
	@Scripts/timed.sh demo demo
	@echo "make ci: everything passed ($$(paste -sd ',' .build/ci-times | sed 's/,/, /g'))"

bench: ## Measure Pintle against C baselines that are built here
	@Scripts/setup.sh build bench
	@if [ -x Benchmarks/run.sh ]; then Benchmarks/run.sh; else echo "bench: nothing to measure yet"; fi

fuzz: ## Fuzz one target: make fuzz TARGET=Policy SECONDS=600
	@Scripts/setup.sh build
	@Fuzz/run.sh long "$(TARGET)" $(SECONDS_EACH)

fuzz-smoke: ## Fuzz every target for a few seconds, from a fixed seed
	@Scripts/setup.sh build
	@Fuzz/run.sh smoke

format: ## Format the sources in place
	swift format --in-place --parallel --recursive $(SWIFT_SOURCES)

format-check:
	swift format lint --strict --parallel --recursive $(SWIFT_SOURCES)

lint: ## Check the house rules that the compiler does not check
	@Scripts/setup.sh docs
	@Scripts/lint.sh

linkage: build ## Prove which libraries the core, a session and the tool load (quick after unit)
	@Scripts/linkage.sh

debug-only: ## Prove that a release build lacks the debug anchors (after build and unit)
	@Scripts/debug-only.sh

docs: ## Build the documentation as one site, warnings being errors: .build/docs/site; compare the public API with the dump in API
	@Scripts/setup.sh build docs
	@Scripts/docs.sh
	@Scripts/api.sh check

api: ## Write the dump of the public API after an intended change; prints the size of each module
	@Scripts/setup.sh build docs
	@Scripts/symbols.sh && Scripts/api.sh write
	@Scripts/symbols.sh apple && Scripts/api.sh write apple

asan: ## Run the tests with all of Sources under the address sanitizer
	@Scripts/setup.sh test
	@Scripts/asan.sh $(TEST_WIDTH)

model: ## Check a model of the update store: all states, and mutations that the check must find
	@Scripts/setup.sh model
	@Models/check.sh

tsan: ## Run the tests of the session and the decision under the thread sanitizer
	@Scripts/setup.sh test
	@Scripts/tsan.sh $(TEST_WIDTH)

examples: ## Build and run a separate package that uses this one
	@Scripts/setup.sh build
	@Scripts/examples.sh

nio: build ## Build PintleNIO with SwiftNIO, test and attack it; skipped where SwiftNIO cannot be fetched
	@Scripts/nio.sh

reference: build ## Write the documentation page of each command from the tool
	@rm -f Sources/PintleTools/PintleTools.docc/Command*.md
	@$(TOOL) --generate-reference docc Sources/PintleTools/PintleTools.docc

install: build ## Install the tool, manual pages and completions: make install PREFIX=/usr/local
	@Packaging/stage.sh $(TOOL) "$(DESTDIR)$(PREFIX)"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/pintle, manual pages, and completions for bash, zsh and fish"

deb: build ## Build a Debian package, a tarball, an SBOM and their checksums: .build/packages
	@Scripts/setup.sh package
	@Packaging/build.sh

package-test: deb ## Install the package in a fresh root of SUITE=trixie or this machine's, and try the demo, pages and completions there; needs root
	@Packaging/test.sh $(SUITE)

reproduce: deb ## Build the packages of the current commit again in another folder, and compare every byte
	@Packaging/reproduce.sh .build/packages

clean: ## Remove everything that was built
	rm -rf .build Tests/LinkageTest/.build Fuzz/.build Benchmarks/.build
