// SPDX-License-Identifier: Apache-2.0
// A lower bound on the size of clusters that can train a model.
#pragma once
#include <cstdint>

#include "search/question.hpp"

namespace search {

// Returns a number of GPUs, each with `room` for tensors, that every plan of the question needs at
// least: the weights, gradients and optimizer states of the whole model, each kept once, fill so
// many. The least of all alternatives; states that are offloaded count nowhere.
std::int64_t least_gpus(const Question& question, units::Bytes room);

}  // namespace search
