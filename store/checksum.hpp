// SPDX-License-Identifier: Apache-2.0
// Private to the room: checksums of rows, and sums of them that do not depend on their order.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace store {

// A whole number modulo 2^128.
struct Sum {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const Sum&, const Sum&) = default;
  Sum& operator+=(const Sum& other);
  Sum& operator-=(const Sum& other);
};

std::string to_text(const Sum& sum);                      // 32 hexadecimal digits
std::optional<Sum> sum_of_text(std::string_view digits);  // nothing: not such digits

// The values of a row, one after the other. Rows that differ in their table, in their salt, or in
// the type or any bit of a value have other bytes, and hence other checksums.
class Content {
 public:
  // `salt`: a text that the reader of the row knows, so that rows of other stores are not taken.
  Content(std::string_view table, std::string_view salt);

  Content& text(std::string_view value);
  Content& whole(std::int64_t value);
  Content& real(double value);
  Content& nothing();

  Sum checksum() const;  // XXH128

 private:
  Content& number(char kind, std::uint64_t bits);
  std::string bytes_;
};

}  // namespace store
