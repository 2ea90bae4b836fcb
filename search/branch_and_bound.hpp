// SPDX-License-Identifier: Apache-2.0
// One search, of the question's own scenario: what a search of several alternatives is made of.
#pragma once
#include "search/question.hpp"
#include "search/solvers/timetable.hpp"

namespace search {

// Searches without the question's others. A plan that takes `known` is there already: only faster
// plans are sought. Plans that are not found are no faster than the answer's lower bound, or than
// `known`.
Answer search_alone(const Question& question, const Options& options,
                    Picoseconds known = sim::unreached);

// The plans that need less memory than all faster ones. `sorted` is by time.
std::vector<Ranked> pareto_of(const std::vector<Ranked>& sorted);

}  // namespace search
