// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_format.hpp"

#include <algorithm>

#include "report/launch/listed_words.hpp"
#include "report/launch/titan_words.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/toml.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/jobs/deepspeed.hpp"

namespace report {
namespace {

using scenarios::Value;

template <Value (*Parse)(std::string_view)>
std::optional<std::string> spelled(std::string_view text, std::string_view name) {
  const auto document = Parse(text);
  const auto* at = &document;
  while (at != nullptr && !name.empty()) {
    const auto dot = std::min(name.find('.'), name.size());
    at = at->find(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  if (at == nullptr) return {};
  return spelled_at(text, *at);
}

Value json(std::string_view text) {
  return scenarios::parse_yaml(scenarios::plain_json(text), "ds_config.json");
}
Value toml(std::string_view text) { return scenarios::parse_toml(text, "job.toml"); }
Value yaml(std::string_view text) { return scenarios::parse_yaml(text, "config.yaml"); }

bool any_text(std::string_view) { return true; }

// Whether the text is a file of keys, and not a script that names one.
template <Value (*Parse)(std::string_view)>
bool has_keys(std::string_view text) {
  try {
    return Parse(text).kind == Value::Kind::map;
  } catch (const scenarios::Error&) {
    return false;
  }
}

template <std::string (*Edited)(std::string_view, const std::vector<JobEdit>&)>
std::string keys_edited(std::string_view text, const std::vector<JobEdit>& edits, InnerQuotes) {
  return Edited(text, edits);
}

std::optional<std::string> word_value(std::string_view text, std::string_view name) {
  return has_listed_words(text) ? listed_value(text, name) : script_value(text, name);
}

}  // namespace

JobFormat format_of(Framework framework, const PlaceChoice& chosen) {
  switch (framework) {
    case Framework::megatron:
      break;
    case Framework::deepspeed:
      return {has_keys<json>, keys_edited<edited_json>, spelled<json>};
    case Framework::torchtitan:
      return {has_keys<toml>, keys_edited<edited_toml>, spelled<toml>, TitanWords::newer_name};
    case Framework::nanotron:
      return {has_keys<yaml>, keys_edited<edited_yaml>, spelled<yaml>};
  }
  const auto edited = [chosen](std::string_view text, const std::vector<JobEdit>& edits,
                               InnerQuotes quotes) {
    return has_listed_words(text) ? edited_words(text, edits)
                                  : edited_script(text, edits, chosen, quotes);
  };
  return {any_text, edited, word_value};
}

}  // namespace report
