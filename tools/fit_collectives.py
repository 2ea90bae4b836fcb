#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the costs of a generation of nodes, or of a fabric, beyond NCCL's own table.

Usage: fit_collectives.py PROGRAM [GROUP...]

PROGRAM is the stepcast binary. For each group of tables in scenarios/collectives every combination
of a few values is tried (`validate collectives TABLE... --set KEY=VALUE`); printed are the best
ones, judged by the worse of the errors from 32 MiB up over 8 % and below over 15 %, in the worst of
the tables. Nothing is written: the values go by hand to topology/collective_constants.hpp
(generations) and scenarios/catalog (machines and fabrics), rounded, because tables of other
machines will differ by more than the last digit.
"""
import itertools
import json
import subprocess
import sys

LAUNCH, RAMP = "cluster.node.nvlink.launch", "cluster.node.nvlink.ramp"
FABRIC = "cluster.fabric."


def times(values):
    return [f"{value} us" for value in values]


GROUPS = {
    "volta": (["v100_1x8_allreduce_oci", "vtrain_v100_allreduce"],
              {LAUNCH: times(range(0, 21, 2)), RAMP: [0, 0.1, 0.2, 0.4, 0.6]}),
    "ampere": (["a100_1x8_allreduce_stas", "vtrain_a100_allreduce"],
               {LAUNCH: times(range(0, 21, 2)), RAMP: [0, 0.2, 0.3, 0.4, 0.5, 0.6]}),
    "hopper": (["h100_1x8_allreduce_aws", "nvidia_dgxh100_1n_allreduce", "h200_1x8_bygpus_stas",
                "h200_1x8_collectives_stas"],
               {LAUNCH: times(range(0, 11)), RAMP: [0.2, 0.4, 0.6, 1.1, 1.3]}),
    "blackwell": (["b200_1x8_allreduce_stas", "azure_gb300_nvl72_expected"],
                  {LAUNCH: times(range(0, 11)), RAMP: [0.2, 0.4, 0.6, 1.1, 1.4]}),
    "xgmi": (["mi350x_1x8_allreduce"],
             {LAUNCH: times(range(0, 13)), RAMP: [0.6, 0.8, 1.0, 1.2, 1.5]}),
    "roce": (["a100_2x8_allreduce_roce_oci"], {FABRIC + "ramp": [0.4, 0.7, 1.0]}),
    "efa": (["a100_2x8_allreduce_efa_aws", "h100_2x8_allreduce_efa_eks_aws"],
            {FABRIC + "latency": times([5, 10, 20, 40]), FABRIC + "launch": times(range(60, 141, 10)),
             FABRIC + "ramp": [1, 2, 3, 4], FABRIC + "efficiency": [0.9, 0.95]}),
}


def errors(program, tables, sets):
    command = [program, "validate", "collectives", *tables, "--json"]
    for key, value in sets.items():
        command += ["--set", f"{key}={value}"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [(table["from_32_mib"]["mape"], table["below_32_mib"]["mape"])
            for table in answer["datasets"]]


def misfit(table):
    large, small = table
    return max((large or 0) / 0.08, (small or 0) / 0.15)


def main():
    program, *wanted = sys.argv[1:]
    for name in wanted or GROUPS:
        tables, grid = GROUPS[name]
        tried = []
        for values in itertools.product(*grid.values()):
            sets = dict(zip(grid, values))
            found = errors(program, tables, sets)
            each = [misfit(table) for table in found]
            tried.append((max(each), sum(each), sets, found))
        tried.sort(key=lambda trial: trial[:2])
        print(f"{name}: {', '.join(tables)}")
        for worst, _, sets, found in tried[:5]:
            words = " ".join(f"{key.split('.')[-1]}={value}" for key, value in sets.items())
            shown = " ".join(f"{100 * (large or 0):.1f}/{100 * (small or 0):.1f}"
                             for large, small in found)
            print(f"  {worst:.2f}  {words}  {shown}")


if __name__ == "__main__":
    main()
