// SPDX-License-Identifier: Apache-2.0
#include "scenarios/placed.hpp"

#include <algorithm>
#include <charconv>

#include "plans/schedules/refusal.hpp"
#include "scenarios/document.hpp"
#include "scenarios/documents/cursor.hpp"

namespace scenarios {
namespace {

// Returns a member of a map by its key, or of a list by its number; null: none.
const Value* member_of(const Value& value, const std::string& key) {
  if (value.kind != Value::Kind::list) return value.find(key);
  std::size_t index = 0;
  const auto* end = key.data() + key.size();
  const bool number = std::from_chars(key.data(), end, index).ptr == end;
  return number && index < value.items.size() ? &value.items[index] : nullptr;
}

// The innermost value along a path that the document gives; `whole`: it is the end of the path.
struct Found {
  const Value* value;
  bool whole;
};

Found find_path(const Value& document, const std::string& path) {
  const auto* value = &document;
  for (const auto& key : keys_of(path)) {
    const auto* inner = member_of(*value, key);
    if (inner == nullptr) return {value, false};
    value = inner;
  }
  return {value, true};
}

}  // namespace

Complaint placed(const std::invalid_argument& refused, const Origin& origin,
                 const std::string& inside) {
  const Reading reading(origin.file, {});
  const auto* refusal = dynamic_cast<const strategies::Refusal*>(&refused);
  if (refusal == nullptr) return {reading.place_of(Value{}), refused.what()};
  const auto path = [&](const std::string& key) {
    return inside.empty() ? key : inside + '.' + key;
  };
  const auto& keys = refusal->keys;
  const auto given = std::ranges::find_if(
      keys, [&](const auto& key) { return find_path(origin.document, path(key)).whole; });
  const auto chosen = path(given == keys.end() ? keys.front() : *given);
  return {reading.place_of(*find_path(origin.document, chosen).value),
          chosen + ": " + refused.what()};
}

}  // namespace scenarios
