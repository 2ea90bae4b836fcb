#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make compact rate surfaces of dense products and attention from measured tables.

usage: make_rates.py TABLES OUTPUT_FOLDER    write one file per device
       make_rates.py TABLES --check          what the surfaces miss of the rows left out

TABLES holds aic_gemm_dense.csv and aic_attention_fwd_causal.csv (ai-dynamo/aiconfigurator @095f58a,
Apache-2.0, 2026-08-21). Whole (n, k) pairs and (heads, length) pairs, one in ten by a hash of the
pair, are never seen by a surface; --check compares it with them. The same input gives the same
bytes.

A surface is the rate in TFLOP/s at nodes of a grid; between nodes its logarithm is a straight line
in the logarithm of each size. A node is what a plane, fitted to the logarithms of the measured rates
around it, has there; weights fall with the square of the distance, to 1/sqrt(e) at `width` octaves.
The residuals of one shape do not repeat at another m (correlation 0.0 in bf16), nor on a sister
device (0.2), so a plane through neighbours says more than the single measurement.

Rows that take less than 1.3 times the shortest row of their table may measure how fast the host
starts kernels (170 us in DeepGEMM on B200), so they are left away. An attention row also pays for
its keys and values, far more than their bytes' traffic: one figure per table, in us per byte, is
fitted on rows that the surface sees and kept apart from the rate. What it is made of is not known;
an inference framework writes keys and values into pages. A node with fewer than three rows' weight
around it is empty: nothing was measured there.
"""
import csv
import math
import pathlib
import sys

SIZES = (512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 65536)
LENGTHS = (1024, 2048, 4096, 8192, 16384)
COPIES = tuple(2 ** i for i in range(0, 13))  # sequences x heads
PRODUCT_WIDTH, ATTENTION_WIDTH = 0.5, 0.6  # octaves
PAGE_COSTS = tuple(i * 2.5e-7 for i in range(21))  # us per byte of keys and values, tried
LEAST_WEIGHT = 3.0  # of rows around a node
ABOVE_START = 1.3
# Depth k at which a product reaches half of its rate, in elements: what the plane is fitted to is
# the rate without this rise, which is steeper than a plane follows.
HALF_DEPTH = {"bfloat16": 160, "fp8": 320, "fp8_block": 320, "nvfp4": 640}
PRECISION = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8-block", "nvfp4": "nvfp4"}
SOURCE = "ai-dynamo/aiconfigurator @095f58a (2026-08-21, Apache-2.0), collected with vLLM 0.24.0"


def left_out(*pair):
    """One pair in ten: FNV-1a of "n,k"."""
    value = 2166136261
    for byte in ",".join(map(str, pair)).encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value % 10 == 0


def solve(rows):
    """Gauss-Jordan without pivoting, for a positive definite 3 x 4 system."""
    for i in range(3):
        for j in range(3):
            if j != i:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    return [rows[i][3] / rows[i][i] for i in range(3)]


def plane(points, x, y, width):
    """Value at (x, y) of a plane through weighted (x, y, value), and the weight of the rows."""
    weight = sx = sy = sxx = sxy = syy = v = vx = vy = 0.0
    for px, py, value in points:
        dx, dy = px - x, py - y
        distance = (dx * dx + dy * dy) / (width * width)
        if distance > 16:
            continue
        w = math.exp(-distance / 2)
        weight += w
        sx, sy, v = sx + w * dx, sy + w * dy, v + w * value
        sxx, sxy, syy = sxx + w * dx * dx, sxy + w * dx * dy, syy + w * dy * dy
        vx, vy = vx + w * dx * value, vy + w * dy * value
    if weight < LEAST_WEIGHT:
        return None
    flat = 1e-3 * weight * width * width  # a plane is level where only a line was measured
    return solve([[weight, sx, sy, v], [sx, sxx + flat, sxy, vx], [sy, sxy, syy + flat, vy]])[0]


def bracket(nodes, size):
    """(lower node, share of the upper one); None outside of the grid."""
    for i in range(len(nodes) - 1):
        if nodes[i] <= size <= nodes[i + 1]:
            return i, math.log(size / nodes[i]) / math.log(nodes[i + 1] / nodes[i])
    return None


class Surface:
    """Rates over two sizes; `rise` is the known rise of the rate with the second."""

    def __init__(self, xs, ys, points, width, rise=lambda y: 1.0):
        self.xs, self.ys = xs, ys
        logs = [(math.log2(x), math.log2(y), math.log(rate / rise(y))) for x, y, rate in points]
        self.rates = []
        for x in xs:
            row = [plane(logs, math.log2(x), math.log2(y), width) for y in ys]
            self.rates.append([None if value is None else round(math.exp(value) * rise(y), 1)
                               for value, y in zip(row, ys)])

    def rate(self, x, y):
        at_x, at_y = bracket(self.xs, x), bracket(self.ys, y)
        if not at_x or not at_y:
            return None
        total = 0.0
        for i, a in ((at_x[0], 1 - at_x[1]), (at_x[0] + 1, at_x[1])):
            for j, b in ((at_y[0], 1 - at_y[1]), (at_y[0] + 1, at_y[1])):
                if a * b > 0:
                    if self.rates[i][j] is None:
                        return None
                    total += a * b * math.log(self.rates[i][j])
        return math.exp(total)


def tables(folder, name):
    """{(device, kind, kernel, precision): rows}, and how many of each are too short."""
    found, bound = {}, {}
    for row in csv.DictReader(open(folder / name, newline="")):
        if name.startswith("aic_gemm"):
            key = (row["device"], "product", row["kernel"], row["dtype"])
            m, n, k = (int(row[size]) for size in "mnk")
            entry = (m, n, k, 2e-6 * m * n * k, (n, k), 0)
        else:
            key = (row["device"], "attention", row["kernel"], "bfloat16")
            copies = int(row["batch"]) * int(row["heads"])
            length, head = int(row["seq"]), int(row["head_dim"])
            entry = (head, copies, length, 2e-6 * copies * length ** 2 * head,
                     (int(row["heads"]), length),
                     4 * int(row["batch"]) * int(row["kv_heads"]) * length * head)
        found.setdefault(key, []).append(entry + (float(row["time_us"]),))
    for key, rows in found.items():
        start = min(row[-1] for row in rows)
        found[key] = [row for row in rows if row[-1] >= ABOVE_START * start]
        bound[key] = len(rows) - len(found[key])
    return found, bound


def built(kind, dtype, rows, page):
    """{m or head size: surface}; `page` is what a byte of keys and values costs, in us."""
    half = HALF_DEPTH[dtype]
    made = {}
    for first in sorted({row[0] for row in rows}):
        points = [(x, y, work / (time - page * kept)) for f, x, y, work, _, kept, time in rows
                  if f == first and time > 2 * page * kept]
        made[first] = (Surface(SIZES, SIZES, points, PRODUCT_WIDTH, lambda k: k / (k + half))
                       if kind == "product" else Surface(COPIES, LENGTHS, points, ATTENTION_WIDTH))
    return made


def missed(made, rows, page):
    """Relative errors of the rows' times, and how many rows lie where no node is."""
    errors, missing = [], 0
    for first, x, y, work, _, kept, time in rows:
        rate = made[first].rate(x, y) if first in made else None
        missing += rate is None
        if rate is not None:
            errors.append(abs((work / rate + page * kept) / time - 1))
    return errors, missing


def surfaces(kind, dtype, rows):
    """Surfaces of the rows not left out, and the cost of a byte of keys and values."""
    seen = [row for row in rows if not left_out(*row[4])]
    costs = PAGE_COSTS if kind == "attention" else (0,)
    tried = [(built(kind, dtype, seen, page), page) for page in costs]
    return min(tried, key=lambda each: quantile(missed(each[0], seen, each[1])[0] or [9], 0.5))


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def noise(rows):
    """Median distance of products from a line through their neighbours in n, of which the
    table's own scatter is a part; an upper bound of the error of one product."""
    by = {(f, x, y): work / time for f, x, y, work, _, _, time in rows}
    off = []
    for f in {key[0] for key in by}:
        xs = sorted({key[1] for key in by if key[0] == f})
        for (_, x, y), rate in [item for item in by.items() if item[0][0] == f]:
            i = xs.index(x)
            if 0 < i < len(xs) - 1 and (f, xs[i - 1], y) in by and (f, xs[i + 1], y) in by:
                a = math.log2(x / xs[i - 1]) / math.log2(xs[i + 1] / xs[i - 1])
                line = (1 - a) * math.log(by[f, xs[i - 1], y]) + a * math.log(by[f, xs[i + 1], y])
                # Of three equal errors a line's residual has this much: sqrt(1 + a^2 + (1 - a)^2).
                off.append(abs(math.log(rate) - line) / math.sqrt(1 + a * a + (1 - a) ** 2))
    return quantile(off, 0.5) if off else float("nan")


def check(found, bound):
    print("| device | kernel | precision | rows | shortest | left out | not covered | median % | "
          "90th % | noise % |")
    print("| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: |")
    for (device, kind, kernel, dtype), rows in sorted(found.items()):
        made, page = surfaces(kind, dtype, rows)
        errors, missing = missed(made, [row for row in rows if left_out(*row[4])], page)
        if errors:
            own = f"{100 * noise(rows):.1f}" if kind == "product" else ""
            print(f"| {device} | {kind} {kernel} | {PRECISION[dtype]} | {len(rows)} | "
                  f"{bound[device, kind, kernel, dtype]} | {len(errors) + missing} | {missing} | "
                  f"{100 * quantile(errors, 0.5):.1f} | {100 * quantile(errors, 0.9):.1f} | {own} |")


def write(found, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for device in sorted({key[0] for key in found}):
        lines = ["# Rates of kernels, forward, in TFLOP/s; empty: not measured. By make_rates.py.",
                 "# source: " + SOURCE,
                 "# product: first is m, second n, columns k; attention (causal, half of the square):",
                 "# first is the head size, second sequences x heads, columns the length; a table ends with",
                 "# the us that a byte of keys and values costs in pages, which is not in the rates"]
        for (of, kind, kernel, dtype), rows in sorted(found.items()):
            if of != device:
                continue
            made, page = surfaces(kind, dtype, rows)
            columns = SIZES if kind == "product" else LENGTHS
            lines.append(f"table,{kind},{kernel},{PRECISION[dtype]},{page:g}")
            lines.append("columns,," + ",".join(map(str, columns)))
            for first, surface in made.items():
                for x, rates in zip(surface.xs, surface.rates):
                    if any(rate is not None for rate in rates):
                        cells = ("" if rate is None else f"{rate:.4g}" for rate in rates)
                        lines.append(f"{first},{x}," + ",".join(cells))
        (folder / (device.lower() + ".csv")).write_text("\n".join(lines) + "\n")


def main(source, target):
    folder = pathlib.Path(source)
    found, bound = tables(folder, "aic_gemm_dense.csv")
    attention, bound_attention = tables(folder, "aic_attention_fwd_causal.csv")
    found |= attention
    if target == "--check":
        check(found, bound | bound_attention)
    else:
        write(found, pathlib.Path(target))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
