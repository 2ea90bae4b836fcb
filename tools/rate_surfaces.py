# SPDX-License-Identifier: Apache-2.0
"""Surfaces of rates: values at the nodes of a grid of sizes, fitted to scattered measurements.

Between nodes the logarithm of a rate is a straight line in the logarithm of each size. The
value of a node is that of a plane fitted to the logarithms of the measured rates around it; weights
fall with the square of the distance, to 1/sqrt(e) at `width` octaves. A node with less than two rows'
weight around it is empty: nothing was measured there.
"""
import itertools
import math

LEAST_WEIGHT = 2.0  # weight of the rows around a node
FARTHEST = 9.0  # square of the distance, in widths, from which rows have no weight


def solve(rows):
    """Gauss-Jordan without pivoting, for a positive definite system."""
    size = len(rows)
    for i in range(size):
        for j in range(size):
            if j != i and rows[j][i]:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def plane(points, at, width):
    """The value at a place of a plane through (place, value), weighted by distance; None where too few are near.

    A place has three coordinates; the plane is level along those in which nothing was measured.
    """
    x, y, z = at
    narrow, far = 0.5 / (width * width), FARTHEST * width * width
    w0 = wx = wy = wz = wxx = wxy = wxz = wyy = wyz = wzz = wv = wxv = wyv = wzv = 0.0
    for (px, py, pz), value in points:
        dx, dy, dz = px - x, py - y, pz - z
        distance = dx * dx + dy * dy + dz * dz
        if distance > far:
            continue
        w = math.exp(-distance * narrow)
        a, b, c = w * dx, w * dy, w * dz
        w0, wx, wy, wz, wv = w0 + w, wx + a, wy + b, wz + c, wv + w * value
        wxx, wxy, wxz, wxv = wxx + a * dx, wxy + a * dy, wxz + a * dz, wxv + a * value
        wyy, wyz, wyv = wyy + b * dy, wyz + b * dz, wyv + b * value
        wzz, wzv = wzz + c * dz, wzv + c * value
    if w0 < LEAST_WEIGHT:
        return None
    flat = 1e-3 * w0 * width * width
    return solve([[w0, wx, wy, wz, wv], [wx, wxx + flat, wxy, wxz, wxv],
                  [wy, wxy, wyy + flat, wyz, wyv], [wz, wxz, wyz, wzz + flat, wzv]])[0]


def place(sizes):
    return (*(math.log2(size) for size in sizes), 0.0, 0.0)[:3]


def bracket(nodes, size):
    """[(node, weight)] of the nodes around a size; None outside of the grid."""
    if size == nodes[-1]:
        return [(len(nodes) - 1, 1.0)]
    for i in range(len(nodes) - 1):
        if nodes[i] <= size < nodes[i + 1]:
            share = math.log(size / nodes[i]) / math.log(nodes[i + 1] / nodes[i])
            return [(i, 1 - share), (i + 1, share)] if share > 0 else [(i, 1.0)]
    return None


class Surface:
    """Rates over named axes. `rates` maps the numbers of a node's sizes to its rate."""

    def __init__(self, axes, rates):
        self.axes, self.rates = axes, rates

    def rate(self, *sizes):
        around = [bracket(nodes, size) for nodes, size in zip(self.axes.values(), sizes)]
        if None in around:
            return None
        total = 0.0
        for corner in itertools.product(*around):
            rate = self.rates.get(tuple(node for node, _ in corner))
            if rate is None:
                return None
            total += math.prod(weight for _, weight in corner) * math.log(rate)
        return math.exp(total)


def fitted(axes, points, width, rise=lambda *sizes: 1.0):
    """The surface of (sizes, rate). `rise` is a known course of the rate that is no plane."""
    logs = [(place(sizes), math.log(rate / rise(*sizes))) for sizes, rate in points]
    rates = {}
    for corner in itertools.product(*(range(len(nodes)) for nodes in axes.values())):
        sizes = [nodes[i] for i, nodes in zip(corner, axes.values())]
        value = plane(logs, place(sizes), width)
        if value is not None:
            rates[corner] = math.exp(value) * rise(*sizes)
    return Surface(axes, rates)


def sheets(name, axes, points, width, rise=lambda *sizes: 1.0):
    """The surface whose first size takes only measured values: a surface over the others for
    each."""
    firsts = sorted({sizes[0] for sizes, _ in points})
    rates = {}
    for i, first in enumerate(firsts):
        own = [(sizes[1:], rate) for sizes, rate in points if sizes[0] == first]
        for corner, rate in fitted(axes, own, width, rise).rates.items():
            rates[(i, *corner)] = rate
    return Surface({name: tuple(firsts), **axes}, rates)


def text(head, surface, costs):
    """The lines of one surface: its head, axes, costs, and the rates along the last axis."""
    lines = [head] + [f"axis {name} " + " ".join(map(str, nodes))
                      for name, nodes in surface.axes.items()]
    lines += [f"cost {name} {value:.4g}" for name, value in costs.items() if value]
    *outer, last = surface.axes.values()
    for corner in itertools.product(*(range(len(nodes)) for nodes in outer)):
        row = [surface.rates.get((*corner, i)) for i in range(len(last))]
        lines.append(" ".join("-" if rate is None else f"{rate:.4g}" for rate in row))
    return lines


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")
