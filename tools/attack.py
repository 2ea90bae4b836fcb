#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs stepcast on random scenarios and on damaged copies of the repository's inputs.

Whatever it is given, the program answers (0), says that there is no answer (1) or refuses its input
with a place (2), within --seconds and --memory. The table counts, by class of input, the
other outcomes: crashes, hangs, internal faults (exit 3), refusals without FILE:LINE:COLUMN, answers
that do not add up. Inputs that failed are kept, with the command, in --keep.

    tools/attack.py --program build/stepcast --each 500 --seed 7
    tools/attack.py --class scenario-random --each 5000

Every input follows from the seed, its class and its number.
"""

import argparse
import collections
import gzip
import json
import math
import multiprocessing
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = re.compile(r"^(.+:\d+:\d+|--set \d+)(: |$)")

# --- Parts that inputs are made from ------------------------------------------------------------

HUGE = ["0", "-1", "1", "2", "3", "7", "1e999", "-1e999", "1e308", "1e18", "9223372036854775807",
        "9223372036854775808", "-9223372036854775809", "4294967296", "2147483648", "0.1", "1e-300",
        ".nan", ".inf", "NaN", "null", "~", "true", "''", "[]", "{}", "0x10", "1_000", "80 GiB",
        "1e30 GiB", "5 us", "-3 GB/s", "400 Gbit/s"]
BAD_BYTES = [b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
             b"\r", b"\r\n", b"\t", b"\x1b[31m", b"\xe2\x80\xae", b"\xc2\x85", b"\x7f"]
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def flip(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1:]


def cut(data, rng):
    a, b = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return data[:a] + data[b:] if rng.random() < 0.5 else data[:b]


def lines_changed(data, rng):
    lines = data.splitlines(keepends=True)
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(other, lines[at])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines[at] = b" " * rng.randrange(5) + lines[at].lstrip()
    return b"".join(lines)


def number_changed(data, rng):
    numbers = list(NUMBER.finditer(data))
    if not numbers:
        return flip(data, rng)
    here = rng.choice(numbers)
    new = rng.choice(HUGE).encode() if rng.random() < 0.6 else rng.choice(numbers).group()
    return data[:here.start()] + new + data[here.end():]


def words_swapped(data, rng):
    words = list(re.finditer(rb"[A-Za-z_][\w.-]*", data))
    if len(words) < 2:
        return flip(data, rng)
    a, b = sorted(rng.sample(words, 2), key=lambda m: m.start())
    return data[:a.start()] + b.group() + data[a.end():b.start()] + a.group() + data[b.end():]


def bad_bytes(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(BAD_BYTES) + data[at:]


def brackets(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice([b"[", b"]", b"{", b"}", b":", b",", b'"', b"'", b"&a ", b"*a",
                                   b"<<: ", b"- ", b"? ", b"#", b"|", b"%"]) * rng.choice([1, 1, 2, 90]) \
        + data[at:]


def recoded(data, rng):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return flip(data, rng)
    return text.encode(rng.choice(["utf-16", "utf-32", "utf-16-le", "utf-8-sig"]))


CHANGES = [number_changed] * 6 + [flip, cut, lines_changed, lines_changed, words_swapped,
                                  words_swapped, bad_bytes, brackets, recoded]


def damaged(data, rng):
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        data = rng.choice(CHANGES)(data, rng) if data else b"x"
    return data


# --- Random scenarios --------------------------------------------------------------------------

class Names:
    """Names that the catalog and the schema offer."""

    def __init__(self, program):
        def ask(*words):
            return subprocess.run([program, "catalog", *words], capture_output=True, check=True,
                                  text=True).stdout
        self.of = {}
        for line in ask("list").splitlines():
            if line.startswith(" "):
                self.of[kind].append(line.split()[0])
            elif line.strip():
                kind = line.split()[0]
                self.of[kind] = []
        self.models = {name: json.loads(ask("show", "model", name, "--json"))
                       for name in self.of["model"]}


def random_scenario(names, rng):
    """A scenario that is mostly consistent, so that some two thirds are simulated, and small, so
    that each takes milliseconds."""
    pick = rng.choice
    tensor, pipeline = pick([1, 1, 2, 4, 8]), pick([1, 1, 2, 3, 4, 8])
    data, context = pick([1, 1, 2, 3, 4]), pick([1, 1, 1, 2])
    micro, rounds = pick([1, 1, 2, 4]), pick([1, 2, 4, 5, 8, 16])
    schedule = pick(["1f1b", "1f1b", "gpipe", "interleaved", "zb-h1", "zb-h2", "zb-v", "v-half",
                     "v-min", "dualpipe", "dualpipe-v"])
    plan = {"tensor": tensor, "pipeline": pipeline, "micro_batch": micro, "schedule": schedule}
    if context > 1:
        plan.update(context=context, context_method=pick(["ring", "ulysses", "all-gather"]))
    if schedule == "interleaved":
        plan["virtual_stages"] = pick([1, 2, 3])
    if schedule.startswith("dualpipe"):
        rounds = 2 * pipeline + pick([0, 2, 4])
    if tensor > 1:
        plan["sequence_parallel"] = pick([True, True, False])
    maybe = lambda key, *values: rng.random() < 0.3 and plan.update({key: pick(values)})
    maybe("zero", 1, 2, 3)
    maybe("recompute", "selective", "full", "per-op", {"full_layers": 2}, {"selective": ["mlp"]})
    maybe("rank_order", "tp-cp-ep-dp-pp", "tp-pp-cp-ep-dp")
    maybe("overlap", {"data": pick([True, False]), "pipeline": pick([True, False])},
          {"tensor": pick([True, False])})
    maybe("bucket", "25 MB", "1 GB")
    model = pick(names.of["model"])
    if names.models[model].get("moe"):
        plan.update(expert=pick([1, 1, 2, 4, 8]), expert_tensor=1, sequence_parallel=True)
    rate = lambda: pick(["1 MB/s", "1 GB/s", "50 GB/s", "900 GB/s", "1e15 B/s", 1e6, 1e12])
    cluster = {"node": pick(names.of["node"]), "gpus": tensor * pipeline * data * context}
    if rng.random() < 0.4:
        cluster["node"] = {"base": cluster["node"]}
        if rng.random() < 0.5:
            cluster["node"]["nvlink"] = {"bandwidth": rate(), "multicast": pick([True, False])}
        if rng.random() < 0.5:
            cluster["node"]["nics"] = {"bandwidth": rate(), "count": pick([1, 2, 8])}
        if rng.random() < 0.3:
            cluster["node"]["device"] = {"base": pick(names.of["device"]),
                                         "memory_bandwidth": rate()}
    if rng.random() < 0.3:
        cluster["fabric"] = pick(names.of["fabric"])
    if rng.random() < 0.3:
        cluster["fabric"] = {"base": pick(names.of["fabric"]), "link_bandwidth": rate(),
                             "oversubscription": pick([1, 2, 4]), "radix": pick([8, 36, 64])}
    if rng.random() < 0.2:
        cluster["stragglers"] = [{"gpus": [rng.randrange(cluster["gpus"])],
                                  "slowdown": pick([1, 1.1, 2])}]
    training = {"sequence_length": pick([128, 1024, 2048, 4096]),
                "global_batch": micro * data * rounds,
                "precision": pick(["bf16", "bf16", "bf16", "fp16", "fp32", "tf32", "fp8", "mxfp8"])}
    if rng.random() < 0.3:
        training["optimizer"] = pick(["adamw", "adam", "lamb", "adafactor", "sophia", "muon", "sgd"])
    scenario = {"model": model, "cluster": cluster, "training": training, "plan": plan}
    if rng.random() < 0.5:
        scenario["software"] = pick(names.of["software"])
    return json.dumps(scenario).encode()


def numbers_of(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers_of(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_of(inner, path)
    elif isinstance(value, float):
        yield path, value


def wrong_answer(text):
    """The law that a forecast breaks, in words; empty if it breaks none."""
    try:
        answer = json.loads(text, parse_constant=lambda word: math.nan)
    except json.JSONDecodeError as error:
        return f"no JSON: {error}"
    for path, number in numbers_of(answer):
        if not math.isfinite(number):
            return f"{path[1:]} is {number}"
    step, parts = answer["step"]["time_s"], answer["time"]
    if not step > 0:
        return f"step.time_s is {step}"
    if any(part < 0 for part in parts.values()):
        return "a part of time is negative"
    if abs(sum(parts.values()) - step) > 1e-9 * step:
        return f"time.* sums to {sum(parts.values())}, the step is {step}"
    path = sum(part["seconds"] for part in answer["critical_path"])
    if abs(path - step) > 1e-9 * step:
        return f"the critical path is {path}, the step is {step}"
    for link in answer["network"]["links"]:
        if not 0 <= link["utilisation"] <= 1 + 1e-9:
            return f"{link['name']} is used {100 * link['utilisation']} %"
    return ""


# --- Classes of inputs --------------------------------------------------------------------------

Class = collections.namedtuple("Class", "make suffix command checks", defaults=[None])


def files(*patterns):
    found = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    return [path.read_bytes()[:20_000] for path in found if path.is_file()]


def orders(rng):
    stages, batches = rng.randrange(1, 5), rng.randrange(1, 6)
    return "\n".join(",".join(f"{stage}{letter}{m}" for letter in "FB" for m in range(batches))
                     for stage in range(stages)).encode()


def rows(data, count):
    return b"".join(data.splitlines(keepends=True)[:count])


def copies(data, extra=b""):
    def make(rng):
        return damaged(rng.choice(data) + extra, rng)
    return make


def classes(names):
    examples = files("scenarios/examples/*.yaml", "scenarios/published/megatron_sc21_table1.yaml")
    is_search = lambda text: b"search:" in text
    plain = [text for text in examples if not is_search(text) and b"options:" not in text]
    asked = [text for text in examples if is_search(text) and b"options:" not in text]
    bought = [text for text in examples if b"options:" in text and b"deepseek" not in text]
    traces = files("tests/scenarios/profiler/*.json")
    short = ["--set", "search.time_limit=10ms", "--threads", "1"]
    return {
        "scenario-random": Class(lambda rng: random_scenario(names, rng), ".yaml",
                                 lambda f, d: ["simulate", f, "--json", "--quiet"], wrong_answer),
        "scenario": Class(copies(plain), ".yaml", lambda f, d: ["simulate", f, "--json", "--quiet"],
                          wrong_answer),
        "scenario-damaged-random": Class(lambda rng: damaged(random_scenario(names, rng), rng),
                                         ".yaml", lambda f, d: ["simulate", f, "--json", "--quiet"],
                                         wrong_answer),
        "search": Class(copies(asked), ".yaml", lambda f, d: ["search", f, *short]),
        "sweep": Class(copies(files("scenarios/examples/sweeps/*.yaml", "scenarios/studies/*.yaml")),
                       ".yaml", lambda f, d: ["sweep", f, "--emit", "slurm", "--shards", "2"]),
        "purchase": Class(copies(bought), ".yaml", lambda f, d: ["purchase", f, *short]),
        "corrections": Class(copies(files("scenarios/examples/corrections/*.yaml")), ".yaml",
                             lambda f, d: ["simulate", str(ROOT / "scenarios/examples/"
                                                           "megatron-22b-8-a100.yaml"),
                                           "--corrections", f, "--json"]),
        "published": Class(copies(files("scenarios/published/*.yaml")), ".yaml",
                           lambda f, d: ["validate", "--data", d]),
        "huggingface": Class(copies(files("tests/scenarios/configs/*.json",
                                          "scenarios/examples/configs/*.json")), ".json",
                             lambda f, d: ["import", "huggingface", f]),
        "trace": Class(copies(traces), ".json", lambda f, d: ["trace", f]),
        "explain": Class(copies(files("tests/scenarios/explain/rank-*.json")), ".json",
                         lambda f, d: ["explain", str(ROOT / "tests/scenarios/explain/run.yaml"),
                                       "--trace", f]),
        "trace-packed": Class(lambda rng: damaged(gzip.compress(rng.choice(traces), 1, mtime=0), rng)
                              if rng.random() < 0.5 else
                              gzip.compress(damaged(rng.choice(traces), rng), 1, mtime=0),
                              ".json.gz", lambda f, d: ["trace", f]),
        "nccl-tests": Class(copies(files("tests/scenarios/nccl/*")), ".log",
                            lambda f, d: ["import", "nccl-tests", f]),
        "nccl-tests-cut": Class(copies(files("tests/scenarios/nccl/*")), ".log",
                                lambda f, d: ["import", "nccl-tests", f, "--set",
                                              "ranks=4,nodes=2", "--into",
                                              str(ROOT / "scenarios/examples/"
                                                  "mixtral-8x7b-64-h100.yaml")]),
        "kernels": Class(copies([rows(text, 60) for text in files("scenarios/catalog/kernels/*.csv")]),
                         ".csv", lambda f, d: ["calibrate", "--kernels", f, "--name", "attacked",
                                               "--base", "a100-80gb-sxm", "--catalog", d]),
        "order": Class(lambda rng: damaged(orders(rng), rng), ".csv",
                       lambda f, d: ["schedule", "--order", f, "--forward", "1", "--backward", "2"]),
        "numbers": Class(None, "", lambda rng: odd_command(rng)),
    }


def odd_command(rng):
    odd = lambda: rng.choice(HUGE + ["8", "4", "16", "1000", "100000", "1e5"])
    usual = lambda *values: odd() if rng.random() < 0.4 else rng.choice(values)
    names = ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "v-half", "v-min", "dualpipe",
             "dualpipe-v"]
    if rng.random() < 0.8:
        words = ["schedule", "--schedule", rng.choice(names), "--stages", usual("2", "4", "8"),
                 "--microbatches", usual("8", "32"), "--forward", usual("1", "2.5"), "--backward",
                 usual("2", "3")]
        for option in ["--weight", "--comm", "--chunks", "--slow"]:
            if rng.random() < 0.3:
                words += [option, usual("1", "2") if option != "--slow" else f"{odd()}={odd()}"]
        return words + rng.choice([["--json"], []])
    keys = ["plan.tensor", "plan.pipeline", "plan.micro_batch", "training.global_batch",
            "training.sequence_length", "model.layers", "model.vocab", "cluster.nodes",
            "cluster.node.nvlink.bandwidth", "cluster.fabric.link_bandwidth"]
    words = ["simulate", str(ROOT / "scenarios/examples/megatron-22b-8-a100.yaml"), "--json"]
    for _ in range(rng.choice([1, 1, 2])):
        words += ["--set", f"{rng.choice(keys)}={odd()}"]
    return words + (["--measured", odd()] if rng.random() < 0.2 else [])


# --- Running ------------------------------------------------------------------------------------

KINDS = ["answered", "no answer", "refused", "crash", "hang", "fault", "no place", "wrong"]
FAILED = set(KINDS[3:])


def verdict(kind, status, out, err):
    if status < 0:
        return "crash", f"signal {-status}"
    if status == 0:
        wrong = kind.checks(out) if kind.checks else ""
        return ("wrong", wrong) if wrong else ("answered", "")
    if status == 1:
        return ("no answer", "") if err.strip() else ("wrong", "exit 1 without a word")
    if status != 2:
        return "fault", f"exit {status}: {err[:200]}"
    if kind.suffix and not any(PLACE.match(line) for line in err.splitlines()):
        return "no place", err[:200]
    return "refused", ""


class Runner:
    """Runs commands in one process, whose limit of memory the commands inherit."""

    def __init__(self, options):
        resource.setrlimit(resource.RLIMIT_AS, (options.memory << 20, options.memory << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self.options, self.classes = options, classes(options.names)
        self.folder = tempfile.TemporaryDirectory(prefix="attack")

    def command(self, name, number):
        rng = random.Random(f"{self.options.seed}/{name}/{number}")
        kind = self.classes[name]
        if kind.make is None:
            return kind.command(rng)
        path = Path(self.folder.name) / name
        path.mkdir(exist_ok=True)
        path = path / f"input{kind.suffix}"
        path.write_bytes(kind.make(rng))
        return kind.command(str(path), str(path.parent))

    def run(self, task):
        name, number = task
        kind, words = self.classes[name], self.command(name, number)
        try:
            ended = subprocess.run([self.options.program, *words], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE if kind.checks else subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, timeout=self.options.seconds)
        except subprocess.TimeoutExpired:
            return self.told(name, number, words, "hang", f"over {self.options.seconds} s")
        except ValueError as error:  # a word of the command that no process can be given
            return name, "refused", str(error)
        out = ended.stdout.decode(errors="replace") if kind.checks else ""
        what, why = verdict(kind, ended.returncode, out, ended.stderr.decode(errors="replace"))
        return self.told(name, number, words, what, why)

    def told(self, name, number, words, what, why):
        if what in FAILED and self.options.keep:
            kept = Path(self.options.keep)
            kept.mkdir(parents=True, exist_ok=True)
            source = Path(self.folder.name) / name / f"input{self.classes[name].suffix}"
            target = kept / f"{what.replace(' ', '-')}-{name}-{number}{self.classes[name].suffix}"
            if self.classes[name].make:
                target.write_bytes(source.read_bytes())
            Path(f"{target}.txt").write_text(f"{' '.join(words)}\n{why}\n")
        return name, what, why


runner = None


def begin(options):
    global runner
    runner = Runner(options)


def run(task):
    return runner.run(task)


def table(counts, first):
    width = max(map(len, counts))
    lines = [f"{'':{width}}  {'runs':>7}" + "".join(f"{kind:>11}" for kind in KINDS)]
    for name, of in counts.items():
        lines.append(f"{name:{width}}  {sum(of.values()):7}" +
                     "".join(f"{of[kind] or '':>11}" for kind in KINDS))
    return "\n".join(lines + [f"{name}: {what}: {why.splitlines()[0] if why else ''}"
                              for (name, what), why in first.items()])


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parse.add_argument("--program", default=str(ROOT / "build/stepcast"))
    parse.add_argument("--seed", default="1")
    parse.add_argument("--each", type=int, default=200, help="inputs of each class")
    parse.add_argument("--first", type=int, default=0, help="number of the first of them")
    parse.add_argument("--class", dest="only", action="append", help="only this class (repeatable)")
    parse.add_argument("--parallel", type=int, default=2)
    parse.add_argument("--seconds", type=float, default=10, help="limit of each run")
    parse.add_argument("--memory", type=int, default=2048, help="limit of each run, MiB")
    parse.add_argument("--keep", help="folder for the inputs that failed")
    options = parse.parse_args()
    options.program = str(Path(options.program).resolve())
    options.names = Names(options.program)
    known = classes(options.names)
    for name in options.only or []:
        if name not in known:
            parse.error(f"unknown class {name}; choose {', '.join(known)}")
    counts = {name: collections.Counter() for name in known if not options.only or name in options.only}
    numbers = range(options.first, options.first + options.each)
    tasks = [(name, number) for number in numbers for name in counts]
    began, first = time.monotonic(), {}
    with multiprocessing.Pool(options.parallel, begin, (options,)) as pool:
        for name, what, why in pool.imap_unordered(run, tasks, chunksize=8):
            counts[name][what] += 1
            if what in FAILED:
                first.setdefault((name, what), why)
    print(table(counts, first))
    took = time.monotonic() - began
    print(f"{len(tasks)} runs in {took:.0f} s, {len(tasks) / took:.0f} a second", file=sys.stderr)
    return 1 if first else 0


if __name__ == "__main__":
    sys.exit(main())
