// SPDX-License-Identifier: Apache-2.0
// The form of a key's value: one description by which the reader checks values and from which the
// JSON Schema is printed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/cursor.hpp"
#include "units/text.hpp"

namespace scenarios {

enum class Type {
  text,
  whole,
  number,
  yes_no,
  choice,  // scalars
  bytes,
  bandwidth,
  flop_rate,
  duration,
  power,
  tokens,
  money,  // quantities, in SI base units
  list,
  map,
  either,
};

// Both ends belong to it. The reason says why a value beyond is refused.
struct Range {
  double least = 0, most = 0;
  std::string_view reason;
};

// A key of a map, in words.
struct KeyText {
  std::string_view name, description;
  std::string_view fallback;  // the value if the key is left out
};

struct Form {
  Type type = Type::text;
  Range range{};                            // numbers and quantities; list: its length
  std::vector<std::string_view> choices{};  // choice
  std::vector<KeyText> keys{};              // map; none: any keys
  std::vector<Form> forms{};  // map: of each key; list: of one element; either: the alternatives
};

struct Field {
  std::string_view name, description, fallback;
  Form form;
};

Form map_of(const std::vector<Field>& fields);

// Complains of every way in which the value is not of this form; true if there is none. Maps are
// judged by their keys as well, unless `whole` is false: then they need only be maps.
bool check(const Form& form, const Cursor& at, bool whole = true);

// Complains of keys that are unknown, not text or given twice; false for those.
bool check_key(const Member& member, const Cursor& map, const std::vector<std::string_view>& known);

// Complains of a key that the map has already; false for that.
bool check_once(const Member& member, const Cursor& map);

// The value as its type; only after check() has passed.
std::int64_t to_whole(const Value& value);
double to_number(const Value& value);
bool to_yes_no(const Value& value);

// A quantity of this type as a file may have it, "80 GiB"; nothing for other types.
std::string_view example_of(Type type);
// "a whole number", "a size such as '80 GiB'", "one of gpipe, 1f1b".
std::string in_words(const Form& form);
using units::plain;  // 1048576 as "1,048,576", 0.5 as "0.5"

}  // namespace scenarios
