// SPDX-License-Identifier: Apache-2.0
// Columns of Python as Arrow's C stream (arrow.apache.org/docs/format/CStreamInterface.html).
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>

namespace stepcast_python {

// A capsule "arrow_array_stream" of one batch. `columns`: a list for each name, of None and either
// bool, int, int and float, or str; `units`: a text for each, empty where there is none, which
// becomes the field's metadata "unit". Copies all values.
pybind11::capsule arrow_stream(const pybind11::list& names, const pybind11::list& columns,
                               const pybind11::list& units, std::int64_t rows);

}  // namespace stepcast_python
