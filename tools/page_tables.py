#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tables of pages that one command of the program gives.

usage: page_tables.py PROGRAM

  docs/model/collectives.md  <!-- collectives -->  `validate collectives`: the errors of each table
  docs/routing.md            <!-- routing -->      DeepSeek-V3 on 2,048 H800 under several routings
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEEPSEEK = ROOT / "scenarios/examples/deepseek-v3-2048-h800.yaml"
ROUTINGS = [
    ("{}", "any 8 of 256 experts"),
    ("{locality: group_limited, groups: 8, top_groups: 4}", "4 of 8 groups, as its report says"),
    ("{locality: neighbours}", "experts of neighbouring ranks"),
    ("{skew: power_law, spread: 30}", "popular experts where they are"),
    ("{skew: power_law, spread: 30, placement: greedy}", "popular experts placed"),
]


def answer_of(program, *command):
    return json.loads(subprocess.run([program, *command, "--json", "--quiet"], check=True,
                                     capture_output=True, text=True).stdout)


def part(errors):
    return f"{errors['rows']}: {100 * errors['mape']:.1f} ({100 * errors['bias']:+.1f})" if errors and errors["rows"] else ""


def collectives(program):
    answer = answer_of(program, "validate", "collectives")
    lines = ["| table | from 32 MiB | below 32 MiB |", "| --- | --- | --- |"]
    for one in answer["datasets"]:
        name = one["name"] + (" (torch)" if one["framework"] else "")
        lines.append(f"| {name} | {part(one['from_32_mib'])} | {part(one['below_32_mib'])} |")
    from_, below = (100 * answer[f"mape_{key}_32_mib"] for key in ("from", "below"))
    lines.append(f"| **mean of the tables without torch** | **{from_:.1f}** | **{below:.1f}** |")
    return lines


def routing(program):
    lines = ["| `training.routing` | meaning | step, s | load of the fullest rank | least load of any placement |",
             "| --- | --- | --: | --: | --: |"]
    for value, meaning in ROUTINGS:
        answer = answer_of(program, "simulate", str(DEEPSEEK), "--set", f"training.routing={value}")
        experts = answer.get("experts") or {}
        least = experts.get("least_load")
        lines.append(f"| `{value}` | {meaning} | {answer['step']['time_s']:.1f} | {experts.get('fullest_load', 1):.2f} | "
                     f"{'' if least is None else f'{least:.2f}'} |")
    return lines


def write(page, name, lines):
    text = (ROOT / page).read_text()
    made = f"<!-- {name} -->\n" + "\n".join(lines) + f"\n<!-- /{name} -->"
    text, count = re.subn(f"<!-- {name} -->\n.*?<!-- /{name} -->", lambda _: made, text, flags=re.S)
    if count != 1:
        sys.exit(f"{page} has no lines <!-- {name} --> and <!-- /{name} -->")
    (ROOT / page).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    write("docs/model/collectives.md", "collectives", collectives(sys.argv[1]))
    write("docs/routing.md", "routing", routing(sys.argv[1]))
