#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the figures of docs/rates.md and docs/model/kernels.md for the kernels in scenarios/kernels.

usage: kernel_figures.py [TABLES]

Needs the Python package (PYTHONPATH=build/python): forecast times are those of stepcast.Device, with the
clock of the benchmark (sustained_clock 1). With TABLES, the folder that tools/make_kernel_tables.py reads,
the older table of H100, published figures of attention and SimuMax's table of B200 are compared, too.
"""
import bisect
import collections
import csv
import itertools
import math
import pathlib
import statistics
import sys
import tempfile

import yaml

import make_kernel_tables as tables
from rates_tables import DEVICES, PASSES, PEAK, experts_of, median, rows_of, spread

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = "kind,pass,batch,m,n,k,causal,implementation,efficiency\n"


def percent(values):
    return f"{100 * statistics.mean(values):.1f} %"


# --- Products, each forecast from a table.

def catalog_entry(name):
    entry = yaml.safe_load((ROOT / f"scenarios/catalog/devices/{name}.yaml").read_text())
    base = entry.pop("base", None)
    return catalog_entry(base) | entry if base else entry


def catalog_products(name):
    """The single products of a table of the catalog."""
    lines = (ROOT / f"scenarios/catalog/kernels/{name}.csv").read_text().splitlines()
    return {(row["pass"], *(int(row[key]) for key in ("batch", "m", "n", "k"))): float(row["efficiency"])
            for row in csv.DictReader(line for line in lines if not line.startswith("#"))
            if row["kind"] == "product" and row["batch"] == "1"}


def device_of(name, products):
    """The device at the clock of the benchmark, with a table of these products alone, or with
    none."""
    import stepcast
    entry = catalog_entry(name)
    for key in ("source", "from_memory", "kernels", "rates"):
        entry.pop(key, None)
    entry["efficiency"]["sustained_clock"] = 1.0
    if not products:
        return stepcast.Device(entry)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
        table.write(HEADER + "".join(f"product,{','.join(map(str, shape))},,,{share}\n"
                                     for shape, share in products.items()))
        table.flush()
        return stepcast.Device(entry | {"kernels": table.name})


def error(device, peak, shape, share):
    name, batch, m, n, k = shape
    took = 2 * batch * m * n * k / (share * peak)
    return abs(device.product(m, n, k, batch=batch, kernel_pass=name) / took - 1)


def errors_from(name, products, others):
    """The mean errors of `products` by pass, each forecast from a table of `others` without
    itself."""
    peak = 1e12 * float(catalog_entry(name)["peak"]["bf16"].removesuffix(" TFLOP/s"))
    found = collections.defaultdict(list)
    fixed = None if set(others) & set(products) else device_of(name, others)
    for shape, share in products.items():
        device = fixed or device_of(name, {key: value for key, value in others.items() if key != shape})
        found[shape[0]].append(error(device, peak, shape, share))
    return "; ".join(f"{name} {percent(found[name])}" for name in PASSES if name in found)


def print_products(older):
    for table, name in (("a100", "a100-80gb-sxm"), ("h100", DEVICES["H100"]), ("h200", DEVICES["H200"])):
        products = catalog_products(table)
        print(f"{table}.csv, {len(products)} products, each forecast from the others:", errors_from(name, products, products))
        print(f"{table}.csv, without a table:", errors_from(name, products, {}))
    h100, h200 = catalog_products("h100"), catalog_products("h200")
    device = device_of(DEVICES["H200"], h100)
    for name in PASSES:
        errors = [error(device, PEAK, *row) for row in h200.items() if row[0][0] == name]
        print(f"h200.csv by the rows of h100.csv, {name}:", percent(errors))
    if older:
        print_older(older, {shape: share for shape, share in h100.items() if shape[0] == "forward"})


def print_older(older, forward):
    both = [shape for shape in forward if shape in older]
    print(f"forward products that the older table of H100 has, too: {len(both)}")
    for rows in sorted({shape[2] for shape in both}):
        print(f"  older rate over new, {rows} rows:",
              spread([older[shape] / forward[shape] for shape in both if shape[2] == rows]))
    table = device_of(DEVICES["H100"], older)
    print("forward products by the older table:", percent([error(table, PEAK, *row) for row in forward.items()]))
    print("each from the others and the older table:", errors_from(DEVICES["H100"], forward, older | forward))


# --- Surfaces, and the factor that joins them to a table.

def surface_of(device, header):
    """The axes and values, by the indices of their nodes, of a surface of
    scenarios/catalog/rates; None: not measured."""
    lines = (ROOT / f"scenarios/catalog/rates/{device}.rates").read_text().splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith(header))
    axes = []
    while not lines[at + 1][0].isdigit() and lines[at + 1][0] != "-":
        at += 1
        if lines[at].startswith("axis"):
            axes.append([float(size) for size in lines[at].split()[2:]])
    values = {}
    for rows in itertools.product(*(range(len(axis)) for axis in axes[:-1])):
        at += 1
        values |= {(*rows, place): None if cell == "-" else float(cell) for place, cell in enumerate(lines[at].split())}
    return axes, values


def logarithm_at(axes, values, sizes):
    """The logarithm of the rate, straight in that of each size between nodes; None outside of
    the grid."""
    cells = []
    for size, axis in zip(sizes, axes):
        if not axis[0] <= size <= axis[-1]:
            return None
        low = min(bisect.bisect_right(axis, size), len(axis) - 1) - 1
        share = math.log(size / axis[low]) / math.log(axis[low + 1] / axis[low])
        cells.append([(place, weight) for place, weight in ((low, 1 - share), (low + 1, share)) if weight > 0])
    corners = [(values[tuple(place for place, _ in corner)], math.prod(weight for _, weight in corner))
               for corner in itertools.product(*cells)]
    if any(value is None for value, _ in corners):
        return None
    return sum(weight * math.log(value) for value, weight in corners)


def print_joins():
    for table, name in (("b200", "b200"), ("h100", DEVICES["H100"]), ("h200", DEVICES["H200"])):
        entry = catalog_entry(name)
        surface = surface_of(entry["rates"], "surface product cublas bf16")
        peak = float(entry["peak"]["bf16"].removesuffix(" TFLOP/s"))
        logs = [math.log(share * peak) - found for shape, share in catalog_products(table).items()
                if shape[0] == "forward" and (found := logarithm_at(*surface, shape[2:])) is not None]
        print(f"{table}.csv over its surface, geometric mean of {len(logs)} forward products:",
              f"{math.exp(statistics.mean(logs)):.3f}")


# --- Attention.

def print_attention(folder):
    mine = tables.own_attention(rows_of("H100"))
    narrow = [mine["cudnn", part, 96, causal, length] / mine["cudnn", part, 64, causal, length]
              for kernel, part, head, causal, length in mine if kernel == "cudnn" and head == 96]
    print("cuDNN, rate of heads of 96 over 64:", spread(narrow))
    if not folder:
        return
    for (kernel, part), ratios in sorted(attention_ratios(mine, folder).items()):
        for title, kept in (("up to 2048 tokens", lambda length: length <= 2048), ("beyond", lambda length: length > 2048)):
            print(f"{kernel} {part} over its published figure, {title}:",
                  spread([ratio for length, ratio in ratios if kept(length)]))


def attention_ratios(mine, folder):
    figures = tables.split_backward(tables.flash(folder, "H100-SXM"))
    ratios = collections.defaultdict(list)
    for key in set(figures) & set(mine):
        ratios[key[:2]].append((key[4], mine[key] / figures[key]))
    return ratios


def deciles(values):
    ends = statistics.quantiles(values, n=10, method="inclusive")
    return (f"median {statistics.median(values):.2f}, 10th to 90th percentile {ends[0]:.2f} to {ends[-1]:.2f} "
            f"({len(values)} layers)")


def print_backward(folder):
    """The rates of backward passes over those of the forward pass of the same layer."""
    for device in DEVICES:
        ratios = collections.defaultdict(list)
        for (how, groups, rows), layers in experts_of(device).items():
            for (name, n, k), took in layers.items():
                forward = layers.get(("forward", n, k))
                if how == "grouped_mm" and forward and name != "forward":
                    ratios[name].append(forward / took)
        for name, values in ratios.items():
            print(f"{device}, experts in one kernel, rate of {name} over forward:", median(values))
    for device in DEVICES:
        print_launched(device)
    if folder:
        print_simumax(folder)


def print_launched(device):
    """The times of experts one by one over those of one kernel for all."""
    layers = experts_of(device)
    ratios = collections.defaultdict(list)
    for (how, groups, rows), took in layers.items():
        one = layers.get(("grouped_mm", groups, rows), {})
        if how == "one by one":
            ratios[rows] += [took[key] / one[key] for key in took if key in one and key[0] == "forward"]
    for rows in sorted(ratios):
        print(f"{device}, time of experts one by one over one kernel, forward, {rows} rows each:", median(ratios[rows]))


def print_simumax(folder):
    lines = list(csv.DictReader(open(folder / "measured" / "simumax_b200.csv", newline="")))
    found = collections.defaultdict(dict)
    for row in lines:
        if row["op"] in ("matmul", "grouped_matmul"):
            m, n, k = (int(row[key]) for key in "mnk")
            if row["op"] == "matmul":
                layer = {"forward": (m, n, k), "backward_input": (m, k, n), "backward_weight": (k, m, n)}[row["pass"]]
                found[row["pass"], row["out_dtype"]][layer] = float(row["efficiency"])
    forward = found.pop(("forward", "bf16"))
    for (name, into), shares in found.items():
        print(f"B200 in SimuMax's table, rate of {name} into {into} over forward:",
              deciles([share / forward[layer] for layer, share in shares.items() if layer in forward]))
    device, peak = device_of("b200", catalog_products("b200")), 2250e12
    alone = collections.defaultdict(list)
    for shape, share in tables.simumax_b200(folder):
        name, groups, m, n, k = shape
        if groups > 1:
            took = 2 * groups * m * n * k / (share * peak)
            alone[name].append(took / (groups * device.product(m, n, k, kernel_pass=name)))
    for name, ratios in alone.items():
        print(f"B200 in SimuMax's table, experts one by one over dense products, {name}:", deciles(ratios))


def print_narrow():
    """The products in fp8, which Hopper's tables of 16 bit price."""
    import stepcast
    errors = []
    for name in DEVICES.values():
        device = stepcast.Device(dict(base=name, efficiency=dict(sustained_clock=1.0)))
        for row in rows_of(name[:4].upper()):
            if row["kind"] == "product" and row["precision"] == "fp8":
                m, n, k = (int(row[key]) for key in "mnk")
                took = 2 * m * n * k / (float(row["efficiency"]) * 1979e12)
                errors.append(took / device.product(m, n, k, precision="fp8"))
    print("products in fp8 over their forecast:", median(errors))


def print_sustained():
    rows = [row for row in rows_of("H100", True) if row["kind"] == "sustained"]
    later = [row for row in rows if float(row["pass"].split()[0]) >= 3]
    clocks = [int(row["implementation"].split()[0]) for row in later]
    print("H100, 8192 x 8192 x 8192 over and over, from the third second on: median share of the peak",
          f"{statistics.median(float(row['efficiency']) for row in later):.2f}, {min(clocks)} to {max(clocks)} MHz;",
          f"share in the table {catalog_products('h100')['forward', 1, 8192, 8192, 8192]:.2f}")


def main(*given):
    folder = pathlib.Path(given[0]) if given else None
    older = folder and tables.merged(*(tables.profiled(folder, f"vidur_h100_{name}_gemm.csv")
                                       for name in ("Llama-2-7b-hf", "Llama-2-70b-hf")))
    print_products(older)
    print_joins()
    print_narrow()
    print_attention(folder)
    print_backward(folder)
    print_sustained()


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    main(*sys.argv[1:])
