// SPDX-License-Identifier: Apache-2.0
// A plan that somebody chose, beside what a search chooses.
#pragma once
#include <string_view>
#include <vector>

#include "search/search.hpp"

namespace search {

// The keys of a plan whose values a question's space does not have. None: the plan is one of those
// that a search chooses from, or simulates as one of them does (sequence parallelism with tensor 1,
// `interleaved` with one chunk, ...). "degrees": each would do, but not together. Reductions that
// docs/search.md states leave a plan inside. O(plans of the space with all but one degree given)
std::vector<std::string_view> outside(const Question& question, const strategies::Plan& plan);

// A given plan beside the answer to a question, whose own plan has the keys that no search varies.
struct Comparison {
  std::vector<std::string_view> outside;  // of the given plan
  units::Seconds given;                   // its simulated step
  bool given_fits = false;                // into the memory that the search has
  Answer answer;
};
Comparison compare(const Question& question, const strategies::Plan& given,
                   const Options& options = {});

}  // namespace search
