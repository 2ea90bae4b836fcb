#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares what two programs answer, byte for byte but for wall_s: every example, every published run.
#   tools/same_bytes.sh PROGRAM OTHER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# answers PROGRAM FOLDER
answers() {
  local program=$1 folder=$2 file name
  mkdir "$folder"
  for file in scenarios/examples/*.yaml; do
    name=$(basename "$file" .yaml)
    case $name in
      purchase-*) "$program" purchase "$file" --json --quiet ;;
      *-search-*) continue ;;  # minutes; tests search small problems
      *) "$program" simulate "$file" --json --quiet ;;
    esac >"$folder/$name.json"
  done
  "$program" validate --json --quiet >"$folder/validate.json"
  "$program" sweep scenarios/studies/scaling-tensor.yaml --store "$folder/s.sqlite" \
    --csv "$folder/sweep.csv" --quiet >/dev/null
  rm "$folder/s.sqlite"
  sed -i -E 's/"wall_s": ?[-+.0-9e]+/"wall_s": 0/g' "$folder"/*.json
}

answers "$1" "$work/one" &
answers "$2" "$work/other" &
wait -n
wait -n
diff -r "$work/one" "$work/other"
echo "the same bytes from both: $(find "$work/one" -type f | wc -l) answers"
