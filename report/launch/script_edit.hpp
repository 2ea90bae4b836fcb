// SPDX-License-Identifier: Apache-2.0
// Private to the room: arguments changed where they stand in a script.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/job_edit.hpp"

namespace report {

// Returns which of the places where a text has an argument's name is the argument that counts;
// nothing: none of them is an argument of the job. There is at least one place, in order.
using PlaceChoice = std::function<std::optional<std::size_t>(
    std::string_view text, std::string_view name, const std::vector<std::size_t>& places)>;

// Returns the last of the places.
std::optional<std::size_t> last_place(std::string_view text, std::string_view name,
                                      const std::vector<std::size_t>& places);

// How a value is quoted whose quotes the shell needs. Those inside of a quoted text are part of the
// value where that text becomes words, and needed where a shell reads it as a command again.
enum class InnerQuotes {
  none,    // inside of a quoted text there are none
  kept,    // there they are others than those around the text
  doubled  // so they are, and quotes outside of a text have others around them: "'value'"
};

// Returns the script with the edits made, as edited_json does for its format. The places are chosen
// in the text as it is given. Quotes inside of the text of `bash -c` are always kept, as others
// than those around it.
std::string edited_script(std::string_view text, const std::vector<JobEdit>& edits,
                          const PlaceChoice& chosen = last_place,
                          InnerQuotes quotes = InnerQuotes::none);

// Returns the value of an argument of a script as it is spelled there, without its quotes: "" for a
// switch, nothing if the script has no such argument.
std::optional<std::string> script_value(std::string_view text, std::string_view name);

// Returns the values that a text gives to a variable, "NAME=VALUE" of a script, or "NAME: VALUE" or
// "name: NAME" above "value: VALUE" of YAML, outside of comments, without their quotes, in order.
std::vector<TextRange> assignments_of(std::string_view text, std::string_view name);

}  // namespace report
