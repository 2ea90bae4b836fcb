// SPDX-License-Identifier: Apache-2.0
// Plans that people can configure: frameworks take one list of modules to recompute, or a number of
// whole layers of each pipeline rank, and cut layers into alike chunks.
#pragma once
#include <vector>

#include "search/question.hpp"

namespace search {

// Whether layers are cut as Megatron-Core and others cut them: all virtual stages hold equally
// many, except the first and the last. With one chunk these may hold any number; with several, one
// less than the rest, or all chunks of the first or the last rank another number.
bool has_plain_cut(const strategies::Plan& plan, std::int64_t layers);

// Whether all layers recompute the same, or equally many whole layers of each rank are recomputed.
bool has_plain_recomputation(const strategies::Plan& plan);

// A plan of these degrees with a plain cut and plain recomputation, simulated; it fits.
struct Configurable {
  Ranked ranked;
  units::Seconds finer;  // the step of the best plan that the search found for these degrees
};

// The plain plans that come from an answer's plans, the fastest first, each once. A plan that is
// plain already stays. For the degrees of another plan it tries: nothing recomputed, each of the
// ways of its layers in all of them, all these modules together, and the fewest whole layers that
// fit. Degrees with which nothing fits are left out. A plain plan that is faster than the answer's
// of its degrees, as there may be where the search ended early, takes that one's place in the
// answer. A dozen simulations a plan; of the options it takes for_each.
std::vector<Configurable> configurable_plans(const Question& question, Answer& answer,
                                             const Options& options = {});

}  // namespace search
