#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Changes formulas of the program one at a time, and counts which changes its tests notice.

    tools/mutation/mutate.py                       200 mutants of every group, in build/mutation
    tools/mutation/mutate.py --each 0 units        every mutant of one group
    tools/mutation/mutate.py --list purchase       the changes, without making them

All mutants of the groups in GROUPS are compiled into one copy of the tree, and STEPCAST_MUTANT=N turns one of
them on (mutation.hpp). A mutant is killed when a specification of its group fails, crashes or takes ten times
its time. A mutant that no test comes past survives without being run. Survivors that `equivalent.txt` lists are no
defects of the tests: each has its reason there. Needs python3-clang-14 and what ./check needs.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from clang import cindex

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
LIBCLANG = "/usr/lib/llvm-14/lib/libclang-14.so.1"

# The code that money and proofs rest on: the files of a group, and the specifications that guard it, quickest first.
# The arguments of a specification choose among its files of tests.
PURCHASE = ["search", "-#", "[#goodput_spec],[#decide_spec],[#purchase_spec],[#whole_run_spec],[#find_nodes_spec]"]
BOUNDS = ["search", "-#", "[#plan_bounds_spec],[#contention_bound_spec],[#sandwich_spec],[#price_cache_spec],"
                          "[#unreduced_spec],[#whole_problem_spec],[#space_spec]"]
MEMORY = ["strategies", "-#", "[#memory_spec],[#sharded_memory_spec],[#split_memory_spec],[#sharding_spec],"
                              "[#zero_1_spec],[#recompute_spec],[#optimizer_spec],[#master_weights_spec],"
                              "[#gradient_precision_spec],[#state_offload_spec],[#expert_groups_spec],[#regrouping_spec]"]
GROUPS = {
    "units": (["units/*.hpp", "units/*.cpp"], [["units"], ["model"], ["plans"]]),
    "model": (["model/*.hpp", "model/*.cpp"], [["model"], ["plans"]]),
    "topology": (["topology/kernel_time.cpp", "topology/product_rate.cpp", "topology/attention_rate.cpp",
                  "topology/collective.cpp", "topology/algorithms.cpp", "topology/paths.cpp",
                  "topology/ports.cpp", "topology/ports_all_to_all.cpp", "topology/offload_time.cpp",
                  "topology/rate_surface.cpp", "topology/measured_collective.cpp",
                  "topology/fabric_plan.cpp"],
                 [["topology", "-#", "~[#all_to_all_spec]"], ["topology", "-#", "[#all_to_all_spec]"]]),
    "memory": (["plans/memory.cpp", "plans/holdings.cpp", "plans/duties.cpp", "plans/shard_groups.cpp",
                "plans/placement.cpp", "plans/expert_loads.cpp", "plans/recompute.cpp"],
               [["plans"], MEMORY]),
    "bounds": (["search/plan_bounds.cpp", "search/block_bounds.cpp", "search/bounded_degrees.cpp",
                "strategies/contention_bound.cpp"], [BOUNDS]),
    "goodput": (["search/purchase/goodput.cpp"], [PURCHASE]),
    "prices": (["search/purchase/bill.cpp", "search/purchase/decide.cpp",
                "search/purchase/recommend.cpp"], [PURCHASE]),
}

BINARY = {"+": "plus", "-": "minus", "*": "times", "/": "over", "%": "rest", "<": "less", "<=": "at_most",
          ">": "greater", ">=": "at_least", "==": "equal", "!=": "unequal", "+=": "add_to", "-=": "take_from",
          "*=": "multiply", "/=": "divide"}
LAZY = {"&&": "both", "||": "either"}
BECOMES = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
           "==": "!=", "!=": "==", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "&&": "||", "||": "&&",
           "min": "max", "max": "min", "ceil": "floor", "floor": "ceil"}
CALLS = {"min": "least", "max": "most", "ceil": "up", "floor": "down"}
KIND = cindex.CursorKind


@dataclasses.dataclass
class Site:
    """A place in a file that a mutant changes; offsets are bytes."""
    file: str
    start: int
    end: int
    before: str
    after: str
    edits: list  # each edit: (offset, length, order, text with {id})
    line: int = 0
    column: int = 0
    text: str = ""
    id: int = -1

    def key(self):
        return f"{self.file} | {self.text} | {self.before} -> {self.after}"

    def place(self):
        return f"{self.file}:{self.line}:{self.column}: {self.before} -> {self.after}   {self.text}"


# --- Where a file can be changed ----------------------------------------------------------------


def of_constants(cursor):
    """Whether an expression is made of parameters of a template alone, as the sum of two
    dimensions is. The compiler computes it, so no test can meet a change of it."""
    names = [c.referenced for c in cursor.walk_preorder() if c.kind == KIND.DECL_REF_EXPR]
    return bool(names) and all(n is not None and n.kind == KIND.TEMPLATE_NON_TYPE_PARAMETER for n in names)


class Finder:
    def __init__(self, path):
        self.path = path
        self.data = (ROOT / path).read_bytes()
        self.sites = []

    def slice(self, start, end):
        return self.data[start:end].decode()

    def wrap(self, cursor, before, after, opening, closing, more=(), outer=0):
        """Adds a site whose text is put between `opening` and `closing`; of two sites of the
        same text the `outer` one stands around the other."""
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        depth = end - start  # the longest text opens first and closes last
        edits = [(start, 0, (1, -depth, -outer), opening), (end, 0, (0, depth, outer), closing), *more]
        self.sites.append(Site(self.path, start, end, before, after, edits))

    def operator(self, cursor):
        children = list(cursor.get_children())
        if len(children) < 2:
            return
        if of_constants(cursor):
            return
        left, right = children[0], children[-1]
        start, end = left.extent.end.offset, right.extent.start.offset
        op = self.slice(start, end).strip()
        if op in BINARY:
            self.wrap(cursor, op, BECOMES[op], f"::mutation::{BINARY[op]}({{id}}, ", ")",
                      [(start, end - start, (0, 10**9, 0), ", ")])
        elif op in LAZY:
            self.wrap(cursor, op, BECOMES[op], f"::mutation::{LAZY[op]}({{id}}, static_cast<bool>(", "); })",
                      [(start, end - start, (0, 10**9, 0), "), [&] { return static_cast<bool>(")])

    def call(self, cursor):
        callee = next(iter(cursor.get_children()), None)
        match = callee and re.fullmatch(r"std::(min|max|ceil|floor)",
                                        self.slice(callee.extent.start.offset, callee.extent.end.offset))
        if not match:
            return
        start, end = callee.extent.start.offset, callee.extent.end.offset
        opening = self.data.index(b"(", end)
        if self.slice(end, opening).strip():
            return
        name = match[1]
        self.sites.append(Site(self.path, cursor.extent.start.offset, cursor.extent.end.offset, name, BECOMES[name],
                               [(start, opening + 1 - start, (1, 0, 0), f"::mutation::{CALLS[name]}({{id}}, ")]))

    def condition(self, cursor):
        condition = next(iter(cursor.get_children()), None)
        if condition is None or condition.kind in (KIND.VAR_DECL, KIND.DECL_STMT):
            return
        if cursor.kind == KIND.IF_STMT and re.match(r"if\s*(constexpr|\([^()]*;)", self.slice(
                cursor.extent.start.offset, condition.extent.end.offset)):
            return
        self.wrap(condition, "if", "unless", "::mutation::unless({id}, static_cast<bool>(", "))",
                  outer=1)

    def literal(self, cursor):
        start = cursor.extent.start.offset
        text = self.slice(start, cursor.extent.end.offset)
        if not re.fullmatch(r"[\d.][\w.'+-]*", text) or text.endswith("_"):
            return
        if re.search(rb"array<\w+, $", self.data[max(0, start - 40):start]):
            return  # the number of values that a type holds is a constant
        self.wrap(cursor, text, "another number", "::mutation::number({id}, ", ")")

    def visit(self, cursor, inside):
        for child in cursor.get_children():
            place = child.location
            if place.file is None or place.file.name != self.path:
                if child.kind != KIND.UNEXPOSED_DECL and place.file is not None:
                    continue
            self.child(child, inside)

    def child(self, child, inside):
        kind = child.kind
        tokens = "" if kind not in (KIND.VAR_DECL, KIND.DECL_STMT) else self.slice(
            child.extent.start.offset, child.extent.end.offset)
        if kind in (KIND.STATIC_ASSERT, KIND.ENUM_CONSTANT_DECL, KIND.TEMPLATE_NON_TYPE_PARAMETER,
                    KIND.TYPE_ALIAS_DECL, KIND.USING_DECLARATION):
            return
        if tokens and re.match(r"(static |inline )*constexpr\b", tokens):
            return
        inside = inside or kind == KIND.COMPOUND_STMT
        if inside:
            if kind in (KIND.BINARY_OPERATOR, KIND.COMPOUND_ASSIGNMENT_OPERATOR):
                self.operator(child)
            elif kind == KIND.CALL_EXPR and child.spelling.startswith("operator"):
                self.operator(child)
            elif kind == KIND.CALL_EXPR:
                self.call(child)
            elif kind in (KIND.IF_STMT, KIND.CONDITIONAL_OPERATOR):
                self.condition(child)
            elif kind in (KIND.INTEGER_LITERAL, KIND.FLOATING_LITERAL):
                self.literal(child)
        if kind == KIND.CASE_STMT:  # its label is a constant
            for one in list(child.get_children())[1:]:
                self.child(one, inside)
            return
        self.visit(child, inside)

    def found(self):
        unit = cindex.Index.create().parse(self.path, args=["-x", "c++", "-std=c++20", f"-I{ROOT}"])
        worst = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if worst:
            sys.exit(f"{self.path}: {worst[0]}")
        self.visit(unit.cursor, False)
        lines = self.data.splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        unique = {(s.start, s.end, s.before): s for s in self.sites}
        for site in unique.values():
            at = site.start if site.before not in BINARY and site.before not in LAZY else site.edits[2][0]
            site.line = next(i for i, s in enumerate(starts) if s > at)
            site.column = at - starts[site.line - 1] + 1
            site.text = lines[site.line - 1].decode().strip()
        return sorted(unique.values(), key=lambda s: (s.start, -s.end, s.before))


def changed(data, sites):
    """The text with all sites in it. Lines keep their numbers; the first is the licence's."""
    first = data.index(b"\n")
    edits = sorted(((at, order, length, text.replace("{id}", str(site.id)))
                    for site in sites for at, length, order, text in site.edits), key=lambda e: (e[0], e[1]))
    out, at = [], 0
    for start, _, length, text in edits:
        out.append(data[at:start])
        kept = data[start:start + length].count(b"\n")
        out.append(text.encode() + b"\n" * kept)
        at = max(at, start + length)
    return b'#include "mutation.hpp"' + (b"".join(out) + data[at:])[first:]


# --- One build of all of them -------------------------------------------------------------------


def copy_tree(tree):
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    for name in files:
        if not name.startswith(("web/", "docs/")) and (ROOT / name).is_file():
            put(tree / name, (ROOT / name).read_bytes(), (ROOT / name).stat().st_mode)
    put(tree / "mutation.hpp", (HERE / "mutation.hpp").read_bytes())


def put(path, data, mode=0o644):
    """Writes only files that differ, so that no other is compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)
        path.chmod(mode & 0o777)


def build(folder, sites, targets):
    """Builds the changed tree, leaving out sites that do not compile. Returns the sites that are
    in."""
    tree, objects = folder / "tree", folder / "build"
    copy_tree(tree)
    if not (objects / "build.ninja").exists():
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-G", "Ninja", "-S", tree, "-B", objects, "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_UNITY_BUILD=ON", "-DSTEPCAST_PYTHON=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
                        "-DCMAKE_CXX_FLAGS=-w", *launcher],
                       check=True, stdout=subprocess.DEVNULL)
    for attempt in range(12):
        by_file = collections.defaultdict(list)
        for site in sites:
            by_file[site.file].append(site)
        for name, some in by_file.items():
            put(tree / name, changed((ROOT / name).read_bytes(), some))
        run = subprocess.run(["cmake", "--build", objects, "--target", *targets, "--", "-k", "0"],
                             capture_output=True, text=True)
        if run.returncode == 0:
            return sites
        lines = set(re.findall(re.escape(str(tree)) + r"/([\w/]+\.[ch]pp):(\d+):\d+:   (?: +)?required from", run.stdout))
        lines |= set(re.findall(re.escape(str(tree)) + r"/([\w/]+\.[ch]pp):(\d+):\d+: (?:fatal )?error", run.stdout))
        bad = {s.id for s in sites if (s.file, str(s.line)) in lines or any(
            (s.file, str(n)) in lines for n in range(s.line, s.line + s_lines(s)))}
        if not bad:
            (folder / "build.log").write_text(run.stdout + run.stderr)
            sys.exit(f"the changed tree does not build: {folder}/build.log")
        print(f"  {len(bad)} places cannot be changed so and are left out", flush=True)
        sites = [s for s in sites if s.id not in bad]
    sys.exit("the changed tree does not build")


def s_lines(site):
    return (ROOT / site.file).read_bytes()[site.start:site.end].count(b"\n") + 1


# --- Running them -------------------------------------------------------------------------------


def run_spec(objects, spec, environment, limit):
    command = [objects / "tests" / f"{spec[0]}_spec", *spec[1:], "--abort"]
    try:
        return subprocess.run(command, cwd=objects.parent / "tree", env={**os.environ, **environment},
                              timeout=limit, capture_output=True).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def reached_by(objects, spec, folder):
    log = folder / ("reached-" + re.sub(r"\W", "", "".join(spec)))
    log.unlink(missing_ok=True)
    begun = time.monotonic()
    if not run_spec(objects, spec, {"STEPCAST_REACHED": str(log)}, 3600):
        sys.exit(f"{' '.join(spec)}: fails with no mutant on")
    return set(map(int, log.read_text().split())), time.monotonic() - begun


def fate(objects, site, specs, reached):
    """The fate of a mutant: "killed", "survived" or "not reached"."""
    some = [s for s in specs if site.id in reached[tuple(s)][0]]
    for spec in some:
        if not run_spec(objects, spec, {"STEPCAST_MUTANT": str(site.id)}, 10 * reached[tuple(spec)][1] + 5):
            return "killed"
    return "survived" if some else "not reached"


def equivalents():
    known = {}
    for line in (HERE / "equivalent.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            key, reason = line.rsplit(" | ", 1)
            known[key] = reason
    return known


def sites_of(groups):
    found = {}
    for group in groups:
        files = sorted({str(f.relative_to(ROOT)) for pattern in GROUPS[group][0] for f in ROOT.glob(pattern)})
        if not files:
            sys.exit(f"{group}: no file of it is there")
        found[group] = [site for file in files for site in Finder(file).found()]
    for number, site in enumerate(s for some in found.values() for s in some):
        site.id = number
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help=", ".join(GROUPS))
    parser.add_argument("--each", type=int, default=200, help="mutants of a group that are tried; 0: all [200]")
    parser.add_argument("--seed", type=int, default=1, help="which are drawn [1]")
    parser.add_argument("--list", action="store_true", help="print the places and end")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutation", help="where it builds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    unknown = set(options.groups) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.chdir(ROOT)
    cindex.Config.set_library_file(LIBCLANG)
    found = sites_of(options.groups)
    if options.list:
        for group, sites in found.items():
            print(f"{group}: {len(sites)} places")
            for site in sites:
                print("  " + site.place())
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    objects = (options.folder / "build").resolve()
    specs = {tuple(s) for g in options.groups for s in map(tuple, GROUPS[g][1])}
    sites = build(options.folder.resolve(), [s for some in found.values() for s in some],
                  sorted({f"{s[0]}_spec" for s in specs}))
    built = {s.id for s in sites}
    reached = {s: reached_by(objects, list(s), options.folder.resolve()) for s in sorted(specs)}
    known, left, rows = equivalents(), [], []
    for group in options.groups:
        all_of = [s for s in found[group] if s.id in built]
        drawn = all_of if not options.each else random.Random(options.seed).sample(
            all_of, min(options.each, len(all_of)))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            fates = list(pool.map(lambda s, g=group: fate(objects, s, GROUPS[g][1], reached), drawn))
        alive = [(s, f) for s, f in zip(drawn, fates) if f != "killed"]
        same = [s for s, _ in alive if s.key() in known]
        left += [(s, f) for s, f in alive if s.key() not in known]
        rows.append((group, len(all_of), len(drawn), len(drawn) - len(alive), len(same)))
        print(f"{group}: {rows[-1][3]} of {len(drawn)} killed, {len(same)} equivalent", flush=True)
    report(rows, left, options)


def report(rows, left, options):
    print("\n| group | places | tried | killed | equivalent | of the others killed |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, *counts in [*rows, ("all", *map(sum, zip(*(r[1:] for r in rows))))]:
        places, tried, killed, same = counts
        print(f"| {name} | {places} | {tried} | {killed} | {same} | {100 * killed / max(1, tried - same):.1f} % |")
    print(f"\nSurvivors (seed {options.seed}):" if left else "\nNo survivor.")
    for site, what in left:
        print(f"  {what}: {site.place()}")


if __name__ == "__main__":
    main()
