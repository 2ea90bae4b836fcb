// SPDX-License-Identifier: Apache-2.0
#include "report/page/columns.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace report {
namespace {

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

void append(std::string& bytes, std::uint64_t rest) {
  for (; rest >= 0x80; rest >>= 7) bytes += static_cast<char>(0x80 | (rest & 0x7f));
  bytes += static_cast<char>(rest);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t window = 0;
  int bits = 0;
  for (const char byte : bytes) {
    window = (window << 8 | static_cast<unsigned char>(byte)) & 0xffff;
    for (bits += 8; bits >= 6; bits -= 6) text += digits[window >> (bits - 6) & 63];
  }
  if (bits > 0) text += digits[window << (6 - bits) & 63];
  return text;
}

std::string column_text(const Column& numbers) {
  std::vector<std::uint64_t> values;
  values.reserve(numbers.size());
  for (const auto number : numbers) values.push_back(zigzag(number));
  return packed(values);
}

// Numbers the rows: equal rows have one number, in order of their first appearance.
std::vector<std::uint64_t> row_numbers(const std::vector<Column>& columns) {
  struct Hash {
    std::size_t operator()(const std::pair<std::uint64_t, std::int64_t>& key) const {
      return (key.first * 0x9e3779b97f4a7c15 ^ static_cast<std::uint64_t>(key.second)) *
             0xbf58476d1ce4e5b9;
    }
  };
  std::vector<std::uint64_t> numbers(columns.front().size());
  for (const auto& column : columns) {
    std::unordered_map<std::pair<std::uint64_t, std::int64_t>, std::uint64_t, Hash> known;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = known.try_emplace({numbers[i], column[i]}, known.size()).first->second;
  }
  return numbers;
}

struct ColumnRow {
  std::size_t first = 0, count = 0;
};

// Returns, by number, the first place of each row and how often it appears.
std::vector<ColumnRow> column_rows_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<ColumnRow> rows;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == rows.size()) rows.push_back({i, 0});
    ++rows[numbers[i]].count;
  }
  return rows;
}

Document by_distinct_rows(const std::vector<Column>& columns) {
  auto index = row_numbers(columns);
  const auto rows = column_rows_of(index);
  std::vector<std::size_t> order(rows.size()), place(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t row) { return rows[row].count; });
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (auto& row : index) row = place[row];
  Document distinct = Document::array();
  for (const auto& column : columns) {
    Column values;
    for (const auto row : order) values.push_back(column[rows[row].first]);
    distinct.push_back(column_text(values));
  }
  return Object().put("distinct", std::move(distinct)).put("index", index_document(index)).take();
}

}  // namespace

std::string packed(const std::vector<std::uint64_t>& values) {
  std::string bytes;
  bytes.reserve(values.size() * 2);
  for (const auto value : values) append(bytes, value);
  return base64(bytes);
}

Document index_document(const std::vector<std::uint64_t>& index) {
  std::vector<std::uint64_t> written, more;
  std::unordered_map<std::uint64_t, std::uint64_t> behind;  // looked up, never walked
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (i > 0) {
      const auto [known, fresh] = behind.try_emplace(index[i - 1], index[i]);
      if (!fresh && std::exchange(known->second, index[i]) == index[i]) {
        ++more.back();
        continue;
      }
    }
    written.push_back(index[i]);
    more.push_back(0);
  }
  return Document::array({packed(written), packed(more)});
}

Document table_document(const std::vector<Column>& columns) {
  Document all = Document::array();
  for (const auto& column : columns) all.push_back(column_text(column));
  auto plain = Object().put("columns", std::move(all)).take();
  auto repeated = by_distinct_rows(columns);
  return repeated.dump().size() < plain.dump().size() ? repeated : plain;
}

}  // namespace report
