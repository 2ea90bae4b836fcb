#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Condenses a table of measured expert layers (docs/rates.md) to the time of the fullest rank's layer
over that of a balanced one: tools/expert_skew.py TABLE.csv > tests/plans/expert_skew.csv"""
import collections
import csv
import statistics
import sys

LAYER = ("device", "kernel", "dtype", "tokens", "hidden", "expert_ffn", "topk", "experts", "ep")


def main(path):
    times = collections.defaultdict(dict)
    with open(path, newline="") as table:
        for row in csv.DictReader(table):
            times[tuple(row[key] for key in LAYER)][row["distribution"]] = float(row["time_us"])
    ratios = collections.defaultdict(list)
    for layer, by in times.items():
        if set(by) != {"balanced", "power_law_1.2"}:
            continue
        of = dict(zip(LAYER, layer))
        if int(of["ep"]) not in (8, 16, 32) or int(of["tokens"]) not in (4096, 16384):
            continue
        ratio = by["power_law_1.2"] / by["balanced"]
        shape = tuple(int(of[key]) for key in ("tokens", "topk", "experts", "ep"))
        for kernel in ("all", "trtllm:cutlass"):
            if kernel in ("all", of["kernel"]):
                ratios[(kernel, *shape)].append(ratio)
    print("kernel,tokens,top_k,experts,ranks,layers,time_over_balanced")
    for key, found in sorted(ratios.items()):
        print(*key, len(found), f"{statistics.median(found):.3f}", sep=",")


if __name__ == "__main__":
    main(sys.argv[1])
