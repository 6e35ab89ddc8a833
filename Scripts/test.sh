#!/usr/bin/env bash
# Without an argument: format, release build and tests. With "thread" or "address": the tests under that sanitizer, in
# a build folder of its own, so that nobody's ordinary build is thrown away.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

case ${1:-all} in
    all)
        step "Format"
        make --no-print-directory lint
        step "Release build, warnings are errors"
        make --no-print-directory release
        step "Tests"
        swift test
        ;;
    thread)
        step "Tests under thread sanitizer"
        swift test --scratch-path .build-tsan --sanitize=thread
        ;;
    address)
        # Leaks are looked for at exit; XCTest's runner would be reported for its own.
        step "Tests under address sanitizer"
        swift test --scratch-path .build-asan --sanitize=address --disable-xctest
        ;;
    *)
        echo "usage: $0 [thread|address]" >&2
        exit 2
        ;;
esac
