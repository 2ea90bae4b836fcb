// SPDX-License-Identifier: Apache-2.0
// Two forecasts beside each other: the differences of the scenarios, and the effects on the
// answers.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "report/style.hpp"

namespace report {

// A value of the resolved scenario, of the one that is held against ("" where it has none), and of
// the other, as JSON.
struct Change {
  std::string path;  // "plan.micro_batch"
  std::string from, to;
};

// The effect of one part of the changes alone. Parts are single keys of `plan` and `training`;
// whole entries of `cluster`, such as node and fabric; `model` and `software` whole.
struct Effect {
  std::string of;                           // "plan.micro_batch", "model"
  std::optional<units::Seconds> step_time;  // none: it cannot be made alone
  std::optional<units::Bytes> peak;
  std::string why_not;
};

struct Compared {
  const forecast::Scenario& scenario;
  const forecast::Forecast& forecast;
};

// The changes and the effects as the document below has them: {"changes", "effects"}.
std::string compared_json(const forecast::Scenario& from, const forecast::Scenario& to,
                          const std::vector<Effect>& effects);

// Returns the changes in the order of the document, without names and alerts of scenarios.
std::vector<Change> changes_between(const forecast::Scenario& from, const forecast::Scenario& to);

// The parts that can be tried alone, in that order. plan.data follows from the others and is none.
std::vector<std::string> parts_of(const std::vector<Change>& changes);

// Returns `from` with that part of `to`, as a scenario file (JSON), without plan.data, which
// follows.
std::string with_part(const forecast::Scenario& from, const forecast::Scenario& to,
                      const std::string& part);

// Headline, alerts by the rules of `to`, the changes, the effect of each change alone, and the
// differences of time, idle time and memory. Lines where both sides are zero are left out.
std::string compare_text(const Compared& from, const Compared& to,
                         const std::vector<Effect>& effects, const TextOptions& options);

// The document of simulate --json of `to`, and in it, as "against": that of `from`, "changes" and
// "effects". A changed quantity has its unit beside it.
std::string compare_json(const Compared& from, const Compared& to,
                         const std::vector<Effect>& effects, std::string_view version);

}  // namespace report
