// SPDX-License-Identifier: Apache-2.0
// Reads columns, lists and the data of pages back, slowly.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/page/columns.hpp"

namespace columns {

using nlohmann::json;

inline std::vector<std::uint64_t> unpacked(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<bool> bits;
  for (const char c : text)
    for (int bit = 5; bit >= 0; --bit) bits.push_back(digits.find(c) >> bit & 1);
  std::vector<std::uint64_t> values;
  std::uint64_t value = 0;
  int shift = 0;
  for (std::size_t at = 0; at + 8 <= bits.size(); at += 8) {
    unsigned byte = 0;
    for (std::size_t bit = 0; bit < 8; ++bit) byte = byte << 1 | (bits[at + bit] ? 1u : 0u);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if (byte < 0x80) {
      values.push_back(value);
      value = 0;
      shift = 0;
    }
  }
  return values;
}

inline std::int64_t unzigzagged(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

inline report::Column column(const std::string& text) {
  report::Column values;
  for (const auto value : unpacked(text)) values.push_back(unzigzagged(value));
  return values;
}

inline std::vector<std::uint64_t> index_of(const json& runs) {
  const auto written = unpacked(runs[0]), more = unpacked(runs[1]);
  std::map<std::uint64_t, std::uint64_t> behind;
  std::vector<std::uint64_t> index;
  for (std::size_t run = 0; run < written.size(); ++run)
    for (std::uint64_t n = 0; n <= more[run]; ++n) {
      const auto next = n == 0 ? written[run] : behind.at(index.back());
      if (!index.empty()) behind[index.back()] = next;
      index.push_back(next);
    }
  return index;
}

inline std::vector<report::Column> table_of(const json& table) {
  std::vector<report::Column> read;
  if (table.contains("columns")) {
    for (const auto& text : table["columns"]) read.push_back(column(text));
    return read;
  }
  for (const auto& text : table["distinct"]) {
    const auto distinct = column(text);
    auto& values = read.emplace_back();
    for (const auto i : index_of(table["index"])) values.push_back(distinct.at(i));
  }
  return read;
}

inline report::Column summed(report::Column values) {
  for (std::size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1];
  return values;
}

// The rows of a list of objects, as the page understands it.
inline std::vector<json> rows_of(const json& list) {
  std::vector<json> rows(list["rows"].get<std::size_t>(), json::object());
  for (const auto& [key, given] : list["columns"].items()) {
    std::vector<json> values;
    if (given.is_array())
      values = given.get<std::vector<json>>();
    else if (given.contains("columns"))
      values = rows_of(given);
    else
      for (const auto i : index_of(given["index"])) values.push_back(given["distinct"].at(i));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i][key] = values.at(i);
  }
  return rows;
}

inline std::string data_text(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const auto at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}
inline json data_of(const std::string& page) { return json::parse(data_text(page)); }

}  // namespace columns
