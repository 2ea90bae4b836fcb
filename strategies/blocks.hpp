// SPDX-License-Identifier: Apache-2.0
// The model cut into the blocks of virtual stages.
#pragma once
#include <cstdint>
#include <vector>

#include "model/transformer.hpp"
#include "plans/plan.hpp"
#include "plans/recompute.hpp"
#include "strategies/passes.hpp"

namespace strategies {

// The activations that a choice drops of a layer. `layers` are the layers counted before it: those
// of its pipeline rank, or those of its virtual stage if every virtual stage has a choice of its
// own.
Drop drop_of(const Recompute& recompute, std::int64_t layers);

// Blocks of every virtual stage, in model order. `keep_sent` as the software's keep_sent_outputs.
std::vector<std::vector<Block>> blocks_of(const model::Transformer& model, const Training& training,
                                          const Plan& plan, bool keep_sent = false);

}  // namespace strategies
