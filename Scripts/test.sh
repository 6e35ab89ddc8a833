#!/usr/bin/env bash
# Without an argument: format, release build and tests. With "thread" or "address": the tests under that sanitizer, in
# a build folder of its own, so that nobody's ordinary build is thrown away.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests that wait for one another's processor time for half a minute find deadlines passed that were never meant to.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4

step() { printf '\n== %s\n' "$*"; }

# Lists what did not run, and why, behind everything else: a line in the middle of a thousand others is not seen.
report_skipped() {
    local skipped
    skipped=$(grep -E '^[^ ]+ +(Test|Suite) .* skipped' "$log" | sed -E 's/^[^ ]+ +/  /' | sort -u || true)
    [[ -n $skipped ]] || return 0
    step "Skipped on this machine"
    printf '%s\n' "$skipped"
}

# Runs one test target after the other: the codecs' tests compute for so long that those of other targets, which wait
# for events, would not get a turn within their time limits. Failures are repeated at the end, before the skipped tests.
test_each_target() {
    local directory failed=()
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    swift build --build-tests "$@"
    for directory in Tests/*Tests/; do
        step "$(basename "$directory")"
        swift test --skip-build --disable-xctest --filter "^$(basename "$directory")\\." "$@" 2>&1 |
            tee -a "$log" || failed+=("$(basename "$directory")")
    done
    if ((${#failed[@]})); then
        step "Failed: ${failed[*]}"
        grep -A 30 -E '^(WARNING|ERROR|==[0-9]+==ERROR|SUMMARY): |Fatal error|Crash' "$log" | head -n 200 || true
        grep -A 3 -E '^✘' "$log" || true
        report_skipped
        return 1
    fi
    report_skipped
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
