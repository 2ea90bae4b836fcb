#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the answers of two programs, byte for byte but for wall_s: every example, every published run.
#   tools/same_bytes.sh PROGRAM OTHER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{one,other}

# answer PROGRAM FOLDER QUESTION: answers a scenario, a purchase, a sweep, or all published runs.
answer() {
  local program=$1 folder=$2 question=$3 name
  name=$(basename "$question" .yaml)
  case $question in
    validate) "$program" validate --json --quiet >"$folder/validate.json" ;;
    scenarios/studies/*)
      "$program" sweep "$question" --store "$folder.sqlite" --csv "$folder/sweep.csv" --quiet >/dev/null ;;
    */purchase-*) "$program" purchase "$question" --json --quiet >"$folder/$name.json" ;;
    *) "$program" simulate "$question" --json --quiet >"$folder/$name.json" ;;
  esac
}
export -f answer

# Purchases take longest and come first. Searches take minutes, and tests search small problems.
questions=(scenarios/examples/purchase-*.yaml validate scenarios/studies/scaling-tensor.yaml)
for file in scenarios/examples/*.yaml; do
  [[ $file == *-search-* || $file == */purchase-* ]] || questions+=("$file")
done
for question in "${questions[@]}"; do
  printf '%s\0' "$2" "$work/other" "$question" "$1" "$work/one" "$question"
done | xargs -0 -n 3 -P "$(nproc)" bash -c 'answer "$@"' answer
sed -i -E 's/"wall_s": ?[-+.0-9e]+/"wall_s": 0/g' "$work"/{one,other}/*.json
diff -r "$work/one" "$work/other"
echo "the same bytes from both: $(find "$work/one" -type f | wc -l) answers"
