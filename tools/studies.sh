#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every sweep of scenarios/studies anew, draws docs/studies/*.svg and writes the tables of docs/studies.md.
#   tools/studies.sh [PROGRAM] [FOLDER]
# Stores and CSV tables go to FOLDER (default: build/studies), which is emptied of them first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-build/stepcast}
folder=${2:-build/studies}
pictures=docs/studies
mkdir -p "$folder" "$pictures"
rm -f "$folder"/*.sqlite "$folder"/*.csv "$pictures"/*.svg

for sweep in scenarios/studies/*.yaml; do
  study=$(basename "$sweep" .yaml)
  "$program" sweep "$sweep" --store "$folder/$study.sqlite" --csv "$folder/$study.csv" --quiet --output /dev/null
done

# picture STUDY NAME [OPTION…]: draws docs/studies/STUDYNAME.svg.
picture() {
  "$program" sweep plot "$folder/$1.sqlite" --output "$pictures/$1$2.svg" "${@:3}"
}

ndr="cluster.fabric == 'ndr-rail-fat-tree'"
per_gpu="training.global_batch == 4 * cluster.gpus"
picture scaling-data -weak --along cluster.gpus --by cluster.fabric --where "$per_gpu" --relative --band 85 95
picture scaling-data -strong --along cluster.gpus --by cluster.fabric --where "training.global_batch == 4096" --relative --band 85 95
picture scaling-data -breakdown --along training.global_batch --by cluster.fabric --where "cluster.gpus == 1024"
picture scaling-tensor -degree --along plan.tensor --by model --relative \
  --where "cluster.gpus == plan.tensor and $per_gpu" --band 75 85
picture scaling-tensor -strong --along cluster.gpus --by plan.tensor --figure step_time_s \
  --where "model == 'llama3-70b' and cluster.gpus >= 64 and training.global_batch == 1024"
picture scaling-pipeline -depth --along plan.pipeline --by name --relative --band 80 90 \
  --where "cluster.gpus == 8 * plan.pipeline and training.global_batch == 128"
picture scaling-pipeline -strong --along cluster.gpus --by name --relative --band 80 90 \
  --where "plan.pipeline == 8 and cluster.gpus >= 64 and training.global_batch == 2048"
picture scaling-zero -weak --along cluster.gpus --by name --where "$per_gpu and $ndr" --relative
picture scaling-zero -strong --along cluster.gpus --by name --where "training.global_batch == 2048 and $ndr" --relative
for attention in flash unfused; do
  picture recompute-policies -$attention --along name --by model --figure peak_bytes --against step_time_s --relative \
    --where "software.attention == '$attention'"
done
picture gpt3-10000-v100 "" --along cluster.gpus --by name --figure tokens_per_s
picture claims-zero3-memory "" --along cluster.gpus --by plan.zero --figure peak_bytes --where "name == '16 bytes per parameter'"

python3 tools/studies_tables.py "$folder" docs/studies.md
