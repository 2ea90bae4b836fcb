#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the accuracy table of README.md from `stepcast validate --json`.

Usage: accuracy_table.py PROGRAM README

The table stands between the lines <!-- accuracy --> and <!-- /accuracy -->; best data sets first.
"""
import json
import subprocess
import sys

TITLES = {
    "bigscience_1b3_v100": "BigScience 1.3B, V100",
    "bloom_176b_topology_benchmarks": "BLOOM 176B sweeps, A100",
    "hf_nanotron_best_configs": "nanotron, H100",
    "ibm_fms_fsdp_llama2": "IBM FMS FSDP",
    "internevo_7b_scaling": "InternEvo 7B, A100",
    "korthikanti2022_table5": "Korthikanti 2022 table 5",
    "llmfoundry_a100_40gb_with_1600_gbps_node_node_interconnect_roce": "LLM Foundry, A100-40",
    "llmfoundry_h100_80gb_bf16": "LLM Foundry, H100",
    "megatron_lm_golden_release_scale": "Megatron-LM release runs",
    "megatron_lm_golden_small": "Megatron-LM golden values, tiny models",
    "megatron_readme_2020_09": "Megatron README 2020",
    "megatron_sc21_table1": "Megatron SC21 table 1",
    "mlperf_training_gpt3_llama405b": "MLPerf GPT-3 and Llama 405B, H100, fp8",
    "mt_nlg_530b": "MT-NLG 530B",
    "nvidia_automodel_h100_bf16": "NVIDIA AutoModel, H100",
    "nvidia_dgxc_benchmarking": "NVIDIA DGXC, H100",
    "nvidia_dgxc_gpt3_175b_h100": "NVIDIA DGXC GPT-3, H100",
    "nvidia_megatron_bridge_perf_summary": "NVIDIA Megatron Bridge, H100 to GB300",
    "nvidia_nemo_24_07_perf": "NVIDIA NeMo 24.07, H100, fp8",
    "nvidia_nemo_launcher_24_05_perf": "NVIDIA NeMo Launcher 24.05, H100, fp8",
    "simumax_b200_v1_2": "SimuMax, 8 x B200",
    "torchtitan_a100_2024_04": "torchtitan, A100",
    "torchtitan_asynctp_h100_2025_06": "torchtitan, asynchronous tensor parallelism, H100",
    "torchtitan_h100_2024_12": "torchtitan, H100",
    "vtrain_ground_truth_multi": "vTrain multi-node, A100",
    "vtrain_ground_truth_single": "vTrain single-node, tiny batches",
    "zero_bubble_table4": "zero bubble table 4",
}


def percent(value, sign=False):
    return "" if value is None else f"{100 * value:{'+' if sign else ''}.1f} %"


def line(data):
    run = sum(1 for row in data["rows"] if row["status"] != "unsupported")
    title = TITLES.get(data["name"], data["name"])
    cells = [f"{title} ({run} of {len(data['rows'])})", percent(data["mape"]),
             percent(data["median"], True), percent(data["worst"]), percent(data["memory_mape"])]
    return "| " + " | ".join(cells) + " |"


def main():
    program, readme = sys.argv[1:]
    answer = json.loads(subprocess.run([program, "validate", "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    scored = [d for d in answer["datasets"] if d["mape"] is not None or d["memory_mape"] is not None]
    scored.sort(key=lambda d: (d["mape"] is None, d["mape"] or 0, d["name"]))
    table = ["| data set (rows run of rows) | step time, mean abs. error | median | worst | memory |",
             "| --- | --: | --: | --: | --: |", *map(line, scored),
             f"| **mean of the data sets** | **{percent(answer['mape'])}** |  |  | "
             f"**{percent(answer['memory_mape'])}** |"]
    text = open(readme, encoding="utf-8").read()
    before, rest = text.split("<!-- accuracy -->\n")
    after = rest.split("<!-- /accuracy -->\n")[1]
    with open(readme, "w", encoding="utf-8") as out:
        out.write(before + "<!-- accuracy -->\n" + "\n".join(table) + "\n<!-- /accuracy -->\n" + after)


if __name__ == "__main__":
    main()
