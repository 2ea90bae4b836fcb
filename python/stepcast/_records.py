# SPDX-License-Identifier: Apache-2.0
"""What a document of --json holds, with attributes, units and tables.

Nothing here knows the keys of a document but for the rule by which a key names its unit, so that a key
that the program gains is an attribute here at once.
"""
import json
import math
import re
from collections.abc import Mapping, Sequence

# The unit of a figure, by its path in the document; the first that matches. `None`: it has none.
_UNITS = [
    (re.compile(r"(^|\.)memory\.stages\.(?!stage$)"), "B"),
    (re.compile(r"(^|[._])tokens_per_s_per_gpu$"), "tokens/s/GPU"),
    (re.compile(r"(^|[._])tokens_per_s$"), "tokens/s"),
    (re.compile(r"(^|[._])tflops_per_gpu$"), "TFLOP/s"),
    (re.compile(r"(^|[._])flops_per_gpu$"), "FLOP/s"),
    (re.compile(r"(^|[._])flops$"), "FLOP"),
    (re.compile(r"(^|[._])(s|seconds)$"), "s"),
    (re.compile(r"(^|[._])bytes$"), "B"),
    (re.compile(r"(^|[._])wh$"), "Wh"),
    (re.compile(r"(^|[._])kwh$"), "kWh"),
    (re.compile(r"(^|[._])w$"), "W"),
    (re.compile(r"(^|[._])gpu_hours$"), "GPU h"),
    (re.compile(r"(^|[._])usd$"), "USD"),
    (re.compile(r"(^|[._])days(_low|_high|_until_done|_change)?$"), "days"),
]


# Amounts of money; their currency stands beside them in the document or above them.
_MONEY = re.compile(r"(^|\.)((capital(_full)?|paid|cost_change"
                    r"|(energy|rent|support|staff|storage|total)_cost(_low|_high)?)"
                    r"|(?P<rate>cost_per_trillion_tokens))$")


def unit_of(path, currency=None):
    """The unit that a figure at this path has: "s" of "step.time_s"; None: it has none. Money has the
    currency of its document."""
    for pattern, unit in _UNITS:
        if pattern.search(path):
            return unit
    money = _MONEY.search(path) if currency else None
    if money is None:
        return None
    return f"{currency}/trillion tokens" if money["rate"] else currency


def _currency_in(values, otherwise):
    """The currency that an object of a document names, or else that of the object around it."""
    return values.get("currency") or otherwise


def _brief(number):
    """Three significant digits; from a thousand on, every digit before the point, as the reports have them."""
    if not math.isfinite(number):
        return float.__repr__(number)
    return f"{number:,.0f}" if abs(number) >= 999.5 else f"{number:#.3g}".rstrip(".")


class Quantity(float):
    """A number that knows its unit: it computes as a float with all its digits, and shows three and the unit.

    >>> step = Quantity(32.12345678912, "s")
    >>> step
    32.1 s
    >>> float(step)
    32.12345678912
    >>> f"{step:.4f}"
    '32.1235'
    >>> Quantity(98105.7, "tokens/s")
    98,106 tokens/s
    """

    __slots__ = ("unit",)

    def __new__(cls, value, unit):
        self = super().__new__(cls, value)
        self.unit = unit
        return self

    def __repr__(self):
        return f"{_brief(float(self))} {self.unit}"

    __str__ = __repr__

    def __reduce__(self):
        return Quantity, (float(self), self.unit)


def _wrap(value, path, currency):
    if isinstance(value, dict):
        return Record(value, path, currency)
    if isinstance(value, list):
        return Records(value, path, currency)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        unit = unit_of(path, currency)
        return value if unit is None else Quantity(value, unit)
    return value


class Record(Mapping):
    """A JSON object: members are attributes (record.step.time_s) and items (record["step"])."""

    __slots__ = ("_values", "_path", "_currency")

    def __init__(self, values, path="", currency=None):
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_currency", _currency_in(values, currency))

    def __getitem__(self, key):
        return _wrap(self._values[key], f"{self._path}.{key}" if self._path else key, self._currency)

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"no '{name}'{' in ' + self._path if self._path else ''}; "
                f"there are {', '.join(self)}") from None

    def __setattr__(self, name, value):
        raise AttributeError("answers are not changed; to_dict() gives a copy that may be")

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self if key.isidentifier())]

    def __repr__(self):
        return "{" + ", ".join(f"{key}: {_short(self[key])}" for key in self) + "}"

    def __reduce__(self):
        return Record, (self._values, self._path, self._currency)

    def to_dict(self):
        """A copy as JSON has it: dicts, lists, plain numbers."""
        return json.loads(json.dumps(self._values))


class Records(Sequence):
    """A JSON list; of objects it is a table."""

    __slots__ = ("_values", "_path", "_currency")

    def __init__(self, values, path="", currency=None):
        self._values = values
        self._path = path
        self._currency = currency

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Records(self._values[index], self._path, self._currency)
        return _wrap(self._values[index], self._path, self._currency)

    def __len__(self):
        return len(self._values)

    def __eq__(self, other):
        return self._values == (other._values if isinstance(other, Records) else other)

    def __repr__(self):
        return "[" + ", ".join(map(_short, self)) + "]"

    def to_list(self):
        return json.loads(json.dumps(self._values))

    def table(self):
        return Table.of(self._values, self._path, self._currency)

    def to_pandas(self):
        return self.table().to_pandas()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table().__arrow_c_stream__(requested_schema)

    def _repr_html_(self):
        if self._values and all(isinstance(row, dict) for row in self._values):
            return self.table()._repr_html_()
        return None


def _short(value):
    if isinstance(value, Record):
        return f"{{{len(value)} keys}}" if len(value) > 3 else repr(value)
    if isinstance(value, Records) and len(value) > 3:
        return f"[{len(value)} values]"
    return repr(value)


def _flat(row, prefix, into):
    for key, value in row.items():
        name = prefix + key
        if isinstance(value, dict) and value:
            _flat(value, name + ".", into)
        else:
            into[name] = value
    return into


class Table:
    """Columns of equal length: pandas frames and Arrow streams are made of it."""

    def __init__(self, columns, units=None):
        self.columns = columns  # {name: list}
        self.units = units or {}  # {name: unit}

    @classmethod
    def of(cls, rows, path="", currency=None):
        """Of JSON objects; those inside of them become columns "plan.tensor". The values of a sweep's axes
        are columns by the names of the axes, as in the table of --csv."""
        flat = [_flat({**row.get("axes", {}), **{key: one for key, one in row.items() if key != "axes"}},
                      "", {}) if isinstance(row, dict) else {"value": row} for row in rows]
        names = dict.fromkeys(name for row in flat for name in row)
        columns = {name: [row.get(name) for row in flat] for name in names}
        units = {}
        for name in names:
            beside = columns.get(name.rpartition(".")[0] + ".currency" if "." in name else "currency", [])
            named = {one for one in beside if one}
            unit = unit_of(f"{path}.{name}" if path else name, named.pop() if len(named) == 1 else currency)
            if unit is not None:
                units[name] = unit
        return cls(columns, units)

    def __len__(self):
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name):
        return self.columns[name]

    def __iter__(self):
        """Rows, as dicts."""
        names = list(self.columns)
        return (dict(zip(names, row)) for row in zip(*self.columns.values()))

    def __repr__(self):
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def to_dict(self):
        return {name: list(column) for name, column in self.columns.items()}

    def to_pandas(self):
        """A data frame; frame.attrs["units"] has the units of its columns."""
        import pandas

        frame = pandas.DataFrame(self.columns)
        frame.attrs["units"] = dict(self.units)
        return frame

    def __arrow_c_stream__(self, requested_schema=None):
        """For pyarrow.table(…), polars.from_arrow(…) and whoever else reads Arrow's C stream: numbers are
        int64 and float64, lists are JSON texts, a field's metadata has its unit."""
        from . import _core

        names, columns, units = [], [], []
        for name, values in self.columns.items():
            kinds = {type(value) for value in values if value is not None}
            if not kinds <= {bool} and not kinds <= {int} and not kinds <= {int, float}:
                values = [value if value is None or isinstance(value, str) else json.dumps(value)
                          for value in values]
            names.append(name)
            columns.append(values)
            units.append(self.units.get(name, ""))
        return _core.arrow_stream(names, columns, units, len(self))

    def _repr_html_(self):
        from html import escape

        def cell(value):
            if value is None:
                return ""
            return escape(f"{value:.6g}" if isinstance(value, float) else str(value))

        most = 60
        head = "".join(
            f"<th>{escape(name)}{' (' + self.units[name] + ')' if name in self.units else ''}</th>"
            for name in self.columns)
        rows = "".join("<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row.values()) + "</tr>"
                       for _, row in zip(range(most), self))
        more = f"<p>{len(self) - most} more rows</p>" if len(self) > most else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"
