#!/usr/bin/env bash
# Downloads one part of a list of URLs: part INDEX, from 0, of COUNT parts of about the same size. The images become
# FOLDER/INDEX.tar for WebDataset, and the records of all lines FOLDER/INDEX.jsonl. Does nothing if they exist, so that
# it can be repeated until all parts are there.
#
#     part.sh urls.txt images 3 64 --max-pixel-size=256
#
# The list has a URL or a JSON object per line. Further arguments are options of `webimage batch`.
set -euo pipefail

usage="usage: $0 LIST FOLDER INDEX COUNT [OPTION...]"
list=${1:?$usage} folder=${2:?$usage} index=${3:?$usage} count=${4:?$usage}
shift 4
name=$folder/$(printf %05d "$index")
[ ! -e "$name.tar" ] || exit 0
mkdir -p "$folder"

# --sharers: each process takes its part of --rate and --per-host, since all work at the same time.
split -n "l/$((index + 1))/$count" "$list" |
    "${WEBIMAGE:-webimage}" batch --input - --output - --stream tar --log "$name.jsonl.part" \
        --sharers "$count" "$@" >"$name.tar.part" &
child=$!
# A scheduler that takes the machine away sends SIGTERM. webimage then ends in order, and the part is repeated later.
trap 'kill -TERM "$child"' TERM
status=0
wait "$child" || status=$?
# A signal ends the wait, but not the process.
while kill -0 "$child" 2>/dev/null; do wait "$child" || status=$?; done
[ "$status" -eq 0 ] || exit "$status"
mv "$name.jsonl.part" "$name.jsonl"
# The last one: it says that the part is complete.
mv "$name.tar.part" "$name.tar"
