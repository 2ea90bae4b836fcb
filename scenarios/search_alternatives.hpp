// SPDX-License-Identifier: Apache-2.0
// Keys of `search` whose values make scenarios of their own, such as other precisions.
#pragma once
#include <vector>

#include "scenarios/documents/cursor.hpp"
#include "scenarios/keys.hpp"
#include "search/search.hpp"

namespace scenarios {

// The keys of `search` that list alternatives. Reading them only checks the values that are given.
Table<search::Question> alternative_keys();

// Returns the document once for every combination of the alternatives, each at the key that it
// stands for, with the first values first; the document itself if there are no alternatives.
// Complains of keys that are fixed already.
std::vector<Value> alternatives_of(const Value& document, Reading& reading);

}  // namespace scenarios
