// SPDX-License-Identifier: Apache-2.0
// Values of keys that are arguments of the framework below: "activation: swiglu" is --swiglu.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// A value of a key, in lower case, and the arguments that it means, between blanks: "--swiglu",
// "!--bf16" for one that is off, "--optimizer=adam".
struct ValueMeaning {
  std::string_view key, value, flags;
};

// Returns one such argument, with the place of the key; nothing if the table has none of that name.
std::optional<JobArgument> flag_of_text(const JobArgument& key, std::string_view flag,
                                        const ArgumentTable& table);

// Returns the arguments that the key's value means: nothing for a key without meanings; an empty
// list, and a complaint (unsupported), for a value without meaning.
std::optional<std::vector<JobArgument>> flags_of_value(const JobArgument& key,
                                                       std::span<const ValueMeaning> meanings,
                                                       const ArgumentTable& table,
                                                       Complaints& complaints);

}  // namespace scenarios
