// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts of the report on a search.
#pragma once
#include <string>
#include <vector>

#include "report/document.hpp"
#include "report/style.hpp"
#include "search/objectives.hpp"
#include "search/why.hpp"

namespace report {

// {"next best", "plan 2 is 14.0 ms slower: compute +20.1 ms"}
struct WhyEntry {
  std::string name, words;
};

// Returns the resource that bounds the best plan, and the changes that would make it faster. The
// answer must have a plan.
std::vector<WhyEntry> why_entries(const search::Question& question, const search::Answer& answer,
                                  const search::Why& why);
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
