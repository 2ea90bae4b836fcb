// SPDX-License-Identifier: Apache-2.0
// How answers for people are written: how wide, in which characters, and beside which measurement.
#pragma once
#include <optional>
#include <string>

#include "units/quantity.hpp"

namespace report {

// What someone measured for the same step, and where it is printed.
struct Published {
  units::Seconds step_time;
  std::string source;
};

struct TextOptions {
  int width = 100;      // columns; taken as at least 60 and at most 200
  bool unicode = true;  // false: ASCII only
  bool colour = false;  // ANSI colours; nothing is said by colour alone
  std::optional<Published> published = std::nullopt;
};

}  // namespace report
