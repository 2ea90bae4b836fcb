# SPDX-License-Identifier: Apache-2.0
"""Answers of commands: their documents, and what a page and a timeline of them show."""
import html
import json
import re

from ._records import Record, Records, Table


def _short_row(row):
    return {key: value for key, value in row.items() if not isinstance(value, list)}


class Result(Record):
    """The document that --json prints, with attributes; see Record for how it is read."""

    __slots__ = ("_text", "_request", "_answer", "_keeps", "_said", "_warned")
    _table = None  # path of the table that to_pandas() and Arrow get without a name
    _called = "this answer"
    _page = _timeline = True  # whether the command has them

    def __init__(self, text, request, answer=None, keeps=None, said=None, warned=()):
        values = json.loads(text)
        super().__init__(values)
        for name, value in (("_text", text), ("_request", request), ("_answer", answer), ("_keeps", keeps),
                            ("_said", said if answer is None else answer.said.strip()),
                            ("_warned", list(warned if answer is None else answer.warnings))):
            object.__setattr__(self, name, value)

    def __reduce__(self):
        return type(self), (self._text, self._request, None, None, self._said, self._warned)

    def __repr__(self):
        return f"<{type(self).__name__}: {', '.join(self)}{self._flaw()}>"

    def _flaw(self):
        """What a reader of the figures must know first, after a comma."""
        return ""

    @property
    def warnings(self):
        """What the command line warns of, as texts; each was also a StepcastWarning when it was computed."""
        return list(dict.fromkeys(self._warned + self._values.get("warnings", [])))

    @property
    def said(self):
        """What the command line prints beside the document: why there is no plan, for one."""
        return self._said

    def to_json(self):
        """The document as the command line prints it, byte for byte."""
        return self._text

    def _made(self):
        # An answer that was pickled, or lost its store, is computed again.
        if self._answer is None:
            from . import _again

            answer, keeps = _again(self._request)
            object.__setattr__(self, "_answer", answer)
            object.__setattr__(self, "_keeps", keeps)
        return self._answer

    def page(self):
        """The page of --report: one HTML file that asks nobody for anything."""
        from . import _asked

        self._must_have(self._page, "page")
        answer = self._made()
        self._must_have(answer.has_page, "page")
        return _asked(answer.page)

    def trace(self):
        """The timeline as Chrome trace events (JSON), as --trace FILE.json writes it."""
        from . import _asked

        self._must_have(self._timeline, "timeline")
        answer = self._made()
        self._must_have(answer.has_trace, "timeline")
        return _asked(answer.trace)

    def _must_have(self, has, what):
        if not has:
            from . import UsageError

            raise UsageError(f"{self._called} has no {what}; ask simulate(...).{what}()")

    def save(self, path):
        """Writes the page (.html), the timeline as Chrome trace events (.trace.json) or the document (.json)."""
        path = str(path)
        if path.endswith(".html"):
            text = self.page()
        elif path.endswith(".json"):
            text = self.trace() if path.endswith(".trace.json") else self._text
        else:
            from . import UsageError

            raise UsageError(
                f"save: {path}: expected a name that ends in .html (the page), .trace.json (the timeline) or .json "
                "(the document); tables are to_pandas().to_csv(path), and trace='step.pftrace' beside the scenario "
                "writes a timeline for Perfetto")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def timeline(self):
        """The timeline as a table: a row for each bar."""
        return timeline_of(json.loads(self.trace())["traceEvents"])

    def table(self, path=None):
        """A list of objects in the document as a table: "pipeline.stages"."""
        path = path or self._table
        if path is None:
            raise ValueError(f"name a list of the document; there are {', '.join(self._lists())}")
        value = self
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Record) else None
        if not isinstance(value, Records):
            raise ValueError(f"{path} is no list; there are {', '.join(self._lists())}")
        return value.table()

    def _lists(self):
        found = []

        def look(value, path):
            for key, one in value.items():
                here = f"{path}.{key}" if path else key
                if isinstance(one, dict):
                    look(one, here)
                elif isinstance(one, list) and one and isinstance(one[0], dict):
                    found.append(here)

        look(self._values, "")
        return found

    def to_pandas(self, path=None):
        return self.table(path).to_pandas()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table().__arrow_c_stream__(requested_schema)

    def _repr_html_(self):
        if not self._page or not self._made().has_page:
            return None  # a notebook then shows repr()
        page = html.escape(self.page(), quote=True)
        flaw = self._flaw().removeprefix(", ")
        first = f"<p><strong>{html.escape(flaw)}</strong></p>" if flaw else ""
        return (f'{first}<iframe srcdoc="{page}" style="width:100%;height:640px;border:0" '
                f'sandbox="allow-scripts allow-downloads"></iframe>')


class Forecast(Result):
    """One training step: .step, .time, .memory, .pipeline, .warnings; a table of the stages."""

    __slots__ = ()
    _table = "pipeline.stages"

    def __repr__(self):
        step = self.step
        return (f"<Forecast of {self.scenario.name}: {float(step.time_s):.4g} s "
                f"({float(step.time_low_s):.4g} to {float(step.time_high_s):.4g}), MFU {step.mfu:.1%}{self._flaw()}>")

    def _flaw(self):
        if not self.memory.fits:
            return ", does not fit in memory"
        return "" if self.memory.host_fits else ", does not fit in the host's memory"


class Comparison(Result):
    """Two scenarios beside each other, and what each change between them costs or wins; a table of the changes."""

    __slots__ = ()
    _table = "against.effects"


class Search(Result):
    """The best plans and what is proved of them: .best, .plans, .proof; .found says whether there is one."""

    __slots__ = ()
    _table = "plans"

    _called = "a search without a plan"

    @property
    def found(self):
        return self.get("best") is not None

    _page = _timeline = found

    def __repr__(self):
        best = self.get("best")
        if best is None:
            return "<Search: no plan>"
        return f"<Search: {len(self.plans)} plans, the best {float(best.step_time_s):.4g} s>"


class Sweep(Result):
    """The points of a grid; a table with a row for each, its columns those of --csv."""

    __slots__ = ()
    _table = "points"
    _called, _timeline = "a sweep", False

    @property
    def interrupted(self):
        """Whether points are missing because progress= stopped the sweep."""
        return self._values.get("interrupted", False)

    def __repr__(self):
        return f"<Sweep {self.sweep.name}: {len(self.points)} points{self._flaw()}>"

    def _flaw(self):
        if self.interrupted:
            return ", interrupted before the others were computed"
        reasons = self._values.get("nothing_ok", {}).get("words", [])
        return f", of which none runs and fits: {reasons[0]}" if reasons else ""

    @property
    def warnings(self):
        """That no point runs and fits, if so, and why; what does not fit beside others is in the table."""
        reasons = self._values.get("nothing_ok", {}).get("words", [])
        return super().warnings + [f"no point runs and fits: {text}" for text in reasons[:1]]


class Schedule(Result):
    """A pipeline schedule played: .makespan, .bubble_fraction, .stages; a table of operations."""

    __slots__ = ()
    _table = "operations"

    def __repr__(self):
        return f"<Schedule: makespan {self.makespan}, bubble {self.bubble_fraction:.1%}>"


class Purchase(Result):
    """What to buy or rent: .recommended, .options; a table of the options."""

    __slots__ = ()
    _table = "options"
    _called, _timeline = "a purchase", False

    def table(self, path=None):
        if path is None:
            return Table.of([_short_row(row) for row in self._values["options"]], "options",
                            self._currency)
        return super().table(path)


class Explanation(Result):
    """Why a run was slower than its forecast: .excess_s, and with a trace .suspects, without one .changes that
    would explain it; a table of them."""

    __slots__ = ()
    _called, _page, _timeline = "an explanation", False, False

    @property
    def _table(self):
        return "suspects" if self.get("trace") else "changes"


class Validation(Result):
    """Forecasts beside published runs: .mape, .datasets; a table of all rows."""

    __slots__ = ()
    _called, _timeline = "a validation", False

    def table(self, path=None):
        if path is None:
            return Table.of([{"dataset": dataset["name"], **row} for dataset in self._values["datasets"]
                             for row in dataset["rows"]])
        return super().table(path)


_PROCESS = re.compile(r"stage (\d+).*rank (\d+)")


def timeline_of(events):
    """Chrome trace events as a table."""
    processes, lanes, rows = {}, {}, []
    for event in events:
        if event["ph"] == "M" and event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["ph"] == "M" and event["name"] == "thread_name":
            lanes[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["ph"] == "X":
            rows.append(event)
    columns = {name: [] for name in ("process", "stage", "rank", "lane", "name", "kind", "start_s",
                                     "duration_s", "microbatch", "chunk", "flops", "bytes")}
    for event in rows:
        process = processes.get(event["pid"], "")
        place = _PROCESS.search(process)
        args = event.get("args", {})
        row = (process, int(place[1]) if place else None, int(place[2]) if place else None,
               lanes.get((event["pid"], event["tid"]), ""), event["name"], event.get("cat"),
               event["ts"] * 1e-6, event["dur"] * 1e-6, *(args.get(key) for key in
                                                         ("microbatch", "chunk", "flops", "bytes")))
        for column, value in zip(columns.values(), row):
            column.append(value)
    return Table(columns, {"start_s": "s", "duration_s": "s", "flops": "FLOP", "bytes": "B"})
