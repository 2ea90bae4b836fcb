// SPDX-License-Identifier: Apache-2.0
// Style of answers for people: width, characters, and the measurement beside them.
#pragma once
#include <optional>
#include <string>

#include "units/quantity.hpp"

namespace report {

// A published measurement of the same step, and its source.
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
