// SPDX-License-Identifier: Apache-2.0
// The table of likeness that `validate corrections --likeness` writes.
#pragma once
#include <string>
#include <string_view>

#include "forecast/accuracy/likeness.hpp"

namespace scenarios {

// Throws Error with the place of every mistake; `file` names the text in it.
forecast::Likeness read_likeness(std::string_view text, const std::string& file);

// The table carried inside the program; the usual likeness if it carries none.
forecast::Likeness catalog_likeness();

}  // namespace scenarios
