// SPDX-License-Identifier: Apache-2.0
// A scenario from a document that is parsed already.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "forecast/scenario.hpp"
#include "scenarios/documents/cursor.hpp"
#include "scenarios/tables.hpp"
#include "search/search.hpp"

namespace scenarios {

// Applies "path.to.key=value" to the document; N in complaints counts from `first`. Maps are made
// as needed, and a catalog name on the way becomes {base: name}.
void apply_sets(Value& document, std::span<const std::string> sets, Reading& reading,
                int first = 1);
// Applies a value that is parsed already; complaints point at it. `null` removes the key.
void set_value(Value& document, const std::string& path, Value value, Reading& reading);
// "plan.tensor": plan, tensor.
std::vector<std::string> keys_of(const std::string& path);

// Reads all sections, each for itself; keys of the plan that are left out keep their defaults.
search::Question read_sections(const Value& document, Reading& reading);

// Reads and checks the scenario; complaints stay in the reading, and the result only means
// something while it is clean.
forecast::Scenario read_document(const Value& document, Reading& reading);

// Removes from a plan the keys that a search chooses.
void open_plan(Value& document);

// Reads and checks a scenario whose plan is left open (search_file.hpp), with complaints in the
// reading.
search::Question read_question(const Value& document, Reading& reading);

}  // namespace scenarios
