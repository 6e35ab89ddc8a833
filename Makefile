PREFIX ?= /usr/local
BINARY := .build/release/webimage
SOURCES := Package.swift Sources Tests

# A binary that does not need the Swift toolchain to run, without its symbols.
ifeq ($(shell uname -s),Linux)
RELEASE := -c release --static-swift-stdlib -Xlinker -s
else
RELEASE := -c release
endif

.PHONY: help setup build release demo test test-tsan test-asan lint format install clean

help: ## show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what building and testing need
	@Scripts/setup.sh tests

build: ## build for debugging
	@Scripts/setup.sh
	swift build

release: ## build the optimised webimage command
	@Scripts/setup.sh
	swift build $(RELEASE) --product webimage

demo: release ## watch progressive images arrive from a slow origin on this machine
	@$(BINARY) demo

test: setup ## check the format, build for release, run all tests
	@Scripts/test.sh

test-tsan: setup ## run the tests under thread sanitizer
	@Scripts/test.sh thread

test-asan: setup ## run the tests under address sanitizer, with leak checking
	@Scripts/test.sh address

lint: ## check the format
	swift format lint --strict --recursive --parallel $(SOURCES)

format: ## format the sources in place
	swift format --in-place --recursive --parallel $(SOURCES)

install: release ## install webimage under PREFIX (/usr/local)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/webimage

clean: ## remove everything that was built
	rm -rf .build .build-tsan .build-asan
