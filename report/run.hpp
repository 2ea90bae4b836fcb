// SPDX-License-Identifier: Apache-2.0
// Private to the room: time, energy and cost of a whole training, as text and as a part of
// documents.
#pragma once
#include <optional>
#include <string>

#include "report/document.hpp"
#include "report/style.hpp"
#include "search/purchase/whole_run.hpp"

namespace report {

// Returns days, GPU hours, energy and money, and sentences on those that are not known; empty
// without a run.
std::string run_text(const std::optional<search::WholeRun>& run, const TextOptions& options);

// {"tokens", "steps", "days", "days_low", "days_high", "gpu_hours", "with_failures": {"gpu_mtbf_s",
// "goodput", "days", "days_low", "days_high", "gpu_hours"}, "currency", "capital_full", "capital",
// "lifetime_s", "price_source", "price_estimated", "power_w", "energy_wh", "missing": [sentences]}.
// Money, power and energy that nobody knows are null. `capital` is the part of `capital_full` that
// the run uses up of `lifetime_s`; energy and power are without PUE.
Document run_document(const search::WholeRun& run);

}  // namespace report
