// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/nemo_export.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/jobs/given.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

constexpr std::string_view class_key = "_target_";

std::string_view class_of(const Value& document, std::string_view part) {
  const auto* value = part.empty() ? &document : document.find(part);
  const auto* named = value == nullptr ? nullptr : value->find(class_key);
  return named == nullptr ? std::string_view() : std::string_view(named->text);
}

std::string last_part(std::string_view path) {
  return std::string(path.substr(path.rfind('.') + 1));
}

// Returns "llama3_8b" for Llama3Config8B; empty: the class has no size in its name.
std::string model_of_class(std::string_view name) {
  constexpr std::string_view middle = "Config";
  const auto at = name.find(middle);
  if (at == name.npos || at + middle.size() == name.size()) return {};
  return units::lower_case(std::string(name.substr(0, at)) + "_" +
                           std::string(name.substr(at + middle.size())));
}

// Whether the key says how the object beside it is made, and nothing of the object.
bool is_of_maker(std::string_view name) {
  constexpr std::array<std::string_view, 3> keys{class_key, "_partial_", "_call_"};
  return std::ranges::find(keys, last_part(name)) != keys.end();
}

// Names keys of the lists of an export, one after another, as those of the classes in the lists.
class PartNames {
 public:
  // Returns the name in the table of the key `name`; `value` is its value, a class or another.
  std::string of(const std::string& name, const std::string& value) {
    constexpr std::string_view callbacks = "trainer.callbacks[].", plugins = "trainer.plugins[].",
                               only_plugin = "trainer.plugins.";
    if (name == std::string(callbacks) + std::string(class_key)) callback_ = last_part(value);
    for (const auto start : {plugins, only_plugin})
      if (name == std::string(start) + std::string(class_key)) {
        in_precision_ = last_part(value) == "MegatronMixedPrecision";
        mixes_precisions_ = mixes_precisions_ || in_precision_;
      }
    if (name.starts_with(callbacks)) {
      const auto own = "trainer.callbacks[" + callback_ + "].";
      const bool known = !arguments_of("nemo2").beginning(own).empty();
      return known ? own + name.substr(callbacks.size()) : name;
    }
    if (name.starts_with(plugins) && in_precision_)
      return std::string(only_plugin) + name.substr(plugins.size());
    return name;
  }
  bool mixes_precisions() const { return mixes_precisions_; }

 private:
  std::string callback_;  // the class of the callback whose keys come
  bool in_precision_ = false, mixes_precisions_ = false;
};

// Adds what MegatronMixedPrecision says where the export does not.
void add_precision_defaults(std::vector<JobArgument>& arguments) {
  const std::string name = "trainer.plugins.grad_reduce_in_fp32";
  if (std::ranges::find(arguments, name, &JobArgument::name) != arguments.end()) return;
  JobArgument argument{name, {{"true", {}, {}}}, {}};
  argument.file = "MegatronMixedPrecision's defaults";
  argument.standard = true;
  arguments.insert(arguments.begin(), argument);
}

}  // namespace

bool is_nemo_export(const Value& document) {
  constexpr std::string_view language = "nemo.collections.llm.";
  return class_of(document, {}).starts_with("nemo.collections.llm.api.") ||
         (class_of(document, "model").starts_with(language) && document.find("trainer") != nullptr);
}

void read_nemo_classes(FrameworkJob& job, Complaints& complaints) {
  constexpr std::string_view plain_sizes = "GPTConfig";
  std::vector<JobArgument> all;
  PartNames names;
  for (auto& argument : job.arguments) {
    const std::string name = argument.name;
    const auto value = argument.values.empty() ? std::string() : argument.values.front().text;
    if (argument.text.empty()) argument.text = written(argument);
    argument.name = names.of(name, value);
    if (name == "trainer.strategy._target_" && last_part(value) != "MegatronStrategy")
      complaints.add(argument.at, argument.text +
                                      ": only nemo.lightning.pytorch.strategies.MegatronStrategy "
                                      "is read; give the job of another framework");
    if (name == "peft._target_") argument.name = "peft";
    if (name == class_of_model && last_part(value) != plain_sizes)
      argument.values.front().text = model_of_class(last_part(value));
    else if (is_of_maker(argument.name))
      continue;
    all.push_back(std::move(argument));
  }
  if (names.mixes_precisions()) add_precision_defaults(all);
  job.arguments = std::move(all);
}

}  // namespace scenarios
