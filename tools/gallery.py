#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/gallery.md and writes their answers.

usage: gallery.py PROGRAM

A command is an indented line that begins with build/stepcast; PROGRAM runs in its place, in the root of the
repository. Where <!-- answer --> and <!-- /answer --> follow a command, its standard output comes between
them. The stores and pages of build/gallery are made anew.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = re.compile(r"^    build/stepcast (.*)\n(\n<!-- answer -->\n(?:.*\n)*?<!-- /answer -->\n)?", re.MULTILINE)


def main(program):
    program = str(pathlib.Path(program).resolve())
    page = ROOT / "docs" / "gallery.md"
    shutil.rmtree(ROOT / "build" / "gallery", ignore_errors=True)
    for folder in ("build/gallery", "docs/gallery"):
        (ROOT / folder).mkdir(parents=True, exist_ok=True)

    def answered(found):
        ran = subprocess.run([program, *shlex.split(found[1])], cwd=ROOT, check=True, capture_output=True,
                             text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"})
        if not found[2]:
            return found[0]
        lines = "\n".join(line.rstrip() for line in ran.stdout.strip("\n").split("\n"))
        return f"    build/stepcast {found[1]}\n\n<!-- answer -->\n```\n{lines}\n```\n<!-- /answer -->\n"

    page.write_text(COMMAND.sub(answered, page.read_text()))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(sys.argv[1])
