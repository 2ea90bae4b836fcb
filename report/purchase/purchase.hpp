// SPDX-License-Identifier: Apache-2.0
// Results of a purchase.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "report/style.hpp"
#include "search/purchase/purchase.hpp"
#include "units/quantity.hpp"

namespace report {

// The recommendation and why; tables of the options, of where their money and their time go; plans;
// what would change the choice; what other fabrics would be worth; what all of it rests on.
std::string purchase_text(const search::Purchase& purchase, const search::Decision& decision,
                          const TextOptions& options = {});

// The document of `purchase --json`. Money is in `currency`, times whose names end in `days` are in
// days, energy is in watt-hours; all figures are of the site, PUE included. Figures that need a
// plan are null for an option without one. `plan`, `step_time_s` and `mfu` are of the first
// workload; `workloads` has all. `no_plan` is the reason why a workload's keys allow no plan on an
// option; else null. `lives` is how often the machines of `capital_full` are bought, one after the
// other, as the training outlasts them. At the top `workloads` has the tokens of each and the
// parameters of its model.
std::string purchase_json(const search::Purchase& purchase, const search::Decision& decision,
                          std::string_view version, units::Seconds wall);

// The recommended option and its reasons, in a few sentences; if none is feasible, the obstacles.
std::string recommendation_words(const search::Purchase& purchase,
                                 const search::Decision& decision);

// Warnings about the result: that failures are left out, and their likely effect; that the machines
// of the choice serve others for most of their life; prices that are likely slips; GPUs that are
// bought and unused.
std::vector<std::string> purchase_warnings(const search::Purchase& purchase,
                                           const search::Decision& decision);

}  // namespace report
