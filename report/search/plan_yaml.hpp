// SPDX-License-Identifier: Apache-2.0
// A plan as a scenario file has it.
#pragma once
#include <string>

#include "plans/plan.hpp"

namespace report {

// Returns "plan:" and its keys, a line each, with long lists broken at `width` columns and without
// keys at their defaults. A reader gets the same plan from it.
std::string plan_yaml(const strategies::Plan& plan, int width = 100);

}  // namespace report
