PREFIX ?= /usr/local
INSTALLED := $(DESTDIR)$(PREFIX)
BINARY := .build/release/webimage
MANUAL := .build/manual
# The completions for bash, zsh, and fish, where each shell looks for them below "share".
COMPLETIONS := bash-completion/completions/webimage zsh/site-functions/_webimage fish/vendor_completions.d/webimage.fish
SOURCES := Package.swift Sources Tests Examples Benchmarks/Package.swift $(wildcard $(addprefix Benchmarks/,Sources Benchmarks Tests))

# A stripped binary that runs without the Swift toolchain. By default, Swift also exports symbols, for plug-ins.
ifeq ($(shell uname -s),Linux)
RELEASE := -c release --static-swift-stdlib -Xlinker -s -Xlinker --no-export-dynamic
else
RELEASE := -c release
endif

# Formats that the command reads in addition, of libraries that are installed for them: FORMATS=avif,tiff, or FORMATS=all.
FORMATS :=
OPTIONAL_FORMATS := AVIF HEIC JPEGXL TIFF SVG
comma := ,
CHOSEN := $(if $(filter all,$(FORMATS)),$(OPTIONAL_FORMATS),$(shell echo '$(FORMATS)' | tr 'a-z,' 'A-Z '))
UNKNOWN := $(filter-out $(OPTIONAL_FORMATS),$(CHOSEN))
$(if $(UNKNOWN),$(error unknown FORMATS: $(UNKNOWN); known are all, $(shell echo '$(OPTIONAL_FORMATS)' | tr A-Z a-z)))
# SVG is rendered in a process of its own.
PROGRAMS := webimage $(if $(filter SVG,$(CHOSEN)),webimage-svg)
FORMAT_TRAITS := $(if $(strip $(CHOSEN)),--traits $(subst $() ,$(comma),$(strip $(CHOSEN))))
export FORMATS

.PHONY: help setup build release demo test test-debug test-traits docs test-tsan test-asan fuzz soak test-benchmarks test-integrations wheel benchmark micro-benchmark charts lint format install uninstall clean

help: ## show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install the prerequisites of builds and tests
	@Scripts/setup.sh tests

build: ## build for debugging
	@Scripts/setup.sh
	swift build

release: ## build the optimized webimage command; FORMATS=avif or FORMATS=all adds formats
	@Scripts/setup.sh
	for program in $(PROGRAMS); do swift build $(RELEASE) $(FORMAT_TRAITS) --product $$program || exit; done

demo: ## watch progressive images arrive from a slow origin on this machine
	@Scripts/setup.sh
	swift build $(RELEASE) --product WebimageDemo
	@.build/release/WebimageDemo

# The tests that "test" runs. .ci/run names the sanitizers instead: in their builds, all tests run as well.
TESTS := test-debug test-traits
# Builds use all processors already, and tests have time limits, so "make -j" does not run these at the same time.
.NOTPARALLEL:

test: setup ## check the format, build for release, run the tests of the package including those of its traits, and build the documentation
	@Scripts/test.sh release
	@$(MAKE) --no-print-directory $(TESTS)
	@$(MAKE) --no-print-directory docs

test-debug: setup ## run the tests in a debug build, without those of the package traits
	@Scripts/test.sh

TRAITS := --traits ServiceLifecycle,Tracing,AVIF,HEIC,JPEGXL,TIFF,SVG
# A separate folder leaves the ordinary build alone.
TRAITS_BUILD := .build-traits

test-traits: setup ## build with the package traits, and run their tests
	swift test --scratch-path $(TRAITS_BUILD) --disable-xctest $(TRAITS) \
		--filter '^AsyncWebImageTests\.(ImageLoaderServiceTests|DownloadSpanTests)|^ImageFormat(AVIF|HEIC|JPEGXL|TIFF|SVG)Tests\.'

# The folder of a build with the traits, such as .build-tsan/release; if it is empty, one is made.
MODULES :=

docs: ## build the documentation site in .build/docs, check that it is complete and that its samples compile
	@FORMATS=all Scripts/setup.sh
	$(if $(MODULES),,swift build --scratch-path $(TRAITS_BUILD) $(TRAITS))
	@Scripts/docs.sh $(or $(MODULES),$(TRAITS_BUILD)/debug) .build/docs
	@Scripts/samples.sh $(or $(MODULES),$(TRAITS_BUILD)/debug)

test-tsan: setup ## run the tests under thread sanitizer, with the package traits, except those of modules without threads
	@Scripts/test.sh thread

test-asan: setup ## run the tests under address sanitizer, with leak checking
	@Scripts/test.sh address

fuzz: ## feed damaged files and responses to codecs and the HTTP stack, for SECONDS=60 each; TARGET=codecs, http or one of Tests/Fuzzing/README.md
	@FORMATS=all Scripts/setup.sh
	@Scripts/fuzz.sh $(or $(TARGET),all) $(or $(SECONDS),60)

# Not part of "make test", because it runs for as long as SECONDS says.
soak: setup ## random requests, faults, cancellations, and changes for SECONDS=600, then a check for leaks; SEED=1
	swift build --build-tests
	WEBIMAGE_SOAK_SECONDS=$(or $(SECONDS),600) WEBIMAGE_SOAK_SEED=$(or $(SEED),1) \
		swift test --skip-build --disable-xctest --filter '^AsyncWebImageTests\.SoakTests/longSoak' | tee .build/soak.log
	@grep -q 'Test run with 1 test.* passed' .build/soak.log # a filter that finds no test succeeds

test-benchmarks: setup ## build the benchmarks and run their tests; nothing is timed
	swift test --package-path Benchmarks

test-integrations: ## test the Python package and the examples with Spark and Ray on this machine; WEBIMAGE=binary
	@Scripts/test-integrations.sh

wheel: ## make a wheel of the Python package in dist/, with the release build and its shared libraries; FORMATS=avif
	@$(MAKE) --no-print-directory release FORMATS=$(or $(FORMATS),avif)
	@Scripts/wheel.sh $(BINARY) dist

benchmark: release ## compare with other designs and tools; ARGS=--quick takes ten minutes, ARGS=--help lists the options
	@Scripts/setup.sh benchmarks
	swift build -c release --static-swift-stdlib --package-path Benchmarks --product scenarios
	swift build -c release --static-swift-stdlib --package-path Benchmarks --product thumbnail
	@Benchmarks/.build/release/scenarios $(ARGS)

# The steps are internal. Only this build, which has its own folder, makes them callable from outside. Swift 6.3.1 then
# fails ("circular reference") unless cross-module optimization is off.
micro-benchmark: ## time single steps: keys, queue, fan-out, resampler, codecs; ARGS='--filter Queue.*' selects some
	@Scripts/setup.sh
	swift package --package-path Benchmarks --scratch-path Benchmarks/.build-testable \
		-Xswiftc -enable-testing -Xswiftc -disable-cmo benchmark --grouping metric --no-progress $(ARGS)

charts: ## draw the rows that benchmark ARGS='--json FILE' wrote; ROWS=FILE
	@Benchmarks/Scripts/charts.py $(ROWS) Docs/Benchmarks

lint: ## check the format
	swift format lint --strict --recursive --parallel $(SOURCES)

format: ## format the sources in place
	swift format --in-place --recursive --parallel $(SOURCES)

install: release ## install webimage, its manual pages and completions for bash, zsh and fish under PREFIX (/usr/local)
	swift build $(RELEASE) $(FORMAT_TRAITS) --product generate-manual
	rm -rf $(MANUAL) && mkdir -p $(MANUAL)
	$(dir $(BINARY))generate-manual $(BINARY) --multi-page --output-directory $(MANUAL)
	sed -i 's/^$$/.Pp/' $(MANUAL)/*.1
	install -d $(INSTALLED)/bin $(dir $(addprefix $(INSTALLED)/share/,man/man1/ $(COMPLETIONS)))
	install -m 755 $(addprefix $(dir $(BINARY)),$(PROGRAMS)) $(INSTALLED)/bin
	install -m 644 $(MANUAL)/*.1 $(INSTALLED)/share/man/man1
	for shell in bash zsh fish; do $(BINARY) --generate-completion-script $$shell >$(MANUAL)/$$shell || exit; done
	install -m 644 $(MANUAL)/bash $(INSTALLED)/share/$(word 1,$(COMPLETIONS))
	install -m 644 $(MANUAL)/zsh $(INSTALLED)/share/$(word 2,$(COMPLETIONS))
	install -m 644 $(MANUAL)/fish $(INSTALLED)/share/$(word 3,$(COMPLETIONS))

uninstall: ## remove the installed files under PREFIX
	rm -f $(addprefix $(INSTALLED)/bin/,webimage webimage-svg) $(addprefix $(INSTALLED)/share/,man/man1/webimage.1 man/man1/webimage.*.1 $(COMPLETIONS))

clean: ## remove all build folders
	rm -rf .build .build-traits .build-tsan .build-asan Tests/Fuzzing/.build Benchmarks/.build Benchmarks/.build-testable dist
