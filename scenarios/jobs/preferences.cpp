// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/preferences.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "scenarios/jobs/value_meanings.hpp"
#include "units/text.hpp"

namespace scenarios {

std::string preference_method(std::string_view program) {
  constexpr std::array<std::string_view, 22> methods{
      "bco",  "cpo",       "dapo",   "dpo",     "gkd",   "grpo",  "gspo", "kto",
      "nash", "orpo",      "ppo",    "prm",     "raft",  "remax", "rlhf", "rl",
      "rloo", "reinforce", "reward", "rewards", "simpo", "xpo"};
  if (program.ends_with(".py")) program.remove_suffix(3);
  program.remove_prefix(program.rfind('.') + 1);  // the packages of a module
  const auto name = units::lower_case(program);
  std::string part;
  for (const char c : name + '.') {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      part += c;
      continue;
    }
    if (std::ranges::find(methods, part) != methods.end()) return part;
    part.clear();
  }
  return {};
}

std::string refusal_of_method(std::string_view method) {
  return "a step of " + std::string(method) +
         " is more than one of a language model: it compares, rewards or generates";
}

}  // namespace scenarios
