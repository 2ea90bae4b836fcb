// SPDX-License-Identifier: Apache-2.0
// Private to the room: the keys of a plan that sentences "not expressed" speak of.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace report {

// Whether one of the sentences, such as "zero 3: …", speaks of the key "plan.zero" or of another
// that it speaks for: one sentence tells of a pipeline's schedule and of its stages.
bool tell_of(const std::vector<std::string>& sentences, std::string_view key);

// Takes out the sentences on keys of `plan` of which none is in `differing`.
void forget_untrue(std::vector<std::string>& sentences, const std::set<std::string>& plan,
                   const std::set<std::string>& differing);

}  // namespace report
