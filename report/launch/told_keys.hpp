// SPDX-License-Identifier: Apache-2.0
// Private to the room: the keys of a plan that a framework does not express.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/launch.hpp"

namespace report {

// Whether one of those that are lost is the key, such as "plan.zero", or another that tells of it:
// one sentence tells of a pipeline's schedule and of its stages.
bool tell_of(const std::vector<Lost>& lost, std::string_view key);

// Takes out the keys of `plan` whose value a file has after all: those that say that it has another
// one, if no key that the sentence tells of is in `differing`. What a framework makes of the value
// stays.
void forget_untrue(std::vector<Lost>& lost, const std::set<std::string>& plan,
                   const std::set<std::string>& differing);

// The keys outside of a plan of which it is said that a file has another value of them. A change of
// a job writes none of these.
std::set<std::string> unwritten_keys(const std::vector<Lost>& lost);

// Takes out such keys where `others` tell what the job has, or where the same is true of the job as
// it was, `before`; of the rest it is no longer said that another value is written.
void forget_unwritten(std::vector<Lost>& lost, const std::vector<Lost>& others,
                      const std::vector<Lost>& before);

}  // namespace report
