// SPDX-License-Identifier: Apache-2.0
#include "python/arrow.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

// The structures of the specification, whose names and layout are its own.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace stepcast_python {
namespace {

constexpr std::int64_t nullable = 2;  // ARROW_FLAG_NULLABLE

struct Column {
  std::string name, unit, format;
  std::int64_t rows = 0, nulls = 0;
  std::vector<std::uint8_t> valid;    // bits
  std::vector<std::uint8_t> values;   // bits of bool; bytes of numbers and of texts
  std::vector<std::int64_t> offsets;  // of texts
};
using Columns = std::vector<Column>;

void set_bit(std::vector<std::uint8_t>& bits, std::size_t i) {
  bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1U << (i % 8));
}

template <class T>
void put(Column& column, std::size_t i, T value) {
  std::memcpy(column.values.data() + i * sizeof value, &value, sizeof value);
}

// Returns the Arrow format of a column: b for bool, l for int64, g for float64, U for texts with
// wide offsets.
std::string format_of(const py::list& values) {
  std::string format;
  for (const auto& value : values) {
    if (value.is_none()) continue;
    const char* const one = py::isinstance<py::bool_>(value)    ? "b"
                            : py::isinstance<py::int_>(value)   ? "l"
                            : py::isinstance<py::float_>(value) ? "g"
                                                                : "U";
    if (format.empty() || (format == "l" && *one == 'g'))
      format = one;
    else if (format != one && !(format == "g" && *one == 'l'))
      return "U";
  }
  return format.empty() ? "U" : format;
}

void fill(Column& column, const py::list& values) {
  const auto rows = static_cast<std::size_t>(column.rows);
  const char kind = column.format[0];
  column.valid.assign((rows + 7) / 8, 0);
  column.values.assign(kind == 'b' ? (rows + 7) / 8 : kind == 'U' ? 0 : rows * 8, 0);
  if (kind == 'U') column.offsets.assign(1, 0);
  std::size_t i = 0;
  for (const auto& value : values) {
    if (value.is_none()) {
      ++column.nulls;
    } else {
      set_bit(column.valid, i);
      if (kind == 'l') put(column, i, value.cast<std::int64_t>());
      if (kind == 'g') put(column, i, value.cast<double>());
      if (kind == 'b' && value.cast<bool>()) set_bit(column.values, i);
      if (kind == 'U') {
        const auto text = py::str(value).cast<std::string>();
        column.values.insert(column.values.end(), text.begin(), text.end());
      }
    }
    if (kind == 'U') column.offsets.push_back(static_cast<std::int64_t>(column.values.size()));
    ++i;
  }
}

// Key and value with their lengths, as the specification writes metadata.
std::string metadata_of(const std::string& unit) {
  if (unit.empty()) return {};
  std::string bytes;
  const auto number = [&](std::size_t n) {
    const auto small = static_cast<std::int32_t>(n);
    bytes.append(reinterpret_cast<const char*>(&small), sizeof small);
  };
  const std::string key = "unit";
  number(1);
  number(key.size());
  bytes += key;
  number(unit.size());
  return bytes + unit;
}

// The memory that a schema or an array owns, besides its children.
struct SchemaParts {
  std::shared_ptr<const Columns> columns;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};
struct ArrayParts {
  std::shared_ptr<const Columns> columns;
  std::array<const void*, 3> buffers{};
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

// Releases the children that are still there: whoever moved a child away releases it.
template <class Node, class Parts>
void release_node(Node* node) {
  for (std::int64_t i = 0; i < node->n_children; ++i)
    if (node->children[i]->release != nullptr) node->children[i]->release(node->children[i]);
  delete static_cast<Parts*>(node->private_data);
  node->release = nullptr;
}

void make_schema(ArrowSchema& schema, const char* format, const char* name, std::string metadata,
                 const std::shared_ptr<const Columns>& columns) {
  auto* parts = new SchemaParts{columns, std::move(metadata), {}, {}};
  schema = {format,
            name,
            parts->metadata.empty() ? nullptr : parts->metadata.data(),
            nullable,
            0,
            nullptr,
            nullptr,
            release_node<ArrowSchema, SchemaParts>,
            parts};
}

void make_array(ArrowArray& array, const Column& column,
                const std::shared_ptr<const Columns>& columns) {
  auto* parts = new ArrayParts{columns, {column.valid.data(), column.values.data()}, {}, {}};
  const bool texts = column.format == "U";
  if (texts) parts->buffers = {column.valid.data(), column.offsets.data(), column.values.data()};
  array = {column.rows,
           column.nulls,
           0,
           texts ? 3 : 2,
           0,
           parts->buffers.data(),
           nullptr,
           nullptr,
           release_node<ArrowArray, ArrayParts>,
           parts};
}

template <class Node, class Parts>
void adopt_children(Node& node, Parts& parts) {
  for (auto& child : parts.children) parts.pointers.push_back(&child);
  node.n_children = static_cast<std::int64_t>(parts.pointers.size());
  node.children = parts.pointers.data();
}

struct Stream {
  std::shared_ptr<const Columns> columns;
  std::int64_t rows = 0;
  bool given = false;
};

int get_schema(ArrowArrayStream* stream, ArrowSchema* schema) {
  const auto& columns = static_cast<Stream*>(stream->private_data)->columns;
  make_schema(*schema, "+s", "", {}, columns);
  schema->flags = 0;
  auto& parts = *static_cast<SchemaParts*>(schema->private_data);
  parts.children.resize(columns->size());
  for (std::size_t i = 0; i < columns->size(); ++i) {
    const auto& column = (*columns)[i];
    make_schema(parts.children[i], column.format.c_str(), column.name.c_str(),
                metadata_of(column.unit), columns);
  }
  adopt_children(*schema, parts);
  return 0;
}

int get_next(ArrowArrayStream* stream, ArrowArray* array) {
  auto& all = *static_cast<Stream*>(stream->private_data);
  if (std::exchange(all.given, true)) {
    array->release = nullptr;  // the end
    return 0;
  }
  auto* parts = new ArrayParts{all.columns, {}, {}, {}};
  *array = {all.rows, 0,       0,
            1,        0,       parts->buffers.data(),
            nullptr,  nullptr, release_node<ArrowArray, ArrayParts>,
            parts};
  parts->children.resize(all.columns->size());
  for (std::size_t i = 0; i < all.columns->size(); ++i)
    make_array(parts->children[i], (*all.columns)[i], all.columns);
  adopt_children(*array, *parts);
  return 0;
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

constexpr const char* capsule_name = "arrow_array_stream";

void destroy_capsule(PyObject* capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, capsule_name));
  if (stream == nullptr) return PyErr_Clear();
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

}  // namespace

py::capsule arrow_stream(const py::list& names, const py::list& columns, const py::list& units,
                         std::int64_t rows) {
  auto made = std::make_shared<Columns>(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto values = columns[i].cast<py::list>();
    auto& column = (*made)[i];
    column.name = names[i].cast<std::string>();
    column.unit = units[i].cast<std::string>();
    column.format = format_of(values);
    column.rows = rows;
    fill(column, values);
  }
  auto* stream = new ArrowArrayStream{get_schema, get_next,
                                      [](ArrowArrayStream*) -> const char* { return nullptr; },
                                      release_stream, new Stream{std::move(made), rows, false}};
  return py::reinterpret_steal<py::capsule>(PyCapsule_New(stream, capsule_name, destroy_capsule));
}

}  // namespace stepcast_python
