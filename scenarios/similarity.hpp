// SPDX-License-Identifier: Apache-2.0
// The table of similarity that `validate corrections --likeness` writes.
#pragma once
#include <string>
#include <string_view>

#include "forecast/accuracy/similarity.hpp"

namespace scenarios {

// Throws Error with the place of every mistake; `file` names the text in it.
forecast::Similarity read_similarity(std::string_view text, const std::string& file);

// Returns the table carried inside the program; the usual similarity if it carries none.
forecast::Similarity catalog_similarity();

}  // namespace scenarios
