// SPDX-License-Identifier: Apache-2.0
// The costs of a plan's layers, in every way to run them.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "forecast/scenario.hpp"
#include "strategies/least_costs.hpp"

namespace search {

// Ways to run a layer, the first of them without recomputation.
std::vector<strategies::Recompute> ways_of(const model::Transformer& model);

// A way to run a layer: its recomputation, and whether it is regrouped (Plan::layer_tensor).
struct LayerVariant {
  strategies::Recompute recompute;
  bool regrouped = false;
  friend bool operator==(const LayerVariant&, const LayerVariant&) = default;
};

// The costs of a plan's layers as every variant. They are the same for all plans that agree in the
// degrees that divide a layer, in microbatch and software. O(variants · operators)
struct LayerPrices {
  std::vector<LayerVariant> variants;  // those that regroup come last
  bool rows = false;                   // some variant, of these or of those left out, runs in rows
  std::vector<std::size_t> elements;   // embedding, layers, head, prediction modules: kinds
  struct Kind {
    std::size_t first = 0;  // element of the kind
    double count = 0;
    bool layer = false;
  };
  std::vector<Kind> kinds;
  std::vector<std::vector<strategies::BlockLeastCosts>> least_costs;  // by kind and variant
  std::vector<std::optional<strategies::BlockLeastCosts>> regrouped;  // by kind: the last way
  strategies::LeastTime forward, backward, backward_input, backward_weight;  // of all, fastest way
  // Parameters of all blocks, and the most of one block, dense ones and experts apart, over all
  // variants.
  strategies::Parameters whole, largest;
  strategies::Parameters least;  // parameters of the layer that has fewest
  double words = 0;              // parameters of the embedding of words, on one rank
};
// Least costs of blocks without experts: how experts are divided does not matter to them.
using Dense = std::vector<std::pair<strategies::Block, strategies::BlockLeastCosts>>;
// `ways`: if the plan has a layer_tensor, each also regrouped, without the exchanges before and
// after it. `sensitivities`: with these or without (strategies::LeastCosts). `dense`: looked up and
// added to; of the same plan but for its experts, on ranks whose tensor- and context-parallel
// groups lie the same.
LayerPrices layer_prices(const forecast::Scenario& scenario, const strategies::Plan& plan,
                         const std::vector<strategies::Recompute>& ways,
                         const std::vector<strategies::RankKind>& ranks,
                         const strategies::Costs& costs, bool sensitivities = true,
                         Dense* dense = nullptr);
LayerPrices layer_prices(const forecast::Scenario& scenario, const strategies::Plan& plan,
                         const std::vector<strategies::Recompute>& ways,
                         const strategies::Costs& costs);

// The plan with all of the model on one stage of ranks that lie as close together as any pipeline
// and replicas let them, nothing recomputed.
strategies::Plan on_one_stage(const forecast::Scenario& scenario, const strategies::Plan& plan);
// The kinds of these ranks, and of those of stages that lie otherwise. O(layers · ranks looked at)
std::vector<strategies::RankKind> ranks_of(const forecast::Scenario& scenario,
                                           const strategies::Plan& plan);

// Leaves one way that takes no longer than any, part by part. Mostly that is to recompute nothing;
// but dropped tensors need not be compressed or copied to the host either.
void keep_fastest_way(LayerPrices& prices);

// Leaves one way that neither takes longer nor keeps more than any, part by part.
void keep_least_way(LayerPrices& prices);

}  // namespace search
