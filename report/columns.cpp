// SPDX-License-Identifier: Apache-2.0
#include "report/columns.hpp"

#include <algorithm>
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

struct Dictionary {
  std::vector<std::uint64_t> distinct, index;
};

// Nothing where values hardly repeat.
Dictionary dictionary_of(const std::vector<std::uint64_t>& values) {
  std::unordered_map<std::uint64_t, std::size_t> counts;
  for (const auto value : values)
    if (++counts[value]; counts.size() > values.size() / 2 + 1) return {};
  std::vector<std::pair<std::uint64_t, std::size_t>> order(counts.begin(), counts.end());
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  Dictionary dictionary;
  for (const auto& [value, count] : order) {
    counts[value] = dictionary.distinct.size();
    dictionary.distinct.push_back(value);
  }
  dictionary.index.reserve(values.size());
  for (const auto value : values) dictionary.index.push_back(counts[value]);
  return dictionary;
}

}  // namespace

std::string packed(const std::vector<std::uint64_t>& values) {
  std::string bytes;
  bytes.reserve(values.size() * 2);
  for (const auto value : values) append(bytes, value);
  return base64(bytes);
}

Document column_document(const std::vector<std::int64_t>& numbers) {
  std::vector<std::uint64_t> values;
  values.reserve(numbers.size());
  for (const auto number : numbers) values.push_back(zigzag(number));
  auto plain = packed(values);
  const auto [distinct, index] = dictionary_of(values);
  auto distinct_text = packed(distinct), index_text = packed(index);
  if (index.empty() || distinct_text.size() + index_text.size() >= plain.size())
    return Object().put("values", std::move(plain)).take();
  return Object()
      .put("distinct", std::move(distinct_text))
      .put("index", std::move(index_text))
      .take();
}

}  // namespace report
