#!/usr/bin/env bash
# Without an argument: the tests. With "thread" or "address": the tests under that sanitizer, in a separate build
# folder, so that the ordinary build is kept. "thread" also turns on the package traits, and omits
# the tests of modules without threads; "address" builds for release,
# because without optimization, the decoders take several times as long. With "release": format check, release build,
# and installation.
set -euo pipefail
cd "$(dirname "$0")/.."

# With more tests at a time, those that wait half a minute for processor time miss their deadlines.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4

# With the time since the start of this script.
step() { printf '\n== %d:%02d %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }

# Lists the skipped tests and the reasons, where they are noticed.
report_skipped() {
    local skipped
    skipped=$(grep -E '^[^ ]+ +(Test|Suite) .* skipped' "$log" | sed -E 's/^[^ ]+ +/  /' | sort -u || true)
    [[ -n $skipped ]] || return 0
    step "Skipped on this machine"
    printf '%s\n' "$skipped"
}

# Prints the findings in full, and then a summary of the failures as the last lines, because some readers see only the
# end.
report_failures() {
    step "Findings"
    grep -A 30 -E "$FINDING" "$log" | head -n 200 || true
    grep -A 400 '^Ended after ' "$log" | grep -E '^(Ended|Thread|#)' || true
    grep -A 3 -E '^✘' "$log" | cut -c 1-1000 | head -n 200 || true
    step "Failed: ${failed[*]:-none}; run again: ${repeated[*]:-none}"
    # The first finding, with its stacks.
    grep -m 1 -A 60 -E "$FINDING" "$log" | grep -E "$FINDING|^  [A-Z]|^ +#" | head -n 40 | cut -c 1-160 || true
    grep -E "$FINDING" "$log" | sort -u | head -n 6 | cut -c 1-200 || true
    grep -E '^✘ Test .* recorded an issue' "$log" | sort -u | head -n 12 | cut -c 1-300 || true
}

# The patterns of reports by a sanitizer or about a crash, and of those that are only about leaks.
FINDING='^(WARNING|ERROR|==[0-9]+==ERROR|SUMMARY): |Fatal error|Crash'
LEAK='LeakSanitizer|byte\(s\) leaked'

# The seconds after which the tests of a target are ended: several times what a slow machine needs.
TIME_LIMIT=900

# Prints the stacks of a hanging test process and its threads.
print_stacks() {
    printf 'Ended after %s seconds. The stacks of process %s:\n' "$TIME_LIMIT" "$1"
    timeout 60 gdb --batch --pid "$1" -ex 'set print frame-arguments none' -ex 'thread apply all backtrace 40' 2>&1 |
        grep -E '^(Thread|#)' || echo '(gdb is not available)'
}

# Runs the tests of one target and keeps their output. A filter that matches no test is an error.
run_target() {
    local target=$1 tests process
    shift
    swift test --skip-build --disable-xctest --filter "^$target\\." "$@" > "$part" 2>&1 &
    tests=$!
    if ! timeout "$TIME_LIMIT" tail --pid="$tests" --sleep-interval=0.2 --lines=+1 --follow "$part"; then
        for process in $(pgrep -P "$tests"); do
            print_stacks "$process" | tee -a "$part"
            kill -KILL "$process" || true
        done
        # It ends by itself now, unless it hangs, too.
        timeout 60 tail --pid="$tests" --follow /dev/null || kill -KILL "$tests" || true
    fi
    wait "$tests" && grep -q 'Test run with [1-9]' "$part"
}

# Runs one test target after the other: the codecs' tests use the processor for so long that tests of other targets,
# which wait for events, would exceed their time limits. A target that fails is run again, because deadlines pass
# unexpectedly on a machine that halts for seconds; sanitizer findings and crashes count at once, except leaks: libcurl
# 7.88 rarely loses a buffer of its own, whereas a leak of this package would occur again.
# Failures are repeated at the end, before the skipped tests.
test_each_target() {
    local directory target trait findings failed=() repeated=()
    log=$(mktemp)
    part=$(mktemp)
    trap 'rm -f "$log" "$part"' EXIT
    swift build --build-tests "$@"
    for directory in Tests/*Tests/; do
        target=$(basename "$directory")
        [[ " ${omitted:-} " != *" $target "* ]] || continue
        # Without its trait, it has no tests.
        trait=${target#ImageFormat} trait=${trait%Tests}
        [[ $target != ImageFormat*Tests || " $* " == *$trait* ]] || continue
        step "$target"
        if ! run_target "$target" "$@"; then
            cat "$part" >> "$log"
            findings=$(grep -E "$FINDING" "$part" | grep -vE "$LEAK" || true)
            if [[ -n $findings ]]; then
                failed+=("$target")
                continue
            fi
            repeated+=("$target")
            step "$target, again"
            run_target "$target" "$@" || failed+=("$target")
        fi
        cat "$part" >> "$log"
    done
    report_skipped
    if ((${#failed[@]} + ${#repeated[@]})); then report_failures; fi
    ((${#failed[@]} == 0))
}

# Installs into a folder: the manual and the completions are made from the command's own description of itself.
test_installation() {
    local folder file
    folder=$(mktemp -d)
    make --no-print-directory install DESTDIR="$folder" PREFIX=/usr
    for file in bin/webimage share/man/man1/webimage.get.1 share/bash-completion/completions/webimage \
        share/zsh/site-functions/_webimage share/fish/vendor_completions.d/webimage.fish; do
        [[ -s $folder/usr/$file ]] || { echo "$file is missing" && return 1; }
    done
    make --no-print-directory uninstall DESTDIR="$folder" PREFIX=/usr
    [[ -z $(find "$folder" -type f) ]] || { echo "uninstall leaves files" && return 1; }
    rm -rf "$folder"
}

case ${1:-debug} in
    debug)
        step "Tests"
        test_each_target
        ;;
    release)
        step "Format"
        make --no-print-directory lint
        step "Release build, warnings are errors"
        make --no-print-directory release
        step "Installation"
        test_installation
        ;;
    thread)
        # All empty arrays share one allocation of the runtime, and some initializers of Array store its count again: 0.
        export TSAN_OPTIONS=suppressions=$PWD/Scripts/races.supp:print_suppressions=0
        step "Tests under thread sanitizer"
        # Not for release: optimized code reads the storage of arrays and dictionaries itself. The sanitizer does not
        # see that the runtime's reference counts order these reads before the changes that another thread then makes.
        # The codecs and the transformations have no threads and no shared state. Their tests would take half of the
        # time; those of AsyncWebImage decode and transform on several threads at once.
        omitted="ImageCodecsTests ImageEncodersTests ImageProcessingTests ImageFormatAVIFTests ImageFormatHEICTests"
        omitted+=" ImageFormatJPEGXLTests ImageFormatTIFFTests"
        test_each_target \
            --scratch-path .build-tsan --sanitize=thread --traits ServiceLifecycle,Tracing,AVIF,HEIC,JPEGXL,TIFF,SVG
        ;;
    address)
        # Leaks are looked for at exit; XCTest's runner, which is left out, would be reported for its own. So would
        # Foundation, which loses a page for each empty file that tests read with it,
        # ArgumentParser, which keeps the names of options when it ends a process because of an invalid one, and the
        # runtime's table of weak references to an object that lives to the end: the object points to it in bits that
        # the leak checker does not recognize as an address.
        export LSAN_OPTIONS=suppressions=$PWD/Scripts/leaks.supp:print_suppressions=0
        step "Tests under address sanitizer"
        # Tests that start the command many times would take minutes with a sanitizer.
        [[ ! -x .build/release/webimage ]] || export WEBIMAGE=$PWD/.build/release/webimage
        # Tests call internal declarations, which only a build with this option allows. Swift 6.3.1 then fails
        # ("circular reference") unless cross-module optimization is off. Assertions are checked as in a debug build.
        test_each_target --scratch-path .build-asan --sanitize=address --traits AVIF,HEIC,JPEGXL,TIFF,SVG \
            -c release -Xswiftc -enable-testing -Xswiftc -disable-cmo -Xswiftc -assert-config -Xswiftc Debug
        ;;
    *)
        echo "usage: $0 [release|thread|address]" >&2
        exit 2
        ;;
esac
