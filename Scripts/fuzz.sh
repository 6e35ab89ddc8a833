#!/usr/bin/env bash
# Lets libFuzzer look for inputs that crash the codecs, or take too much memory or time: fuzz.sh TARGET SECONDS.
# Starts from the corpus of the tests, if WEBIMAGE_CORPUS names one, and keeps what it finds in Tests/Fuzzing/.build.
set -euo pipefail
cd "$(dirname "$0")/../Tests/Fuzzing"

targets=(jpeg png webp gif animation encode)
[[ $1 == all ]] || targets=("$1")
for target in "${targets[@]}"; do
    case $target in
        jpeg | png | webp | gif | animation | encode) ;;
        *)
            echo "usage: $0 jpeg|png|webp|gif|animation|encode|all SECONDS" >&2
            exit 2
            ;;
    esac
done

# Of two sanitizers, the Swift compiler heeds the last alone unless both are one argument.
build=(swift build -c release --sanitize=fuzzer --sanitize=address -Xswiftc -sanitize=fuzzer,address)
"${build[@]}" --product fuzz
binary=$("${build[@]}" --show-bin-path)/fuzz

for target in "${targets[@]}"; do
    found=.build/found/$target
    mkdir -p "$found"
    seeds=()
    if [[ -n ${WEBIMAGE_CORPUS:-} ]]; then
        case $target in
            encode) ;;
            animation)
                for format in gif png webp; do seeds+=("$WEBIMAGE_CORPUS/valid/$format"); done
                ;;
            *) seeds+=("$WEBIMAGE_CORPUS/valid/$target") ;;
        esac
    fi
    printf '\n== %s, %s seconds\n' "$target" "$2"
    # Crashing inputs are written beside the others. Leaks are looked for by the tests.
    FUZZ_TARGET=$target nice -n 10 "$binary" -max_total_time="$2" -max_len=20000 -timeout=10 -rss_limit_mb=1024 \
        -detect_leaks=0 -print_final_stats=1 -artifact_prefix="$found/" "$found" "${seeds[@]}"
done
