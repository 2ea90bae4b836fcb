// SPDX-License-Identifier: Apache-2.0
// JSON as a stream of tokens that know where they stand.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/error.hpp"

namespace scenarios {

struct JsonToken {
  enum class Kind { begin_map, end_map, begin_list, end_list, key, text, number, truth, null, end };
  Kind kind = Kind::end;
  std::string text;  // key and text: without escapes; number: as written; truth: "true" or "false"
  Place at;          // where it begins
};

// A text that is no JSON, or goes beyond a limit, which `limit` then names.
struct JsonMistake : std::runtime_error {
  JsonMistake(const Place& where, const std::string& beyond)
      : std::runtime_error(beyond), at(where), limit(beyond) {}
  Place at;
  std::string limit;
};

struct JsonLimits {
  std::uintmax_t bytes = std::uintmax_t{4} << 30;
  std::size_t token = std::size_t{16} << 20;  // bytes of a key, text or number
  std::size_t blanks = std::size_t{1} << 20;  // bytes of white space in a row
  std::size_t depth = 64;
};

// Reads one JSON document (RFC 8259), a token at a time, in memory that the longest token bounds.
// NaN, Infinity and -Infinity are numbers, too, as Python writes them; a byte order mark may lead.
class JsonTokens {
 public:
  explicit JsonTokens(std::streambuf& in, const JsonLimits& limits = {})
      : in_(in), limits_(limits) {}

  // Returns the next token, valid until the next call; `end` for ever when the document is
  // complete. Throws JsonMistake.
  const JsonToken& next();
  const JsonToken& last() const { return token_; }
  // The place of the reader: just behind the last token, or at the byte that cannot be read.
  Place here() const;
  // Passes over the rest of the value that the last token begins.
  void skip();

 private:
  using Kind = JsonToken::Kind;
  enum class Expected { value, value_or_end, key, key_or_end, comma_or_end };

  int peek() {
    return at_ < block_.size() || fill() ? static_cast<unsigned char>(block_[at_]) : -1;
  }
  bool fill();
  void pass_over_mark();
  [[noreturn]] void fail(const std::string& limit = {}) const;
  void skip_blanks();
  void expect(char c);
  void open(Kind kind, Expected inside);
  void close(char bracket);
  void value(int c);
  void key();
  void string();
  void escape();
  unsigned hexadecimal();
  void number();
  void digits();
  void take_into_token();
  void word(std::string_view rest, Kind kind);

  std::streambuf& in_;
  JsonLimits limits_;
  std::string block_;          // a part of the text
  std::size_t at_ = 0;         // in the block
  std::uintmax_t before_ = 0;  // bytes before the block
  std::int64_t line_ = 1;
  std::uintmax_t line_begin_ = 0;  // byte at which the line begins
  std::vector<char> open_;         // closing brackets to come
  bool begun_ = false;
  Expected expected_ = Expected::value;
  JsonToken token_;
};

// Returns the number that a token's text stands for; infinite beyond a double's range.
double json_number(const std::string& text);

}  // namespace scenarios
