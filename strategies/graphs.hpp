// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: kernels that were captured together are launched together.
#pragma once
#include <cstdint>

#include "model/layer.hpp"
#include "plans/software.hpp"

namespace strategies {

// The CUDA graph into which an operator's kernels are captured: one of all of the pass (or of each
// segment of it where data parallelism gathers and reduces in between), the attention half of a
// layer, or what a layer does before its tokens leave for their experts. Kernels of one graph that
// follow each other cost the host one launch, with the communication between them: NCCL's kernels
// are captured like others (NCCL 2.9). A wait of the host cannot be: what follows it is another
// launch.
enum class Graph : std::uint8_t { none, pass, attention, experts };

// Megatron-Core's --cuda-graph-scope: attn is all of the attention half; moe_router the norm, the
// shared experts and the router of an expert layer; moe_preprocess the permutation of its tokens.
Graph graph_of(const model::Operator& op, bool expert_layer, const Software& software);

// Share of the gap before a kernel that a graph saves: launched one by one, kernels of 2.9 µs take
// 3.8 µs each, in a graph 3.4 µs (Gray 2019, "Getting started with CUDA graphs", NVIDIA).
inline constexpr double gap_saved_by_graph = 0.45;

}  // namespace strategies
