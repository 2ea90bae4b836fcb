// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts of the report on a search.
#pragma once
#include <string>

#include "report/document.hpp"
#include "report/style.hpp"
#include "search/objectives.hpp"
#include "search/why.hpp"

namespace report {

// Why the best plan is the best one and what would make it faster. The answer must have a plan.
std::string why_text(const search::Question& question, const search::Answer& answer,
                     const search::Why& why, const TextOptions& options);
Document why_document(const search::Why& why);

// The objective of a search, and the clusters or batches that it tried; empty for the shortest
// step.
std::string objective_text(const search::Outcome& outcome, const TextOptions& options);
Document objective_document(const search::Outcome& outcome);

// "cluster.nodes: 8" of the size that was chosen, as scenarios write it; empty if there is none.
std::string chosen_words(const search::Outcome& outcome);

// Why no size is enough although plans were found, in one line; empty if that is not so.
std::string not_enough_text(const search::Outcome& outcome);

}  // namespace report
