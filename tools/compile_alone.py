#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each of the named files alone, for its warnings: no file of its own is written.

    tools/compile_alone.py BUILD FILE...

BUILD has a compile_commands.json of clang, with the files by themselves, as the preset `alone` makes it. Headers
take most of the time of a file, and many files read most headers: the headers that many files read through their
first include, or through tests/catch.hpp, are precompiled for them. That hides no header that they would have to
include, as they read it. Prints the compiler's messages and exits 1 where a file does not compile without a warning.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

CATCH = "tests/catch.hpp"
READERS = 24  # a header that fewer files read is not worth precompiling


def without_output(command):
    """The compiler and its flags, without a launcher, the output, the file, and -fPIC and -fPIE,
    which targets mix."""
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if "clang" in Path(word).name):]
    return [word for word in words[:words.index("-o")] if word not in ("-fPIC", "-fPIE")]


def compile_file(command, *more):
    return subprocess.run([*command, *more], capture_output=True, text=True, check=False)


@cache
def includes(name):
    """The headers that a file names, in its order."""
    if not Path(name).is_file():  # not the project's
        return []
    return re.findall(r'^#include [<"](.+)[>"]', Path(name).read_text(encoding="utf-8"), re.MULTILINE)


@cache
def closure(header):
    """A header and the project's headers that it reads."""
    return {header}.union(*map(closure, includes(header)))


def certain(name):
    """The project's headers that a file surely reads before any code that needs them."""
    named = includes(name)
    first = closure(named[0]) if named else set()
    return {header for header in first if Path(header).is_file() and not header.startswith("tests/")} | \
        {CATCH}.intersection(named)


def precompile(build, files, command, pool):
    """For each file the header that reads most, of those that at least READERS of the files
    surely read, precompiled."""
    sure = {name: certain(name) for name in files}
    readers = Counter(header for headers in sure.values() for header in headers)
    # Catch2 alone reads more than all others together.
    reads = {header: (header == CATCH, len(closure(header)), header)
             for header, count in readers.items() if count >= READERS}
    chosen = {name: max(headers & reads.keys(), key=reads.get)
              for name, headers in sure.items() if headers & reads.keys()}
    plain = [word for word in command if not word.startswith("-D")] + ["-x", "c++-header"]

    def make(header):
        made = str(build / f"{header.replace('/', '_')}.pch")
        done = compile_file(plain, header, "-o", made)
        return (header, made) if done.returncode == 0 else sys.exit(done.stderr)

    made = dict(pool.map(make, sorted(set(chosen.values()))))
    return {name: made[header] for name, header in chosen.items()}


def main(build, *names):
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = {os.path.relpath(entry["file"]): without_output(entry["command"]) for entry in entries}
    unknown = [name for name in names if name not in commands]
    if unknown:
        sys.exit(f"{build}/compile_commands.json does not compile {', '.join(unknown)}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        # The command with the most include paths has all of them.
        widest = max((commands[name] for name in names), key=len)
        precompiled = precompile(build, names, widest, pool)

        def check(name):
            header = ["-include-pch", precompiled[name]] if name in precompiled else []
            return compile_file(commands[name], *header, "-fsyntax-only", name)

        failed = [done.stderr for done in pool.map(check, names) if done.returncode != 0]
    print(*failed, sep="", end="")
    print(f"{len(names)} files compile alone" if not failed else f"{len(failed)} of {len(names)} files do not")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
