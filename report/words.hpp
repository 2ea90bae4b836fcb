// SPDX-License-Identifier: Apache-2.0
// Private to the room: the words of scenario files for the choices in a scenario, word(choice).
#pragma once
#include "plans/words.hpp"
#include "topology/words.hpp"

namespace report {

using strategies::word;  // of an order of ranks
using units::word;       // of all else

}  // namespace report
