// SPDX-License-Identifier: Apache-2.0
// Fused attention round a ring of c ranks: one block of keys at a time.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "strategies/passes.hpp"
#include "units/kernel.hpp"

namespace strategies {

// Kernels of one rank: on its own keys, and on those of each other rank. The last of these may not
// begin before the last keys are there.
struct Rounds {
  units::Kernel own;
  std::vector<units::Kernel> each;
  std::int64_t others = 0;
};

// The kernel is that of the whole sequence of s tokens; `forward` tells its pass. Each rank has two
// chunks of s/2c tokens, one from each end, so that every round is equal work (zigzag): first the
// rank's own keys, causal, s/c queries; then c − 1 times half of another rank's, unmasked, s/c
// queries and s/2c keys. Without a mask c rounds of s/c by s/c. After each round but the first the
// results are merged in fp32, 10 bytes a value (4 read, 2 read, 4 written): outputs forward;
// gradients of queries and of the round's keys and values backward (zhuzilin/ring-flash-attention).
// PyTorch merges operation by operation where nothing compiles them: 38 bytes a value of the
// outputs, and 8 more for all gradients of keys and values, which are joined to be sent.
// Returns nothing for attention that is not fused, or looks at a window of the sequence only.
std::optional<Rounds> rounds_of(const units::Kernel& kernel, bool forward, const Share& share);

}  // namespace strategies
