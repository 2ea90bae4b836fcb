#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/studies.md from the CSV tables that tools/studies.sh exports.

Usage: studies_tables.py FOLDER DOCUMENT

A table stands between the lines <!-- NAME --> and <!-- /NAME -->. Every figure is a column of a sweep, a ratio of
two, or a closed form that is written out here.
"""
import csv
import pathlib
import sys

PARTS = ["compute", "recompute", "tensor_comm", "pipeline_comm", "data_comm", "optimizer", "bubble", "other"]
FABRICS = [("ndr-rail-fat-tree", "8 x 400 Gbit/s"), ("efa-400g", "4 x 100 Gbit/s (EFA)"),
           ("roce-100g-fat-tree", "8 x 100 Gbit/s (RoCE)"), ("ethernet-100g", "1 x 100 Gbit/s (TCP)")]
PARAMETERS_10B = 10e9
GPT3, SEQUENCE, V100_PEAK = 175e9, 2048, 125e12  # parameters, tokens, FLOP/s in fp16


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


class Study:
    def __init__(self, folder, name):
        with open(folder / f"{name}.csv", encoding="utf-8") as file:
            self.rows = [{k: number(v) for k, v in row.items()} for row in csv.DictReader(file)]
        self.ok = [row for row in self.rows if row["status"] == "ok"]

    def line(self, along, **where):
        """The best of the points that meet `where` at every value along the axis, in order."""
        best = {}
        for row in self.ok:
            if all(test(row) if callable(test) else row[key.replace("__", ".")] == test for key, test in where.items()):
                if row[along] not in best or row["tokens_per_s"] > best[row[along]]["tokens_per_s"]:
                    best[row[along]] = row
        return dict(sorted(best.items()))


def efficiencies(line):
    """The tokens/s per GPU of each point, in percent of the line's first."""
    first = next(iter(line.values()))["tokens_per_s_per_gpu"]
    return {place: 100 * row["tokens_per_s_per_gpu"] / first for place, row in line.items()}


def whole(value):
    return f"{value:,.0f}"


def percent(value, digits=0):
    return "" if value is None else f"{value:.{digits}f} %"


def table(head, rows, left=1):
    marks = ["---"] * left + ["--:"] * (len(head) - left)
    return ["| " + " | ".join(cells) + " |" for cells in [head, marks, *rows]]


def reach(line, low, high):
    """Sizes, in words, at which a line is above, inside and below an expected range."""
    shares = efficiencies(line)
    places = list(shares)
    at_least = [p for p in places if all(shares[q] >= low for q in places if q <= p)]
    above = [p for p in at_least if all(shares[q] > high for q in places if q <= p)]
    words = []
    if above:
        words.append(f"above to {whole(above[-1])}")
    if len(at_least) > len(above):
        inside = at_least[len(above)]
        words.append("inside at " + (f"{whole(inside)} to {whole(at_least[-1])}" if inside != at_least[-1] else whole(inside)))
    if len(at_least) < len(places):
        words.append(f"below from {whole(places[len(at_least)])}")
    return ", ".join(words)


def textbook(studies):
    data, zero, tensor, pipeline = (studies[s] for s in ["scaling-data", "scaling-zero", "scaling-tensor", "scaling-pipeline"])
    per_gpu = {n: (lambda row, n=n: row["training.global_batch"] == n * row["cluster.gpus"]) for n in (1, 4)}
    ndr, roce = "ndr-rail-fat-tree", "roce-100g-fat-tree"
    rows = []

    def add(what, low, high, how, line):
        shares = efficiencies(line)
        last = list(shares)[-1]
        rows.append([what, f"{low}-{high} %" if what else "", how, whole(next(iter(shares))), reach(line, low, high),
                     f"{percent(shares[last])} at {whole(last)}"])

    for fabric, words in FABRICS:
        add("" if rows else "data", 85, 95, f"weak, 4 sequences a GPU, {words}",
            data.line("cluster.gpus", cluster__fabric=fabric, b=per_gpu[4]))
    add("", 85, 95, "weak, 1 sequence a GPU, 8 x 400 Gbit/s", data.line("cluster.gpus", cluster__fabric=ndr, b=per_gpu[1]))
    add("", 85, 95, "strong, 4,096 sequences, 8 x 400 Gbit/s",
        data.line("cluster.gpus", cluster__fabric=ndr, training__global_batch=4096))
    for model in ["llama3-8b", "llama3-70b", "llama3-405b"]:
        add("tensor" if model == "llama3-8b" else "", 75, 85, f"degree, {model}",
            tensor.line("plan.tensor", model=model, b=per_gpu[4], g=lambda row: row["cluster.gpus"] == row["plan.tensor"]))
    for name in ["1F1B", "interleaved, 3 chunks"]:
        add("pipeline" if name == "1F1B" else "", 80, 90, f"stages, 128 microbatches, {name}",
            pipeline.line("plan.pipeline", name=name, training__global_batch=128,
                          b=lambda row: row["cluster.gpus"] == 8 * row["plan.pipeline"]))
    for name, sizes in [("1F1B", "weak, 8 stages, 64 microbatches"), ("1F1B", "strong, 8 stages, 2,048 sequences")]:
        batch = (lambda row: row["training.global_batch"] == row["cluster.gpus"]) if "weak" in sizes else \
            (lambda row: row["training.global_batch"] == 2048)
        add("", 80, 90, f"{sizes}, {name}",
            pipeline.line("cluster.gpus", name=name, plan__pipeline=8, g=lambda row: row["cluster.gpus"] >= 64, b=batch))
    for name, low, high in [("ZeRO-2", 80, 90), ("ZeRO-3", 70, 80), ("FSDP", 85, 95), ("HSDP", 85, 95)]:
        add(name, low, high, "weak, 4 sequences a GPU, 8 x 400 Gbit/s",
            zero.line("cluster.gpus", name=name, cluster__fabric=ndr, b=per_gpu[4]))
        add("", low, high, "weak, 1 sequence a GPU, 8 x 400 Gbit/s",
            zero.line("cluster.gpus", name=name, cluster__fabric=ndr, b=per_gpu[1]))
        add("", low, high, "weak, 4 sequences a GPU, 8 x 100 Gbit/s",
            zero.line("cluster.gpus", name=name, cluster__fabric=roce, b=per_gpu[4]))
        add("", low, high, "strong, 2,048 sequences, 8 x 400 Gbit/s",
            zero.line("cluster.gpus", name=name, cluster__fabric=ndr, training__global_batch=2048))
    return table(["strategy", "textbook", "scaling", "100 % is", "the textbook's range", "at the largest"], rows, 3)


def shares_of(row):
    return [percent(100 * row[f"{part}_s"] / row["step_time_s"]) for part in PARTS]


def where(studies, study, points):
    """The parts of the time of some points."""
    rows = []
    for words, along, place, conditions in points:
        row = studies[study].line(along, **conditions)[place]
        rows.append([words, f"{row['step_time_s']:.3g} s", percent(100 * row["mfu"]), *shares_of(row)])
    return table(["point", "step", "MFU", *[part.replace("_", " ") for part in PARTS]], rows)


def data_time(studies):
    def at(fabric, gpus, batch):
        words = dict(FABRICS)[fabric]
        return (f"{whole(gpus)} GPUs, {whole(batch // gpus)} a GPU, {words}", "cluster.gpus", gpus,
                {"cluster__fabric": fabric, "training__global_batch": batch})
    return where(studies, "scaling-data", [
        at("ndr-rail-fat-tree", 8, 32), at("ndr-rail-fat-tree", 16384, 65536), at("ndr-rail-fat-tree", 4096, 4096),
        at("roce-100g-fat-tree", 16384, 65536), at("ethernet-100g", 16, 64), at("ethernet-100g", 16384, 65536)])


def breakdown(studies):
    """The least sequences a GPU with which a fabric keeps this share of one node's speed at the
    same batch per GPU."""
    study, rows = studies["scaling-data"], []
    speed = {(r["cluster.fabric"], r["cluster.gpus"], r["training.global_batch"] / r["cluster.gpus"]):
             r["tokens_per_s_per_gpu"] for r in study.ok}
    for fabric, words in FABRICS:
        for gpus in (64, 1024, 16384):
            cells = []
            for share in (50, 75, 90, 95):
                enough = [n for n in (1, 2, 4, 8, 16, 32, 64) if (fabric, gpus, n) in speed
                          and speed[fabric, gpus, n] >= share / 100 * speed[fabric, 8, n]]
                tried = [n for n in (1, 2, 4, 8, 16, 32, 64) if (fabric, gpus, n) in speed]
                cells.append(f"{enough[0]}" if enough else f"> {tried[-1]}")
            rows.append([words, whole(gpus), *cells])
    return table(["fabric, per node", "GPUs", "for 50 %", "75 %", "90 %", "95 %"], rows)


def tensor_time(studies):
    def inside(row):
        return row["cluster.gpus"] == row["plan.tensor"] and row["training.global_batch"] == 4 * row["cluster.gpus"]
    return where(studies, "scaling-tensor", [
        (f"{model}, degree {t}", "plan.tensor", t, {"model": model, "b": inside})
        for model, t in [("llama3-8b", 8), ("llama3-70b", 1), ("llama3-70b", 8), ("llama3-70b", 16), ("llama3-70b", 64),
                         ("llama3-405b", 8), ("llama3-405b", 16)]])


def tensor_strong(studies):
    rows = []
    for gpus in (1024, 2048, 4096, 8192, 16384):
        line = studies["scaling-tensor"].line("plan.tensor", model="llama3-70b", cluster__gpus=gpus, training__global_batch=1024)
        best = max(line.values(), key=lambda row: row["tokens_per_s"])
        rows.append([whole(gpus), whole(min(line)), whole(best["plan.tensor"]), f"{best['step_time_s']:.2f} s",
                     whole(best["tokens_per_s_per_gpu"]), percent(100 * best["mfu"])])
    return table(["GPUs", "least degree", "fastest degree", "its step", "tokens/s per GPU", "MFU"], rows, 0)


def pipeline_batch(studies):
    rows = []
    for stages in (2, 4, 8, 16, 32):
        cells = []
        for batch in (32, 128, 512):
            def one(row, batch=batch):
                return row["training.global_batch"] == batch and row["cluster.gpus"] == 8 * row["plan.pipeline"]
            formula = 100 * batch / (batch + stages - 1)
            cells += [percent(formula)]
            for name in ("1F1B", "interleaved, 3 chunks", "zero bubble H1"):
                cells.append(percent(efficiencies(studies["scaling-pipeline"].line("plan.pipeline", name=name, b=one))[stages]))
        rows.append([whole(stages), *cells])
    head = ["stages"]
    for batch in (32, 128, 512):
        head += [f"m = {batch}: m/(m+p-1)", "1F1B", "interleaved", "ZB-H1"]
    return table(head, rows, 0)


def pipeline_time(studies):
    return where(studies, "scaling-pipeline", [
        (f"{whole(gpus)} GPUs, {name}", "cluster.gpus", gpus, {"name": name, "plan__pipeline": 8, "training__global_batch": 2048})
        for gpus, name in [(64, "1F1B"), (2048, "1F1B"), (16384, "1F1B"), (16384, "interleaved, 3 chunks")]])


def zero_time(studies):
    return where(studies, "scaling-zero", [
        (f"{name}, {whole(gpus)} GPUs, {dict(FABRICS)[fabric]}", "cluster.gpus", gpus,
         {"name": name, "cluster__fabric": fabric, "b": lambda row: row["training.global_batch"] == 4 * row["cluster.gpus"]})
        for name, gpus, fabric in [
            ("FSDP", 8, "ndr-rail-fat-tree"), ("FSDP", 512, "ndr-rail-fat-tree"), ("FSDP", 2048, "ndr-rail-fat-tree"),
            ("FSDP", 16384, "ndr-rail-fat-tree"), ("FSDP", 512, "roce-100g-fat-tree"),
            ("ZeRO-3", 16384, "ndr-rail-fat-tree"), ("ZeRO-2", 16384, "ndr-rail-fat-tree"),
            ("HSDP", 16384, "ndr-rail-fat-tree"), ("HSDP", 16384, "roce-100g-fat-tree")]])


def recompute(studies):
    rows = []
    for model in ("llama3-8b", "llama3-70b", "gpt3-175b"):
        for attention in ("flash", "unfused"):
            line = studies["recompute-policies"].line("name", model=model, software__attention=attention)
            base = line["all kept"]
            for name, row in line.items():
                saved = base["peak_bytes"] - row["peak_bytes"]
                slower = row["step_time_s"] / base["step_time_s"] - 1
                first = name == "all kept"
                rows.append([f"{model}, {attention}" if first else "", name, f"{row['peak_bytes'] / 2**30:.1f} GiB",
                             f"{row['step_time_s']:.2f} s", "" if first else percent(100 * saved / base["peak_bytes"]),
                             "" if first else percent(100 * slower),
                             "" if first or saved < 0.01 * base["peak_bytes"] else f"{100 * slower / (saved / 2**30):.2f} %"])
    return table(["model, attention", "policy", "peak", "step", "memory saved", "time lost", "lost per GiB saved"], rows, 2)


def v100(studies):
    rows = []
    study = studies["gpt3-10000-v100"]
    lines = [study.line("cluster.gpus", name=name) for name in ("as published by 2020", "as known since 2022")]
    for gpus in lines[0]:
        cells = [whole(gpus)]
        for line in lines:
            row = line[gpus]
            chunks = f", {whole(row['plan.virtual_stages'])} chunks" if row["plan.virtual_stages"] > 1 else ""
            cells += [f"p {whole(row['plan.pipeline'])}{chunks}", f"{row['step_time_s']:.1f} s",
                      f"{row['time_low_s']:.1f}-{row['time_high_s']:.1f} s", percent(100 * row["mfu"]),
                      percent(100 * row["bubble_fraction"]), f"{300e9 / row['tokens_per_s'] / 86400:.1f}"]
        rows.append(cells)
    head = ["GPUs"]
    for words in ("2020", "2022"):
        head += [f"{words}: plan", "step", "80 %", "MFU", "bubble", "days for 300 B tokens"]
    return table(head, rows, 0)


def v100_estimates(studies):
    study, rows = studies["gpt3-10000-v100"], []
    flops = 3640 * 1e15 * 86400
    for name in ("as published by 2020", "as known since 2022"):
        for gpus in (1024, 10000):
            row = study.line("cluster.gpus", name=name)[gpus]
            years = 300e9 / row["tokens_per_s"] / 86400 / 365 * gpus
            rows.append([name, whole(gpus), whole(years), f"{flops / (years * 365 * 86400) / 1e12:.1f}"])
    return table(["plan", "GPUs", "GPU-years for 300 B tokens", "3,640 PFLOP/s-days over that, TFLOP/s per GPU"], rows)


def zero_claim(studies):
    study, rows = studies["claims-zero3-memory"], []
    for gpus in (1, 2, 4, 8, 16, 64):
        cells = [whole(gpus)]
        for name, size in (("16 bytes per parameter", 16), ("8 bytes per parameter", 8)):
            cells.append(f"{size * PARAMETERS_10B / gpus / 1e9:.1f}")
            for stage in (0, 3):
                row = study.line("cluster.gpus", name=name, plan__zero=stage)[gpus]
                cells.append(f"{row['peak_bytes'] / 1e9:.1f}")
        rows.append(cells)
    return table(["GPUs", "16 P/N", "peak, not divided", "peak, ZeRO-3", "8 P/N", "peak, not divided", "peak, ZeRO-3"], rows, 0)


def samples_claim(studies):
    flops = 6 * GPT3 * SEQUENCE
    rows = [["claimed", "3.2", f"{3.2 * flops / 1e12:,.0f}", f"{3.2 * flops / V100_PEAK:.0f} times"],
            ["all a V100 can do", f"{V100_PEAK / flops:.4f}", f"{V100_PEAK / 1e12:.0f}", "1"]]
    study = studies["gpt3-10000-v100"]
    for name in ("as published by 2020", "as known since 2022"):
        for gpus in (1024, 10000):
            row = study.line("cluster.gpus", name=name)[gpus]
            rate = row["tokens_per_s_per_gpu"] / SEQUENCE
            rows.append([f"forecast on {whole(gpus)}, {name}; {whole(3.2 / rate)} of them give 3.2", f"{rate:.4f}",
                         f"{rate * flops / 1e12:.0f}", f"{rate * flops / V100_PEAK:.2f}"])
    return table(["", "samples/s per V100", "TFLOP/s per V100, 6 P per token", "of the fp16 peak of 125 TFLOP/s"], rows)


def tensor_claim(studies):
    study, rows = studies["claims-tensor-collectives"], []
    layers, microbatches, size = 48, 4, 2 * 2048 * 4 * 6144  # bytes of one activation: 2 s b h
    for t in (2, 4, 8):
        ring = (t - 1) / t * size / 1e6
        cells = [whole(t), f"{2 * ring:.0f}", f"{4 * 2 * ring:.0f}", f"{(4 + 4 + 2) * ring:.0f}"]
        for name in ("all-reduces", "sequence parallelism"):
            row = study.line("plan.tensor", name=name)[t]
            cells += [f"{row['tensor_comm_s'] / layers / microbatches * 1e3:.2f} ms",
                      percent(100 * row["tensor_comm_s"] / row["step_time_s"])]
        rows.append(cells)
    return table(["degree", "2 all-gathers, MB", "4 all-reduces, MB", "6 all-gathers and 4 reduce-scatters, MB",
                  "all-reduces: time per layer", "of the step", "sequence parallelism: time per layer", "of the step"], rows, 0)


TABLES = {"textbook": textbook, "data-time": data_time, "breakdown": breakdown, "tensor-time": tensor_time,
          "tensor-strong": tensor_strong, "pipeline-batch": pipeline_batch, "pipeline-time": pipeline_time,
          "zero-time": zero_time, "recompute": recompute, "v100": v100, "v100-estimates": v100_estimates,
          "zero-claim": zero_claim, "samples-claim": samples_claim, "tensor-claim": tensor_claim}


def main():
    folder, document = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    studies = {file.stem: Study(folder, file.stem) for file in folder.glob("*.csv")}
    text = document.read_text(encoding="utf-8")
    for name, rows in TABLES.items():
        before, rest = text.split(f"<!-- {name} -->\n")
        after = rest.split(f"<!-- /{name} -->\n")[1]
        text = before + f"<!-- {name} -->\n" + "\n".join(rows(studies)) + f"\n<!-- /{name} -->\n" + after
    document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
