#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of accuracy and of aims from `stepcast validate --json`.

Usage: accuracy_table.py PROGRAM docs/accuracy.md
       accuracy_table.py PROGRAM README.md --short

A table stands between the lines <!-- accuracy --> and <!-- /accuracy -->. It has the data sets in
the order of the times at which they joined, the best of each time first, then those on devices that
nothing is fitted to. The short one has kinds of runs instead: the mean of the data sets that have such
runs, and of their rows.
Between <!-- aims --> and <!-- /aims --> comes the table of tools/accuracy_aims.py, but in the short form.
"""
import json
import subprocess
import sys

from accuracy_aims import aims_table

TITLES = {
    "bigscience_1b3_v100": "BigScience 1.3B, V100",
    "bloom_176b_topology_benchmarks": "BLOOM 176B sweeps, A100",
    "hf_nanotron_best_configs": "nanotron, H100",
    "ibm_fms_fsdp_llama2": "IBM FMS FSDP",
    "internevo_7b_scaling": "InternEvo 7B, A100",
    "korthikanti2022_table5": "Korthikanti 2022 table 5",
    "llmfoundry_a100_40gb_with_1600_gbps_node_node_interconnect_roce": "LLM Foundry, A100-40",
    "llmfoundry_h100_80gb_bf16": "LLM Foundry, H100",
    "maxtext_gpu": "MaxText, Llama 2 7B, H100",
    "maxtext_tpu_tables": "MaxText, TPU v4 and v5e",
    "megatron_bridge_ablations": "Megatron Bridge, one changed flag a row, H100",
    "megatron_lm_golden_release_scale": "Megatron-LM release runs",
    "megatron_lm_golden_small": "Megatron-LM golden values, tiny models",
    "megatron_readme_2020_09": "Megatron README 2020",
    "megatron_sc21_table1": "Megatron SC21 table 1",
    "mlperf_training_gpt3_llama405b": "MLPerf GPT-3 and Llama 405B, H100, fp8",
    "mlperf_training_v5_1": "MLPerf v5.1, Llama 3.1 8B, H100 to GB200, MI350X",
    "mt_nlg_530b": "MT-NLG 530B",
    "nvidia_automodel_h100_bf16": "NVIDIA AutoModel, H100",
    "nvidia_dgxc_benchmarking": "NVIDIA DGXC, H100",
    "nvidia_dgxc_gpt3_175b_h100": "NVIDIA DGXC GPT-3, H100",
    "nvidia_megatron_bridge_perf_summary": "NVIDIA Megatron Bridge, H100 to GB300",
    "nvidia_nemo_24_07_perf": "NVIDIA NeMo 24.07, H100, fp8",
    "nvidia_nemo_launcher_24_05_perf": "NVIDIA NeMo Launcher 24.05, H100, fp8",
    "one_gpu_2026_11": "small models on one GPU, H100 and H200 (fitted to none)",
    "simumax_b200_v1_2": "SimuMax, 8 x B200",
    "torchao_float8_training": "torchao, Llama 3 8B, H100, B200, MI300X",
    "torchao_moe_scout": "torchao, Llama 4 Scout, B200 and GB200",
    "torchtitan_a100_2024_04": "torchtitan, A100",
    "torchtitan_asynctp_h100_2025_06": "torchtitan, asynchronous tensor parallelism, H100",
    "torchtitan_h100_2024_12": "torchtitan, H100",
    "torchtitan_nvfp4_b200": "torchtitan, 8B models, 4 x B200",
    "tpu_trillium_recipes": "MaxText, TPU v6e",
    "vtrain_ground_truth_multi": "vTrain multi-node, A100",
    "vtrain_ground_truth_single": "vTrain single-node, tiny batches",
    "zero_bubble_table4": "zero bubble table 4",
}


def percent(value, sign=False):
    return "" if value is None else f"{100 * value:{'+' if sign else ''}.1f} %"


def row(title, errors):
    cells = [title, percent(errors["mape"]), percent(errors.get("median"), True),
             percent(errors.get("worst")), percent(errors["memory_mape"])]
    return "| " + " | ".join(cells) + " |"


def timed(data):  # rows of which the mean error of the step time is made
    return [one for one in data["rows"]
            if one["time_counts"] and one["device_fitted"] and one["error"] is not None]


def line(data):  # a set without step times counts rows with an error of memory
    rows = timed(data) or [one for one in data["rows"] if one["memory_error"] is not None]
    return row(f"{TITLES.get(data['name'], data['name'])} ({len(rows)} of {len(data['rows'])})", data)


def mean(title, errors):
    memory = percent(errors["memory_mape"])
    return f"| **{title}** | **{percent(errors['mape'])}** |  |  | {f'**{memory}**' if memory else ''} |"


def scored(datasets):
    some = [d for d in datasets if d["mape"] is not None or d["memory_mape"] is not None]
    return sorted(some, key=lambda d: (d["mape"] is None, d["mape"] or 0, d["name"]))


def table_of(answer):
    lines = ["| data set (rows with an error, of all) | step time, mean abs. error | median | worst | memory |",
             "| --- | --: | --: | --: | --: |"]
    for cohort in answer["cohorts"]:
        lines += map(line, scored(d for d in answer["datasets"] if d["added"] == cohort["added"]))
        if len(answer["cohorts"]) > 1:
            name = f"those added {cohort['added']}" if cohort["added"] else "the first"
            lines.append(mean(f"mean of {name}", cohort))
    lines.append(mean("mean of the data sets", answer))
    apart = [(d, d["devices_not_fitted"]) for d in answer["datasets"] if d["devices_not_fitted"]]
    for data, errors in sorted(apart, key=lambda one: (one[1]["mape"], one[0]["name"])):
        title = TITLES.get(data["name"], data["name"])
        lines.append(row(f"not fitted: {title} ({errors['rows']})", errors))
    return lines


def kind_of(regime):  # few runs on AMD's devices and TPUs are published
    family = regime.split()[0]
    return {"CDNA": "AMD's CDNA 3 and 4 dense", "TPU": "TPU"}.get(family, regime)


def name_of(regime):
    return regime.replace(" MoE", ", models with experts").replace(" dense", ", dense models")


def short_table_of(answer):
    kinds = {}  # errors by kind of run and data set
    for data in answer["datasets"]:
        for one in timed(data):
            errors = kinds.setdefault(kind_of(one["regime"][0]), {})
            errors = errors.setdefault(data["name"], [])
            errors.append(abs(one["error"]))
    lines = ["| kind of run | data sets | runs | step time, mean abs. error | memory |",
             "| --- | --: | --: | --: | --: |"]
    order = ["Volta", "Ampere", "Hopper", "Blackwell", "AMD's", "TPU"]
    for kind, sets in sorted(kinds.items(),
                             key=lambda one: (order.index(one[0].split()[0]), one[0])):
        means = [sum(errors) / len(errors) for errors in sets.values()]
        lines.append(f"| {name_of(kind)} | {len(sets)} | {sum(map(len, sets.values()))} | "
                     f"{percent(sum(means) / len(means))} |  |")
    for cohort in answer["cohorts"]:
        name = f"those added {cohort['added']}" if cohort["added"] else "the first data sets"
        sets = [d for d in answer["datasets"] if d["added"] == cohort["added"]]
        lines.append(f"| **mean of {name}** | {sum(1 for d in sets if timed(d))} | "
                     f"{sum(len(timed(d)) for d in sets)} | "
                     f"**{percent(cohort['mape'])}** | **{percent(cohort['memory_mape'])}** |")
    return lines


def main():
    program, page, *options = sys.argv[1:]
    answer = json.loads(subprocess.run([program, "validate", "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    text = open(page, encoding="utf-8").read()
    tables = {"accuracy": short_table_of(answer)} if "--short" in options else {
        "accuracy": table_of(answer), "aims": aims_table(answer)}
    for name, table in tables.items():
        before, rest = text.split(f"<!-- {name} -->\n")
        after = rest.split(f"<!-- /{name} -->\n")[1]
        text = f"{before}<!-- {name} -->\n" + "\n".join(table) + f"\n<!-- /{name} -->\n{after}"
    with open(page, "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    main()
