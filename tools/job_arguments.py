#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds the arguments of a newer version to a table of scenarios/jobs/tables.

job_arguments.py TABLE.csv INTERFACE.csv...

A table that begins with "&BELOW" stands on BELOW.csv beside it: a new key whose last part BELOW knows is another name of that
argument ("as").

INTERFACE.csv has a line per argument with the columns flag (or key), aliases, dest, type, action and nargs, as taken from a
framework's sources. Names that the table has keep their line; new ones are added as "not" with the reason
"JUDGE", which a person replaces: none, not, read or refused, and why.
"""
import csv
import pathlib
import sys


def values(row):
    """The number of values that an argument takes: 0, 1, 3 or n."""
    if row.get("action") or row.get("type") == "bool" and "action" not in row:
        return "0"
    nargs = row.get("nargs") or ""
    return "n" if nargs in ("+", "*") else nargs or "1"


def names_below(path, lines):
    """Names in files of keys that the table below knows."""
    if not lines or not lines[0].startswith("&"):
        return set()
    below = pathlib.Path(path).with_name(lines[0][1:] + ".csv")
    names = set()
    for line in below.read_text(encoding="utf-8").splitlines():
        if not line.startswith(("#", "@", "&")):
            name, _, _, dest = line.split(",")[:4]
            names |= {name.lstrip("-").replace("-", "_"), dest.lstrip("!")}
    return names


def main():
    path, interfaces = sys.argv[1], sys.argv[2:]
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    head = [line for line in lines if line.startswith(("#", "@", "&"))]
    below = names_below(path, lines)
    known = {line.split(",", 1)[0]: line for line in lines if line not in head}
    for interface in interfaces:
        with open(interface, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                name = row.get("flag") or row["key"]
                plain = name.lstrip("-").replace("-", "_")
                dest = row.get("dest") or plain
                if name.split(".")[-1] in below:
                    known.setdefault(name, f"{name},,1,,as,")
                known.setdefault(
                    name,
                    f"{name},{row.get('aliases') or ''},{values(row)},"
                    f"{'' if dest == plain else dest},not,JUDGE")
    body = [known[name] for name in sorted(known, key=lambda name: name.lstrip("-"))]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(head + body) + "\n")


if __name__ == "__main__":
    main()
