// SPDX-License-Identifier: Apache-2.0
// The file of a search: a scenario whose plan is left open.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/placed.hpp"
#include "scenarios/published.hpp"
#include "search/search.hpp"

namespace scenarios {

// Reads a scenario as a question: keys of `plan` that are given are fixed, those of `search` limit
// the others, all else is searched. Text, sets, base and Error are as in read_scenario(). Only
// given keys are judged; the search finds out if no plan is left to choose from.
search::Question read_question(std::string_view text, const std::string& file_name,
                               std::span<const std::string> sets = {},
                               const std::filesystem::path& base = {});

// Reads a question from a file; its paths start from the file's folder.
search::Question load_question(const std::filesystem::path& file,
                               std::span<const std::string> sets = {});

// Reads a file or a text in the same way, with the places of its keys, for refusals of the
// simulation, and the files that were read. A job of a training framework is read as its scenario;
// its plan keeps only the keys that no search varies (docs/jobs.md).
Placed<search::Question> load_placed_question(const Source& source,
                                              std::span<const std::string> sets = {},
                                              const JobHints& hints = {});

// Returns a published run as a question: its plan keeps only the keys that no search varies. Errors
// as above.
search::Question reopened(const PublishedRow& row, std::span<const std::string> sets = {});

}  // namespace scenarios
