// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/named_model.hpp"

#include <algorithm>
#include <array>

#include "scenarios/jobs/table_files.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

const Value& known_models() {
  static const Value models = [] {
    for (const auto& file : job_table_files())
      if (file.table == "huggingface_models")
        return parse_yaml(file.text, "huggingface_models.yaml");
    return Value{};
  }();
  return models;
}

// Returns "llama-3.1-8b" for "meta-llama/Meta-Llama-3.1-8B-Instruct".
std::string plain_name(std::string name) {
  constexpr std::array<std::string_view, 12> endings{"-instruct", "-chat", "-base",     "-hf",
                                                     "-it",       "-pt",   "-thinking", "-2507",
                                                     "-bf16",     "-0324", "-0528",     "-deduped"};
  while (name.ends_with('/')) name.pop_back();
  name.erase(0, name.rfind('/') + 1);
  name = units::lower_case(name);
  if (name.starts_with("meta-")) name.erase(0, 5);
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (const auto ending : endings)
      if (name.ends_with(ending)) {
        name.resize(name.size() - ending.size());
        shorter = true;
      }
  }
  return name;
}

}  // namespace

const Value* named_model(const std::string& name) { return known_models().find(plain_name(name)); }

bool names_senses(const std::string& name) {
  constexpr std::array<std::string_view, 9> words{"vl",    "vision", "llava", "omni",     "video",
                                                  "audio", "ocr",    "clip",  "paddleocr"};
  std::string part;
  for (const char c : units::lower_case(name.substr(name.rfind('/') + 1)) + "-") {
    if (c != '-' && c != '_' && c != '.') {
      part += c;
      continue;
    }
    if (std::ranges::find(words, part) != words.end() || part.ends_with("vl")) return true;
    part.clear();
  }
  return false;
}

void settle_named_model(JobScenario& scenario) {
  auto& document = scenario.document;
  const auto* model = document.find("model");
  const bool unknown =
      std::ranges::find(scenario.wanted, "model", &WantedKey::path) != scenario.wanted.end();
  const bool sized = model != nullptr && model->find("layers") != nullptr;
  if (!unknown && !sized) return;
  std::erase_if(scenario.wanted,
                [](const WantedKey& one) { return one.path.starts_with("model."); });
  if (unknown)
    std::erase_if(document.members, [](const Member& one) { return one.key.text == "model"; });
}

const Value* name_model(Draft& draft, const Given& given, std::string_view argument) {
  const auto name = given.word_or(argument, "");
  if (const auto* model = name.empty() ? nullptr : named_model(name)) {
    draft.text("model.name", name.substr(name.find_last_of('/') + 1), {argument});
    return model;
  }
  draft.want("model",
             (name.empty() ? std::string("the job names no model")
                           : "the sizes of " + name + " stand in its config.json") +
                 "; add --set model.huggingface=config.json or --set model=NAME of the catalog",
             {argument});
  return nullptr;
}

void set_named_model(Draft& draft, const Given& given, std::string_view argument) {
  if (const auto* model = name_model(draft, given, argument))
    for (const auto& member : model->members)
      draft.set("model." + member.key.text, member.value, {argument}, "its config.json");
}

}  // namespace scenarios
