// SPDX-License-Identifier: Apache-2.0
// What the checks of a whole scenario share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/scenario.hpp"
#include "scenarios/cursor.hpp"

namespace scenarios {

// One check's way to complain of a key, or of the mapping that lacks it.
class Judge {
 public:
  Judge(const Value& document, Reading& reading) : document_(document), reading_(reading) {}

  void complain(const std::string& section, const std::string& key, const std::string& text) const {
    const auto* outer = document_.find(section);
    const auto* inner = find(section, key);
    const auto& place = inner != nullptr ? *inner : outer != nullptr ? *outer : document_;
    reading_.complain(place, {{}, section + "." + key + ": " + text});
  }
  // Whether all that a check looks at could be read.
  bool knows(std::initializer_list<std::string_view> paths) const {
    return std::ranges::none_of(paths, [&](auto path) { return reading_.doubtful(path); });
  }
  bool given(std::string_view section, std::string_view key) const {
    return find(section, key) != nullptr;
  }
  // The word that stands there; empty where none does.
  std::string written(std::string_view section, std::string_view key) const {
    const auto* value = find(section, key);
    return value == nullptr ? "" : value->text;
  }

 private:
  const Value* find(std::string_view section, std::string_view key) const {
    const auto* outer = document_.find(section);
    return outer == nullptr ? nullptr : outer->find(key);
  }

  const Value& document_;
  Reading& reading_;
};

inline std::string digits(std::int64_t number) { return std::to_string(number); }

// Whether the parts of the plan that divide tensors fit the model, and the degrees the cluster.
void check_degrees(const forecast::Scenario& scenario, bool data_given, const Judge& judge);

// Whether a schedule has two chunks per rank by nature: the model goes down the ranks and up again.
bool two_chunks(strategies::ScheduleKind schedule);

// Whether the pipeline's stages, passes and microbatches fit each other and the model.
void check_pipeline(const forecast::Scenario& scenario, const Judge& judge);

// Whether what is dropped, sharded, compressed or kept elsewhere can be.
void check_memory(const forecast::Scenario& scenario, const Judge& judge);

// Whether layers with strategies of their own exist, and can have them.
void check_layers(const forecast::Scenario& scenario, const Judge& judge);

// Whether the model has these modules, named under `section.key`.
void check_modules(const std::string& section, const std::string& key,
                   const std::vector<model::Module>& chosen, const forecast::Scenario& scenario,
                   const Judge& judge);

// Whether the model has what a layer may recompute in a search.
void check_ways(const std::vector<strategies::Recompute>& ways, const forecast::Scenario& scenario,
                const Judge& judge);

}  // namespace scenarios
