// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/absent.hpp"

#include <algorithm>

#include "scenarios/shell/word_parts.hpp"

namespace scenarios {
namespace {

constexpr std::string_view it_is = "it is $", it_rests = "it rests on $",
                           of_script = ", an argument of the script",
                           on_argument = " under a condition on an argument (";

}  // namespace

std::string absent_argument(std::string_view shown) {
  return "it is " + std::string(shown) + std::string(of_script);
}

std::string left_empty_by(const std::string& name, const Place& at, const std::string& why) {
  const auto advice_at = std::min(why.find("; add --env"), why.size());
  return name + " is set in line " + std::to_string(at.line) + std::string(on_argument) +
         why.substr(0, advice_at) + ")" + why.substr(advice_at);
}

bool is_absent(std::string_view why) {
  return why.find(it_is) != why.npos && why.find(of_script) != why.npos;
}

bool is_left_empty(std::string_view why) {
  return is_absent(why) && why.find(on_argument) != why.npos;
}

std::string reason_of_made(std::string why) {
  if (is_absent(why)) why.replace(why.find(it_is), it_is.size(), it_rests);
  return why;
}

bool is_blank_word(const ShellWord& word) {
  if (!word.trouble.empty() && !is_absent(word.trouble)) return false;
  for (std::size_t i = 0; i < word.text.size();) {
    if (word.text[i] != mark) return false;
    const auto end = std::min(word.text.find(mark_end, i), word.text.size());
    if (!is_absent(unmarked(std::string_view(word.text).substr(i + 1, end - i - 1)))) return false;
    i = end + 1;
  }
  return true;
}

bool outweighs(std::string_view why, std::string_view before) {
  return before.empty() || (is_absent(before) && !is_absent(why)) ||
         (is_left_empty(before) && !is_left_empty(why));
}

}  // namespace scenarios
