// SPDX-License-Identifier: Apache-2.0
// Helpers that the checks of a whole scenario share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forecast/scenario.hpp"
#include "plans/admissible.hpp"
#include "scenarios/documents/cursor.hpp"

namespace scenarios {

// One check's way to complain of a key, or of the mapping that lacks it.
class Checker {
 public:
  Checker(const Value& document, Reading& reading) : document_(document), reading_(reading) {}

  void complain(const std::string& section, const std::string& key, const std::string& text) const {
    const auto* outer = document_.find(section);
    const auto* inner = find(section, key);
    const auto& place = inner != nullptr ? *inner : outer != nullptr ? *outer : document_;
    reading_.complain(place, {{}, section + "." + key + ": " + text});
  }
  // Whether all keys that a check looks at could be read.
  bool knows(std::initializer_list<std::string_view> paths) const {
    return std::ranges::none_of(paths, [&](auto path) { return reading_.doubtful(path); });
  }
  // Complains of every condition that does not hold and whose keys could be read.
  void check(std::span<const strategies::Condition> conditions,
             const forecast::Scenario& scenario) const {
    const strategies::Case of{scenario.model, scenario.training, scenario.plan, scenario.cluster};
    for (const auto& one : conditions) {
      if (std::ranges::any_of(one.asks, [&](auto path) { return reading_.doubtful(path); }))
        continue;
      if (!one.holds(of)) complain(blamed(one.keys), one.why(of));
    }
  }
  bool given(std::string_view section, std::string_view key) const {
    return find(section, key) != nullptr;
  }
  // Returns the word at the key; empty if there is none.
  std::string written(std::string_view section, std::string_view key) const {
    const auto* value = find(section, key);
    return value == nullptr ? "" : value->text;
  }

 private:
  using Path = std::pair<std::string, std::string>;  // section and key
  static Path path_of(std::string_view key) {
    const auto dot = key.find('.');
    return {std::string(key.substr(0, dot)), std::string(key.substr(dot + 1))};
  }
  Path blamed(const std::vector<std::string_view>& keys) const {
    for (const auto key : keys)
      if (const auto path = path_of(key); given(path.first, path.second)) return path;
    return path_of(keys.back());
  }
  void complain(const Path& path, const std::string& text) const {
    complain(path.first, path.second, text);
  }
  const Value* find(std::string_view section, std::string_view key) const {
    const auto* outer = document_.find(section);
    return outer == nullptr ? nullptr : outer->find(key);
  }

  const Value& document_;
  Reading& reading_;
};

using strategies::digits;

// Whether the parts of the plan that divide tensors fit the model, and the degrees the cluster.
void check_degrees(const forecast::Scenario& scenario, bool data_given, const Checker& checker);

// Whether the pipeline's stages, passes and microbatches fit each other and the model.
void check_pipeline(const forecast::Scenario& scenario, const Checker& checker);

// Whether tensors can be dropped, sharded, compressed or kept elsewhere as the plan says.
void check_memory(const forecast::Scenario& scenario, const Checker& checker);

// Whether layers with strategies of their own exist, and can have them.
void check_layers(const forecast::Scenario& scenario, const Checker& checker);

// Whether the model has these modules, named under `section.key`.
void check_modules(const std::string& section, const std::string& key,
                   const std::vector<model::Module>& chosen, const forecast::Scenario& scenario,
                   const Checker& checker);

// Whether the model has the modules that a layer may recompute in a search.
void check_ways(const std::vector<strategies::Recompute>& ways, const forecast::Scenario& scenario,
                const Checker& checker);

}  // namespace scenarios
