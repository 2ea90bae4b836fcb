// SPDX-License-Identifier: Apache-2.0
// Steps that are well described and yet not simulated: they are too large or too long.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace strategies {

// what() says why, and what to write instead. `keys` are paths of a scenario ("plan.schedule"),
// what has most to do with it first: whoever knows the file can say where that stands.
struct Refusal : std::invalid_argument {
  Refusal(std::vector<std::string> responsible, const std::string& why)
      : std::invalid_argument(why), keys(std::move(responsible)) {}
  std::vector<std::string> keys;  // never empty
};

}  // namespace strategies
