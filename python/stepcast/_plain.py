# SPDX-License-Identifier: Apache-2.0
"""Values of Python as JSON has them."""
import datetime
import decimal
import fractions
import math
from collections.abc import Mapping

from ._errors import InputError
from ._records import Quantity, Record, Records


def _refuse(where, what):
    where = where or "value"
    raise InputError(f"{where}: {what}", [{"place": where, "file": None, "line": None, "column": None,
                                           "text": what, "unsupported": False}])


def text(value, where="", lines=False):
    """The same text; raises InputError where no file can hold it: in the line and column of the character for a
    document (`lines`), else at its key."""
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


def _number(value, where):
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        exact = math.isfinite(value) and value == int(value)
        value = int(value) if exact else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        _refuse(where, f"{value} is no number; write a finite one, or leave the key out for its default")
    return value


def plain(value, where=""):
    """The same of dicts, lists and numbers alone, as JSON has them; `where`: its key, "plan.tensor". Ranges,
    tuples and arrays are lists. Raises InputError, with the key, for what JSON does not have."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Records):
        return value.to_list()
    if isinstance(value, Mapping):
        return {_key(key, where): plain(one, f"{where}.{key}" if where else str(key)) for key, one in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(one, f"{where}[{i}]") for i, one in enumerate(value)]
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return _number(value, where)
    if isinstance(value, Quantity):
        return _number(float(value), where)
    if isinstance(value, str):
        return text(value, where)
    if isinstance(value, (int, float, type(None))):
        return _number(value, where)
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    for ways in ("tolist", "item"):  # arrays and scalars of numpy, and what is like them
        if hasattr(value, ways):
            made = getattr(value, ways)()
            if type(made) is not type(value):
                return plain(made, where)
    if isinstance(value, datetime.timedelta):
        _refuse(where, f"a timedelta is no value of a file; write '{value.total_seconds():g} s'")
    return _refuse(where, f"{value!r} of type {type(value).__name__} is no value of a file; write a number, a "
                   "text, True or False, a list or a dict")
