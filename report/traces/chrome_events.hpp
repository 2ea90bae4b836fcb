// SPDX-License-Identifier: Apache-2.0
// Private to the room: trace events as JSON.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "report/document.hpp"

namespace report {

// Appends to one growing text; a million events must not mean a million small strings.
class Events {
 public:
  // `head`: members of the document before its events, each with a comma behind it.
  explicit Events(std::size_t expected, std::string_view head = "\"displayTimeUnit\":\"ns\",") {
    text_.reserve(expected * 160 + 256);
    text_ += '{';
    text_ += head;
    text_ += "\"traceEvents\":[";
  }

  // Starts an event; its members follow, then end().
  Events& begin(char phase, std::int64_t pid, std::int64_t tid) {
    text_ += first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    first_ = false;
    text_ += phase;
    text_ += '"';
    return number(",\"pid\":", pid).number(",\"tid\":", tid);
  }
  Events& raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  Events& number(std::string_view key, std::int64_t value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text_ += key;
    text_.append(digits, end);
    return *this;
  }
  // Microseconds with the nanoseconds as fraction.
  Events& microseconds(std::string_view key, std::int64_t nanoseconds) {
    return thousandths(key, nanoseconds);
  }
  Events& thousandths(std::string_view key, std::int64_t value) {
    number(key, value / 1000);
    const auto rest = static_cast<int>(value % 1000);
    if (rest == 0) return *this;
    text_ += '.';
    text_ += static_cast<char>('0' + rest / 100);
    text_ += static_cast<char>('0' + rest / 10 % 10);
    text_ += static_cast<char>('0' + rest % 10);
    return *this;
  }
  // The JSON of each text is made once. Keys are views of the caller's strings.
  Events& string(std::string_view key, std::string_view value) {
    const auto [at, fresh] = escaped_.try_emplace(value);
    if (fresh) at->second = json_string(value);
    text_ += key;
    text_ += at->second;
    return *this;
  }
  void end() { text_ += '}'; }
  std::string take() {
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  std::string text_;
  std::unordered_map<std::string_view, std::string> escaped_;  // looked up, never walked
  bool first_ = true;
};

}  // namespace report
