#!/usr/bin/env bash
# Downloads a list of URLs with GNU parallel, in parts that are repeated if they fail. One webimage uses all processors
# of a machine, so that two jobs are enough here; --sshlogin spreads the parts over machines that share FOLDER.
#
#     gnu_parallel.sh urls.txt images 16
set -euo pipefail

usage="usage: $0 LIST FOLDER PARTS [OPTION...]"
list=${1:?$usage} folder=${2:?$usage} parts=${3:?$usage}
shift 3
[ $# -gt 0 ] || set -- --max-pixel-size=256 --rate=10 --public-only
mkdir -p "$folder"
seq 0 $((parts - 1)) | parallel --jobs 2 --retries 3 --joblog "$folder/joblog" \
    "$(dirname "$0")/part.sh" "$list" "$folder" {} "$parts" "$@"
