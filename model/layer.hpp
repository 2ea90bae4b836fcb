// SPDX-License-Identifier: Apache-2.0
// One transformer as operators: what each computes, moves and keeps, whatever runs it.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/kernels.hpp"
#include "model/transformer.hpp"
#include "units/kernel.hpp"

namespace model {

// The part of the mathematics that one device computes. Whole: everything the transformer has.
struct Extent {
  std::int64_t batch = 1;                                    // sequences
  std::int64_t sequence = 0;                                 // tokens of each
  std::int64_t heads = 0, kv_heads = 0, ffn = 0, vocab = 0;  // its share of each width
  std::int64_t rows = 0;  // tokens that norms, dropouts and residuals see here
  std::int64_t tokens() const { return batch * sequence; }
};

// Extent of the undivided transformer, its vocabulary as given.
Extent whole(const Transformer& transformer, std::int64_t batch, std::int64_t sequence);

// Where the operators of a divided layer meet: before `enter` the rows must be complete on every
// part; after `leave` each part holds a partial sum of the complete rows.
enum class Seam { none, enter, leave };

enum class Part { embedding, attention, mlp, head };

// A tensor kept from the forward to the backward pass.
struct Kept {
  std::string_view name;
  units::Bytes size;
  bool layer_input = false;  // survives full recomputation
  bool core = false;         // dropped by selective recomputation (the attention core's insides)
};

struct Operator {
  std::string_view name;
  Part part = Part::attention;
  Seam seam = Seam::none;
  bool core = false;  // belongs to the attention core
  std::vector<units::Kernel> forward, input_gradient, weight_gradient;
  std::vector<Kept> kept;
  units::Bytes largest;   // largest tensor alive only while it runs
  double parameters = 0;  // held by this part
};

using Operators = std::vector<Operator>;

// Operators in order of execution. `precision` is that of the matrix products; element-wise tensors
// are stored in it too (fp8 and below: 16 bit). `window` limits attention to that many tokens back
// (0 = all). Costs follow Korthikanti et al. 2022 for what is kept; see docs/cost-model.md.
Operators layer(const Transformer&, const Extent&, const Kernels&, units::Precision,
                std::int64_t window = 0);
Operators embedding(const Transformer&, const Extent&, const Kernels&, units::Precision);
// Final norm, LM head and cross entropy.
Operators head(const Transformer&, const Extent&, const Kernels&, units::Precision);

// Bytes kept by these operators from forward to backward.
units::Bytes kept_bytes(const Operators&);
double parameters(const Operators&);

// Forward and backward of every matrix product and of attention over the full score matrix, LM head
// included, recomputation and embedding look-up excluded, for one step of `sequences` sequences.
// A GPT: 72·B·s·L·h²·(1 + s/(6h) + V/(12hL)). A windowed layer counts sequence × window.
units::Flops model_flops(const Transformer&, double sequences, std::int64_t sequence);

}  // namespace model
