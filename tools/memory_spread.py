#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the errors of forecasts of memory into the program, from `stepcast validate --json`.

Usage: memory_spread.py PROGRAM forecast/accuracy/memory_spread.cpp

The table has the shares of the published runs whose measured bytes are at most so many times those
that were forecast, each data set having one vote. It stands between `constexpr std::array measured{`
and `};`.
"""
import json
import re
import subprocess
import sys

SHARES = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1]


def ratios(answer):
    """Measured over forecast bytes, with the weight of the run; the numbers of runs and data
    sets that have any."""
    weighted, runs, datasets = [], 0, 0
    for data in answer["datasets"]:
        some = [row["measured_bytes"] / row["predicted_bytes"] for row in data["rows"]
                if row.get("measured_bytes") and row.get("predicted_bytes")]
        weighted += [(ratio, 1 / len(some)) for ratio in some]
        runs += len(some)
        datasets += 1 if some else 0
    return sorted(weighted), runs, datasets


def quantile(weighted, share):
    wanted, below = share * sum(weight for _, weight in weighted), 0
    for ratio, weight in weighted:
        below += weight
        if below >= wanted - 1e-12:
            return ratio
    return weighted[-1][0]


def main():
    program, file = sys.argv[1:]
    answer = json.loads(subprocess.run([program, "validate", "--json", "--quiet"], check=True,
                                       capture_output=True, text=True).stdout)
    weighted, runs, datasets = ratios(answer)
    entries = [f"    Share{{{quantile(weighted, share):.3f}, {share}}}," for share in SHARES]
    text = open(file, encoding="utf-8").read()
    text = re.sub(r"(constexpr std::array measured\{\n).*?(\};)",
                  lambda found: found[1] + "\n".join(entries) + "\n" + found[2], text, flags=re.S)
    text = re.sub(r"\d+ runs of \d+ data sets", f"{runs} runs of {datasets} data sets", text)
    open(file, "w", encoding="utf-8").write(text)


if __name__ == "__main__":
    main()
