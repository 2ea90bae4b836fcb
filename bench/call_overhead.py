#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""call_overhead.py [SCENARIO] [--build BUILD]: what a forecast in Python takes beside the same call of C, and beside the program.

docs/python.md aims at no more than 1 ms added by Python. Each way is timed in turn, so that a busy machine slows all
of them alike; medians of the processor's time, and of the clock's for the program.
"""
import argparse
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def c_call(library):
    library.stepcast_call.restype = ctypes.c_void_p
    library.stepcast_call.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 3
    library.stepcast_answer_json.restype = ctypes.c_char_p
    library.stepcast_answer_json.argtypes = library.stepcast_answer_free.argtypes = [ctypes.c_void_p]

    def call(scenario):
        answer = library.stepcast_call(json.dumps({"command": "simulate", "inputs": [scenario]}).encode(),
                                       None, None, None)
        library.stepcast_answer_json(answer)
        library.stepcast_answer_free(answer)

    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("scenario", nargs="?", default=str(ROOT / "scenarios/examples/gpt3-175b-1024-a100.yaml"))
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--times", type=int, default=31)
    asked = parser.parse_args()
    sys.path.insert(0, f"{asked.build}/python")
    import stepcast

    from_c = c_call(ctypes.CDLL(f"{asked.build}/libstepcast.so"))
    program = [f"{asked.build}/stepcast", "simulate", asked.scenario, "--json", "--quiet"]
    ways = {
        "the call of C": (time.process_time, lambda: from_c(asked.scenario)),
        "stepcast.simulate": (time.process_time, lambda: stepcast.simulate(asked.scenario)),
        "and its step read": (time.process_time, lambda: stepcast.simulate(asked.scenario).step.time_s),
        "the program": (time.perf_counter, lambda: subprocess.run(program, stdout=subprocess.DEVNULL, check=True)),
    }
    took = {name: [] for name in ways}
    for _ in range(asked.times):
        for name, (clock, run) in ways.items():
            began = clock()
            run()
            took[name].append(clock() - began)
    medians = {name: statistics.median(times) * 1e3 for name, times in took.items()}
    for name, median in medians.items():
        print(f"{name:20} {median:8.2f} ms")
    added = statistics.median(mine - other for mine, other in
                              zip(took["stepcast.simulate"], took["the call of C"])) * 1e3
    print(f"Python adds          {added:8.2f} ms, the median of {asked.times} pairs")


if __name__ == "__main__":
    main()
