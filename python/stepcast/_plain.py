# SPDX-License-Identifier: Apache-2.0
"""Values of Python as JSON has them."""
import datetime
import decimal
import fractions
import math
from collections.abc import Mapping

from ._errors import InputError
from ._records import Quantity, Record, Records


# The deepest nesting of dicts and lists: files of scenarios hold a handful of levels.
_DEEPEST = 64


def _refuse(where, what):
    where = where or "value"
    where = where if len(where) <= 60 else where[:57] + "..."
    raise InputError(f"{where}: {what}", [{"place": where, "file": None, "line": None, "column": None,
                                           "text": what, "unsupported": False}])


def text(value, where="", lines=False):
    """The same text; raises InputError where no file can hold it: in the line and column of the character for a
    document (`lines`), else at its key."""
    if "\0" in value and not lines:
        _refuse(where, f"character {value.index(chr(0)) + 1} of the text is a zero byte, which no name or value has; "
                "leave it out")
    try:
        value.encode()
    except UnicodeEncodeError as wrong:
        before = value[:wrong.start]
        line, column = before.count("\n") + 1, len(before[before.rfind("\n") + 1:].encode()) + 1
        here = "this" if lines else f"character {wrong.start + 1} of the text"
        what = (f"{here} is a lone surrogate (U+{ord(value[wrong.start]):04X}), half of a character, which no file "
                "holds; write the whole character or leave it out")
        place = f"{where}:{line}:{column}" if lines else where or "value"
        raise InputError(f"{place}: {what}", [
            {"place": place, "file": where if lines else None, "line": line if lines else None,
             "column": column if lines else None, "text": what, "unsupported": False}]) from None
    return value


def _key(key, where):
    return text(str(key), f"a key of {where}" if where else "a key")


_LARGEST = 10**308  # below the largest double, 1.8e308


def _number(value, where):
    finite = not isinstance(value, decimal.Decimal) or value.is_finite()
    if isinstance(value, float):
        finite = math.isfinite(value)
    if not finite:
        _refuse(where, f"{str(value).lower()} is no number; write a finite one, or leave the key out for its default")
    if not -_LARGEST <= value <= _LARGEST:
        _refuse(where, "a number beyond 1e308 in size is more than a file can have; write a smaller one")
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        value = int(value) if value == int(value) else float(value)
    return value


def plain(value, where="", levels=_DEEPEST + 1):
    """The same of dicts, lists and numbers alone, as JSON has them; `where`: its key, "plan.tensor". Ranges,
    tuples and arrays are lists. Raises InputError, with the key, for what JSON does not have."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Records):
        return value.to_list()
    if levels == 0:
        _refuse(where, f"dicts and lists are nested more than {_DEEPEST} levels deep here, or contain themselves; write "
                "the values themselves, which no file has so deep")
    if isinstance(value, Mapping):
        return {_key(key, where): plain(one, f"{where}.{key}" if where else str(key), levels - 1)
                for key, one in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(one, f"{where}[{i}]", levels - 1) for i, one in enumerate(value)]
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return _number(value, where)
    if isinstance(value, Quantity):
        return _number(float(value), where)
    if isinstance(value, str):
        return text(value, where)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return _number(value, where)
    if hasattr(value, "__fspath__"):
        return text(value.__fspath__(), where)
    for ways in ("tolist", "item"):  # arrays and scalars of numpy, and what is like them
        if hasattr(value, ways):
            made = getattr(value, ways)()
            if type(made) is not type(value):
                return plain(made, where, levels - 1)
    if isinstance(value, datetime.timedelta):
        _refuse(where, f"a timedelta is no value of a file; write '{value.total_seconds():g} s'")
    return _refuse(where, f"{value!r} of type {type(value).__name__} is no value of a file; write a number, a "
                   "text, True or False, a list or a dict")
