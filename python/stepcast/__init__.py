# SPDX-License-Identifier: Apache-2.0
"""stepcast: forecasts of one training step of a large language model, in Python.

    >>> import stepcast
    >>> forecast = stepcast.simulate("scenario.yaml", plan={"micro_batch": 2})
    >>> forecast.step.time_s
    31.4 s
    >>> float(forecast.step.time_s)
    31.41592653589

Every function is a command of the command line: it takes what the command takes and gives the document
that --json prints. docs/python.md has the rest.
"""
import atexit
import functools
import json
import os
import shutil
import sys
import tempfile
import threading
import warnings
import weakref

from . import _core
from ._errors import (Complaint, Error, InputError, InternalError, StepcastWarning,
                      UsageError)
from ._hints import options_in, unknown_keyword
from ._plain import plain, text
from ._records import Quantity, Record, Records, Table, unit_of
from ._results import (Comparison, Explanation, Forecast, Purchase, Result, Schedule, Search, Sweep,
                       Validation)
from ._costs import Cluster, Device, Group

__all__ = ["simulate", "compare", "search", "sweep", "schedule", "purchase", "validate", "catalog",
           "schema", "call", "explain", "Result", "Forecast", "Comparison", "Search", "Sweep", "Schedule",
           "Purchase", "Validation", "Explanation", "Record", "Records", "Table", "Quantity", "unit_of",
           "Error", "InputError", "UsageError", "InternalError", "StepcastWarning", "Complaint", "Cluster",
           "Group", "Device", "__version__"]
__version__ = _core.version.split()[0]

# A call that KeyboardInterrupt left behind still computes; the process ends after it.
atexit.register(_core.wait_for_leavers)


def _warn(answer):
    """Each warning once, at the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(__name__):
        level, frame = level + 1, frame.f_back
    for text in answer.warnings:
        warnings.warn(text, StepcastWarning, stacklevel=level)
    return answer


def _on_main_thread():
    return threading.current_thread() is threading.main_thread()


def _asked(make):
    """A page or a timeline."""
    try:
        return make(_on_main_thread())
    except ValueError as wrong:
        raise UsageError(str(wrong).removeprefix("stepcast: ").rstrip()) from None


class _Request:
    """A call in the words of library/call.hpp."""

    def __init__(self, command, kind=None):
        self.command, self.inputs, self.texts, self.options = command, [], {}, {}
        self.kind = kind  # of the document whose keys may be keywords too

    def document(self, given, name):
        """How the call names what is given: a path, YAML or JSON text, or a dict."""
        if hasattr(given, "__fspath__"):
            return text(os.fspath(given), name)
        if isinstance(given, str):
            if not given:
                raise UsageError(f"{name}: an empty text names no file; give a path, YAML text or a dict")
            if "\n" not in given:
                return text(given, name)
            text(given, name, lines=True)
        elif hasattr(given, "keys"):
            given = json.dumps(plain(given), indent=1, ensure_ascii=False)
        else:
            raise TypeError(f"{name}: expected a path, a text or a dict, not {type(given).__name__}")
        self.texts[name] = given
        return name

    def option(self, name, value):
        """Names of Python for those of the command line: as_, env={"A": 1}, against=a dict."""
        name = name.rstrip("_").replace("_", "-")
        if name in ("output", "json"):
            raise UsageError(f"{name}: a call returns its answer, whose to_json() and save(path) "
                             "write it")
        if name in ("help", "quiet"):
            raise UsageError(f"{name}: a call prints nothing; read help(stepcast), or run 'stepcast {self.command} "
                             "--help' as a program")
        if isinstance(value, str) and not value:
            raise UsageError(f"{name}: an empty text is no value of it; leave it out or write one")
        kind = value is True and _options(self.command).get(name.replace("-", "_"))
        if kind:
            raise UsageError(f"{name}: True is no value of it; write {name.replace('-', '_')}={kind.split(':')[0]}")
        if name == "env" and hasattr(value, "keys"):
            value = [f"{key}={one}" for key, one in value.items()]
        elif name != "set" and (hasattr(value, "keys") or (name == "against" and value is not None)):
            value = self.document(value, name)
        self.options[name] = plain(value, name)

    def json(self):
        if not isinstance(self.command, str) or not self.command.strip():
            raise UsageError(f"call: expected the words of a command, such as 'sweep export', not {self.command!r}")
        for one in self.inputs:  # names of the catalog, of data sets
            if not isinstance(one, str):
                raise UsageError(f"{self.command}: expected a name as a text, not {one!r}")
            text(one, "name")
        return json.dumps({"command": self.command, "inputs": self.inputs, "options": self.options,
                           "texts": self.texts})


def _run(request, progress=None):
    json_text = request.json()
    raised = []

    def told(figures):
        try:
            return progress(figures)
        except BaseException as wrong:
            raised.append(wrong)
            raise

    try:
        answer = _core.call(json_text, progress and told, _on_main_thread())
    except ValueError as wrong:
        if wrong in raised:
            raise
        raise UsageError(str(wrong)) from None
    if answer.answered:
        return answer
    said = answer.said.rstrip()
    if answer.status == 3:
        raise InternalError(said)
    if answer.status == 130:  # Ctrl-C raises in the call itself
        raise Error(f"{request.command}: progress returned False before there was anything to answer")
    document = json.loads(answer.json)
    if document["complaints"]:
        raise InputError(said, document["complaints"], dict(request.texts))
    said = said.removeprefix("stepcast: ")
    if answer.status == 1:
        raise Error(said)  # nothing was wrong with the question; no plan fits, for one
    raise UsageError(unknown_keyword(said, request, schema, _options) or said)


def _again(request):
    """The answer of a result that lost it; a sweep is kept in a store of its own meanwhile."""
    if request.command == "sweep" and "store" not in request.options:
        return _run_in_store(request, None)
    return _run(request), None


class _Folder:
    """A folder that goes when nobody has this, in the process that made it."""

    def __init__(self):
        self.name = tempfile.mkdtemp(prefix="stepcast-")
        weakref.finalize(self, _Folder._remove, self.name, os.getpid())

    @staticmethod
    def _remove(name, owner):
        if os.getpid() == owner:
            shutil.rmtree(name, ignore_errors=True)


def _run_in_store(request, progress):
    folder = _Folder()
    request.options["store"] = os.path.join(folder.name, "sweep.sqlite")
    try:
        return _run(request, progress), folder
    finally:
        del request.options["store"]


@functools.lru_cache(maxsize=None)
def _keys(kind):
    return frozenset(schema(kind)["properties"])


@functools.lru_cache(maxsize=None)
def _options(command):
    """The options of a command as keywords, with the kind of their value: {"measured": "TIME", "full": None}."""
    request = _Request(command)
    request.options["help"] = True
    return options_in(_core.call(request.json(), None, False).json)


def _call(result, command, kind, given, keywords, progress=None):
    """A command on a document of this kind: given, made of keywords, or both, one over the other."""
    request = _Request(command, kind)
    if command == "simulate" and isinstance(keywords.get("plan"), str):
        request.option("plan", keywords.pop("plan"))  # --plan auto
    keys = _keys(kind) if keywords else ()
    parts = {key: keywords.pop(key) for key in list(keywords) if key in keys}
    for name, value in keywords.items():
        if value is not None and value is not False:
            request.option(name, value)
    if given is None and not parts:
        raise TypeError(f"{command}: give a {kind}: a path, a text, a dict or its keys as keywords")
    if given is None:
        request.inputs.append(request.document(parts, kind))
    else:
        request.inputs.append(request.document(given, kind))
        if parts:
            _lay_over(request, parts)
    if command == "sweep" and "store" not in request.options:
        answer, keeps = _run_in_store(request, progress)
    else:
        answer, keeps = _run(request, progress), None
    return _warn(result(answer.json, request, answer, keeps))


def _lay_over(request, parts):
    """Keywords beside a document replace its keys one by one, as --set does."""
    sets = request.options.get("set", {})
    if isinstance(sets, dict):
        request.options["set"] = {**plain(parts), **sets}
    else:
        leaves = []

        def walk(value, path):
            for key, one in value.items():
                here = f"{path}.{key}" if path else str(key)
                if isinstance(one, dict) and one:
                    walk(one, here)
                else:
                    leaves.append(f"{here}={json.dumps(one)}")

        walk(plain(parts), "")
        request.options["set"] = leaves + ([sets] if isinstance(sets, str) else list(sets))


def simulate(scenario=None, /, *, progress=None, **keywords):
    """Forecasts one training step of one plan.

    `scenario`: the path of a YAML scenario or of a framework's job, YAML text, or a dict; its keys may
    also be keywords (model=, cluster=, training=, plan=, …), which are laid over what is given. Every
    other keyword is an option of `stepcast simulate`: full=True, measured="14s", set={"plan.tensor": 8},
    as_="megatron", env={"NODES": 8}, corrections=FILE. plan="auto" searches a plan and simulates it;
    `progress` is then that of search.
    """
    return _call(Forecast, "simulate", "scenario", scenario, keywords, progress)


def compare(scenario, against, /, **keywords):
    """Both scenarios, and what each change from `against` to `scenario` costs or wins."""
    return _call(Comparison, "simulate", "scenario", scenario, {"against": against, **keywords})


def search(scenario=None, /, *, progress=None, **keywords):
    """Finds the best plans of a scenario whose plan is left open, and proves that they are.

    Keywords as of simulate; options are those of `stepcast search`: top=5, for_="megatron", threads=2.
    `progress` receives {"text", "plans", "plans_open", "best_s", "bound_s"} some ten times a second; if it
    returns False the search ends with the best plan so far, and .interrupted is true. A search that finds
    none says why in .said; .found is False.
    """
    return _call(Search, "search", "scenario", scenario, keywords, progress)


def sweep(definition=None, /, *, progress=None, **keywords):
    """Simulates or searches every scenario of a grid: base=, vary=, only_if= or a sweep file.

    Without store=FILE the points are kept for this answer alone; with it the sweep goes on where the
    file ends. `progress` receives {"text", "points_done", "points"}; if it returns False the answer
    has the points so far, and .interrupted is true.
    """
    return _call(Sweep, "sweep", "sweep", definition, keywords, progress)


def purchase(definition=None, /, *, progress=None, **keywords):
    """Which of the options of a purchase to buy or rent.

    `progress` receives {"text", "options_done", "options"} and the figures of the search that runs; if it returns
    False the searches end with the best plans so far, and .interrupted is true.
    """
    return _call(Purchase, "purchase", "purchase", definition, keywords, progress)


def schedule(schedule="1f1b", /, **keywords):
    """Plays one pipeline schedule from given pass times: stages=4, microbatches=8, forward=1,
    backward=2, chunks=, weight=, comm=, slow={0: 1.25}; order=FILE for one that is written down."""
    request = _Request("schedule")
    slow = keywords.pop("slow", None)
    if slow is not None:
        if not hasattr(slow, "items"):
            raise UsageError(f"slow: expected a dict of stages and factors, such as {{0: 1.25}}, not {slow!r}")
        keywords["slow"] = [f"{stage}={factor}" for stage, factor in slow.items()]
    order = keywords.pop("order", None)
    if order is not None:
        request.options["order"] = request.document(order, "order")
    else:
        request.options["schedule"] = schedule
    for name, value in keywords.items():
        request.option(name, value)
    answer = _run(request)
    return _warn(Schedule(answer.json, request, answer))


def validate(*datasets, **keywords):
    """Forecasts published runs and compares, row by row; without names, all of them. data=FOLDER where
    the checkout's or the installed data is not found."""
    request = _Request("validate")
    request.inputs.extend(datasets)
    kind = "collectives" if datasets[:1] == ("collectives",) else "published"
    data = os.path.join(os.path.dirname(__file__), "data", kind)
    if "data" not in keywords and os.path.isdir(data):
        keywords["data"] = data
    for name, value in keywords.items():
        request.option(name, value)
    answer = _run(request)
    return _warn(Validation(answer.json, request, answer))


def explain(scenario=None, /, *, measured=None, trace=None, **keywords):
    """Why a run was slower than its forecast: measured="14s", the time that its step took, or trace=, what
    PyTorch's profiler wrote for one rank or a folder of such files, or both. Keywords as of simulate.
    """
    return _call(Explanation, "explain", "scenario", scenario,
                 {"measured": measured, "trace": trace, **keywords})


def catalog(kind=None, name=None):
    """The names of the catalog by kind, or one entry of it: catalog("device", "h100-80gb-sxm")."""
    if kind is None and name is not None:
        raise UsageError("catalog: give the kind before the name: catalog('device', 'h100-80gb-sxm')")
    request = _Request("catalog list" if name is None else "catalog show")
    request.inputs.extend(one for one in (kind, name) if one is not None)
    return Record(json.loads(_run(request).json))


def schema(kind="scenario"):
    """The JSON Schema of a scenario, a sweep, a purchase or corrections."""
    request = _Request("catalog schema")
    request.inputs.append(kind)
    return json.loads(_run(request).json)


def call(command, *inputs, progress=None, **options):
    """Any command that has --json: call("trace", "rank0.json.gz", against="run.yaml")."""
    request = _Request(command)
    for position, one in enumerate(inputs):
        request.inputs.append(request.document(one, "scenario" if position == 0 else f"input{position + 1}"))
    for name, value in options.items():
        request.option(name, value)
    answer = _run(request, progress)
    return _warn(Result(answer.json, request, answer))
