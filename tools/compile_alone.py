#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each of the named files alone, for its warnings: no file of its own is written.

    tools/compile_alone.py BUILD FILE...

BUILD has a compile_commands.json of clang, with the files by themselves, as the preset `alone` makes it. Most of a
test's time is Catch2: tests/catch.hpp is precompiled for the files that include it, which hides nothing that they would
have to include. Prints what the compiler says and exits 1 where a file does not compile without a warning.
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CATCH = "tests/catch.hpp"


def without_output(command):
    """The compiler and its flags, without a launcher, the output and the file."""
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if "clang" in Path(word).name):]
    return words[:words.index("-o")]


def compile_file(command, *more):
    return subprocess.run([*command, *more], capture_output=True, text=True, check=False)


def main(build, *names):
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = {os.path.relpath(entry["file"]): without_output(entry["command"]) for entry in entries}
    unknown = [name for name in names if name not in commands]
    if unknown:
        sys.exit(f"{build}/compile_commands.json does not compile {', '.join(unknown)}")
    with_catch = {name for name in names if f'#include "{CATCH}"' in Path(name).read_text(encoding="utf-8")}
    precompiled = str(build / "catch.pch")
    if with_catch:
        plain = [word for word in commands[min(with_catch)] if not word.startswith("-D")]
        made = compile_file(plain, "-x", "c++-header", CATCH, "-o", precompiled)
        if made.returncode != 0:
            sys.exit(made.stderr)

    def check(name):
        catch = ["-include-pch", precompiled] if name in with_catch else []
        return compile_file(commands[name], *catch, "-fsyntax-only", name)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [done.stderr for done in pool.map(check, names) if done.returncode != 0]
    print(*failed, sep="", end="")
    print(f"{len(names)} files compile alone" if not failed else f"{len(failed)} of {len(names)} files do not")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
