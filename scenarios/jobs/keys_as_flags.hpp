// SPDX-License-Identifier: Apache-2.0
// Keys of a configuration as arguments of the framework that it drives.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Returns true for "true", "yes" and "on" in any case, false for "false", "no" and "off", nothing
// for another text.
std::optional<bool> yes_or_no(const std::string& text);

// Returns the key as the argument `flag`: a switch is given or off, null leaves an argument at its
// default, several values of an argument that takes one become a list in brackets.
JobArgument as_flag(const JobArgument& key, const KnownArgument& flag, bool opposite = false);

// Returns the key as the argument `flag`, with this value in place of its own.
JobArgument as_flag(const JobArgument& key, const KnownArgument& flag, const std::string& value);

// Returns the keys, with those that the table calls another name of an argument below it as that
// argument; with `all_dests` also those that the table does not have and the table below knows by
// their last part.
std::vector<JobArgument> keys_as_flags(const std::vector<JobArgument>& keys,
                                       const ArgumentTable& table, bool all_dests = false);

}  // namespace scenarios
