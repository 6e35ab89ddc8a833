#!/usr/bin/env bash
#SBATCH --job-name=webimage
#SBATCH --array=0-63
#SBATCH --cpus-per-task=4
#SBATCH --mem=2G
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
# Downloads a list of URLs as an array of Slurm jobs: job i of n writes the shards i, i + n, i + 2n, and so on. A job
# that is preempted is requeued. Complete shards are skipped, so the same command continues a run that a time limit
# interrupted.
#
#     sbatch slurm_array.sh urls.txt /shared/images
set -euo pipefail

usage="usage: sbatch $0 LIST FOLDER [OPTION...]"
list=${1:?$usage} folder=${2:?$usage}
shift 2
[ $# -gt 0 ] || set -- --max-pixel-size=256 --rate=10 --public-only
# exec: Slurm's signal must reach webimage, which then shuts down gracefully.
exec "${WEBIMAGE:-webimage}" batch --input "$list" --output "$folder" \
    --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" "$@"
