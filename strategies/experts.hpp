// SPDX-License-Identifier: Apache-2.0
// Expert parallelism inside a layer: which token copies a rank's experts see, and what travels to
// bring them there and back.
#pragma once
#include <cstdint>

#include "plans/expert_loads.hpp"
#include "strategies/costs.hpp"
#include "strategies/passes.hpp"

namespace strategies {

// The loads of a rank's experts (plans/expert_loads.hpp).
ExpertLoads expert_loads(const Share& share);

// The token copies that the experts of a rank process. An expert-parallel group of e ranks with T
// rows each shares e·T·top_k copies out over its e ranks; each of the ranks that divide an expert
// sees the copies of all of them: expert_tensor · T · top_k · load. Dropped copies are not padded
// for.
std::int64_t routed_copies(const model::Moe& moe, const Plan& plan, std::int64_t rows, double load);

// Bytes of one value on its way to an expert. In fp8 with scales by blocks DeepEP and HybridEP send
// 8-bit values and an fp32 scale for 128 of them, activations forward and gradients backward, and
// 16 bit on the way back (DeepSeek-V3, arXiv 2412.19437, section 3.3.2), unless a product that
// reads them is in 16 bit. `wide`: all products of the layer are; `pass`: forward, or backward for
// gradients.
double dispatched_value_bytes(const Training& training, MoeDispatcher dispatcher, bool wide = false,
                              Pass pass = Pass::forward);

// Whether the dispatcher sends rows, not copies, as DeepEP and HybridEP do: no copies are made
// before they leave nor summed after they are back.
bool sends_rows(MoeDispatcher dispatcher);

// The exchanges of one layer with experts. T rows of h values, k experts per token, an
// expert-parallel group of e = N · local ranks on N nodes. Values that each rank sends to the
// others, dispatch and combine alike but for the bytes of a value:
//   all-to-all: every copy, T·k·h·(e − 1)/e;
//   all-gather: gathers all rows, T·h·(e − 1), and sums and scatters as many back;
//   DeepEP, HybridEP: a token once to each node that has experts of it, T·h·parts_hit(N)·(N − 1)/N
//     over the NICs, and once to each rank of the node that has them,
//     T·h·parts_hit(e)·(local − 1)/local over NVLink; both at once (plans/routing.hpp).
// expert_tensor ranks then gather all their copies, and sum and scatter the results; no other
// traffic is taken to slow these down.
// Copies count times the load of the fullest rank, for which all wait. Indices, weights and counts
// that travel along are left out. `wide`: of a layer whose linear layers stay in 16 bit.
ExpertExchanges expert_exchanges(const Share& share, const Costs& costs, bool wide = false);

// The bytes of gathered rows. The all-gather dispatcher holds the rows of all ranks that share the
// experts while it chooses their copies, and again while it sums the results. Other dispatchers
// hold none: the copies that arrive are kept.
units::Bytes gathered_rows(const Share& share);

// Whether the host waits for the counts of tokens. Without a capacity the buffers of dispatched
// tokens have the size of what really comes: the host must read it from the device before it can go
// on (Megatron-Core's token dispatcher: once per layer, forward only; the backward pass knows). A
// pass in a CUDA graph cannot wait, and products that are fused for all experts read the counts on
// the device.
bool host_waits_for_counts(const Share& share, bool wide = false);

}  // namespace strategies
