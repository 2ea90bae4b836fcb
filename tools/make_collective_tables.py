#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes scenarios/collectives/*.csv from published measurements.

Usage: make_collective_tables.py COLLECTIVES KERNELS

COLLECTIVES holds the nccl-tests sweeps as CSV, vtrain_allreduce_lut.csv and collectives_nccl.yaml;
KERNELS holds vidur_*_allreduce.csv. Long tables are thinned to about a dozen sizes for each number
of GPUs, the nearest to powers of two. Times are those out of place, in microseconds.
"""
import csv
import sys
from pathlib import Path

import yaml

TARGET = Path(__file__).resolve().parent.parent / "scenarios" / "collectives"
HEADER = ["collective", "nodes", "gpus", "size_bytes", "time_us", "nvls"]
SWEEPS = [
    "a100_1x8_allreduce_stas", "a100_2x8_allreduce_efa_aws", "a100_2x8_allreduce_roce_oci",
    "b200_1x8_allreduce_stas", "h100_1x8_allreduce_aws", "h100_2x8_allreduce_efa_eks_aws",
    "h200_1x8_bygpus_stas", "h200_1x8_collectives_stas", "mi350x_1x8_allreduce",
    "v100_1x8_allreduce_oci"]
VIDUR = ["a100_dgx", "a100_pairwise_nvlink", "h100_dgx", "h100_pairwise_nvlink"]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(name, rows):
    with open(TARGET / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEADER)
        out.writerows(rows)


def short(time):
    return f"{float(time):.6g}"


def thinned(rows, key, size):
    """The rows of each group that are nearest to powers of two, without repetition."""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    for group in groups.values():
        sizes = [int(size(row)) for row in group]
        chosen = []
        for power in range(0, 40):
            if not min(sizes) <= 2**power <= max(sizes):
                continue
            best = min(range(len(group)), key=lambda i: abs(sizes[i] - 2**power))
            if best not in chosen:
                chosen.append(best)
        yield from (group[i] for i in chosen)


def sweeps(folder):
    for name in SWEEPS:
        rows = []
        for row in rows_of(folder / f"{name}.csv"):
            nvls = "off" if "off" in row["note"] or row["note"] == "Ring" else ""
            rows.append([row["collective"], row["nodes"], row["gpus"], row["size_bytes"],
                         short(row["time_us"]), nvls])
        write(name, rows)


def vtrain(folder):
    for gpu in ("a100", "v100"):
        rows = [r for r in rows_of(folder / "vtrain_allreduce_lut.csv") if r["gpu"] == gpu]
        kept = thinned(rows, lambda r: int(r["gpus"]), lambda r: r["size_bytes"])
        write(f"vtrain_{gpu}_allreduce",
              [["all_reduce", 1, r["gpus"], r["size_bytes"], short(int(r["time_ns"]) / 1e3), ""]
               for r in kept])


def vidur(folder):
    for machine in VIDUR:
        # The network between these machines is not known.
        rows = [r for r in rows_of(folder / f"vidur_{machine}_allreduce.csv")
                if r["num_workers"] == r["devices_per_node"]]
        key = lambda r: (int(r["num_workers"]), int(r["devices_per_node"]))
        kept = thinned(rows, key, lambda r: r["size_bytes"])
        write(f"vidur_{machine}_allreduce",
              [["all_reduce", int(r["num_workers"]) // int(r["devices_per_node"]),
                r["num_workers"], r["size_bytes"], short(r["median_us"]), ""] for r in kept])


def series(folder):
    """The series that no CSV repeats."""
    with open(folder / "collectives_nccl.yaml", encoding="utf-8") as file:
        rows = {row["id"]: row for row in yaml.safe_load(file)["rows"]}
    dgx = rows["nvidia_dgxh100_1n_allreduce"]["points"]
    write("nvidia_dgxh100_1n_allreduce",
          [["all_reduce", 1, 8, p["bytes"], short(p["time_us"]), ""] for p in dgx])
    galvatron = []
    for point in rows["galvatron_sp_time_1nodes_8gpus_per_node"]["points"]:
        kind, _, gpus, size, _ = point["key"].split("_")
        name = {"allreduce": "all_reduce", "all2all": "all_to_all"}[kind]
        galvatron.append([name, 1, gpus, int(size.removesuffix("MB")) << 20,
                          short(point["value"] * 1e3), ""])
    write("galvatron_sp_time_1n", galvatron)
    azure = []
    for point in rows["azure_sku_baseline"]["points"]:
        if point.get("scope") == "intra-rack MNNVL (72)":
            time = point["bytes"] * 2 * 71 / 72 / point["busbw_GBps"] / 1e3
            azure.append(["all_reduce", 1, 72, point["bytes"], short(time), ""])
    write("azure_gb300_nvl72_expected", azure)


def main():
    collectives, kernels = map(Path, sys.argv[1:3])
    sweeps(collectives)
    vtrain(collectives)
    vidur(kernels)
    series(collectives)


if __name__ == "__main__":
    main()
