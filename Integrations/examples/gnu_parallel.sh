#!/usr/bin/env bash
# Downloads a list of URLs with several processes, started by GNU parallel. Each process takes the next shard that is
# neither complete nor being written by another one, until none is left; a process that fails is repeated. One webimage
# uses all processors of a machine, so add --sshlogin to use several machines that share LIST and FOLDER.
#
#     gnu_parallel.sh urls.txt images 2
set -euo pipefail

usage="usage: $0 LIST FOLDER PROCESSES [OPTION...]"
list=${1:?$usage} folder=${2:?$usage} processes=${3:?$usage}
shift 3
[ $# -gt 0 ] || set -- --max-pixel-size=256 --rate=10 --public-only
# --sharers: each process takes its part of --rate and --per-host, because all work at the same time.
seq "$processes" | parallel --max-args 0 --jobs "$processes" --retries 3 \
    "${WEBIMAGE:-webimage}" batch --input "$list" --output "$folder" --sharers "$processes" "$@"
