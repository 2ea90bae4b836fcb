// SPDX-License-Identifier: Apache-2.0
// Private to the room: arguments that are words of a list, as objects of Kubernetes have them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/job_edit.hpp"

namespace report {

// Whether the text is such an object, whose containers start a command word by word.
bool has_listed_words(std::string_view text);

// Returns the text with the edits made in every container that starts this command, as edited_json
// does for its format. A new argument comes behind one that changes, or behind the last one.
std::string edited_words(std::string_view text, const std::vector<JobEdit>& edits);

// Returns the value of an argument, its words with blanks between them: "" for a switch, nothing if
// no word is the argument.
std::optional<std::string> listed_value(std::string_view text, std::string_view name);

// Returns a sentence if a change replaced a line of a text for a shell in one container, and
// another container has that line still; empty: none has.
std::string left_in_container(std::string_view before, std::string_view after);

}  // namespace report
