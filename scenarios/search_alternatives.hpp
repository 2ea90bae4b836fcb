// SPDX-License-Identifier: Apache-2.0
// Keys of `search` whose values are scenarios of their own: other precisions, say.
#pragma once
#include <vector>

#include "scenarios/documents/cursor.hpp"
#include "scenarios/keys.hpp"
#include "search/search.hpp"

namespace scenarios {

// Keys of `search` that list alternatives. They only judge keys that are given.
Table<search::Question> alternative_keys();

// The document with every combination of their values in the place that they stand for, the first
// values first; the document itself where there is none. Complains of values that are fixed there
// already.
std::vector<Value> alternatives_of(const Value& document, Reading& reading);

}  // namespace scenarios
