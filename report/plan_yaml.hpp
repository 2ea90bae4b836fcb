// SPDX-License-Identifier: Apache-2.0
// A plan as a scenario file has it.
#pragma once
#include <string>

#include "plans/plan.hpp"

namespace report {

// "plan:" and its keys, a line each, long lists broken at `width` columns; what is left out is at
// its default. Read back, it is the same plan.
std::string plan_yaml(const strategies::Plan& plan, int width = 100);

}  // namespace report
