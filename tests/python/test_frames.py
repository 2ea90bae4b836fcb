# SPDX-License-Identifier: Apache-2.0
"""Tables as data frames and as Arrow's C stream, read here by a reader of the specification's own layout."""
import ctypes
import json
import struct
import unittest

import stepcast
from examples import GRID, SMALL

try:
    import pandas
except ImportError:
    pandas = None


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ("private", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.c_void_p), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private", ctypes.c_void_p)]


def bit(address, i):
    return bool(ctypes.cast(address, ctypes.POINTER(ctypes.c_uint8))[i // 8] >> i % 8 & 1)


def column_of(schema, array):
    kind, buffers, values = schema.format, array.buffers, []
    for i in range(array.length):
        if array.null_count and not bit(buffers[0], i):
            values.append(None)
        elif kind == b"l":
            values.append(ctypes.cast(buffers[1], ctypes.POINTER(ctypes.c_int64))[i])
        elif kind == b"g":
            values.append(ctypes.cast(buffers[1], ctypes.POINTER(ctypes.c_double))[i])
        elif kind == b"b":
            values.append(bit(buffers[1], i))
        else:
            ends = ctypes.cast(buffers[1], ctypes.POINTER(ctypes.c_int64))
            values.append(ctypes.string_at(buffers[2] + ends[i], ends[i + 1] - ends[i]).decode()
                          if ends[i + 1] > ends[i] else "")
    assert sum(value is None for value in values) == array.null_count
    return values


def unit_in(metadata):
    if not metadata:
        return None
    count, length = struct.unpack("ii", ctypes.string_at(metadata, 8))
    assert count == 1 and ctypes.string_at(metadata + 8, length) == b"unit"
    (size,) = struct.unpack("i", ctypes.string_at(metadata + 8 + length, 4))
    return ctypes.string_at(metadata + 12 + length, size).decode()


def read(exporter):
    capsule = exporter.__arrow_c_stream__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = Stream.from_address(get(capsule, b"arrow_array_stream"))
    schema, array, end = Schema(), Array(), Array()
    assert stream.get_schema(stream, schema) == 0 and schema.format == b"+s"
    assert stream.get_next(stream, array) == 0 and array.n_children == schema.n_children
    assert stream.get_next(stream, end) == 0 and not end.release
    fields = [schema.children[i].contents for i in range(schema.n_children)]
    columns = {field.name.decode(): column_of(field, array.children[i].contents)
               for i, field in enumerate(fields)}
    units = {field.name.decode(): unit_in(field.metadata) for field in fields}
    array.release(array)
    schema.release(schema)
    assert not array.release and not schema.release
    return columns, units


class Arrow(unittest.TestCase):
    def test_every_kind_of_column_arrives_with_its_gaps(self):
        rows = [{"whole": 1, "real": 0.5, "mixed": 1, "yes": True, "word": "ä", "list": [1, {"a": 2}], "time_s": 3},
                {"whole": None, "real": 2.0, "mixed": 2.5, "yes": None, "word": None, "list": [], "time_s": None},
                {"whole": -(2**62), "real": None, "mixed": None, "yes": False, "word": "", "list": None}]
        table = stepcast.Table.of(rows)
        columns, units = read(table)
        self.assertEqual(columns["whole"], [1, None, -(2**62)])
        self.assertEqual(columns["real"], [0.5, 2.0, None])
        self.assertEqual(columns["mixed"], [1.0, 2.5, None])
        self.assertEqual(columns["yes"], [True, None, False])
        self.assertEqual(columns["word"], ["ä", None, ""])
        self.assertEqual(columns["list"], ['[1, {"a": 2}]', "[]", None])
        self.assertEqual(units, {**{name: None for name in columns}, "time_s": "s"})

    def test_tables_without_rows_or_columns_and_long_ones_arrive(self):
        self.assertEqual(read(stepcast.Table.of([]))[0], {})
        columns, _ = read(stepcast.Table({"n": [i if i % 3 else None for i in range(10_000)]}))
        self.assertEqual(columns["n"][9_998:], [9_998, None])

    def test_an_answer_gives_its_table(self):
        sweep = stepcast.sweep(GRID)
        columns, units = read(sweep)
        self.assertEqual(columns["plan.tensor"], sweep.table()["plan.tensor"])
        self.assertEqual(columns["step_time_s"], sweep.table()["step_time_s"])
        self.assertEqual(units["step_time_s"], "s")
        self.assertEqual(read(stepcast.simulate(SMALL).memory.stages)[1]["weights"], "B")


@unittest.skipIf(pandas is None, "pandas is not there")
class Frames(unittest.TestCase):
    def test_a_sweep_is_a_frame_with_typed_columns_and_units(self):
        frame = stepcast.sweep(GRID).to_pandas()
        self.assertEqual(len(frame), 6)
        self.assertEqual(frame["plan.tensor"].dtype.kind, "i")
        self.assertEqual(frame["step_time_s"].dtype.kind, "f")
        self.assertEqual(frame.attrs["units"]["step_time_s"], "s")
        best = frame.loc[frame["step_time_s"].idxmin()]
        self.assertEqual(best["step_time_s"], min(frame["step_time_s"]))

    def test_any_list_of_objects_is_a_frame(self):
        forecast = stepcast.simulate(SMALL)
        self.assertEqual(list(forecast.to_pandas()["layers"]), [32])
        self.assertIn("seconds", forecast.to_pandas("critical_path"))
        self.assertIn("seconds", forecast.critical_path.to_pandas())
        with self.assertRaisesRegex(ValueError, "memory.peak_bytes is no list; there are .*pipeline.stages"):
            forecast.to_pandas("memory.peak_bytes")
        self.assertEqual(forecast.timeline().to_pandas()["rank"].iloc[0], 0)

    def test_pandas_is_imported_only_where_a_frame_is_asked_for(self):
        import subprocess
        import sys

        said = subprocess.run([sys.executable, "-c", "import stepcast, sys, json; stepcast.schema(); "
                               "print(json.dumps(['pandas' in sys.modules, 'numpy' in sys.modules]))"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(said.stdout), [False, False])


if __name__ == "__main__":
    unittest.main()
