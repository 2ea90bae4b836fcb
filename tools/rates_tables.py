#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of streams and experts of docs/rates.md from the kernels in scenarios/kernels.

usage: rates_tables.py docs/rates.md

They stand between <!-- streams --> and <!-- /streams -->, <!-- experts --> and <!-- /experts -->. Needs the
Python package (PYTHONPATH=build/python): forecasts of experts are of a simulated step with one layer, at
the clock of the benchmark (sustained_clock 1). A cell has the median (number of layers: least to most).
"""
import collections
import pathlib
import re
import statistics
import sys

import make_kernel_tables as tables

DEVICES = {"H100": "h100-80gb-sxm", "H200": "h200-sxm"}
PASSES = ("forward", "input_gradient", "weight_gradient")
PEAK = 989e12  # peak of both devices in 16 bit, flop/s


def rows_of(device, training=False):
    return tables.own(f"{device.lower()}_2026_11{'_training' if training else ''}.csv")[1]


def spread(values):
    return f"{min(values):.2f} to {max(values):.2f}"


# --- Streams: share of the bandwidth.

STREAMS = [("copy", "4"), ("add", "6"), ("gelu", "4"), ("silu", "4"), ("multiply", "6"), ("silu_backward", "6"),
           ("rmsnorm", "4"), ("rmsnorm_backward", "6"), ("layernorm", "4"), ("layernorm_backward", "6"),
           ("softmax", "4"), ("to_float", "6"), ("cross_entropy", "8"), ("cross_entropy_backward", "12"),
           ("adamw_fused", "28"), ("norm", "4"), ("permute", "4"), ("index_add", "6")]
LEAST = {"H100": 64e6, "H200": 256e6}  # bytes: more than the second-level cache keeps


def stream_shares(device):
    shares = collections.defaultdict(list)
    for training, size in ((False, "n"), (True, "m")):
        for row in rows_of(device, training):
            if row["kind"] == "stream" and float(row[size]) >= LEAST[device]:
                shares[row["pass"]].append(float(row["efficiency"]))
    return shares


def stream_table():
    shares = {device: stream_shares(device) for device in DEVICES}
    lines = ["| kernel | bytes an element or parameter | H100, 64 MB and more | H200, 256 MB and more |",
             "| --- | --: | --: | --: |"]
    for name, size in STREAMS:
        cells = [spread(shares[device][name]) if shares[device][name] else "" for device in DEVICES]
        lines.append(f"| `{name}` | {size} | " + " | ".join(cells) + " |")
    return lines


# --- Experts.

def experts_of(device):
    """The seconds of all experts by implementation, groups and rows, then by pass and sizes (n,
    k of the forward product)."""
    found = collections.defaultdict(dict)
    for row in rows_of(device, True):
        if row["kind"] == "experts":
            m, n, k = (int(row[key]) for key in "mnk")
            rows, wide, deep = {"forward": (m, n, k), "input_gradient": (m, k, n), "weight_gradient": (k, m, n)}[row["pass"]]
            found[row["implementation"], int(row["groups"]), rows][row["pass"], wide, deep] = float(row["microseconds"]) / 1e6
    return found


def over_dense(device, implementation):
    """The time of experts over that of their dense products as measured on the device, by pass."""
    dense = dict(tables.own_products(rows_of(device)))
    ratios = collections.defaultdict(list)
    for (how, groups, rows), layers in experts_of(device).items():
        for (name, n, k), took in layers.items():
            shape = {"forward": (rows, n, k), "input_gradient": (rows, k, n), "weight_gradient": (n, k, rows)}[name]
            share = dense.get((name, 1, *shape))
            if share and how == implementation:
                ratios[name].append(took / (groups * 2 * rows * n * k / (share * PEAK)))
    return ratios


def forecast_experts(device, groups, rows, ffn, hidden):
    """The seconds of both projections of a layer of experts in all passes, in a step that has
    one such layer."""
    import stepcast
    model = dict(layers=1, hidden=hidden, heads=hidden // 128, ffn=ffn, vocab=1024, max_sequence=groups * rows,
                 activation="gelu", biases=False, dropout=0, moe=dict(experts=groups, top_k=1, expert_ffn=ffn))
    benchmarked = dict(base=DEVICES[device], efficiency=dict(sustained_clock=1.0))
    cluster = dict(node=dict(base=f"dgx-{device.lower()}", device=benchmarked), gpus=1)
    step = stepcast.simulate(dict(
        model=model, cluster=cluster, training=dict(sequence_length=groups * rows, global_batch=1, precision="bf16"),
        plan=dict(tensor=1, pipeline=1, micro_batch=1), software=dict(base="fsdp")))
    kinds = {one["kind"]: one for one in step.to_dict()["evidence"]["kinds"]}
    return sum(kinds["experts"][f"{label}_s"] for label in ("measured", "interpolated", "scaled", "physics"))


def over_forecast(device):
    """The time of one kernel for all experts over its forecast: both projections in all passes."""
    ratios = []
    for (how, groups, rows), layers in experts_of(device).items():
        for ffn, hidden in {(n, k) for _, n, k in layers if n < k and how == "grouped_mm"}:
            took = [layers.get((name, *size)) for name in PASSES for size in ((ffn, hidden), (hidden, ffn))]
            if all(took):
                ratios.append(sum(took) / forecast_experts(device, groups, rows, ffn, hidden))
    return ratios


def median(values):
    return f"{statistics.median(values):.2f} ({len(values)}: {spread(values)})"


def expert_table():
    lines = ["| measured over … | device | forward | input's gradient | weight's gradient |",
             "| --- | --- | --: | --: | --: |"]
    for how, title in (("grouped_mm", "one kernel over dense products as measured"),
                       ("one by one", "one by one over dense products as measured")):
        each = [over_dense(device, how) for device in DEVICES]
        both = {name: each[0][name] + each[1][name] for name in PASSES}
        for device, ratios in zip((*DEVICES, "both"), (*each, both)):
            lines.append(f"| {title} | {device} | " + " | ".join(median(ratios[name]) for name in PASSES) + " |")
    for device in DEVICES:
        lines.append(f"| one kernel over its forecast, both projections, all passes | {device} | "
                     f"{median(over_forecast(device))} | the same | the same |")
    return lines


def replaced(text, name, lines):
    made = f"<!-- {name} -->\n" + "\n".join(lines) + f"\n<!-- /{name} -->"
    text, count = re.subn(f"<!-- {name} -->\n.*?<!-- /{name} -->", lambda _: made, text, flags=re.S)
    if count != 1:
        sys.exit(f"no lines <!-- {name} --> and <!-- /{name} -->")
    return text


def main(page):
    page = pathlib.Path(page)
    text = replaced(page.read_text(), "streams", stream_table())
    page.write_text(replaced(text, "experts", expert_table()))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(sys.argv[1])
