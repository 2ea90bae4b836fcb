// SPDX-License-Identifier: Apache-2.0
// The place of the training program in a command.
#pragma once
#include <span>
#include <string_view>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Returns the index of a script of Python, or of the last module of "-m"; the number of words:
// none.
std::size_t program_in(std::span<const ShellWord> words);

// Returns the index of a program that starts its processes itself, followed by a verb ("swift
// sft"), before any script of Python; the number of words: none.
std::size_t own_program_in(std::span<const ShellWord> words);

// Returns the variables that the script of torchtitan or Primus reads which the words start:
// run_train.sh, examples/run_pretrain.sh and its like (from memory); none: they start another
// program.
std::span<const std::string_view> variables_of_script(std::span<const ShellWord> words);

}  // namespace scenarios
