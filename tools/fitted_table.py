#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of fitted figures of docs/model/uncertainty.md from `stepcast calibrate`.

Usage: fitted_table.py PROGRAM DOCUMENT

The table stands between the lines <!-- fitted --> and <!-- /fitted -->. The fit is made again and
printed; no catalog file is written.
"""
import json
import re
import subprocess
import sys


def figure(value, unit):
    return f"{value:.3g}" + (f" {unit}" if unit else "")


def known(one):
    if one["scale"] == "unit":
        return f"{figure(one['start'], one['unit'])} ± {one['width']:.2g}"
    return f"{figure(one['start'], one['unit'])}, {100 * one['width']:.0f} %"


def line(one):
    error = one["standard_error"]
    after = "bound" if error is None else f"± {error:.2g}" if one["observations"] else "not felt"
    cells = [one["file"].removesuffix(".yaml"), f"`{one['key']}`", figure(one["value"], one["unit"]),
             after, known(one), str(one["observations"]), one["meaning"]]
    return "| " + " | ".join(cells) + " |"


def main():
    program, document = sys.argv[1:]
    answer = json.loads(subprocess.run([program, "calibrate", "--only-print", "--quiet", "--json"],
                                       check=True, capture_output=True, text=True).stdout)
    table = ["| file | figure | value | std. error | known before | rows | meaning |",
             "| --- | --- | --: | --: | --- | --: | --- |"]
    table += [line(one) for one in answer["parameters"]]
    with open(document, encoding="utf-8") as file:
        text = file.read()
    made = "<!-- fitted -->\n" + "\n".join(table) + "\n<!-- /fitted -->"
    text, count = re.subn("<!-- fitted -->\n.*?<!-- /fitted -->", lambda _: made, text, flags=re.S)
    if count != 1:
        sys.exit(f"{document} has no lines <!-- fitted --> and <!-- /fitted -->")
    with open(document, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
