// SPDX-License-Identifier: Apache-2.0
// Private to the room: where the training program stands in a command.
#pragma once
#include <span>
#include <string_view>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// A script of Python, or the last module of "-m"; as many as there are words: none.
std::size_t program_in(std::span<const ShellWord> words);

// Place of a program that starts its processes itself, followed by a verb ("swift sft"), before any
// script of Python; the number of words: none.
std::size_t own_program_in(std::span<const ShellWord> words);

}  // namespace scenarios
