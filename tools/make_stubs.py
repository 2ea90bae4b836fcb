# SPDX-License-Identifier: Apache-2.0
"""make_stubs.py FILE: writes the stub of stepcast._results, from the commands' answers to examples.

The build runs it after the module is compiled, so that a type checker and an editor know the keys that
this very build answers with; a key that none of the examples has is typed Any.
"""
import keyword
import pathlib
import sys
import tempfile
import warnings

import stepcast

HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
# Made by make_stubs.py from what the commands answer.
from typing import Any

import pandas

from ._records import Quantity, Record, Records, Table

class Result(Record):
    @property
    def said(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def to_json(self) -> str: ...
    def page(self) -> str: ...
    def trace(self) -> str: ...
    def save(self, path: object) -> None: ...
    def timeline(self) -> Table: ...
    def table(self, path: str | None = None) -> Table: ...
    def to_pandas(self, path: str | None = None) -> pandas.DataFrame: ...
    def __arrow_c_stream__(self, requested_schema: object = ...) -> object: ...
'''
SMALL = {"model": "llama2-7b", "cluster": {"node": "dgx-a100-80gb", "nodes": 1},
         "training": {"sequence_length": 1024, "global_batch": 16, "precision": "bf16"},
         "plan": {"tensor": 2, "micro_batch": 2, "zero": 1}}
EXPERTS = {"model": "mixtral-8x7b", "cluster": {"node": "dgx-h100", "nodes": 2},
           "training": {"sequence_length": 2048, "global_batch": 64, "precision": "bf16"},
           "plan": {"expert": 8, "pipeline": 2, "zero": 1, "recompute": "full"}}


def documents():
    base = {key: SMALL[key] for key in ("model", "cluster", "training")}
    yield stepcast.Forecast, stepcast.simulate(SMALL, measured="1s")
    yield stepcast.Forecast, stepcast.simulate(EXPERTS)
    yield stepcast.Comparison, stepcast.compare(SMALL, SMALL, plan={"micro_batch": 1})
    yield stepcast.Search, stepcast.search(base, top=3)
    with tempfile.TemporaryDirectory() as folder:
        yield stepcast.Sweep, stepcast.sweep({"base": SMALL, "vary": {"plan.micro_batch": [1, 2]}},
                                             store=f"{folder}/s.sqlite")
    yield stepcast.Schedule, stepcast.schedule("1f1b", stages=2, microbatches=2, forward=1, backward=2)
    option = {"name": "a", "cluster": SMALL["cluster"], "rent": {"per_gpu_hour": "2 USD"}}
    yield stepcast.Purchase, stepcast.purchase(
        {"workload": {"model": SMALL["model"], "training": SMALL["training"], "tokens": 1e9},
         "options": [option, {**option, "name": "b"}]})
    yield stepcast.Explanation, stepcast.explain(SMALL, measured="3s")
    published = pathlib.Path(__file__).resolve().parent.parent / "scenarios" / "published"
    yield stepcast.Validation, stepcast.validate("korthikanti2022_table5", data=published)


def merged(values, known):
    """The values that may be there: {"types", "members": {key: …}, "items": …}."""
    if isinstance(values, dict):
        known["types"].add("record")
        for key, value in values.items():
            merged(value, known["members"].setdefault(key, fresh()))
    elif isinstance(values, list):
        known["types"].add("list")
        for value in values:
            known["items"] = merged(value, known["items"] or fresh())
    else:
        known["types"].add(type(values).__name__)
    return known


def fresh():
    return {"types": set(), "members": {}, "items": None}


class Writer:
    def __init__(self):
        self.classes = []

    def type_of(self, known, name, path):
        types = []
        for one in sorted(known["types"]):
            if one == "record":
                types.append(self.write(name, "Record", known["members"], path))
            elif one == "list":
                inner = self.type_of(known["items"], name, path) if known["items"] else "Any"
                types.append(f"Records[{inner}]")
            elif one in ("int", "float") and stepcast.unit_of(path):
                types.append("Quantity")
            else:
                types.append({"NoneType": "None"}.get(one, one))
        return " | ".join(dict.fromkeys(types)) or "Any"

    def write(self, name, base, members, path, taken=dir(stepcast.Record)):
        lines = []
        for key, known in members.items():
            if not key.isidentifier() or keyword.iskeyword(key) or key in taken:
                continue  # the value is an item only
            inner = f"{name}{''.join(word.capitalize() for word in key.split('_'))}"
            lines.append(f"    {key}: {self.type_of(known, inner, f'{path}.{key}' if path else key)}")
        self.classes.append("\n".join([f"class {name}({base}):", *(lines or ["    ..."])]) + "\n")
        return name


def main(output):
    warnings.simplefilter("ignore", stepcast.StepcastWarning)  # of the examples
    known = {}
    for kind, answer in documents():
        merged(answer.to_dict(), known.setdefault(kind, fresh()))
    writer = Writer()
    for kind, of in known.items():
        own = [name for name, value in vars(kind).items()
               if isinstance(value, property) and not hasattr(stepcast.Result, name)]
        writer.write(kind.__name__, "Result", of["members"], "", taken=dir(kind))
        if own:
            writer.classes[-1] += "".join(f"    @property\n    def {name}(self) -> bool: ...\n" for name in own)
    pathlib.Path(output).write_text("\n".join([HEAD, *writer.classes]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
