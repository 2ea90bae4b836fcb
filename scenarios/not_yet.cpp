// SPDX-License-Identifier: Apache-2.0
// What is read and checked, but not simulated yet.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "scenarios/document.hpp"
#include "scenarios/judge.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;
using strategies::ScheduleKind;

struct Feature {
  const char *section, *key, *name, *instead;
  bool (*asked)(const Scenario&);
};

bool scheduled(const Scenario& s, std::initializer_list<ScheduleKind> kinds) {
  return std::ranges::find(kinds, s.plan.schedule) != kinds.end();
}

// One entry per feature; it goes when the feature comes.
constexpr std::array features{
    Feature{"plan", "schedule", "DualPipe", "interleaved", [](const Scenario& s) {
              return scheduled(s, {ScheduleKind::dualpipe, ScheduleKind::dualpipe_v});
            }}};

}  // namespace

void refuse_not_yet(const Scenario& scenario, const Value& document, Reading& reading) {
  const Judge judge(document, reading);
  for (const auto& feature : features)
    if (feature.asked(scenario))
      judge.unsupported(
          feature.section, feature.key,
          std::string(feature.name) + " is not simulated yet; write " + feature.instead);
}

}  // namespace scenarios
