# SPDX-License-Identifier: Apache-2.0
"""The table of aims of docs/accuracy.md, from the answer of `stepcast validate --json`; tools/accuracy_table.py
writes it. An aim is the most, in per cent, that a mean absolute error should be."""
import statistics

NVIDIA = ("Volta", "Ampere", "Hopper", "Blackwell")  # families, the first word of a regime

# (data sets as people know them, aim of time, aim of memory, their names)
AIMS = [
    ("vTrain, multi-node, single-node", 8, None, ["vtrain_ground_truth_multi", "vtrain_ground_truth_single"]),
    ("Korthikanti table 5, SC21, MT-NLG, Megatron README", 5, None,
     ["korthikanti2022_table5", "megatron_sc21_table1", "mt_nlg_530b", "megatron_readme_2020_09"]),
    ("BLOOM, BigScience V100", 8, 6, ["bloom_176b_topology_benchmarks", "bigscience_1b3_v100"]),
    ("LLM Foundry A100-40, H100", 8, None,
     ["llmfoundry_a100_40gb_with_1600_gbps_node_node_interconnect_roce", "llmfoundry_h100_80gb_bf16"]),
    ("zero bubble table 4", 6, 6, ["zero_bubble_table4"]),
    ("torchtitan H100, nanotron", 9, 6, ["torchtitan_h100_2024_12", "hf_nanotron_best_configs"]),
    ("torchtitan A100, IBM FMS, InternEvo", 9, None,
     ["torchtitan_a100_2024_04", "ibm_fms_fsdp_llama2", "internevo_7b_scaling"]),
    ("torchtitan, asynchronous tensor parallelism", 9, None, ["torchtitan_asynctp_h100_2025_06"]),
    ("Megatron Bridge, DGXC, DGXC GPT-3", 9, None,
     ["nvidia_megatron_bridge_perf_summary", "nvidia_dgxc_benchmarking", "nvidia_dgxc_gpt3_175b_h100"]),
    ("NeMo 24.07, NeMo Launcher 24.05, MLPerf GPT-3, AutoModel", 9, None,
     ["nvidia_nemo_24_07_perf", "nvidia_nemo_launcher_24_05_perf", "mlperf_training_gpt3_llama405b",
      "nvidia_automodel_h100_bf16"]),
    ("SimuMax B200", 5, 2, ["simumax_b200_v1_2"]),
]
GOLDEN = ["megatron_lm_golden_small", "megatron_lm_golden_release_scale"]
ADDED = [
    ("MLPerf v5.1, NVIDIA's devices", "mlperf_training_v5_1"), ("torchtitan, 4 x B200", "torchtitan_nvfp4_b200"),
    ("torchao, Llama 3 8B, NVIDIA's devices", "torchao_float8_training"),
    ("torchao, Llama 4 Scout", "torchao_moe_scout"), ("Megatron Bridge, one changed flag a row", "megatron_bridge_ablations"),
    ("small models on one GPU", "one_gpu_2026_11"),
]


def percents(values):
    values = ["none" if value is None else f"{100 * value:.1f}" for value in values]
    return "" if set(values) == {"none"} else ", ".join(values) + " %"


def aim(value):
    return "" if value is None else f"{value:g} %"


def line(title, time_aim, times, memory_aim, memories):
    return f"| {title} | {aim(time_aim)} | {percents(times)} | {aim(memory_aim)} | {percents(memories)} |"


def on_nvidia(data):
    """Mean absolute errors of time and of memory over the runs on NVIDIA's devices; None where
    there is no run."""
    rows = [row for row in data["rows"] if row["regime"] and row["regime"][0].startswith(NVIDIA)]
    times = [abs(row["error"]) for row in rows
             if row["time_counts"] and row["device_fitted"] and row["error"] is not None]
    memories = [abs(row["memory_error"]) for row in rows if row["memory_error"] is not None]
    return [statistics.mean(errors) if errors else None for errors in (times, memories)]


def mean_of(values):
    return statistics.mean(value for value in values if value is not None)


def aims_table(answer):
    sets = {data["name"]: data for data in answer["datasets"]}
    lines = ["| data sets, in the order of the figures | time, aim | time, now | memory, aim | memory, now |",
             "| --- | --: | --: | --: | --: |"]
    for title, time_aim, memory_aim, names in AIMS:
        lines.append(line(title, time_aim, [sets[name]["mape"] for name in names], memory_aim,
                          [sets[name]["memory_mape"] for name in names]))
    medians = [statistics.median(abs(row["memory_error"]) for row in sets[name]["rows"]
                                 if row["memory_error"] is not None) for name in GOLDEN]
    lines.append(line("golden values, small and release: median instead of mean", None, [None], 3, medians))
    first = next(cohort for cohort in answer["cohorts"] if not cohort["added"])
    lines.append(line("mean of the first data sets", 7.5, [first["mape"]], 4, [first["memory_mape"]]))
    added = {title: on_nvidia(sets[name]) for title, name in ADDED}
    for title, (time, memory) in added.items():
        lines.append(line(title, 12, [time], None, [memory]))
    for title, count in (("mean of these six", 6), ("mean of the first five of them", 5)):
        times, memories = zip(*list(added.values())[:count])
        lines.append(line(title, 12, [mean_of(times)], None, [mean_of(memories)]))
    for one in answer["passes"]:
        lines.append(line(f"`{one['kind']}` of single passes and layers", 8, [one["mape"]], None, [None]))
    return lines
