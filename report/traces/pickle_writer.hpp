// SPDX-License-Identifier: Apache-2.0
// Private to the room: plain values as a pickle, protocol 2.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace report {

// Values in the order in which they stand in their container; a text is written once and then
// referred to. The caller closes what it opens.
class PickleWriter {
 public:
  PickleWriter() { out_ = "\x80\x02"; }

  void integer(std::int64_t value) {
    if (value >= 0 && value < 0x100) return code('K', static_cast<std::uint64_t>(value), 1);
    if (value >= 0 && value < 0x10000) return code('M', static_cast<std::uint64_t>(value), 2);
    if (value >= std::numeric_limits<std::int32_t>::min() &&
        value <= std::numeric_limits<std::int32_t>::max())
      return code('J', static_cast<std::uint64_t>(value), 4);
    out_ += '\x8a';  // LONG1, of eight bytes
    code('\x08', static_cast<std::uint64_t>(value), 8);
  }
  void real(double value) {
    out_ += 'G';
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift);
  }
  void truth(bool value) { out_ += value ? '\x88' : '\x89'; }
  void text(std::string_view value) {
    if (const auto known = memo_.find(value); known != memo_.end()) return recall(known->second);
    code('X', value.size(), 4);
    out_ += value;
    memo_.emplace(value, remember());
  }
  // Number of the value that was closed last, by which it is recalled.
  std::uint32_t remember() {
    code('r', next_, 4);
    return next_++;
  }
  void recall(std::uint32_t slot) { code('j', slot, 4); }

  void open_map() { out_ += "}("; }
  void close_map() { out_ += 'u'; }
  void open_list() { out_ += "]("; }
  void close_list() { out_ += 'e'; }
  // Appends the items so far, so that a reader need not keep all items until the list ends.
  void next_batch() { out_ += "e("; }
  // A tuple of the last two values.
  void pair() { out_ += '\x86'; }
  std::string finish() {
    out_ += '.';
    return std::move(out_);
  }

 private:
  void code(char opcode, std::uint64_t value, int bytes) {
    out_ += opcode;
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i));
  }

  std::string out_;
  std::map<std::string, std::uint32_t, std::less<>> memo_;
  std::uint32_t next_ = 0;
};

}  // namespace report
