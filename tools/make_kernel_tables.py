#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the measured kernel tables of the catalog from public measurements.

usage: make_kernel_tables.py INPUT_FOLDER OUTPUT_FOLDER

INPUT_FOLDER holds the measurements as their sources publish them, one table per source (the file
names below); those that tools/measure_kernels.py made are read from scenarios/kernels of this
repository. OUTPUT_FOLDER receives a100.csv, h100.csv, h200.csv and b200.csv. The same input gives the same
bytes.

Columns of the output:
  kind            product | attention
  pass            product: forward | input_gradient | weight_gradient
                  attention: forward | backward | both
  batch,m,n,k     product: (m x k)(k x n), batch times; attention: m = n = sequence, k = head size
  causal          0 | 1, attention only
  implementation  attention only: flash-2 | flash-3 | cudnn
  efficiency      achieved rate / dense peak in bfloat16
"""
import csv
import math
import pathlib
import re
import sys

import yaml

OWN = pathlib.Path(__file__).resolve().parent.parent / "scenarios" / "kernels"
TOKENS = {64, 128, 256, 512, 1024, 2048, 4096}
SHORTEST_US = 15.0  # the profiler counts whole microseconds; below this its error exceeds 3 %
# The PCIe card runs at 300 W against 400 W; its best measured product reaches 252.9 against 271.2
# TFLOP/s (stas00/ml-engineering @744d01e, compute/accelerator/README.md).
SXM_OVER_PCIE = 271.2 / 252.9
BACKWARD_FLOPS = 2.5  # flops over the forward pass's: five products for two
LAYOUTS = {"TN": "forward", "NN": "input_gradient", "NT": "weight_gradient"}


def profiled(folder, name):
    """Products of a language model's layers, profiled by token count."""
    for row in csv.DictReader(open(folder / name, newline="")):
        m, n, k = int(row["M"]), int(row["N"]), int(row["K"])
        if m in TOKENS and float(row["median_us"]) >= SHORTEST_US:
            yield ("forward", 1, m, n, k), float(row["frac_of_peak"])


def fields(text):
    return dict(part.strip().split("=") for part in text.split(","))


def grouped(shape):
    """(pass, batch, m, n, k) of a grouped product; the source names the forward shape."""
    groups, m, n, k = (int(shape[key]) for key in ("ng", "M", "N", "K"))
    return {"fwd": ("forward", groups, m, n, k),
            "bwd_grad_act": ("input_gradient", groups, m, k, n),
            "bwd_grad_w": ("weight_gradient", groups, n, k, m)}[shape["stage"]]


def simumax(folder):
    for row in yaml.safe_load(open(folder / "kernel_simumax_a100_pcie.yaml"))["rows"]:
        shape = fields(row["shape"])
        efficiency = row["efficiency"] * SXM_OVER_PCIE
        if row["op"] == "matmul":
            batch, m, n, k = (int(shape[key]) for key in "bmnk")
            yield (LAYOUTS[shape["layout"]], batch, m, n, k), efficiency
        elif row["op"] == "group_matmul":
            yield grouped(shape), efficiency


def simumax_b200(folder):
    """Products of Transformer Engine's linear and grouped linear, all passes, on one B200."""
    parts = {"forward": "forward", "backward_input": "input_gradient",
             "backward_weight": "weight_gradient"}
    stages = {"forward": "fwd", "backward_input": "bwd_grad_act", "backward_weight": "bwd_grad_w"}
    for row in csv.DictReader(open(folder / "measured" / "simumax_b200.csv", newline="")):
        if row["op"] == "matmul":
            sizes = (int(row[key]) for key in ("batch", "m", "n", "k"))
            yield (parts[row["pass"]], *sizes), float(row["efficiency"])
        elif row["op"] == "grouped_matmul":
            yield grouped({"ng": row["groups"], "M": row["m"], "N": row["n"], "K": row["k"],
                           "stage": stages[row["pass"]]}), float(row["efficiency"])


def simumax_b200_attention(folder):
    """Rows of causal attention. The source counts the whole square, and blocks of 128 queries
    fill the device by blocks / (blocks + 1.2 processors), so that rates are those of 2,048
    blocks."""
    def busy(blocks):
        return blocks / (blocks + 1.2 * 148)
    found = {}
    for row in csv.DictReader(open(folder / "measured" / "simumax_b200.csv", newline="")):
        if row["op"] != "attention" or row["qk_head_dim"] != row["v_head_dim"]:
            continue
        blocks = int(row["heads"]) * int(row["seq"]) / 128
        if blocks >= 1024:
            key = ("cudnn", row["pass"], int(row["qk_head_dim"]), 1, int(row["seq"]))
            found.setdefault(key, []).append(
                float(row["efficiency"]) / 2 * busy(2048) / busy(blocks))
    return {key: math.exp(sum(map(math.log, values)) / len(values))
            for key, values in found.items()}


def sizing(folder, peak):
    """Batched and transformer products; plain `mm` rows last 40 us and time the host instead."""
    for row in yaml.safe_load(open(folder / "kernel_eleuther_sizing_samples.yaml"))["rows"]:
        if "tflops" not in row or row["file"] == "mm":
            continue
        inside = re.search(r"\(([\dx]+)(?:, b=(\d+))?\)", row["op"])
        sizes = [int(size) for size in inside.group(1).split("x")]
        if inside.group(2):  # (sequences x inner x outer, tokens of one sequence)
            batch, m, k, n = 1, sizes[0] * int(inside.group(2)), sizes[1], sizes[2]
        else:
            batch, m, k, n = sizes
        yield ("forward", batch, m, n, k), row["tflops"] / peak


def flash(folder, gpu):
    names = {"FA2": "flash-2", "FA3": "flash-3", "cuDNN": "cudnn"}
    passes = {"fwd": "forward", "bwd": "backward", "fwd+bwd": "both"}
    for row in csv.DictReader(open(folder / "flash_attention_tflops.csv", newline="")):
        if row["gpu"] == gpu and row["impl"] in names:
            yield (names[row["impl"]], passes[row["pass"]], int(row["head_dim"]),
                   int(row["causal"]), int(row["seqlen"])), float(row["frac_of_peak"])


def own(name):
    """(facts, rows) of a table of tools/measure_kernels.py."""
    lines = (OWN / name).read_text().splitlines()
    facts = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    return facts, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def own_products(rows):
    """Single products in 16 bit. Batched products are those of unfused attention, and a table
    that has batches is taken to have layers of experts."""
    for row in rows:
        if row["kind"] == "product" and row["precision"] == "bf16" and row["batch"] == "1":
            yield ((row["pass"], *(int(row[key]) for key in ("batch", "m", "n", "k"))),
                   float(row["efficiency"]))


def own_attention(rows, unnamed=None):
    """Attention; `unnamed` is the kernel of rows that name none."""
    return {(row["implementation"] or unnamed, row["pass"], int(row["k"]), int(row["causal"]),
             int(row["n"])): float(row["efficiency"])
            for row in rows if row["kind"] == "attention"}


def said(facts):
    return (f"tools/measure_kernels.py on one {facts['device']}, {facts['date']}, driver "
            f"{facts['driver']}, PyTorch {facts['torch']} (scenarios/kernels)")


def split_backward(rows):
    """Rows of backward passes in place of those of both, where forward is measured too: 3.5/both
    = 1/forward + 2.5/backward."""
    table = dict(rows)
    for (name, part, *shape), both in list(table.items()):
        forward = table.get((name, "forward", *shape))
        if part == "both" and forward:
            del table[(name, part, *shape)]
            rest = (1 + BACKWARD_FLOPS) / both - 1 / forward
            table[(name, "backward", *shape)] = BACKWARD_FLOPS / rest
    return table


def merged(*sources):
    """One value per shape: the geometric mean where several sources measured it."""
    found = {}
    for source in sources:
        for shape, efficiency in source:
            found.setdefault(shape, []).append(efficiency)
    return {shape: math.exp(sum(map(math.log, values)) / len(values))
            for shape, values in found.items()}


def write(path, comments, products, attention):
    order = {"forward": 0, "input_gradient": 1, "weight_gradient": 2, "backward": 3, "both": 4}
    lines = ["# " + comment for comment in comments]
    lines.append("kind,pass,batch,m,n,k,causal,implementation,efficiency")
    for (part, *shape), value in sorted(products.items(), key=lambda x: (order[x[0][0]], x[0])):
        lines.append(f"product,{part},{','.join(map(str, shape))},,,{value:.4f}")
    for (name, part, head, causal, length), value in sorted(attention.items()):
        lines.append(f"attention,{part},,{length},{length},{head},{causal},{name},{value:.4f}")
    path.write_text("\n".join(lines) + "\n")


VIDUR = ("github.com/microsoft/vidur data/profiling (MIT): Llama-2-7b and Llama-2-70b products, "
         "one to eight way tensor parallel, thinned by token count")
FLASH = ("bar labels of the figures in github.com/Dao-AILab/flash-attention: 16k tokens in all, "
         "hidden size 2048; flops as executed")


def hopper(target, figures):
    """The tables of H100 and H200. H200 is the same chip with other memory, so H100's rows of
    attention stand in for those that its own measurements lack."""
    facts, rows = own("h100_2026_11.csv")
    attention = figures | own_attention(rows)
    write(target / "h100.csv",
          ["Measured kernels of an H100 SXM; share of 989 TFLOP/s. Made by make_kernel_tables.py.",
           said(facts) + ": products, all passes; flash-2 and cudnn",
           FLASH + ": flash-3"],
          dict(own_products(rows)), attention)
    facts, rows = own("h200_2026_11.csv")
    write(target / "h200.csv",
          ["Measured kernels of an H200 SXM; share of 989 TFLOP/s. Made by make_kernel_tables.py.",
           said(facts) + ": products, all passes; attention as PyTorch chooses it, cuDNN's by "
           "profiles of training steps on the same machine",
           "attention of other kernels, and with heads of 96: H100's (h100.csv)"],
          dict(own_products(rows)), attention | own_attention(rows, "cudnn"))


def main(source, target):
    source, target = pathlib.Path(source), pathlib.Path(target)
    target.mkdir(parents=True, exist_ok=True)
    families = ("Llama-2-7b-hf", "Llama-2-70b-hf")
    write(target / "a100.csv",
          ["Measured kernels of an A100 SXM; share of 312 TFLOP/s. Made by make_kernel_tables.py.",
           VIDUR,
           "github.com/MooreThreads/SimuMax @4dcaae5 configs/system/a100_pcie.json: A100 PCIe, all "
           f"layouts, scaled by {SXM_OVER_PCIE:.3f} to the SXM card's clock",
           "github.com/EleutherAI/cookbook @827ee3b benchmarks/sizing: batched and transformer "
           "products",
           FLASH],
          merged(*(profiled(source, f"vidur_a100_{name}_gemm.csv") for name in families),
                 simumax(source), sizing(source, 312.0)),
          split_backward(flash(source, "A100-SXM")))
    figures = split_backward(flash(source, "H100-SXM"))
    hopper(target, {key: value for key, value in figures.items() if key[0] == "flash-3"})
    write(target / "b200.csv",
          ["Measured kernels of a B200; share of 2250 TFLOP/s. Made by make_kernel_tables.py.",
           "github.com/MooreThreads/SimuMax @4dcaae5 configs/system/b200_bf16_ceperm.json (Apache-2.0; "
           "facts only): Transformer Engine's linear, grouped linear and attention, all passes; power "
           "limit and clock not stated"],
          merged(simumax_b200(source)), simumax_b200_attention(source))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
