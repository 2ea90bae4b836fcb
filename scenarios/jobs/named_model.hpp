// SPDX-License-Identifier: Apache-2.0
// Models that jobs name as huggingface.co does.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Returns the sizes of the model of that name, "ORGANISATION/NAME" or a path that ends with NAME;
// null if they are not known. Endings that do not change sizes, such as -Instruct, are ignored.
const Value* named_model(const std::string& name);

// Whether a part of the model's name says that it sees or hears.
bool names_senses(const std::string& name);

// Sets the name of the model that the argument names and returns its sizes; or asks for it, and
// returns null.
const Value* name_model(Draft& draft, const Given& given, std::string_view argument);
// Sets the model that the argument names, or asks for it.
void set_named_model(Draft& draft, const Given& given, std::string_view argument);

// If the whole model is known or wanted, removes its sizes from the list of wanted keys.
void settle_named_model(JobScenario& scenario);

}  // namespace scenarios
