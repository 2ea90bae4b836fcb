// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts of the report on a search.
#pragma once
#include <string>

#include "report/document.hpp"
#include "report/style.hpp"
#include "search/objectives.hpp"
#include "search/why.hpp"

namespace report {

// Returns the resource that bounds the best plan, and the changes that would make it faster. The
// answer must have a plan.
std::string why_text(const search::Question& question, const search::Answer& answer,
                     const search::Why& why, const TextOptions& options);
Document why_document(const search::Why& why);

// The objective of a search, and the clusters or batches that it tried; empty for the shortest
// step.
std::string objective_text(const search::Outcome& outcome, const TextOptions& options);
Document objective_document(const search::Outcome& outcome);

// "cluster.nodes: 8" of the size that was chosen, as scenarios write it; empty if there is none.
std::string chosen_words(const search::Outcome& outcome);

// Returns in one line the reason why no size is enough although plans were found; empty if a size
// is enough.
std::string not_enough_text(const search::Outcome& outcome);

}  // namespace report
