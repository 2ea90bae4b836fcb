// SPDX-License-Identifier: Apache-2.0
// How far a search is, for a caller.
#pragma once
#include "app/caller.hpp"
#include "search/question.hpp"

namespace app {

Headway headway_of(const search::Progress& progress);

}  // namespace app
