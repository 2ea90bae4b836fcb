// SPDX-License-Identifier: Apache-2.0
// Turns a refusal of the simulation into a complaint with its place in the file.
#pragma once
#include <stdexcept>

#include "scenarios/documents/error.hpp"
#include "scenarios/placed.hpp"

namespace app {

// Answers a question that was read from `origin`. Turns std::invalid_argument of answer() into
// scenarios::Error with a place.
template <class Answer>
auto placing(const scenarios::Origin& origin, Answer answer) {
  try {
    return answer();
  } catch (const std::invalid_argument& refused) {
    throw scenarios::Error({scenarios::placed(refused, origin)});
  }
}

}  // namespace app
