// SPDX-License-Identifier: Apache-2.0
// Reads back what report/traces/protobuf.hpp writes, as plainly as possible: enough to check a
// trace.
#pragma once
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace decoder {

// A message: its fields by number, each with its values in order.
struct Fields {
  std::map<std::uint32_t, std::vector<std::uint64_t>> numbers;
  std::map<std::uint32_t, std::vector<std::string_view>> texts;

  std::uint64_t number(std::uint32_t field) const { return numbers.at(field).at(0); }
  std::string_view text(std::uint32_t field) const { return texts.at(field).at(0); }
  bool has(std::uint32_t field) const { return numbers.contains(field) || texts.contains(field); }
};

inline std::uint64_t varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) throw std::runtime_error("cut off");
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
    if (byte < 0x80) return value;
  }
  throw std::runtime_error("number too long");
}

inline std::string_view take(std::string_view& bytes, std::size_t count) {
  if (bytes.size() < count) throw std::runtime_error("cut off");
  const auto taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return taken;
}

inline Fields decode(std::string_view bytes) {
  Fields fields;
  while (!bytes.empty()) {
    const auto tag = varint(bytes);
    const auto field = static_cast<std::uint32_t>(tag >> 3);
    if ((tag & 7u) == 0) {
      fields.numbers[field].push_back(varint(bytes));
    } else if ((tag & 7u) == 1) {
      std::uint64_t value = 0;
      int shift = 0;
      for (const char byte : take(bytes, 8)) {
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte)) << shift;
        shift += 8;
      }
      fields.numbers[field].push_back(value);
    } else if ((tag & 7u) == 2) {
      const auto size = varint(bytes);
      fields.texts[field].push_back(take(bytes, size));
    } else {
      throw std::runtime_error("unexpected wire type");
    }
  }
  return fields;
}

}  // namespace decoder
