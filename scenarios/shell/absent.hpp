// SPDX-License-Identifier: Apache-2.0
// Values that rest on an argument which the script is not given. The script takes them as empty;
// the program that it starts is given none of them.
#pragma once
#include <string>
#include <string_view>

#include "scenarios/shell/word.hpp"

namespace scenarios {

// The reason why the value of an argument is not known, which the script writes as `shown`.
std::string absent_argument(std::string_view shown);
// The reason of a variable that gets a value only where an argument is given; `why` is that of the
// argument.
std::string left_empty_by(const std::string& name, const Place& at, const std::string& why);

// Whether the reason is one of the two above, whatever stands around it: without the argument the
// text is empty.
bool is_absent(std::string_view why);
// Whether the reason is one of left_empty_by().
bool is_left_empty(std::string_view why);
// The reason of a value that is made of one with this reason, and is not empty without it.
std::string reason_of_made(std::string why);

// Whether there is no text without the arguments that are not given.
bool is_blank_word(const ShellWord& word);
// Whether the reason `why` says more than `before`, why the same word is not known.
bool outweighs(std::string_view why, std::string_view before);

}  // namespace scenarios
