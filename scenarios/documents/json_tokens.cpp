// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/json_tokens.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

namespace scenarios {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 18;

bool is_digit(int c) { return c >= '0' && c <= '9'; }

// Bytes of the UTF-8 sequence that begins the text; zero if it is none (RFC 3629).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0), second = byte(1);
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool surrogate = first == 0xED && second >= 0xA0;
    const bool longer_than_needed = first == 0xE0 && second < 0xA0;
    return follows(1) && follows(2) && !surrogate && !longer_than_needed ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool beyond = (first == 0xF4 && second >= 0x90) || (first == 0xF0 && second < 0x90);
    return follows(1) && follows(2) && follows(3) && !beyond ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void append_utf8(std::string& text, unsigned code) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  const auto rest = [&](int shift) { add(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      add(0xE0 | (code >> 12));
    } else {
      add(0xF0 | (code >> 18));
      rest(12);
    }
    rest(6);
  }
  rest(0);
}

}  // namespace

void JsonTokens::pass_over_mark() {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (!fill() || !std::string_view(block_).starts_with(mark)) return;
  at_ = mark.size();
  line_begin_ = mark.size();
}

bool JsonTokens::fill() {
  before_ += block_.size();
  at_ = 0;
  block_.clear();
  if (before_ > limits_.bytes) {
    fail("larger than " + std::to_string(limits_.bytes >> 20) +
         " MiB; no more is read of such a file");
  }
  // Takes no more than the stream has already, so that an error of reading loses no bytes before
  // it.
  const bool more = in_.sgetc() != std::streambuf::traits_type::eof();
  block_.resize(more ? std::min<std::size_t>(block_size, static_cast<std::size_t>(in_.in_avail()))
                     : 0);
  block_.resize(static_cast<std::size_t>(
      in_.sgetn(block_.data(), static_cast<std::streamsize>(block_.size()))));
  return !block_.empty();
}

Place JsonTokens::here() const {
  return {line_, static_cast<std::int64_t>(before_ + at_ - line_begin_) + 1};
}

void JsonTokens::fail(const std::string& limit) const { throw JsonMistake(here(), limit); }

void JsonTokens::skip_blanks() {
  const auto begin = before_ + at_;
  for (int c = peek(); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = peek()) {
    ++at_;
    if (c == '\n') {
      ++line_;
      line_begin_ = before_ + at_;
    }
    if (before_ + at_ - begin > limits_.blanks)
      fail("more than " + std::to_string(limits_.blanks) +
           " bytes of white space in a row; no such file needs that");
  }
}

void JsonTokens::expect(char c) {
  if (peek() != static_cast<unsigned char>(c)) fail();
  ++at_;
}

const JsonToken& JsonTokens::next() {
  if (!std::exchange(begun_, true)) pass_over_mark();
  skip_blanks();
  token_.text.clear();
  if (expected_ == Expected::comma_or_end && !open_.empty() && peek() == ',') {
    ++at_;
    expected_ = open_.back() == '}' ? Expected::key : Expected::value;
    skip_blanks();
  }
  token_.at = here();
  const int c = peek();
  switch (expected_) {
    case Expected::key_or_end:
      if (c == '}')
        close('}');
      else
        key();
      break;
    case Expected::key:
      key();
      break;
    case Expected::value_or_end:
      if (c == ']')
        close(']');
      else
        value(c);
      break;
    case Expected::value:
      value(c);
      break;
    case Expected::comma_or_end:
      if (!open_.empty()) {
        close(open_.back());
      } else {
        if (c != -1) fail();
        token_.kind = Kind::end;
      }
  }
  return token_;
}

void JsonTokens::skip() {
  std::size_t deeper = 0;
  for (auto kind = token_.kind;; kind = next().kind) {
    if (kind == Kind::begin_map || kind == Kind::begin_list) ++deeper;
    if (kind == Kind::end_map || kind == Kind::end_list) --deeper;
    if (deeper == 0) return;
  }
}

void JsonTokens::open(Kind kind, Expected inside) {
  if (open_.size() >= limits_.depth)
    fail("nested more than " + std::to_string(limits_.depth) +
         " levels deep; no such file needs that");
  ++at_;
  open_.push_back(kind == Kind::begin_map ? '}' : ']');
  token_.kind = kind;
  expected_ = inside;
}

void JsonTokens::close(char bracket) {
  expect(bracket);
  token_.kind = bracket == '}' ? Kind::end_map : Kind::end_list;
  open_.pop_back();
  expected_ = Expected::comma_or_end;
}

void JsonTokens::key() {
  string();
  token_.kind = Kind::key;
  skip_blanks();
  expect(':');
  expected_ = Expected::value;
}

void JsonTokens::value(int c) {
  if (c == '{') return open(Kind::begin_map, Expected::key_or_end);
  if (c == '[') return open(Kind::begin_list, Expected::value_or_end);
  if (c == '"') {
    string();
    token_.kind = Kind::text;
  } else if (c == '-' || is_digit(c)) {
    number();
  } else if (c == 't') {
    word("true", Kind::truth);
  } else if (c == 'f') {
    word("false", Kind::truth);
  } else if (c == 'n') {
    word("null", Kind::null);
  } else if (c == 'N') {
    word("NaN", Kind::number);
  } else {
    word("Infinity", Kind::number);
  }
  expected_ = Expected::comma_or_end;
}

void JsonTokens::word(std::string_view rest, Kind kind) {
  for (const char c : rest) {
    expect(c);
    token_.text += c;
  }
  token_.kind = kind;
}

// Takes the byte ahead into the token.
void JsonTokens::take_into_token() {
  token_.text += block_[at_++];
  if (token_.text.size() > limits_.token)
    fail("a text of more than " + std::to_string(limits_.token >> 20) +
         " MiB; no such file needs that");
}

void JsonTokens::digits() {
  if (!is_digit(peek())) fail();
  while (is_digit(peek())) take_into_token();
}

void JsonTokens::number() {
  if (peek() == '-') take_into_token();
  if (peek() == 'I') return word("Infinity", Kind::number);
  if (peek() == '0')
    take_into_token();
  else
    digits();
  if (peek() == '.') {
    take_into_token();
    digits();
  }
  if (peek() == 'e' || peek() == 'E') {
    take_into_token();
    if (peek() == '+' || peek() == '-') take_into_token();
    digits();
  }
  token_.kind = Kind::number;
}

void JsonTokens::string() {
  expect('"');
  for (int c = peek(); c != '"'; c = peek()) {
    if (c < ' ') fail();  // so is the end of the text
    if (c == '\\') {
      ++at_;
      escape();
      continue;
    }
    // Takes all bytes up to the next special one at once.
    const auto begin = block_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto end = std::find_if(begin, block_.end(), [](char next) {
      return next == '"' || next == '\\' || static_cast<unsigned char>(next) < ' ';
    });
    token_.text.append(begin, end);
    at_ += static_cast<std::size_t>(end - begin);
    if (token_.text.size() > limits_.token)
      fail("a text of more than " + std::to_string(limits_.token >> 20) +
           " MiB; no such file needs that");
  }
  if (!is_utf8(token_.text)) fail();
  ++at_;
}

unsigned JsonTokens::hexadecimal() {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = peek();
    const int letter = c | 0x20;
    if (!is_digit(c) && (letter < 'a' || letter > 'f')) fail();
    code = code * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : letter - 'a' + 10);
    ++at_;
  }
  return code;
}

void JsonTokens::escape() {
  constexpr std::string_view names = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  const int c = peek();
  if (c == 'u') {
    ++at_;
    auto code = hexadecimal();
    if (code >= 0xDC00 && code <= 0xDFFF) fail();
    if (code >= 0xD800 && code <= 0xDBFF) {  // the first half of a pair
      expect('\\');
      expect('u');
      const auto second = hexadecimal();
      if (second < 0xDC00 || second > 0xDFFF) fail();
      code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
    }
    return append_utf8(token_.text, code);
  }
  const auto known = c < 0 ? names.npos : names.find(static_cast<char>(c));
  if (known == names.npos) fail();
  token_.text += meant[known];
  ++at_;
}

double json_number(const std::string& text) {
  double number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc::result_out_of_range) return number;
  // The number is too large or too small: the digits before the point, or the sign of the exponent,
  // decide which.
  const auto exponent = text.find_first_of("eE");
  const bool tiny = exponent == text.npos ? text.find_first_of("123456789") > text.find('.')
                                          : text[exponent + 1] == '-';
  if (tiny) return 0;
  const auto infinite = std::numeric_limits<double>::infinity();
  return text.starts_with('-') ? -infinite : infinite;
}

}  // namespace scenarios
