#!/usr/bin/env bash
# Without an argument: format, release build and tests. With "thread" or "address": the tests under that sanitizer, in
# a build folder of its own, so that nobody's ordinary build is thrown away.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests that wait for one another's processor time for half a minute find deadlines passed that were never meant to.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4

step() { printf '\n== %s\n' "$*"; }

# One test target after the other: the codecs' tests compute for so long that those of other targets, which wait for
# events, would not get a turn within their time limits.
test_each_target() {
    local directory
    swift build --build-tests "$@"
    for directory in Tests/*Tests/; do
        step "$(basename "$directory")"
        swift test --skip-build --disable-xctest --filter "^$(basename "$directory")\\." "$@"
    done
}

case ${1:-all} in
    all)
        step "Format"
        make --no-print-directory lint
        step "Release build, warnings are errors"
        make --no-print-directory release
        step "Tests"
        test_each_target
        ;;
    thread)
        step "Tests under thread sanitizer"
        test_each_target --scratch-path .build-tsan --sanitize=thread
        ;;
    address)
        # Leaks are looked for at exit; XCTest's runner, which is left out, would be reported for its own.
        step "Tests under address sanitizer"
        test_each_target --scratch-path .build-asan --sanitize=address
        ;;
    *)
        echo "usage: $0 [thread|address]" >&2
        exit 2
        ;;
esac
