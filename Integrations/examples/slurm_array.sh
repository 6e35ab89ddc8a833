#!/usr/bin/env bash
#SBATCH --job-name=webimage
#SBATCH --array=0-63
#SBATCH --cpus-per-task=4
#SBATCH --mem=2G
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
# Downloads a list of URLs as an array of Slurm jobs, one part each. A job that is preempted or fails is requeued; parts
# that are complete are skipped, so the same command completes what a time limit has cut off.
#
#     sbatch slurm_array.sh urls.txt /shared/images
set -euo pipefail

usage="usage: sbatch $0 LIST FOLDER [OPTION...]"
list=${1:?$usage} folder=${2:?$usage}
shift 2
[ $# -gt 0 ] || set -- --max-pixel-size=256 --rate=10 --public-only
# Slurm runs a copy of this file, so the folder of the examples is the one of the submission.
exec "${SLURM_SUBMIT_DIR:-.}/part.sh" "$list" "$folder" "$SLURM_ARRAY_TASK_ID" "$SLURM_ARRAY_TASK_COUNT" "$@"
