// SPDX-License-Identifier: Apache-2.0
#include "report/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/terminal.hpp"
#include "scenarios/documents/value_json.hpp"

namespace report {
namespace {

using scenarios::JobAccount;
using scenarios::JudgedArgument;

bool is_of(const JudgedArgument& argument, scenarios::Effect effect) {
  return argument.effect == effect;
}

auto count_of(const JobAccount& account, scenarios::Effect effect) {
  return std::ranges::count_if(
      account.arguments, [&](const JudgedArgument& argument) { return is_of(argument, effect); });
}

std::string lines_of(const JobAccount& account, scenarios::Effect effect,
                     const TextOptions& options) {
  std::string text;
  for (const auto& argument : account.arguments)
    if (is_of(argument, effect))
      text +=
          fmt::format("              {}: {}{}{}{}\n", word_of(effect),
                      printable(argument.text, options.unicode),
                      effect == scenarios::Effect::unknown ? " (" + argument.place + ")" : "",
                      argument.why.empty() ? "" : ": ", printable(argument.why, options.unicode));
  return text;
}

}  // namespace

std::string job_text(const JobAccount& account, const TextOptions& options) {
  return fmt::format(
             "\njob           {} @{}: {} arguments read, {} without effect, {} not modelled, {} "
             "unknown\n",
             account.framework, account.version, count_of(account, scenarios::Effect::read),
             count_of(account, scenarios::Effect::none),
             count_of(account, scenarios::Effect::not_modelled),
             count_of(account, scenarios::Effect::unknown)) +
         lines_of(account, scenarios::Effect::unknown, options) +
         lines_of(account, scenarios::Effect::not_modelled, options);
}

nlohmann::ordered_json job_document(const JobAccount& account) {
  auto arguments = nlohmann::ordered_json::array();
  for (const auto& argument : account.arguments) {
    nlohmann::ordered_json one;
    one["argument"] = argument.text;
    one["place"] = argument.place;
    one["class"] = std::string(word_of(argument.effect));
    one["keys"] = argument.keys;
    one["why"] = argument.why;
    arguments.push_back(std::move(one));
  }
  nlohmann::ordered_json document;
  document["framework"] = account.framework;
  document["version"] = account.version;
  document["file"] = account.file;
  document["arguments"] = std::move(arguments);
  return document;
}

std::string job_json(const scenarios::JobScenario& scenario) {
  nlohmann::ordered_json document;
  document["scenario"] = scenarios::json_document(scenario.document);
  document["job"] = job_document(scenario.account);
  return document.dump(2) + "\n";
}

}  // namespace report
