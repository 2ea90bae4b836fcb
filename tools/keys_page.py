#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/keys.md: every key of every file that stepcast reads.

Usage: keys_page.py PROGRAM DOCUMENT

The keys come from `stepcast catalog schema`, which is printed from the tables that read the files.
"""
import json
import subprocess
import sys

FILES = {
    "scenario": "`stepcast simulate`, `search` and others read one. A search's limits are under `search`.",
    "sweep": "`stepcast sweep` reads one: a scenario, and what varies.",
    "purchase": "`stepcast purchase` reads one: workloads, and the clusters to choose among.",
    "corrections": "`--corrections` reads one: a list of scenarios and what was measured of each.",
}
HEAD = """# Keys

Every key of the files that `stepcast` reads: what it means, what it may be, and what holds where it is left out. A quantity is
text with a unit, such as `80 GiB`, or a number in the SI base unit (bytes, FLOP/s, bytes/s, seconds, watts);
times and powers of a purchase's own keys need their unit.
Money is `300e3 USD` or `5 M USD`, tokens are `2 T tokens`; days, weeks and years are durations, months are not: their length is not fixed.
A name in the column *may be* is of the catalog: `stepcast catalog list` prints them all.

(`tools/keys_page.py build/stepcast docs/keys.md` writes this page from the tables that read the files.)
"""
NOUNS = {"80 GiB": "size", "25 GB/s": "bandwidth", "312 TFLOP/s": "rate", "5 us": "time", "700 W": "power",
         "300e3 USD": "amount of money"}


def figure(number):
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def words_of(schema):
    """The values that a key may have, in words; a map is described by its keys instead."""
    if "examples" in schema:
        example = schema["examples"][0]
        return f"{NOUNS.get(example, 'quantity')}, `{example}`"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(filter(None, map(words_of, schema["anyOf"]))))
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if schema.get("type") == "array":
        of = words_of(schema["items"])
        return f"list of {of}" if of else "list"
    if schema.get("type") == "object":
        return "map of the keys below" if schema.get("properties") else "map"
    if schema.get("type") in ("integer", "number"):
        kind = "whole number" if schema["type"] == "integer" else "number"
        return f"{kind}, {figure(schema['minimum'])} to {figure(schema['maximum'])}"
    return "`true` or `false`" if schema.get("type") == "boolean" else "text"


def maps_in(schema, path):
    """(path, map) of every map with keys that a value may be."""
    if schema.get("type") == "object" and "properties" in schema:
        yield path, schema
    for one in schema.get("anyOf", []):
        yield from maps_in(one, path)
    if schema.get("type") == "array":
        yield from maps_in(schema["items"], path + "[]" if path else "each")


def cell(text):
    return text.replace("|", "\\|")


def write(schema, path, out, seen):
    for where, one in maps_in(schema, path):
        text = json.dumps(one["properties"], sort_keys=True)
        if text in seen:  # the keys of sweeps and purchases, which hold whole scenarios
            out.append(f"`{where}` has the keys of [`{seen[text]}`](#{anchor(seen[text])}).\n")
            continue
        seen[text] = where or "scenario"
        if where:
            out.append(f"### `{where}`\n")
        out += ["| key | meaning | may be | left out |", "| --- | --- | --- | --- |"]
        for key, value in one["properties"].items():
            meaning, _, fallback = value.get("description", "").partition(". Left out: ")
            out.append(f"| `{key}` | {cell(meaning)} | {cell(words_of(value))} | {cell(fallback)} |")
        out.append("")
        for key, value in one["properties"].items():
            write(value, f"{where}.{key}" if where else key, out, seen)


def anchor(where):
    return "".join(c for c in where.lower() if c.isalnum() or c in "_-")


def main():
    program, document = sys.argv[1:]
    out, seen = [HEAD], {}
    for file, what in FILES.items():
        answer = subprocess.run([program, "catalog", "schema", file], capture_output=True, text=True, check=True)
        out.append(f"## {file.capitalize()}\n\n{what}\n")
        write(json.loads(answer.stdout), "", out, seen)
    with open(document, "w", encoding="utf-8") as file:
        file.write("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main()
