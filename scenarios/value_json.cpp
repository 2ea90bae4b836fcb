// SPDX-License-Identifier: Apache-2.0
#include "scenarios/value_json.hpp"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace scenarios {
namespace {

using Json = nlohmann::ordered_json;

Json json_scalar(const Value& value) {
  if (value.quoted) return value.text;
  if (value.text == "true") return true;
  if (value.text == "false") return false;
  std::int64_t whole = 0;
  const auto* end = value.text.data() + value.text.size();
  const auto [stop, wrong] = std::from_chars(value.text.data(), end, whole);
  if (stop == end && wrong == std::errc()) return whole;
  if (const auto number = number_of(value)) return *number;
  return value.text;
}

}  // namespace

Json json_document(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return nullptr;
    case Value::Kind::scalar:
      return json_scalar(value);
    case Value::Kind::list: {
      Json list = Json::array();
      for (const auto& item : value.items) list.push_back(json_document(item));
      return list;
    }
    case Value::Kind::map: {
      Json map = Json::object();
      for (const auto& member : value.members)
        if (!map.contains(member.key.text)) map[member.key.text] = json_document(member.value);
      return map;
    }
  }
  return nullptr;
}

std::string json_of(const Value& value) {
  return json_document(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<double> number_of(const Value& value) {
  if (value.kind != Value::Kind::scalar || value.quoted) return {};
  double number = 0;
  const auto* end = value.text.data() + value.text.size();
  const auto [stop, wrong] = std::from_chars(value.text.data(), end, number);
  if (stop != end || wrong != std::errc() || !std::isfinite(number)) return {};
  return number;
}

}  // namespace scenarios
