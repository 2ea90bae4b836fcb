# SPDX-License-Identifier: Apache-2.0
import os
from typing import Any, Callable, Mapping, Sequence

from ._costs import Cluster as Cluster
from ._costs import Device as Device
from ._costs import Group as Group
from ._records import Quantity as Quantity
from ._records import Record as Record
from ._records import Records as Records
from ._records import Table as Table
from ._records import unit_of as unit_of
from ._results import Comparison as Comparison
from ._results import Explanation as Explanation
from ._results import Forecast as Forecast
from ._results import Purchase as Purchase
from ._results import Result as Result
from ._results import Schedule as Schedule
from ._results import Search as Search
from ._results import Sweep as Sweep
from ._results import Validation as Validation

# A path, YAML or JSON text, or the document itself.
Document = str | os.PathLike[str] | Mapping[str, Any]
# Returning False ends the call with what was found so far.
Progress = Callable[[dict[str, Any]], bool | None]

__version__: str

class Error(Exception): ...

class Complaint(Record):
    place: str
    file: str
    line: int | None
    column: int | None
    text: str
    unsupported: bool

class InputError(Error, ValueError):
    complaints: list[Complaint]
    texts: dict[str, str]

class UsageError(Error, ValueError): ...
class InternalError(Error, RuntimeError): ...
class StepcastWarning(UserWarning): ...

def simulate(scenario: Document | None = None, /, *, progress: Progress | None = None,
             **keywords: Any) -> Forecast: ...
def compare(scenario: Document, against: Document, /, **keywords: Any) -> Comparison: ...
def search(scenario: Document | None = None, /, *, progress: Progress | None = None,
           **keywords: Any) -> Search: ...
def sweep(definition: Document | None = None, /, *, progress: Progress | None = None,
          **keywords: Any) -> Sweep: ...
def purchase(definition: Document | None = None, /, *, progress: Progress | None = None,
             **keywords: Any) -> Purchase: ...
def schedule(schedule: str = ..., /, *, stages: int = ..., microbatches: int = ..., forward: float,
             backward: float, chunks: int = ..., weight: float = ..., comm: float = ...,
             slow: Mapping[int, float] = ..., order: Document = ..., **keywords: Any) -> Schedule: ...
def validate(*datasets: str, **keywords: Any) -> Validation: ...
def explain(scenario: Document | None = None, /, *, measured: str | None = None,
            trace: str | os.PathLike[str] | None = None, **keywords: Any) -> Explanation: ...
def catalog(kind: str | None = None, name: str | None = None) -> Record: ...
def schema(kind: str = ...) -> dict[str, Any]: ...
def call(command: str, *inputs: Document, progress: Progress | None = None, **options: Any) -> Result: ...
