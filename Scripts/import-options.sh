#!/usr/bin/env bash
# Prints the options, one a line, by which the Swift compiler finds the modules that have been built into a folder (the
# argument), such as .build/debug, and the C modules that these import.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "$0")/.."

build=${1:?usage: $0 BUILD_FOLDER}
[[ -d $build/Modules ]] || { echo "There are no modules in $build." >&2 && exit 1; }
printf '%s\n' -I "$build/Modules"
for map in Sources/*/module.modulemap Sources/*/include/module.modulemap "$build"/*.build/module.modulemap \
    "$(dirname "$build")"/checkouts/*/Sources/*/include/module.modulemap; do
    printf '%s\n' -Xcc "-fmodule-map-file=$map"
done
for folder in Sources/*/include; do printf '%s\n' -Xcc "-I$folder"; done
for option in $(pkg-config --cflags libcurl openssl libnghttp2 libjpeg libpng libwebp libwebpmux lcms2 zlib); do
    printf '%s\n' -Xcc "$option"
done
