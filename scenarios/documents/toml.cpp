// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/toml.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace scenarios {
namespace {

constexpr int deepest_value = 32;

bool is_bare(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// Returns where the text begins behind a mark of its byte order, which some editors write.
std::size_t behind_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? mark.size() : 0;
}

// Returns a whole number of TOML, 0x1F, 0o17, 0b1 or +2, as its decimal digits; other words stay.
std::string decimal(std::string word) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  if (word.size() > 1 && word[0] == '+' && is_digit(word[1])) return word.substr(1);
  if (word.size() < 3 || word[0] != '0') return word;
  const int base = word[1] == 'x' ? 16 : word[1] == 'o' ? 8 : word[1] == 'b' ? 2 : 0;
  if (base == 0) return word;
  std::int64_t number = 0;
  const auto* end = word.data() + word.size();
  const auto [stop, wrong] = std::from_chars(word.data() + 2, end, number, base);
  return wrong == std::errc() && stop == end && number >= 0 ? std::to_string(number) : word;
}

class Toml {
 public:
  Toml(std::string_view text, const std::string& file)
      : text_(text), file_(file), at_(behind_mark(text)), begin_(at_) {}

  Value read() {
    Value root = made(Value::Kind::map);
    std::vector<Value> table;
    for (skip(true); !ended(); skip(true)) {
      if (peek() == '[') {
        table = header(root);
      } else {
        entry(open(root, table));
      }
      end_line();
    }
    return root;
  }

 private:
  bool ended() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char take() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      begin_ = at_;
    }
    return c;
  }
  bool next(std::string_view wanted) {
    if (!text_.substr(std::min(at_, text_.size())).starts_with(wanted)) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) take();
    return true;
  }

  Value made(Value::Kind kind) const {
    Value value;
    value.kind = kind;
    value.line = line_;
    value.column = static_cast<int>(at_ - begin_) + 1;
    return value;
  }

  [[noreturn]] void fail(const std::string& what) const {
    const auto here = made(Value::Kind::null);
    throw Error(
        {{Complaints(file_).text_of({here.line, here.column, 0}), "this is not TOML: " + what}});
  }

  // Skips blanks and comments; with `lines` also line ends, where they mean nothing.
  void skip(bool lines) {
    while (!ended()) {
      const char c = peek();
      if (c == '#') {
        while (!ended() && peek() != '\n') take();
      } else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n')) {
        take();
      } else {
        return;
      }
    }
  }

  void end_line() {
    skip(false);
    if (!ended() && peek() != '\n') fail("expected the end of the line");
  }

  Value word() {
    if (peek() == '"' || peek() == '\'') return text();
    auto key = made(Value::Kind::scalar);
    while (is_bare(peek())) key.text += take();
    if (key.text.empty()) fail("expected a key");
    return key;
  }

  std::vector<Value> dotted() {
    std::vector<Value> keys;
    do {
      skip(false);
      keys.push_back(word());
      if (keys.size() > deepest_value) fail("the key is too deep");
      skip(false);
    } while (next("."));
    return keys;
  }

  // Reads a header [a.b] or [[a.b]], and opens its table. The tables of the latter come one after
  // the other; the last one is kept.
  std::vector<Value> header(Value& root) {
    take();
    const bool listed = next("[");
    auto keys = dotted();
    std::string path;
    for (const auto& key : keys) path += key.text + '\n';
    if (!listed && !tables_.insert(path).second) {
      path.pop_back();
      std::ranges::replace(path, '\n', '.');
      fail("the table '" + path + "' is given twice");
    }
    if (!next(listed ? "]]" : "]")) fail("expected ]");
    auto& table = open(root, keys);
    if (!listed) return keys;
    table.members.clear();
    std::erase_if(tables_, [&](const std::string& one) { return one.starts_with(path); });
    return keys;
  }

  Value& open(Value& root, const std::vector<Value>& keys) {
    auto* table = &root;
    for (const auto& key : keys) {
      auto* found = table->find(key.text);
      if (found == nullptr) {
        auto map = key;
        map.kind = Value::Kind::map;
        map.text.clear();
        table->members.push_back({key, std::move(map)});
        found = &table->members.back().value;
      }
      if (found->kind != Value::Kind::map) fail("'" + key.text + "' is no table");
      table = found;
    }
    return *table;
  }

  void entry(Value& table, int depth = 0) {
    auto keys = dotted();
    if (!next("=")) fail("expected key = value");
    skip(false);
    const auto last = std::move(keys.back());
    keys.pop_back();
    auto& inner = open(table, keys);
    if (inner.find(last.text) != nullptr) fail("'" + last.text + "' is given twice");
    auto what = value(depth);
    inner.members.push_back({last, std::move(what)});
  }

  Value value(int depth) {
    if (depth > deepest_value) fail("values are too deep");
    if (peek() == '"' || peek() == '\'') return text();
    if (peek() == '[') return list(depth);
    if (peek() == '{') return map(depth);
    auto plain = made(Value::Kind::scalar);
    while (is_bare(peek()) || peek() == '.' || peek() == '+' || peek() == ':')
      if (const char c = take(); c != '_') plain.text += c;
    if (plain.text.empty()) fail("expected a value");
    plain.text = decimal(std::move(plain.text));
    return plain;
  }

  Value list(int depth) {
    auto all = made(Value::Kind::list);
    take();
    for (skip(true); peek() != ']'; skip(true)) {
      if (ended()) fail("expected ]");
      all.items.push_back(value(depth + 1));
      skip(true);
      if (!next(",") && peek() != ']') fail("expected , or ]");
    }
    take();
    return all;
  }

  Value map(int depth) {
    auto all = made(Value::Kind::map);
    take();
    for (skip(true); peek() != '}'; skip(true)) {
      if (ended()) fail("expected }");
      entry(all, depth + 1);
      skip(true);
      if (!next(",") && peek() != '}') fail("expected , or }");
    }
    take();
    return all;
  }

  Value text() {
    auto all = made(Value::Kind::scalar);
    all.quoted = true;
    const char quote = peek();
    const std::string end(peek(1) == quote && peek(2) == quote ? 3 : 1, quote);
    next(end);
    if (end.size() == 3) next("\n");
    while (!next(end)) {
      if (ended() || (end.size() == 1 && peek() == '\n')) fail("the text does not end");
      const char c = take();
      if (c == '\\' && quote == '"')
        escape(all.text);
      else
        all.text += c;
    }
    return all;
  }

  void escape(std::string& text) {
    constexpr std::string_view from = "btnfr\"\\", to = "\b\t\n\f\r\"\\";
    if (ended()) fail("the text does not end");
    const char c = take();
    if (const auto known = from.find(c); known != from.npos) {
      text += to[known];
    } else if (c == '\n' || c == ' ' || c == '\r') {
      while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') take();
    } else if (c == 'u' || c == 'U') {  // kept as it is written: nothing that is read has any
      text += '\\';
      text += c;
    } else {
      fail("an escape that is none");
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_, begin_;
  int line_ = 1;
  std::set<std::string> tables_;  // with a header: their keys, each with the end of a line
};

}  // namespace

Value parse_toml(std::string_view text, const std::string& file) { return Toml(text, file).read(); }

bool looks_like_toml(std::string_view text) {
  text.remove_prefix(behind_mark(text));
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      const auto inside = line.substr(1, line.find(']') - 1);
      return line.find(']') != line.npos && !inside.empty() &&
             std::ranges::all_of(inside, [](char c) { return is_bare(c) || c == '.' || c == '['; });
    }
    const auto equals = line.find(" = ");
    return equals != line.npos && std::ranges::all_of(line.substr(0, equals), [](char c) {
             return is_bare(c) || c == '.';
           });
  }
  return false;
}

}  // namespace scenarios
