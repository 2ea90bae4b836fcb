# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the module: small scenarios, and the program to hold answers against."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "scenarios" / "examples"
STEP = EXAMPLES / "megatron-22b-8-a100.yaml"
SMALL = {
    "model": "llama2-7b",
    "cluster": {"node": "dgx-a100-80gb", "nodes": 1},
    "training": {"sequence_length": 1024, "global_batch": 16, "precision": "bf16"},
    "plan": {"tensor": 2, "micro_batch": 2, "zero": 1},
}
QUESTION = {**{key: SMALL[key] for key in ("model", "cluster", "training")}}
GRID = {"base": SMALL, "vary": {"plan.tensor": [1, 2, 4], "plan.micro_batch": [1, 2]}}


def without_wall(document):
    """The document without measured times, which differ from run to run."""
    if isinstance(document, dict):
        return {key: without_wall(value) for key, value in document.items() if key != "wall_s"}
    if isinstance(document, list):
        return [without_wall(value) for value in document]
    return document


def program(*words):
    """The answer of the command line, with --json."""
    run = subprocess.run([os.environ["STEPCAST_PROGRAM"], *map(str, words), "--json", "--quiet"],
                         capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.stdout else run
