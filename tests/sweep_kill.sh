#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A sweep that is killed fifty times, at any moment, and goes on each time, ends with the results of
# one that was left alone, byte for byte. If it ends before, it begins anew. After each kill the store
# is read, and is sound, or says that it holds nothing yet. With STEPCAST_LONG=1 in the environment
# there are a thousand kills over three grids: of 1,260 points, of 8,112 points, of 24 searches.
# Usage: sweep_kill.sh PROGRAM FOLDER [KILLS]
set -euo pipefail
program=$1 folder=$2
long=${STEPCAST_LONG:-}
kills=${3:-${long:+1000}}
kills=${kills:-50}
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
base="
  model: llama3-8b
  cluster: {node: dgx-a100-80gb, nodes: 1}
  training: {sequence_length: 1024, global_batch: 64}"
cat > small.yaml <<YAML
base: $base
vary:
  cluster.nodes: [1, 2, 4]
  training.sequence_length: {from: 256, to: 1024, step: 128}
  plan.tensor: [1, 2, 3, 4, 8]
  plan.zero: [0, 1, 2, 3]
  plan.recompute: [none, selective, full]
YAML
cat > large.yaml <<YAML
base: $base
vary:
  cluster.nodes: [1, 2, 4]
  training.sequence_length: {from: 16, to: 1024, step: 6}
  plan.tensor: [1, 2, 4, 8]
  plan.zero: [0, 1]
  plan.recompute: [none, full]
YAML
cat > searched.yaml <<YAML
mode: search
base: $base
  search: {zero: [0, 1], pipeline: [1, 2]}
vary:
  cluster.nodes: [1, 2]
  training.sequence_length: [512, 1024, 2048, 4096]
  plan.tensor: [1, 2, 4]
YAML

# The complaints of a store that was killed before its first commit, or while it was closed.
early='no such file|the file is empty|holds no finished point|killed in the middle of a change'

check_store() {
  "$program" sweep status "$1" > status 2>&1 || grep -Eq "$early" status || { cat status; exit 1; }
}

# kill_sweep GRID KILLS: kills a sweep so many times, checks its store after each, and compares its
# end.
kill_sweep() {
  local grid=$1 kills=$2 kill pid finished=0
  "$program" sweep "$grid.yaml" --store alone.sqlite --quiet > /dev/null
  "$program" sweep export alone.sqlite --output alone.csv
  "$program" sweep export alone.sqlite --json --output alone.json
  for ((kill = 0; kill < kills; ++kill)); do
    "$program" sweep "$grid.yaml" --store killed.sqlite --quiet > /dev/null 2> errors &
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
    else
      check_store killed.sqlite
    fi
  done
  "$program" sweep "$grid.yaml" --store killed.sqlite --quiet > /dev/null
  "$program" sweep export killed.sqlite --output killed.csv
  "$program" sweep export killed.sqlite --json --output killed.json
  cmp alone.csv killed.csv
  cmp alone.json killed.json
  rm -f alone.sqlite* killed.sqlite*
  echo "$grid: $kills kills, $finished sweeps finished between them: nothing lost"
}

if [[ -z $long ]]; then
  kill_sweep small "$kills"
else
  kill_sweep small $((kills - 2 * (kills / 3)))
  kill_sweep large $((kills / 3))
  kill_sweep searched $((kills / 3))
fi
