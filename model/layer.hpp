// SPDX-License-Identifier: Apache-2.0
// One transformer as operators: what each computes, moves and keeps, whatever runs it.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/kernels.hpp"
#include "model/module.hpp"
#include "model/transformer.hpp"
#include "units/kernel.hpp"

namespace model {

// The part of the mathematics that one device computes; without division, all of the transformer's.
struct Extent {
  std::int64_t batch = 1;                                    // sequences
  std::int64_t sequence = 0;                                 // tokens of each
  std::int64_t heads = 0, kv_heads = 0, ffn = 0, vocab = 0;  // its share of each width
  std::int64_t rows = 0;  // tokens that norms, dropouts, residuals and the router see here
  // For a layer with experts: the number of experts here and their width, the width of all shared
  // experts together, and the token copies that the experts here process. The caller balances these
  // over the ranks: mean × imbalance, or what capacity_factor leaves of it.
  std::int64_t experts = 0, expert_ffn = 0, shared_ffn = 0, routed = 0;
  std::int64_t tokens() const { return batch * sequence; }
};

// The heads of keys and values that the attention core reads on a device with this extent.
constexpr std::int64_t core_kv_heads(const Extent& extent, const Kernels& kernels) {
  return kernels.repeats_kv ? extent.heads : extent.kv_heads;
}

// Extent of the undivided transformer, its vocabulary as given; every token's copies are routed.
Extent whole(const Transformer& transformer, std::int64_t batch, std::int64_t sequence);

// The places at which the operators of a divided layer meet: before `enter` the rows must be
// complete on every part; after `leave` each part holds a partial sum of the complete rows. After
// `dispatch` the token copies travel to the ranks that hold their experts, after `combine` their
// results travel back.
enum class Seam { none, enter, leave, dispatch, combine };

enum class Part { embedding, attention, mlp, head };

// The MLP of a layer.
enum class Mlp { dense, experts };

// A tensor kept from the forward to the backward pass.
struct Kept {
  std::string_view name;
  units::Bytes size;
  bool layer_input = false;  // survives full recomputation
  bool core = false;         // dropped by selective recomputation (the attention core's insides)
  Module module = Module::other;  // recomputing it makes the tensor again, so that it is not kept
  // Bytes of one value if the tensor may be kept in 8 bit: an input of linear layers and
  // activations, or the output of attention; 0: it stays as it is.
  double value_bytes = 0;
  bool attention = false;  // the attention core's output, as the core wrote it
};

// The role of an operator, if somebody must know it: its name is for people, and decides nothing.
enum class Role : std::uint8_t { other, mlp_norm, router, permute, lm_head, cross_entropy };

struct Operator {
  std::string_view name;
  Role role = Role::other;
  Part part = Part::attention;
  Seam seam = Seam::none;
  bool core = false;  // belongs to the attention core
  Module module = Module::other;
  bool expert = false;  // its parameters are those of the routed experts that are here
  std::vector<units::Kernel> forward, input_gradient, weight_gradient;
  std::vector<Kept> kept;
  // Shares of its output that frameworks without joined projections make by a product each; empty:
  // one product makes all.
  std::vector<double> products;
  units::Bytes largest;  // largest tensor that it makes and that is alive only while it runs
  units::Bytes read;     // beside it, a tensor that is there before and goes when it has run
  // The tensors that are alive beside kept ones while its gradients are computed, at most three.
  // None listed: the gradients of its input and of its output, each as large as `largest`.
  std::vector<units::Bytes> gradients;
  double parameters = 0;  // held by this part
  // Bytes of the complete rows that meet at `enter` or `leave`: tokens × width (a latent
  // projection's are narrow), in the element of the activations.
  units::Bytes exchanged;
};

using Operators = std::vector<Operator>;

// Operators in order of execution. `precision` is that of the matrix products; element-wise tensors
// are stored in it too. In fp8 and below only the products of linear layers and what these keep of
// their inputs are narrow (`model/narrow.hpp`); attention's core, router and head are 16 bit.
// `window` limits attention to that many tokens back (0 = all). Costs follow Korthikanti et al.
// 2022 for what is kept; see docs/model/activations.md. A layer with experts: norm, shared experts,
// router, permutation, experts, weighted sum, residual; divided, it needs sequence parallelism:
// each rank routes rows of its own.
Operators layer(const Transformer&, const Extent&, const Kernels&, units::Precision,
                std::int64_t window = 0, Mlp mlp = Mlp::dense);
Operators embedding(const Transformer&, const Extent&, const Kernels&, units::Precision);
// The parts of the tokens over which head and loss run (Kernels::loss_chunks): `count` of `tokens`
// each, the last perhaps smaller.
struct LossParts {
  std::int64_t tokens = 0, count = 1;
};
LossParts loss_parts(const Transformer&, const Extent&, const Kernels&);
// Final norm, LM head and cross entropy.
Operators head(const Transformer&, const Extent&, const Kernels&, units::Precision);
// One module that predicts a token further: embedding look-up, two norms, the projection of both to
// one, a layer like the last, and the head. Weights of embedding and LM head are not counted: they
// are the model's own (a pipeline's last stage must hold a copy of the embedding).
Operators prediction(const Transformer&, const Extent&, const Kernels&, units::Precision);

// The tensors alive only while this operator's gradients are computed.
std::vector<units::Bytes> gradient_tensors(const Operator&);
// Bytes kept by these operators from forward to backward.
units::Bytes kept_bytes(const Operators&);
double parameters(const Operators&);
// The number of an operator's weights that its product reads as 8- or 4-bit copies.
double narrow_weights(const Operator&);

// Whether some layer of the model has linear layers of this part.
bool has_part(const Transformer&, LinearPart);

// Flops of one layer's forward pass over one sequence: every matrix product, the router's included,
// top_k experts per token and all shared ones, and attention over sequence × reach:
// 2·s·reach·heads·(d_qk + d_v).
units::Flops layer_flops(const Transformer&, std::int64_t sequence, std::int64_t layer);

// Flops of one step of `sequences` sequences: forward and backward passes of every matrix product,
// LM head included, and of attention over the full score matrix, recomputation and embedding
// look-up excluded. A GPT: 72·B·s·L·h²·(1 + s/(6h) + V/(12hL)). A windowed layer counts sequence ×
// window. A prediction module counts its projection of 2h to h, its layer and its use of the LM
// head.
units::Flops model_flops(const Transformer&, double sequences, std::int64_t sequence);

// The part of it that routed experts compute.
units::Flops routed_flops(const Transformer&, double sequences, std::int64_t sequence);

}  // namespace model
