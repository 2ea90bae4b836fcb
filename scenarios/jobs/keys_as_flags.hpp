// SPDX-License-Identifier: Apache-2.0
// Keys of a configuration as arguments of the framework that it drives.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// true, yes or on, however written; false, no or off; nothing for another text.
std::optional<bool> yes_or_no(const std::string& text);

// The key as the argument of that name: a switch is there or off, null leaves an argument at its
// default, several values of an argument that takes one become a list in brackets.
JobArgument as_flag(const JobArgument& key, const KnownArgument& flag, bool opposite = false);

// The key as the argument of that name, with this value in place of its own.
JobArgument as_flag(const JobArgument& key, const KnownArgument& flag, const std::string& value);

// Keys that the table calls another name of an argument below it become that argument; with
// `all_dests` also those that it does not have and the table below knows by their last part.
std::vector<JobArgument> keys_as_flags(const std::vector<JobArgument>& keys,
                                       const ArgumentTable& table, bool all_dests = false);

}  // namespace scenarios
