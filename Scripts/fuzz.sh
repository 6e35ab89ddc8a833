#!/usr/bin/env bash
# Lets libFuzzer search for inputs that crash the codecs or the HTTP code, or take too much memory or time:
# fuzz.sh TARGET SECONDS. Starts from the seeds in Tests/Fuzzing/Seeds, and for the codecs also from the corpus of the
# tests, if WEBIMAGE_CORPUS names one; keeps new inputs in Tests/Fuzzing/.build.
set -euo pipefail
cd "$(dirname "$0")/../Tests/Fuzzing"

codecs=(jpeg png webp gif bmp ico avif heic jxl tiff animation verify encode)
http=(head response fields challenge location connection frames cache cookies list)
known=("${codecs[@]}" "${http[@]}")
case $1 in
    all) targets=("${known[@]}") ;;
    codecs) targets=("${codecs[@]}") ;;
    http) targets=("${http[@]}") ;;
    *)
        targets=("$1")
        if [[ " ${known[*]} " != *" $1 "* ]]; then
            echo "usage: $0 all|codecs|http|$(IFS='|' && echo "${known[*]}") SECONDS" >&2
            exit 2
        fi
        ;;
esac

# If the two sanitizers are separate arguments, the Swift compiler uses only the last one. Internal declarations are
# called from outside their modules, which Swift 6.3.1 does not support together with cross-module optimization.
build=(swift build -c release --sanitize=fuzzer --sanitize=address -Xswiftc -sanitize=fuzzer,address
    -Xswiftc -enable-testing -Xswiftc -disable-cmo)
"${build[@]}" --product fuzz
binary=$("${build[@]}" --show-bin-path)/fuzz

FUZZ_FOLDER=$(mktemp -d)
export FUZZ_FOLDER
trap 'rm -rf "$FUZZ_FOLDER"' EXIT

for target in "${targets[@]}"; do
    found=.build/found/$target
    mkdir -p "$found"
    seeds=()
    [[ -d Seeds/$target ]] && seeds+=("Seeds/$target")
    if [[ -n ${WEBIMAGE_CORPUS:-} ]]; then
        case $target in
            jpeg | png | webp | gif) seeds+=("$WEBIMAGE_CORPUS/valid/$target") ;;
            animation | verify)
                for format in gif png webp jpeg; do seeds+=("$WEBIMAGE_CORPUS/valid/$format"); done
                ;;
        esac
    fi
    printf '\n== %s, %s seconds\n' "$target" "$2"
    # Crashing inputs are written beside the others. The tests check for leaks.
    FUZZ_TARGET=$target nice -n 10 "$binary" -max_total_time="$2" -max_len=20000 -timeout=10 -rss_limit_mb=1024 \
        -detect_leaks=0 -print_final_stats=1 -artifact_prefix="$found/" "$found" "${seeds[@]}"
done
