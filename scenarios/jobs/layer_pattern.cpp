// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/layer_pattern.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace scenarios {
namespace {

constexpr std::size_t most = 10'000;

std::string without(std::string_view text, std::string_view dropped) {
  std::string kept;
  for (const char c : text)
    if (dropped.find(c) == dropped.npos) kept += c;
  return kept;
}

// Reads a text of terms that may be repeated; nesting and length are bounded.
template <class Unit>
class Repeated {
 public:
  explicit Repeated(std::string text) : text_(std::move(text)) {}

 protected:
  bool ended() const { return at_ >= text_.size(); }
  char peek() const { return ended() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::optional<std::size_t> count() {
    std::size_t number = 0, digits = 0;
    for (; std::isdigit(static_cast<unsigned char>(peek())) != 0 && digits < 6; ++digits)
      number = number * 10 + static_cast<std::size_t>(text_[at_++] - '0');
    if (digits == 0) return {};
    return number;
  }
  static bool repeat(std::vector<Unit>& units, std::size_t times) {
    const auto once = units;
    if (once.size() * times > most) return false;
    units.clear();
    for (std::size_t i = 0; i < times; ++i) units.insert(units.end(), once.begin(), once.end());
    return true;
  }
  // Reads "*N" any number of times.
  bool times(std::vector<Unit>& units) {
    while (take('*')) {
      const auto number = count();
      if (!number || !repeat(units, *number)) return false;
    }
    return true;
  }

  static constexpr int deepest = 16;

 private:
  std::string text_;
  std::size_t at_ = 0;
};

class PythonList : Repeated<int> {
 public:
  using Repeated::Repeated;

  std::optional<std::vector<int>> read() {
    auto all = sum(0);
    return all && ended() ? all : std::nullopt;
  }

 private:
  std::optional<std::vector<int>> sum(int depth) {
    std::vector<int> all;
    do {
      auto one = term(depth);
      if (!one || !times(*one) || all.size() + one->size() > most) return {};
      all.insert(all.end(), one->begin(), one->end());
    } while (take('+'));
    return all;
  }

  std::optional<std::vector<int>> term(int depth) {
    if (take('(')) {
      auto inside = depth < deepest ? sum(depth + 1) : std::nullopt;
      return take(')') ? inside : std::nullopt;
    }
    if (!take('[')) return {};
    std::vector<int> all;
    do {
      const auto one = count();
      if (!one || *one > 1) return {};
      all.push_back(static_cast<int>(*one));
    } while (take(','));
    return take(']') ? std::optional(all) : std::nullopt;
  }
};

class Layout : Repeated<char> {
 public:
  using Repeated::Repeated;

  std::optional<std::vector<char>> read() {
    auto all = sequence(0);
    return all && ended() ? all : std::nullopt;
  }

 private:
  std::optional<std::vector<char>> sequence(int depth) {
    std::vector<char> all;
    while (!ended() && peek() != ')') {
      std::vector<char> one;
      if (take('(')) {
        auto inside = depth < deepest ? sequence(depth + 1) : std::nullopt;
        if (!inside || !take(')')) return {};
        one = *inside;
      } else {
        const char c = peek();
        if (std::string_view("EtmL|").find(c) == std::string_view::npos) return {};
        take(c);
        one = {c};
      }
      if (!times(one) || all.size() + one.size() > most) return {};
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
};

}  // namespace

std::optional<std::vector<int>> layer_list(std::string_view text) {
  return PythonList(without(text, " '\"\\")).read();
}

std::optional<StageLayout> stage_layout(std::string_view text) {
  const auto units = Layout(without(text, " ,\\")).read();
  if (!units) return {};
  StageLayout layout{{0}, 0};
  const auto loss = std::ranges::find(*units, 'L');
  layout.apart = std::find(std::find(units->begin(), loss, 'm'), loss, '|') != loss ||
                 std::find(loss, units->end(), 'm') != units->end();
  for (const char c : *units) {
    if (c == '|') layout.layers.push_back(0);
    if (c == 't') ++layout.layers.back();
    if (c == 'm') ++layout.predictions;
  }
  return layout;
}

}  // namespace scenarios
