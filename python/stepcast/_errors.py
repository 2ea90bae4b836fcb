# SPDX-License-Identifier: Apache-2.0
"""What stepcast refuses, and what it warns of."""
from ._records import Record


class Error(Exception):
    """What stepcast refuses, in the words of the command line."""


class Complaint(Record):
    """One mistake: .place ("FILE:LINE:COLUMN"), .file, .line, .column, .text, .unsupported."""

    __slots__ = ()

    def __reduce__(self):
        return Complaint, (self._values, self._path)

    def __str__(self):
        return f"{self.place}: {self.text}"


class InputError(Error, ValueError):
    """A scenario, sweep or purchase is wrong: .complaints has every mistake with its place; .texts the
    documents that were given as dicts, which the places of "scenario:3:5" are in."""

    def __init__(self, message, complaints=(), texts=None):
        super().__init__(message, complaints, texts)
        self.complaints = [Complaint(one) if isinstance(one, dict) else one for one in complaints]
        self.texts = texts or {}

    def __str__(self):
        return self.args[0]


class UsageError(Error, ValueError):
    """A file, an option or a value of one is wrong."""


class InternalError(Error, RuntimeError):
    """A fault of stepcast: please report it."""


class StepcastWarning(UserWarning):
    """What the command line warns of: a plan that does not fit, a sequence beyond the model's."""


for _one in (Error, Complaint, InputError, UsageError, InternalError, StepcastWarning):
    _one.__module__ = "stepcast"  # by which they are known and pickled
