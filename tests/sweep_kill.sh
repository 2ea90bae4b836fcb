#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A sweep that is killed fifty times, at any moment, and goes on each time, ends with what one has
# that was left alone: byte for byte. Where it ends before, it begins anew.
# Usage: sweep_kill.sh PROGRAM FOLDER [KILLS]
set -euo pipefail
program=$1 folder=$2 kills=${3:-50}
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
cat > sweep.yaml <<'YAML'
base:
  model: llama3-8b
  cluster: {node: dgx-a100-80gb, nodes: 1}
  training: {sequence_length: 1024, global_batch: 64}
vary:
  cluster.nodes: [1, 2, 4]
  training.sequence_length: {from: 256, to: 1024, step: 128}
  plan.tensor: [1, 2, 3, 4, 8]
  plan.zero: [0, 1, 2, 3]
  plan.recompute: [none, selective, full]
YAML
"$program" sweep sweep.yaml --store alone.sqlite --quiet > /dev/null
"$program" sweep export alone.sqlite --output alone.csv
"$program" sweep export alone.sqlite --json --output alone.json

finished=0
for ((kill = 0; kill < kills; ++kill)); do
  "$program" sweep sweep.yaml --store killed.sqlite --quiet > /dev/null 2> errors &
  pid=$!
  sleep "0.$(printf '%03d' $((RANDOM % 150 + 5)))"
  kill -9 "$pid" 2> /dev/null || true
  if wait "$pid" 2> /dev/null; then
    "$program" sweep export killed.sqlite | cmp - alone.csv
    rm killed.sqlite*
    finished=$((finished + 1))
  elif [[ -s errors ]]; then
    cat errors >&2
    exit 1
  fi
done
"$program" sweep sweep.yaml --store killed.sqlite --quiet > /dev/null
"$program" sweep export killed.sqlite --output killed.csv
"$program" sweep export killed.sqlite --json --output killed.json
cmp alone.csv killed.csv
cmp alone.json killed.json
echo "$kills kills, $finished sweeps finished between them: nothing lost"
