#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the share of each room's lines that the tests run, of files of the program alone.

    tools/coverage.py build/coverage              # all rooms, worst first
    tools/coverage.py build/coverage --files sim  # and the files of rooms that begin with "sim"
    tools/coverage.py build/coverage --keep       # the tests ran before: only the table

Builds with clang's instrumentation in the folder, runs ctest, and merges the profiles of all processes.
Takes some 15 minutes on two processors; needs clang and llvm (llvm-profdata, llvm-cov).
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_ROOMS = {"tests", "tools", "bench", "python", "build"}


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, **more)


def tool(name):
    """llvm-cov-14 beside clang++ 14, as profiles of another version cannot be read; else
    llvm-cov."""
    version = subprocess.run(["clang++", "-dumpversion"], capture_output=True, text=True).stdout
    found = next((at for at in (f"{name}-{version.split('.')[0]}", name) if shutil.which(at)), None)
    return found or sys.exit(f"coverage: no {name} in PATH; install clang and llvm")


def measure(build):
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++",
        "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_UNITY_BUILD=ON", "-DSTEPCAST_PYTHON=OFF",
        "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -fprofile-instr-generate -fcoverage-mapping")
    run("cmake", "--build", build)
    raw = build / "profiles"
    shutil.rmtree(raw, ignore_errors=True)
    # Processes of one program add to one of eight files.
    run("ctest", "--test-dir", build, "-j", os.cpu_count() or 1,
        env=os.environ | {"LLVM_PROFILE_FILE": str(raw / "%8m.profraw")})
    run(tool("llvm-profdata"), "merge", "-sparse", *raw.glob("*.profraw"), "-o", build / "profile")


def programs(build):
    tests = [file for file in (build / "tests").iterdir() if file.is_file() and os.access(file, os.X_OK)]
    return [build / "stepcast", *sorted(tests)]


def lines_by_file(build):
    objects = [word for file in programs(build)[1:] for word in ("-object", file)]
    out = run(tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={build / 'profile'}",
              programs(build)[0], *objects, capture_output=True, text=True).stdout
    for file in json.loads(out)["data"][0]["files"]:
        path = Path(file["filename"])
        if not path.is_relative_to(ROOT):
            continue
        path = path.relative_to(ROOT)
        if path.parts[0] not in NO_ROOMS:
            lines = file["summary"]["lines"]
            yield path, lines["covered"], lines["count"]


def show(rows, title):
    print(f"\n{title:44} {'run':>7} {'lines':>7} {'share':>7}")
    for name, covered, count in sorted(rows, key=lambda row: row[1] / row[2]):
        print(f"{name:44} {covered:7} {count:7} {100 * covered / count:6.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--files", metavar="ROOM", help="show the files of rooms that begin so")
    parser.add_argument("--keep", action="store_true", help="do not run the tests again")
    asked = parser.parse_args()
    build = asked.build.resolve()
    if not asked.keep:
        measure(build)
    files = [(str(path), covered, count) for path, covered, count in lines_by_file(build) if count]
    rooms = collections.defaultdict(lambda: [0, 0])
    for path, covered, count in files:
        room = str(Path(path).parent)
        rooms[room][0] += covered
        rooms[room][1] += count
    show([(room, *sums) for room, sums in rooms.items()], "room")
    show([("all rooms", *map(sum, zip(*rooms.values())))], "")
    if asked.files:
        show([row for row in files if row[0].startswith(asked.files)], "file")


main()
