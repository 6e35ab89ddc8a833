#!/usr/bin/env bash
# Makes the documentation site of the products from the modules that have been built into a folder, with the package
# traits turned on. Every warning, every public declaration without a summary, and every one that is in no topic group
# of the catalogs is an error.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "$0")/.."

usage="usage: $0 BUILD_FOLDER SITE_FOLDER"
build=${1:?$usage}
site=${2:?$usage}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

triple=$(swiftc -print-target-info | sed -n 's/^ *"triple": "\(.*\)",$/\1/p' | head -n 1)
mapfile -t options < <(Scripts/import-options.sh "$build")

# Extracts the public declarations of module $1 for the documentation of module $2, by default of itself.
#
# DocC merges the symbol graphs that have the same module, so that those of several modules can link to one another.
extract_symbols() {
    local file folder="$work/symbols/${2:-$1}" extensions=(-emit-extension-block-symbols)
    # The extended types are in the same documentation.
    [[ -z ${2:-} ]] || extensions=()
    mkdir -p "$folder"
    swift symbolgraph-extract -module-name "$1" -target "$triple" -output-dir "$folder" \
        -minimum-access-level public -skip-synthesized-members "${extensions[@]}" -module-cache-path "$work/modules" \
        "${options[@]}" 2>"$work/extraction" || {
        cat "$work/extraction" >&2
        return 1
    }
    [[ -n ${2:-} ]] || return 0
    sed -i "s/\"module\":{\"name\":\"$1\"/\"module\":{\"name\":\"$2\"/" "$folder/$1"{,@*}.symbols.json
    # In the names of files, @ stands in front of a module whose types are extended.
    for file in "$folder/$1@"*; do mv "$file" "${file/@/-}"; done
}

# Prints the path of each declaration of module $1 that has no summary or is in no topic group.
#
# DocC's coverage report has these two keys once for each declaration, in any order. The topic groups that it reports
# include those that DocC generates, so the pages of the catalog are searched for the declarations. Protocol
# requirements are documented at the protocol, and so are their default implementations, whose path is the requirement's
# with a suffix.
list_gaps() {
    grep -oE '"(hasAbstract|referencePath)":("[^"]*"|true|false)' \
        "$work/$1.doccarchive/documentation-coverage.json" | paste -d ' ' - - | tr -d '\\' |
        sed -E 's/"referencePath":"doc:[^"]*\/documentation\/([^"]*)"/path=\1/' |
        awk -v module="$1" '
            function inherits(path) {
                return path ~ /\/(description|debugDescription|unownedExecutor|errorDescription|recoverySuggestion|hash\(into:\))$/ ||
                    path ~ /\/(init\((rawValue|stringLiteral|dictionaryLiteral):\)|==\(_:_:\))$/
            }
            FNR == NR {
                if (/^##? /) isInTopics = $0 == "## Topics"
                isTitle = sub(/^# ``/, "")
                isArticle = isInTopics && sub(/^- <doc:/, "") && sub(/>$/, "")
                if (!isTitle && !isArticle && !(isInTopics && sub(/^- ``/, ""))) next
                sub(/``$/, "")
                if (isTitle && $0 == module) page = module
                else {
                    sub("^" module "/", "")
                    # Paths contain no angle brackets, as in the names of operators.
                    gsub(/[<>]/, "_")
                    if (isTitle) page = module "/" $0
                    else grouped[page "/" $0] = 1
                    # The abstracts of articles do not count as summaries.
                    if (isArticle) summarized[page "/" $0] = 1
                }
                next
            }
            {
                match($0, /path=[^ ]*/)
                path = substr($0, RSTART + 5, RLENGTH - 5)
                if (path ~ /-(Implementations|Members)$/ || path !~ "^" module "/") next
                declared[path] = 1
                if (/"hasAbstract":true/) summarized[path] = 1
            }
            END {
                for (path in declared) {
                    requirement = path
                    if (sub(/-[0-9a-z]+$/, "", requirement) && requirement in declared) continue
                    if (!summarized[path] && !inherits(path)) print "  " path " has no summary"
                    if (!grouped[path]) print "  " path " is in no topic group"
                }
            }' <(cat "$work/$1.docc/$1.md" "$work/$1.docc/Extensions/"*.md) - | sort
}

# Converts the catalog of module $1, with the pages about the types of modules $2...
convert() {
    local module=$1 exported gaps catalog="$work/$1.docc"
    cp -R "Sources/$module/$module.docc" "$catalog"
    for exported in "${@:2}"; do cp "Sources/$exported/$exported.docc/Extensions/"*.md "$catalog/Extensions/"; done
    docc convert "$catalog" --additional-symbol-graph-dir "$work/symbols/$module" --output-dir "$work/$module.doccarchive" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" --fallback-default-module-kind Library \
        --warnings-as-errors --experimental-documentation-coverage --coverage-summary-level none >"$work/conversion" || {
        cat "$work/conversion"
        return 1
    }
    gaps=$(list_gaps "$module")
    if [[ -n $gaps ]]; then
        printf '%s\n' "The documentation of $module has gaps:" "$gaps" >&2
        return 1
    fi
}

for module in ImageCodecs ImageEncoders ImageFormatAVIF ImageFormatHEIC ImageFormatJPEGXL ImageFormatTIFF ImageFormatSVG ImageProcessing LoopbackOrigin; do
    extract_symbols "$module"
    convert "$module"
done
for module in AsyncWebImage HTTPSemantics HTTPTransport ImageCodecs ResponseCache; do
    extract_symbols "$module" AsyncWebImage
done
convert AsyncWebImage ImageCodecs

rm -rf "$site"
docc merge "$work/AsyncWebImage.doccarchive" "$work"/{ImageCodecs,ImageEncoders,ImageFormatAVIF,ImageFormatHEIC,ImageFormatJPEGXL,ImageFormatTIFF,ImageFormatSVG,ImageProcessing,LoopbackOrigin}.doccarchive \
    --synthesized-landing-page-name async-web-image --output-path "$site"
echo "The site is in $site; index.html is in $site/documentation."
