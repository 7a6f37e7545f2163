# The only list of commands. `make` alone prints it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
TARGET ?=
# Tests at a time. All at once, those that wait for a server keep the others from a thread for a minute and more.
TEST_WIDTH ?= 4
SECONDS_EACH := $(or $(SECONDS),60)
TOOL := $(CURDIR)/.build/release/pintle
SWIFT_SOURCES := Package.swift Sources Tests $(wildcard Fuzz Benchmarks Snippets Examples)

# What the tests look up. A test that needs something absent is skipped and says so.
export PINTLE_SHARED_DATA ?= $(abspath $(CURDIR)/../shared/data)
export PINTLE_VENV ?= $(CURDIR)/.build/venv
export PINTLE_TOOL ?= $(TOOL)

.PHONY: help setup setup-ci build release-tool ci-builds ci-apple ci-tests demo test unit apple-build test-apple peers peers-smoke ci bench fuzz fuzz-smoke format format-check lint linkage debug-only docs api asan tsan examples model reference install clean

help: ## Print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name what; do \
	  printf '  make %-14s %s\n' "$$name" "$$what"; done

setup: ## Install what building and testing need, and only what is missing
	@Scripts/setup.sh build test bench

build: ## Build the tool: .build/release/pintle
	@Scripts/setup.sh build
	@$(MAKE) release-tool

# SwiftPM runs one build at a time in a folder, and a release build keeps one processor busy. So the tool is built beside what
# has a folder of its own; the set-up downloads meanwhile.
ci-builds:
	@Scripts/setup.sh build docs
	@$(MAKE) -j3 --output-sync=target release-tool ci-apple setup-ci

ci-apple: apple-build
	@Scripts/oldest-apple.sh
	@Scripts/symbols.sh apple && Scripts/api.sh check apple

setup-ci:
	@Scripts/setup.sh test model

# The tests wait for servers half of their time. The fuzz targets are compiled meanwhile, at the lowest priority; asan and
# fuzz-smoke take them from there.
ci-tests:
	@nice -n 19 Fuzz/run.sh build >.build/fuzz-build.log 2>&1 & fuzz=$$!; \
	trap 'kill $$fuzz 2>/dev/null || true' EXIT; \
	$(MAKE) test; \
	wait $$fuzz || { cat .build/fuzz-build.log; exit 1; }

release-tool:
	swift build -c release --static-swift-stdlib --product pintle

demo: build ## Servers on this machine and what pinning does to each
	@$(TOOL) demo
	@echo "The tool is .build/release/pintle; make install PREFIX=\$$HOME/.local puts it where a shell may find it."

test: build unit linkage debug-only test-apple ## All the tests
	@echo "make test: everything passed; what was skipped says so above"

unit:
	@Scripts/setup.sh test
	swift build --build-tests --disable-build-manifest-caching
	swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width $(TEST_WIDTH)
	swift test --skip-build --disable-swift-testing

apple-build:
	for product in pintlePackageTests ApplePlatforms FirstRequest PinnedSession ChangingPolicy Migrating AppViews; do \
	  PINTLE_APPLE_STANDINS=1 swift build --scratch-path .build/apple --product $$product; \
	done

# Apart from the rest: the same package has other targets there.
test-apple: ## Apple's side, compiled and run here with stand-ins for Apple's modules
	@Scripts/setup.sh test
	@$(MAKE) apple-build
	@Scripts/oldest-apple.sh
	PINTLE_APPLE_STANDINS=1 swift test --scratch-path .build/apple --skip-build --disable-xctest \
	  --experimental-maximum-parallelization-width $(TEST_WIDTH)
	PINTLE_APPLE_STANDINS=1 swift test --scratch-path .build/apple --skip-build --disable-swift-testing

peers: ## The tests with peers that take long to install or to run, such as OkHttp on a JVM
	@Scripts/setup.sh build test peers
	@Scripts/peers.sh

peers-smoke: # after unit
	@Scripts/peers.sh smoke

ci: ## What a change must pass: the tests, format, lint, documentation, the model, sanitizers, fuzzing
	@rm -f .build/ci-times
	@Scripts/timed.sh format $(MAKE) format-check
	@Scripts/timed.sh lint $(MAKE) lint
	@Scripts/timed.sh builds $(MAKE) ci-builds
	@Scripts/timed.sh test $(MAKE) ci-tests
	@Scripts/timed.sh peers-smoke $(MAKE) peers-smoke
	@Scripts/timed.sh examples $(MAKE) examples
	@Scripts/timed.sh docs $(MAKE) docs
	@Scripts/timed.sh model $(MAKE) model
	@Scripts/timed.sh asan $(MAKE) asan
	@Scripts/timed.sh fuzz-smoke $(MAKE) fuzz-smoke
	@Scripts/timed.sh demo $(MAKE) demo
	@echo "make ci: everything passed ($$(paste -sd ',' .build/ci-times | sed 's/,/, /g'))"

bench: ## Measure against the C baselines, built beside ours
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

lint: ## The house rules that a compiler does not know
	@Scripts/lint.sh

linkage: build ## Prove what the core, a session and the tool load, and what they do not (after unit, builds little)
	@Scripts/linkage.sh

debug-only: ## Prove that a release build lacks the debug anchors (after build and unit)
	@Scripts/debug-only.sh

docs: ## Build the documentation as one site, warnings being errors: .build/docs/site; compare the public API with the dump in API
	@Scripts/setup.sh build docs
	@Scripts/docs.sh
	@Scripts/api.sh check

api: ## Write the dump of the public API, for a change that is meant; prints the size of each module
	@Scripts/setup.sh build docs
	@Scripts/symbols.sh && Scripts/api.sh write
	@Scripts/symbols.sh apple && Scripts/api.sh write apple

asan: ## The tests, with all of Sources under the address sanitizer
	@Scripts/setup.sh test
	@Scripts/asan.sh $(TEST_WIDTH)

model: ## Check a model of the updates' store: every state, and mutations that must be found
	@Scripts/setup.sh model
	@Models/check.sh

tsan: ## The session's tests and the decision's under the thread sanitizer
	@Scripts/setup.sh test
	@Scripts/tsan.sh $(TEST_WIDTH)

examples: ## Build and run a package that uses this one, as an outsider would
	@Scripts/setup.sh build
	@Scripts/examples.sh

reference: build ## Write the pages about the tool's commands from the commands' own values
	@rm -f Sources/PintleTools/PintleTools.docc/Command*.md
	@$(TOOL) --generate-reference docc Sources/PintleTools/PintleTools.docc

install: build ## Install the tool, manual pages and completions: make install PREFIX=/usr/local
	@install -D -m 755 $(TOOL) "$(DESTDIR)$(PREFIX)/bin/pintle"
	@share="$(DESTDIR)$(PREFIX)/share"; \
	complete() { $(TOOL) --generate-completion-script "$$1" | install -D -m 644 /dev/stdin "$$share/$$2"; }; \
	complete bash bash-completion/completions/pintle; \
	complete zsh zsh/site-functions/_pintle; \
	complete fish fish/vendor_completions.d/pintle.fish; \
	rm -rf .build/man && $(TOOL) --generate-reference man .build/man; \
	install -d "$$share/man/man1" && install -m 644 .build/man/*.1 "$$share/man/man1"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/pintle, manual pages, and completions for bash, zsh and fish"

clean: ## Remove everything that was built
	rm -rf .build Tests/LinkageTest/.build Fuzz/.build Benchmarks/.build
