// SPDX-License-Identifier: Apache-2.0
// Context parallelism: every rank has a part of each sequence, equal in work under a causal mask,
// and what the attention core needs of the other parts travels between them.
#pragma once
#include <cstdint>
#include <optional>

#include "model/layer.hpp"
#include "strategies/costs.hpp"
#include "strategies/passes.hpp"

namespace strategies {

// The part of the attention core that a rank computes: `parts` ranks share this extent equally.
struct CoreShare {
  model::Extent extent;
  std::int64_t parts = 1;
};

// Ring and all-gather: the ranks divide the whole sequence of all local heads. Ulysses: each rank
// has the whole sequence of `context` times fewer heads; keys and values are repeated where there
// are too few.
CoreShare core_share_of(const Share& share);

// Whether a rank attends to one rank's keys after the other as PyTorch does it (context_parallel of
// torch.distributed.tensor.experimental).
bool is_blockwise(const Share& share);

// Exchanges round the attention cores of one layer, c ranks, s tokens, b sequences, local heads h
// and kv_heads of width d, 2 bytes (or the precision's, where that is more). Each rank sends
// (c − 1)/c of:
// ring: keys and values, 2·s·b·kv_heads·d·2, in c − 1 steps beside the core; backward twice that,
// for the gradients travel too (Liu et al. 2023, arXiv 2310.01889);
// all-gather: the same once forward, before the core, and twice backward: they are gathered again
// before it, not kept, and gradients reduced and scattered after it (Llama 3, arXiv 2407.21783,
// section 3.3.2; Transformer Engine);
// blockwise (PyTorch): keys and values travel as above, in an all-gather beside the rank's own part
// or in a ring; gradients of keys and values go to the next rank after each of c parts, c times
// 2·s/c·b·kv_heads·d·4, each but the last beside the part that follows;
// Ulysses: s/c·b·d·2 times the heads of queries, keys and values before the core and of the output
// after it; backward the same the other way round (Jacobs et al. 2023, arXiv 2309.14509).
ContextExchanges context_exchanges(const Share& share, const Costs& costs);

// The bytes of received keys and values that are held at once while a core runs; the backward pass
// holds as many bytes of their gradients. All-gather: the whole sequence. Ring: the part in use and
// the next one. Ulysses: none besides those that the core keeps. Blockwise parts hold fp32 sums of
// outputs and gradients instead, which count as the same bytes.
units::Bytes context_buffer(const Share& share);

}  // namespace strategies
