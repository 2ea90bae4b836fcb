#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares profiles of training steps with their forecasts, by groups of kernels.

usage: step_kernels.py docs/accuracy.md           write the table between <!-- kernels --> and <!-- /kernels -->
       step_kernels.py --pack OUT.csv STEPS.jsonl NAME…    keep the profiles of some cases

Needs the Python package (PYTHONPATH=build/python). The profiles are scenarios/kernels/*_steps.csv: a
row for each kernel of one step, of the steps that `record_training.py --time` wrote to STEPS.jsonl; the
60 kernels that take most time, with their calls and microseconds. The scenarios and the measured step times
are those of scenarios/published/one_gpu_2026_11.yaml. Products of a forecast are priced one by one, with
`stepcast.Device`, and must sum to the forecast's own time; all other times are from `simulate`.
"""
import collections
import csv
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = {"h100": "h100-80gb-sxm", "h200": "h200-sxm"}
STEPS = {"gpt_medium": "GPT 0.8B, bf16", "llama_1b_bf16": "Llama 1B, bf16",
         "llama_8b_6_layers": "Llama 8B, 6 layers, FSDP2", "mixtral_2_layers": "Mixtral, 2 layers"}
GROUPS = ["products, forward", "products, input's gradient", "products, weight's gradient", "experts",
          "attention", "optimizer", "other kernels"]
# The letters at the end of a name of cuBLAS tell which operands of the product it reads transposed.
PASSES = {"TN": GROUPS[0], "NN": GROUPS[1], "NT": GROUPS[2]}
COPIES = ("Memcpy DtoD", "chunk_cat", "bfloat16_copy")  # copies of FSDP2, and one cast of the loss


def group_of(kernel):
    if kernel.startswith("nvjet"):
        return PASSES[kernel.rsplit("_", 1)[1][:2]]
    for sign, group in (("GroupProblem", "experts"), ("grouped_gemm", "experts"), ("cudnn", "attention"),
                        ("FusedOptimizer", "optimizer")):
        if sign in kernel:
            return group
    return "other kernels"


def profiles():
    """The (kernel, milliseconds) of one step, by case and device."""
    found = collections.defaultdict(list)
    for device in DEVICES:
        path = ROOT / "scenarios" / "kernels" / f"{device}_2026_11_steps.csv"
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        for row in csv.DictReader(lines):
            found[row["step"], device].append((row["kernel"], float(row["microseconds"]) / 1e3))
    return found


def summed(kernels, group=group_of):
    total = collections.Counter()
    for kernel, took in kernels:
        total[group(kernel)] += took
    return total


def products_of(scenario, device):
    """The milliseconds of each pass of the linear layers: one for each projection, with those of
    experts apart."""
    model, plan, training = (scenario[key] for key in ("model", "plan", "training"))
    rows, hidden, layers = training["sequence_length"] * plan["micro_batch"], model["hidden"], model["layers"]
    groups = hidden // model["heads"] * model["kv_heads"]
    shapes = [(hidden, hidden, 2 * layers), (groups, hidden, 2 * layers), (model["vocab"], hidden, 1)]
    if "moe" in model:
        shapes.append((model["moe"]["experts"], hidden, layers))
    else:
        gated = model["activation"] == "swiglu"
        shapes += [(model["ffn"], hidden, (1 + gated) * layers), (hidden, model["ffn"], layers)]
    took = dict.fromkeys(PASSES.values(), 0.0)
    for n, k, count in shapes:
        sizes = (rows, n, k), (rows, k, n), (n, k, rows)
        for group, name, size in zip(took, ("forward", "input_gradient", "weight_gradient"), sizes):
            took[group] += 1e3 * count * device.product(*size, kernel_pass=name)
    return took


def forecast_of(scenario, device):
    """The milliseconds of each group, and of the step."""
    import stepcast
    answer = stepcast.simulate(scenario)
    kinds = {one["kind"]: sum(1e3 * one[f"{label}_s"] for label in ("measured", "interpolated", "scaled", "physics"))
             for one in answer.to_dict()["evidence"]["kinds"]}
    optimizer = 1e3 * answer.time.optimizer_s
    took = products_of(scenario, stepcast.Device(DEVICES[device]))
    if abs(sum(took.values()) / kinds["products"] - 1) > 1e-6:
        sys.exit(f"products sum to {sum(took.values())} ms, in the forecast to {kinds['products']}")
    rest = {"host": kinds["host"], "experts": kinds.get("experts", 0.0), "attention": kinds["attention"], "optimizer": optimizer,
            "other kernels": kinds["element_wise"] - optimizer}
    return took | rest, 1e3 * answer.step.time_s


def columns():
    """The ratios of each line by device, with the name of each step's row."""
    published = yaml.safe_load((ROOT / "scenarios" / "published" / "one_gpu_2026_11.yaml").read_text())
    rows = {row["id"]: row for row in published["rows"]}
    measured = profiles()
    for step, title in STEPS.items():
        ratios = collections.defaultdict(list)
        for device in DEVICES:
            row = rows[f"{device}_{step}"]
            took = summed(measured[step, device])
            forecast, whole = forecast_of(row["scenario"], device)
            for group in GROUPS:
                ratios[group].append(f"{forecast[group] / took[group]:.2f}" if took[group] else "")
            ratios["step"].append(f"{whole / row['measured']['step_time_s'] / 1e3:.2f}")
            idle = 1e3 * row["measured"]["step_time_s"] - sum(took.values())
            ratios["host, forecast; measured step less its kernels (H100)"].append(f"{forecast['host']:.1f}; {idle:.1f} ms")
            copies = sum(ms for kernel, ms in measured[step, device] if any(sign in kernel for sign in COPIES))
            ratios["share of the measured step: copies, casts to bf16, `chunk_cat`"].append(
                f"{100 * copies / row['measured']['step_time_s'] / 1e3:.0f} %")
        yield title, ratios


def table():
    made = list(columns())
    lines = ["| | " + " | ".join(title for title, _ in made) + " |", "| --- |" + " --: |" * len(made)]
    for line in made[0][1]:
        cells = [f"{one} ({other})" if one and "H100" not in line else one for one, other in (ratios[line] for _, ratios in made)]
        lines.append(f"| {line} | " + " | ".join(cells) + " |")
    return lines


def write(page):
    text = pathlib.Path(page).read_text()
    made = "<!-- kernels -->\n" + "\n".join(table()) + "\n<!-- /kernels -->"
    text, count = re.subn("<!-- kernels -->\n.*?<!-- /kernels -->", lambda _: made, text, flags=re.S)
    if count != 1:
        sys.exit(f"{page} has no lines <!-- kernels --> and <!-- /kernels -->")
    pathlib.Path(page).write_text(text)


def pack(target, *sources):
    """Packs into `target` the rows of the cases named behind each STEPS.jsonl."""
    out, facts = [], {}
    names = [name for name in sources if not name.endswith(".jsonl")]
    for source in (name for name in sources if name.endswith(".jsonl")):
        for case in map(json.loads, open(source)):
            if case["name"] in names and isinstance(case.get("kernels"), list):
                facts = {key: case[key] for key in ("device", "date", "driver", "torch")}
                out += [[case["name"], *kernel] for kernel in case["kernels"]]
    with open(target, "w", newline="") as file:
        file.writelines(f"# {key}: {value}\n" for key, value in facts.items())
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["step", "kernel", "calls", "microseconds"], *out])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--pack"] and len(sys.argv) > 4:
        pack(*sys.argv[2:])
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        write(sys.argv[1])
    else:
        sys.exit(__doc__)
