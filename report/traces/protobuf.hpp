// SPDX-License-Identifier: Apache-2.0
// Private to the room: the protobuf wire format, as far as traces need it.
// Encoding: https://protobuf.dev/programming-guides/encoding/
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace report {

// One message under construction. Fields are written in the order of the calls.
class Message {
 public:
  Message& integer(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& fixed64(std::uint32_t field, std::uint64_t value) {
    varint((field << 3) | 1u);
    for (int shift = 0; shift < 64; shift += 8)
      bytes_ += static_cast<char>((value >> shift) & 0xffu);
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view value) {
    varint((field << 3) | 2u);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& inner) { return text(field, inner.bytes_); }

  // Empties it but keeps its memory.
  Message& clear() {
    bytes_.clear();
    return *this;
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  bool empty() const { return bytes_.empty(); }
  std::string take() { return std::move(bytes_); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7fu) | 0x80u);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace report
