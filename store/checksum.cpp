// SPDX-License-Identifier: Apache-2.0
#include "store/checksum.hpp"

#include <xxhash.h>

#include <bit>
#include <charconv>

namespace store {

Sum& Sum::operator+=(const Sum& other) {
  low += other.low;
  high += other.high + (low < other.low ? 1 : 0);
  return *this;
}

Sum& Sum::operator-=(const Sum& other) {
  high -= other.high + (low < other.low ? 1 : 0);
  low -= other.low;
  return *this;
}

std::string to_text(const Sum& sum) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const auto half : {sum.high, sum.low})
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[(half >> shift) & 15];
  return text;
}

std::optional<Sum> sum_of_text(std::string_view digits) {
  if (digits.size() != 32) return {};
  Sum sum;
  const auto half = [&](std::size_t from, std::uint64_t& value) {
    const auto* end = digits.data() + from + 16;
    const auto [stop, wrong] = std::from_chars(digits.data() + from, end, value, 16);
    return wrong == std::errc() && stop == end;
  };
  if (!half(0, sum.high) || !half(16, sum.low)) return {};
  return sum;
}

Content::Content(std::string_view table, std::string_view salt) {
  constexpr std::size_t usual = 8192;
  bytes_.reserve(usual);
  text(table).text(salt);
}

// The lowest byte first, so that every machine has the same bytes.
Content& Content::number(char kind, std::uint64_t bits) {
  char bytes[9] = {kind};
  for (int i = 0; i < 8; ++i)
    bytes[1 + i] = static_cast<char>(static_cast<unsigned char>(bits >> (8 * i)));
  bytes_.append(bytes, sizeof bytes);
  return *this;
}

Content& Content::text(std::string_view value) {
  number('t', value.size());
  bytes_ += value;
  return *this;
}
Content& Content::whole(std::int64_t value) {
  return number('w', static_cast<std::uint64_t>(value));
}
Content& Content::real(double value) { return number('r', std::bit_cast<std::uint64_t>(value)); }
Content& Content::nothing() {
  bytes_ += 'n';
  return *this;
}

Sum Content::checksum() const {
  const auto hash = XXH3_128bits(bytes_.data(), bytes_.size());
  return {hash.high64, hash.low64};
}

}  // namespace store
