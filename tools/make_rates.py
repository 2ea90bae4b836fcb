#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make compact rate surfaces from measured tables of kernels and collectives.

usage: make_rates.py TABLES OUTPUT_FOLDER    write one file per device
       make_rates.py TABLES --check          print the errors of the surfaces in the rows left out

TABLES holds aic_*.csv (ai-dynamo/aiconfigurator @095f58a, Apache-2.0, 2026-08-21). A
surface never sees one in ten, by a hash, of the (n, k) pairs of products, the (heads, length) pairs
of attention, and the expert layers (hidden size, width, experts per token, experts), whatever their
division; --check compares it with them. Each size of collectives and exchanges is left out in turn.
The same input gives the same bytes.

The residuals of one product do not repeat at another m (correlation 0.0 in bf16), nor on a sister
device (0.2), so a plane through neighbours says more than the single measurement. Rows that take
less than 1.3 times the shortest row of their table may measure how fast the host starts kernels
(170 us in DeepGEMM on B200), so they are left away.

Costs that are no rate, in us, are fitted on the rows that a surface sees, and stand beside it.
Attention has the cost of a byte of keys and values (an inference framework writes them into pages).
A product has those of a row and of a byte of activations: in 8 and 4 bits the framework casts them
before every product, and two products that differ in n alone show the time that is left when n goes
to nothing. A layer of experts has the start of its kernels and the cost of a byte of token copies of
all its expert-parallel group (it routes them): the values with which other layers forecast it best.
It also has the cost of its own copies (it permutes, activates and sums them): six bytes for each
value of the hidden size and the width, at 0.8 of the device's bandwidth.
"""
import csv
import math
import pathlib
import sys

from rate_surfaces import Surface, fitted, place, plane, quantile, sheets, text

SIZES = (512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 65536)
LENGTHS = (1024, 2048, 4096, 8192, 16384)
COPIES = tuple(2 ** i for i in range(13))  # sequences x heads
WIDTHS = (1024, 1448, 2048, 2896, 4096, 5793, 8192, 10240)  # roots of hidden size x expert's width
EXPERTS = tuple(2 ** i for i in range(10))  # experts on the device
ROWS = tuple(2 ** i for i in range(4, 13))  # of an expert
HIDDEN = (2048, 3072, 4096, 5120, 7168)
MESSAGES = tuple(2 ** i for i in range(7, 20))  # tokens x ranks that one token is sent to
PRODUCT_WIDTH, ATTENTION_WIDTH, EXPERT_WIDTH, MESSAGE_WIDTH = 0.5, 0.6, 1.0, 0.6  # octaves
PAGE_COSTS = tuple(i * 5e-7 for i in range(11))  # us per byte of keys and values that are tried
COPY_COSTS = tuple(i * 1e-7 for i in (0, 0.5, 1, 2, 4, 8, 12))  # us per byte of token copies
OWN_BYTES = 6  # bytes a value: permuted 2 + 2, activated 4 + 2 of the width, summed 2
BANDWIDTH = {"A100-SXM": 2.04, "H100-SXM": 3.35, "H200-SXM": 4.8, "L40S": 0.864,
             "B200": 8.0, "B300": 8.0, "GB200": 8.0, "GB300": 8.0}  # TB/s
STREAMED = 0.8  # share of the bandwidth
EXPERT_STARTS = (15.0, 30.0)  # us of the kernels of a layer of experts that are tried
ABOVE_START = 1.3
# The number of rows at which an expert's products take as long as reading its weights: peak x bytes
# of a value / (2 x bandwidth), 150 to 420 on these devices.
HALF_ROWS = 280
# The depth k, in elements, at which a product reaches half of its rate. The plane is fitted to the
# rate without this rise, which is steeper than a plane follows.
HALF_DEPTH = {"bfloat16": 160, "fp8": 320, "fp8_block": 320, "nvfp4": 640}
PRECISION = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8-block", "nvfp4": "nvfp4"}
DEVICE = {"A100-SXM4-80GB": "A100-SXM", "H100": "H100-SXM", "H100 80GB HBM3": "H100-SXM",
          "H200": "H200-SXM", "B300 SXM6 AC": "B300"}
NO_DEVICE = "RTX PRO 6000 Blackwell Server Edition"  # the device has no measured product
SOURCE = "ai-dynamo/aiconfigurator @095f58a, collected with vLLM 0.24.0, TensorRT-LLM 1.3.0rc20, nccl-tests"


def left_out(*sizes):
    """Whether a unit is one of the one in ten left out, by FNV-1a of "n,k"."""
    value = 2166136261
    for byte in ",".join(map(str, sizes)).encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value % 10 == 0


class Row:
    """One measurement: its sizes, work (MFLOP, or kB of an exchange), time in us, the unit that
    is left out as a whole, and the bytes and rows (for experts: further bytes) that have a cost
    of their own."""

    def __init__(self, sizes, work, time, unit, kept=0, rows=0):
        self.sizes, self.work, self.time, self.unit = sizes, work, time, unit
        self.kept, self.rows = kept, rows

    def beside(self, costs):
        """The time in us that is no rate; `costs` are the start in us, and us per byte and per
        row."""
        return costs[0] + costs[1] * self.kept + costs[2] * self.rows

    def rate(self, costs):
        """The rate of the row; None where it would hardly show beside other costs."""
        rest = self.time - self.beside(costs)
        return self.work / rest if rest >= self.time / 5 else None

    def error(self, rate, costs):
        return abs((self.work / rate + self.beside(costs)) / self.time - 1)


def product_row(row):
    m, n, k = (int(row[size]) for size in "mnk")
    return Row((m, n, k), 2e-6 * m * n * k, float(row["time_us"]), (n, k), 2 * m * k, m)


def attention_row(row):
    batch, heads, length, head = (int(row[key]) for key in ("batch", "heads", "seq", "head_dim"))
    copies, kept = batch * heads, 4 * batch * int(row["kv_heads"]) * length * head
    return Row((head, copies, length), 2e-6 * copies * length ** 2 * head, float(row["time_us"]),
               (heads, length), kept)


def expert_row(row):
    """The work of one device's experts; copies are those of all tokens that the layer sees."""
    hidden, width, topk, experts, ep, tokens = (
        int(row[key]) for key in ("hidden", "expert_ffn", "topk", "experts", "ep", "tokens"))
    products = 2 if "nongated" in row["kernel"] else 3
    copies = tokens * topk
    sizes = (math.sqrt(hidden * width), experts // ep, copies / experts)
    return Row(sizes, 2e-6 * products * copies / ep * hidden * width, float(row["time_us"]),
               (hidden, width, topk, experts), 2 * copies * (hidden + width), OWN_BYTES * copies / ep * (hidden + width))


# {file: (kind, name of the row's kernel, row)}
COMPUTED = {"aic_gemm_dense.csv": ("product", lambda row: row["kernel"], product_row),
            "aic_attention_fwd_causal.csv": ("attention", lambda row: row["kernel"], attention_row),
            "aic_moe_grouped_gemm_fwd.csv": (
                "experts", lambda row: row["kernel"] + ":" + row["distribution"], expert_row)}


def rows_of(folder, name):
    return csv.DictReader(open(folder / name, newline=""))


def tables(folder):
    """{(device, kind, kernel, precision): rows}, and the number of each that are too short."""
    found, short = {}, {}
    for name, (kind, kernel, made) in COMPUTED.items():
        for row in rows_of(folder, name):
            precision = PRECISION.get(row.get("dtype", "bfloat16"))
            if precision:  # no training has weights of four bits beside values of eight
                key = (row["device"], kind, kernel(row), precision)
                found.setdefault(key, []).append(made(row))
    for key, rows in found.items():
        start = min(row.time for row in rows)
        # The start of layers of experts is fitted, so that their short rows stay.
        found[key] = [row for row in rows if key[1] == "experts" or row.time >= ABOVE_START * start]
        short[key] = len(rows) - len(found[key])
    return found, short


def row_rise(_width, _experts, rows):
    return rows / (rows + HALF_ROWS)


def built(kind, precision, rows, costs):
    rates = [(row.sizes, row.rate(costs)) for row in rows]
    points = [(sizes, rate) for sizes, rate in rates if rate]
    if kind == "experts":
        axes = {"width": WIDTHS, "experts": EXPERTS, "rows": ROWS}
        return fitted(axes, points, EXPERT_WIDTH, row_rise)
    if kind == "attention":
        return sheets("head", {"copies": COPIES, "length": LENGTHS}, points, ATTENTION_WIDTH)
    half = next(HALF_DEPTH[key] for key, word in PRECISION.items() if word == precision)
    return sheets("m", {"n": SIZES, "k": SIZES}, points, PRODUCT_WIDTH, lambda n, k: k / (k + half))


def missed(surface, rows, costs):
    """The relative errors of the rows' times, and the number of rows where no node is."""
    rates = [surface.rate(*row.sizes) for row in rows]
    return [row.error(rate, costs) for row, rate in zip(rows, rates) if rate], rates.count(None)


def other_layers_error(rows, costs):
    """The mean error of a third of the rows, forecast by a plane through other layers' rows."""
    points = [(row.unit, (place(row.sizes), math.log(rate / row_rise(*row.sizes))))
              for row, rate in ((row, row.rate(costs)) for row in rows) if rate]
    if len(points) < 0.8 * len(rows):
        return math.inf
    total = 0.0
    for row in rows[::3]:
        value = plane([point for unit, point in points if unit != row.unit], place(row.sizes),
                      EXPERT_WIDTH)
        total += 0.5 if value is None else min(
            0.5, row.error(math.exp(value) * row_rise(*row.sizes), costs))
    return total


def cast_costs(rows):
    """The costs of products besides their rate: least squares, over the time, of what is left of
    two widths at no width."""
    least = 2 * min(row.time for row in rows)  # below, the host may have been slower than the device
    times = {row.sizes: row.time for row in rows if row.time > least}
    pairs = [(m, k, times[m, n, k], 2 * times[m, n, k] - times[m, 2 * n, k])
             for m, n, k in times if n in (512, 768, 1024) and (m, 2 * n, k) in times]
    if len(pairs) < 8 or quantile([left / time for _, _, time, left in pairs], 0.5) < 0.2:
        return 0, 0, 0
    aa = ab = bb = av = bv = 0.0
    for m, k, time, left in pairs:
        a, b, v = m / time, 2 * m * k / time, left / time
        aa, ab, bb, av, bv = aa + a * a, ab + a * b, bb + b * b, av + a * v, bv + b * v
    per_byte, per_row = (bv * aa - av * ab) / (aa * bb - ab * ab), (av * bb - bv * ab) / (aa * bb - ab * ab)
    return (0, per_byte, per_row) if min(per_byte, per_row) > 0 else (0, 0, 0)


def surface_of(device, kind, precision, rows, short):
    """The surface of the rows, and the costs beside it: of the start, of a byte and of a row.

    Where the host bounds more rows (`short`) than not, costs of the device cannot be told from the host's.
    """
    if kind == "product":
        costs = (0, 0, 0) if precision == "bf16" or short > len(rows) else cast_costs(rows)
        return built(kind, precision, rows, costs), costs
    if kind == "experts":
        own = 1e-6 / (BANDWIDTH[device] * STREAMED)
        tried = ((start, cost, own) for start in EXPERT_STARTS for cost in COPY_COSTS)
        costs = min(tried, key=lambda each: other_layers_error(rows, each))
        return built(kind, precision, rows, costs), costs
    tried = [(built(kind, precision, rows, (0, cost, 0)), (0, cost, 0)) for cost in PAGE_COSTS]
    return min(tried, key=lambda each: quantile(missed(each[0], rows, each[1])[0] or [9], 0.5))


def noise(rows, costs):
    """The median distance of rates from a line through their neighbours along the second size.
    The table's own scatter is a part of it, so it is an upper bound of the error of one row."""
    lines = {}
    for row in rows:
        rate = row.rate(costs)
        others = row.unit if costs[0] else None
        if rate:
            lines.setdefault((row.sizes[0], row.sizes[2], others), {})[row.sizes[1]] = rate
    off = []
    for line_of in lines.values():
        xs = sorted(line_of)
        for low, x, high in zip(xs, xs[1:], xs[2:]):
            a = math.log2(x / low) / math.log2(high / low)
            straight = (1 - a) * math.log(line_of[low]) + a * math.log(line_of[high])
            # If all three rates have the same error, the residual is sqrt(1 + a^2 + (1 - a)^2) times that error.
            off.append(abs(math.log(line_of[x]) - straight) / math.sqrt(1 + a * a + (1 - a) ** 2))
    return quantile(off, 0.5)


def exchanges(folder):
    """{(device, kind, name, precision): (unit of the rates, {axis: nodes}, points)}"""
    found = {}

    def add(key, unit, axes, sizes, value):
        found.setdefault(key, (unit, axes, {}))[2].setdefault(sizes, []).append(value)

    for row in rows_of(folder, "aic_nccl_collectives.csv"):
        if row["device"] != NO_DEVICE:
            device = DEVICE.get(row["device"], row["device"])
            add((device, "collective", row["collective"] + ":nccl-" + row["nccl"], "bf16"), "us",
                ("gpus", "bytes"), (int(row["gpus"]), int(row["size_bytes"])), float(row["time_us"]))
    for row in rows_of(folder, "aic_trtllm_alltoall_gb200.csv"):
        add(("GB200", "exchange", f"trtllm:{row['kernel']}:{row['op']}", PRECISION[row["dtype"]]),
            "us", ("ranks", "tokens"), (int(row["ep"]), int(row["tokens"])), float(row["time_us"]))
    for row in rows_of(folder, "aic_megamoe_b200.csv"):
        name = f"megamoe:{row['phase']}:{row['distribution']}"
        add(("B200", "exchange", name, "fp8"), "us", ("ranks", "tokens"),
            (8, int(row["tokens_per_rank"])), float(row["time_us"]))
    return found


def table_surface(axes, points):
    """The surface of the measurements themselves, or of the median of equal ones."""
    nodes = {name: tuple(sorted({sizes[i] for sizes in points})) for i, name in enumerate(axes)}
    places = [{size: i for i, size in enumerate(sizes)} for sizes in nodes.values()]
    return Surface(nodes, {tuple(place[size] for place, size in zip(places, sizes)):
                           quantile(values, 0.5) for sizes, values in points.items()})


def hit(experts, topk, ranks):
    """The mean number of ranks that hold one of a token's experts, with uniform choice."""
    return ranks * (1 - math.comb(experts - experts // ranks, topk) / math.comb(experts, topk))


def deepep(folder):
    """{(device, kind, name, precision): rows} of DeepEP's dispatch and combine on one node."""
    found = {}
    for row in rows_of(folder, "aic_deepep_intranode.csv"):
        ranks = 4 if row["device"].startswith("GB") else 8
        hidden, tokens, topk, experts = (int(row[key]) for key in ("hidden", "tokens", "topk", "experts"))
        messages = tokens * hit(experts, topk, ranks)
        for op in ("dispatch", "combine"):
            if row[op + "_us"]:
                found.setdefault((row["device"], "exchange", f"deepep:{op}:{ranks}-ranks", "bf16"), []).append(
                    Row((int(row[op + "_sms"]), hidden, messages), 2e-3 * messages * hidden,
                        float(row[op + "_us"]), (hidden, topk, experts)))
    return found


def deepep_surface(rows):
    return sheets("sms", {"hidden": HIDDEN, "messages": MESSAGES},
                  [(row.sizes, row.work / row.time) for row in rows], MESSAGE_WIDTH)


def line(key, rows, short, errors, missing, own):
    device, kind, kernel, precision = key
    print(f"| {device} | {kind} {kernel} | {precision} | {rows} | {short} | {len(errors) + missing} | "
          f"{missing} | {100 * quantile(errors, 0.5):.1f} | {100 * quantile(errors, 0.9):.1f} | "
          f"{f'{100 * own:.1f}' if own == own else ''} |")


def check(folder):
    found, short = tables(folder)
    print("| device | kernel | precision | rows | shortest | left out | not covered | median % | "
          "90th % | noise % |")
    print("| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: |")
    for key, rows in sorted(found.items()):
        seen = [row for row in rows if not left_out(*row.unit)]
        surface, costs = surface_of(key[0], key[1], key[3], seen, short[key])
        errors, missing = missed(surface, [row for row in rows if left_out(*row.unit)], costs)
        if errors:
            own = float("nan") if key[1] == "attention" else noise(rows, costs)
            line(key, len(rows), short[key], errors, missing, own)
    for key, rows in sorted(deepep(folder).items()):
        surface = deepep_surface([row for row in rows if not left_out(*row.unit)])
        line(key, len(rows), 0, *missed(surface, [row for row in rows if left_out(*row.unit)], (0, 0, 0)),
             float("nan"))
    check_lines(folder)


def check_lines(folder):
    """Errors of collectives and exchanges, which are kept as they are: each inner size is
    forecast from its neighbours."""
    for key, (_, axes, points) in sorted(exchanges(folder).items()):
        errors = []
        for first in sorted({sizes[0] for sizes in points}):
            line_of = {sizes[1]: quantile(values, 0.5) for sizes, values in points.items()
                       if sizes[0] == first}
            xs = sorted(line_of)
            for low, x, high in zip(xs, xs[1:], xs[2:]):
                a = math.log2(x / low) / math.log2(high / low)
                straight = math.exp((1 - a) * math.log(line_of[low]) + a * math.log(line_of[high]))
                errors.append(abs(straight / line_of[x] - 1))
        if errors:
            line(key, len(points), 0, errors, 0, float("nan"))


HEAD = ["# Rates of kernels and times of exchanges, by tools/make_rates.py; docs/rates.md says how.",
        "# source: " + SOURCE,
        "# date: 2026-08-21",
        "# licence: Apache-2.0; facts and figures only",
        "# forward only, attention causal (half of the square); the clock is not stated",
        "# surface KIND KERNEL PRECISION UNIT, its axes, costs, then a line of values along the last",
        "# axis for each node of the others; -: nothing was measured nearby"]


def write(folder, target):
    blocks = {}
    found, short = tables(folder)
    for key, rows in sorted(found.items()):
        surface, (start, byte, row) = surface_of(key[0], key[1], key[3], rows, short[key])
        costs = {"start_us": start, "us_per_byte": byte, "us_per_own_byte" if key[1] == "experts" else "us_per_row": row}
        blocks[key] = (surface, costs, "TFLOP/s")
    for key, rows in sorted(deepep(folder).items()):
        blocks[key] = (deepep_surface(rows), {}, "GB/s")
    for key, (unit, axes, points) in sorted(exchanges(folder).items()):
        blocks[key] = (table_surface(axes, points), {}, unit)
    target.mkdir(parents=True, exist_ok=True)
    for device in sorted({key[0] for key in blocks}):
        lines = list(HEAD)
        for (of, kind, kernel, precision), (surface, costs, unit) in sorted(blocks.items()):
            if of == device and surface.rates:
                lines += text(f"surface {kind} {kernel} {precision} {unit}", surface, costs)
        (target / (device.lower() + ".rates")).write_text("\n".join(lines) + "\n")


def main(source, target):
    if target == "--check":
        check(pathlib.Path(source))
    else:
        write(pathlib.Path(source), pathlib.Path(target))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
