// SPDX-License-Identifier: Apache-2.0
// The best plans of a space, and what is proved about them.
#pragma once
#include <cstddef>

#include "search/question.hpp"

namespace search {

// The question of one alternative alone.
Question only_alternative(const Question& question, std::size_t alternative);

// Sets gap and optimal to what the bound proves about the fastest plan; sets nothing if there is no
// plan.
void prove(Answer& answer);

// The fastest plans, whatever the objective; of all alternatives.
Answer search(const Question& question, const Options& options = {});

}  // namespace search
