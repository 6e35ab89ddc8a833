#!/usr/bin/env bash
# Type-checks every Swift sample of the documents and of the documentation comments against the modules that have been
# built into a folder (the argument), with the package traits turned on.
#
# The samples of a document are checked as one asynchronous throwing function, each nested in the scope of the previous
# ones, so that it can use and redeclare their names. A sample with @main, @Test, an extension, or a protocol is checked
# outside of functions.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:?usage: $0 BUILD_FOLDER}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

options=(-swift-version 6 -parse-as-library -suppress-warnings -module-cache-path "$work/modules")
options+=(-plugin-path "$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift/host/plugins/testing")
mapfile -t imports < <(Scripts/import-options.sh "$build")

# Prints the samples of document $1 as a Swift file, or nothing if it has none. The compiler reports the lines of the
# document.
extract() {
    awk -v path="$1" '
        # In Swift files, samples are in documentation comments.
        path ~ /\.swift$/ {
            if (sub(/^ *\/\/\/ ?/, "") == 0) $0 = ""
        }
        !inside && /^```swift( |$)/ {
            inside = 1
            sample = ""
            outer = 0
            first = NR + 1
            next
        }
        inside && /^```/ {
            inside = 0
            count++
            sample = "#sourceLocation(file: \"" path "\", line: " first ")\n" sample "#sourceLocation()\n"
            if (outer) outside = outside sample
            else {
                nested = nested "do {\n" sample
                depth++
            }
            next
        }
        inside {
            if (/^import /) {
                imports[$0] = 1
                $0 = ""
            }
            if (/^(@main|extension |protocol )/ || /^ *@(Test|Suite)/) outer = 1
            sample = sample $0 "\n"
        }
        END {
            if (!count) exit
            for (line in imports) print line
            # Documentation comments need not import the module that they are part of, nor those around it.
            if (path ~ /\.swift$/) print "import AsyncWebImage\nimport HTTPTransport\nimport ImageCodecs\nimport ImageProcessing\nimport ResponseCache\nimport LoopbackOrigin\nimport ServiceLifecycle"
            printf "%s", outside
            if (!depth) exit
            print "func samples() async throws {"
            printf "%s", nested
            for (; depth; depth--) print "}"
            print "}"
        }' "$1"
}

documents=0 failed=0
while IFS= read -r document; do
    extract "$document" >"$work/samples.swift"
    [[ -s $work/samples.swift ]] || continue
    documents=$((documents + 1))
    context=()
    [[ $document != *.swift ]] || context=(Tests/Samples/Context.swift)
    swiftc -typecheck -module-name Samples "${options[@]}" "${imports[@]}" "$work/samples.swift" "${context[@]}" || {
        failed=$((failed + 1))
        echo "A sample of $document does not compile." >&2
    }
done < <({
    ls ./*.md
    find Docs Sources -name '*.md'
    grep -rl --include='*.swift' '/// ```swift' Sources
} | sed 's|^\./||' | sort)

echo "The samples of $documents documents were checked; $failed documents have samples that do not compile."
[[ $failed -eq 0 ]]
