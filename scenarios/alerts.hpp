// SPDX-License-Identifier: Apache-2.0
// The rules of operators, as they write them: a figure, and a condition or a list of them.
#pragma once
#include <vector>

#include "forecast/alert_rule.hpp"
#include "scenarios/documents/cursor.hpp"
#include "scenarios/documents/form.hpp"

namespace scenarios {

std::vector<Field> alert_fields();

// Reads a mapping such as
//   gpu_utilisation: "< 80 %"
//   memory: [above 90 %, "> 72 GiB"]
//   node_failure_rate: {when: "> 0.5 / day", node_mtbf: 200 days}
// Complains of unknown figures, of conditions without comparison or threshold, of units of another
// kind and of thresholds out of range, and leaves those out. Returns the rules in the order of the
// file.
std::vector<forecast::AlertRule> read_alerts(const Cursor& at);

}  // namespace scenarios
