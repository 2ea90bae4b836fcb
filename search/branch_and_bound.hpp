// SPDX-License-Identifier: Apache-2.0
// One search, of the question's own scenario: what a search of several alternatives is made of.
#pragma once
#include "search/question.hpp"
#include "search/solvers/timetable.hpp"

namespace search {

// Without the question's others. A plan that takes `known` is there already: only what is faster is
// sought. What is then not found is no slower than the answer's lower bound, or not below `known`.
Answer search_alone(const Question& question, const Options& options,
                    Picoseconds known = sim::unreached);

// The plans that need less memory than all faster ones. `sorted` is by time.
std::vector<Ranked> pareto_of(const std::vector<Ranked>& sorted);

}  // namespace search
