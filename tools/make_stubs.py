# SPDX-License-Identifier: Apache-2.0
"""make_stubs.py FILE: writes the stub of stepcast._results, from the commands' answers to examples.

The build runs it after the module is compiled, so that a type checker and an editor know the keys that
this very build answers with; a key that none of the examples has is typed Any. The keys of plans are those of the
schema of scenarios, for answers leave out what is usual. Keys that the writers of documents (report/) may leave
null may be None, and what only examples without a value have is Any.
"""
import keyword
import pathlib
import re
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
    def _repr_html_(self) -> str | None: ...
'''
ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL = {"model": "llama2-7b", "cluster": {"node": "dgx-a100-80gb", "nodes": 1},
         "training": {"sequence_length": 1024, "global_batch": 16, "precision": "bf16"},
         "plan": {"tensor": 2, "micro_batch": 2, "zero": 1}}
EXPERTS = {"model": "mixtral-8x7b", "cluster": {"node": "dgx-h100", "nodes": 2},
           "training": {"sequence_length": 2048, "global_batch": 64, "precision": "bf16"},
           "plan": {"expert": 8, "pipeline": 2, "zero": 1, "recompute": "full"}}
RACKS = {**EXPERTS, "cluster": {"node": "gb200-nvl72", "nodes": 1, "stragglers": [{"gpus": [0], "slowdown": 1.2}]},
         "training": {**EXPERTS["training"], "global_batch": 72, "tokens": 1e9,
                                                "routing": {"skew": "power_law"}}, "plan": {"data": 72, "expert": 8},
         "alerts": {"mfu": "below 90 %", "loss": "above 10"}}
# Values of a scenario, whatever they are.
FREE = re.compile(r"(^|\.)changes\.(from|to)$|(^|\.)axes\.values$")
# The sources that write the documents.
SOURCES = {"Comparison": "compare.cpp", "Purchase": "purchase/*json.cpp", "Explanation": "runs/explanation.cpp",
           "Validation": "validation_json.cpp", "Sweep": "sweep/*json.cpp", "Search": "search/*json.cpp"}
SCHEMA_TYPES = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}


def documents():
    base = {key: SMALL[key] for key in ("model", "cluster", "training")}
    yield stepcast.Forecast, stepcast.simulate(SMALL, measured="1s")
    yield stepcast.Forecast, stepcast.simulate(EXPERTS)
    yield stepcast.Forecast, stepcast.simulate(RACKS)
    yield stepcast.Forecast, stepcast.simulate(base, plan="auto", emit="megatron")
    yield stepcast.Comparison, stepcast.compare(SMALL, SMALL, plan={"micro_batch": 1})
    yield stepcast.Comparison, stepcast.compare(SMALL, {**base, "plan": {"recompute": "full", "tensor": 8,
                                                                         "sequence_parallel": True}})
    yield stepcast.Comparison, stepcast.compare({**base, "plan": {"pipeline": 4, "schedule": "interleaved",
                                                                  "virtual_stages": 2}}, base)
    yield stepcast.Search, stepcast.search(base, top=3)
    yield stepcast.Search, stepcast.search(base, search={"micro_batch": 1024})
    with tempfile.TemporaryDirectory() as folder:
        large = {**SMALL, "training": {**SMALL["training"], "sequence_length": 8192}, "plan": {"tensor": 1}}
        yield stepcast.Sweep, stepcast.sweep({"base": SMALL, "vary": {"plan.micro_batch": [1, 2], "plan.tensor": [2, 3]}},
                                             store=f"{folder}/s.sqlite")
        yield stepcast.Sweep, stepcast.sweep({"base": large, "vary": {"training.global_batch": [8, 16]}},
                                             store=f"{folder}/l.sqlite")
        slow = {**SMALL, "cluster": {**SMALL["cluster"], "stragglers": [{"gpus": [3], "slowdown": 1.5}]}}
        stepcast.simulate(slow, trace=f"{folder}/ranks/")
        yield stepcast.Explanation, stepcast.explain(SMALL, trace=f"{folder}/ranks/")
    yield stepcast.Schedule, stepcast.schedule("1f1b", stages=2, microbatches=2, forward=1, backward=2)
    yield stepcast.Schedule, stepcast.schedule("zb-h1", stages=2, microbatches=2, forward=1.25, backward=1.1, weight=0.7,
                                               comm=0.1)
    option = {"name": "a", "cluster": SMALL["cluster"], "rent": {"per_gpu_hour": "2 USD"}}
    yield stepcast.Purchase, stepcast.purchase(
        {"workload": {"model": SMALL["model"], "training": SMALL["training"], "tokens": 1e9},
         "options": [option, {**option, "name": "b"}]})
    yield stepcast.Explanation, stepcast.explain(SMALL, measured="3s")
    yield stepcast.Validation, stepcast.validate("korthikanti2022_table5", data=ROOT / "scenarios" / "published")


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


def of_schema(schema):
    """The values that a schema allows, as merged() has those of examples."""
    known = fresh()
    for one in [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        if "enum" in one:
            known["types"].update(type(value).__name__ for value in one["enum"])
        kinds = one.get("type", [])
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            if kind == "object":
                known["types"].add("record")
            elif kind == "array":
                known["types"].add("list")
                known["items"] = of_schema(one["items"]) if "items" in one else None
            else:
                known["types"].add(SCHEMA_TYPES.get(kind, "NoneType"))
        for key, value in one.get("properties", {}).items():
            known["members"][key] = of_schema(value)
    return known


def joined(known, more):
    """Both, whichever has a key."""
    known["types"] |= more["types"]
    for key, one in more["members"].items():
        joined(known["members"].setdefault(key, fresh()), one)
    if more["items"]:
        known["items"] = joined(known["items"] or fresh(), more["items"])
    return known


def with_plans(known, plan, key=""):
    """Gives each plan the keys that a scenario's may have."""
    if key == "plan" and "record" in known["types"]:
        joined(known, plan)
        return
    for name, one in known["members"].items():
        with_plans(one, plan, name)
    if known["items"]:
        with_plans(known["items"], plan, key)


def nullable_keys(kind):
    """Names of keys that the sources of an answer's document may leave null."""
    keys = set()
    for file in (ROOT / "report").glob(SOURCES.get(kind, "json.cpp")):
        source = file.read_text(encoding="utf-8")
        keys.update(re.findall(r'\boptional\(\s*"(\w+)"', source))
        keys.update(key for key, value in re.findall(r'\bput\(\s*"(\w+)",([^;]*?)\)\s*(?:\.|;)', source)
                    if re.search(r"Document\((nullptr)?\)?$|Document\((nullptr)?\)\s*:|nullptr", value + ")"))
    return keys


class Writer:
    def __init__(self):
        self.classes, self.nullable = [], set()

    def type_of(self, known, name, path):
        if FREE.search(path):
            return "bool | float | str | None | Records[Any]"  # float includes int
        if known["types"] == {"NoneType"}:
            return "Any"
        types = ["None"] if path.rpartition(".")[2] in self.nullable else []
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
    plan = of_schema(stepcast.schema("scenario")["properties"]["plan"])
    writer = Writer()
    for kind, of in known.items():
        with_plans(of, plan)
        writer.nullable = nullable_keys(kind.__name__)
        own = [name for name, value in vars(kind).items()
               if isinstance(value, property) and not hasattr(stepcast.Result, name)]
        writer.write(kind.__name__, "Result", of["members"], "", taken=dir(kind))
        if own:
            writer.classes[-1] += "".join(f"    @property\n    def {name}(self) -> bool: ...\n" for name in own)
    pathlib.Path(output).write_text("\n".join([HEAD, *writer.classes]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
