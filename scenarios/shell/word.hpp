// SPDX-License-Identifier: Apache-2.0
// A word as a shell would pass it to a program.
#pragma once
#include <string>

#include "scenarios/documents/error.hpp"

namespace scenarios {

// A word that only a shell could compute has no text, and `trouble` says why and what to write.
struct ShellWord {
  std::string text, trouble;
  Place at;
};

}  // namespace scenarios
