// SPDX-License-Identifier: Apache-2.0
#include "plans/holdings.hpp"

#include "plans/shard_groups.hpp"

namespace strategies {

Shards shards_of(const Plan& plan, const Placement& placement, const topology::Cluster& cluster) {
  if (plan.zero == 0) return {};
  const auto dense = static_cast<int>(ranks_of_shard_group(plan, placement, cluster));
  return {dense,
          placement.holds_apart() ? static_cast<int>(apart_ranks_of(placement, dense)) : dense};
}

Shards holders_of(const Plan& plan) {
  const auto count = [](std::int64_t dense, std::int64_t apart) {
    return Shards{static_cast<int>(dense), static_cast<int>(apart)};
  };
  if (!places_experts(plan)) return count(dense_sharers(plan), dense_sharers(plan));
  const Placement placement(plan);
  const auto dense = placement.sharers();
  return count(dense, placement.holds_apart() ? placement.apart_sharers() : dense);
}

bool sums_gradients(const Plan& plan) { return holders_of(plan).most() > 1; }

double not_whole(const Parameters& of, const Shards& shards, bool elsewhere) {
  return (elsewhere || shards.with_layer > 1 ? of.with_layer : 0) +
         (elsewhere || shards.apart > 1 ? of.apart : 0);
}

double owned_tensors(const Parameters& of, const Shards& shards) {
  return static_cast<double>(of.with_layer_tensors) / shards.with_layer +
         static_cast<double>(of.apart_tensors) / shards.apart;
}

double owned_parameters(const Parameters& of, const Shards& shards) {
  return of.with_layer / shards.with_layer + of.apart / shards.apart;
}

int communicators(const Placement& placement, bool holds_apart) {
  return (placement.tensor() > 1) + (placement.context() > 1) + (placement.sharers() > 1) +
         (placement.pipeline() > 1) + (placement.ranks() > 1) + (placement.expert() > 1) +
         (placement.regroups() ? 1 + (placement.expert_tensor() > 1) : 0) +
         (holds_apart && placement.apart_sharers() > 1);
}

bool embeds_and_predicts(const Layout& layout) {
  return layout.kind == Layout::Kind::mirrored ||
         place_of(0, layout).stage == place_of(layout.virtual_stages() - 1, layout).stage;
}

bool copies_embedding(const model::Transformer& model, const Layout& layout) {
  return (model.tied_embeddings || model.multi_token_prediction > 0) &&
         !embeds_and_predicts(layout);
}

Parameters beside_head(const model::Transformer& model, const Layout& layout, double words) {
  if (model.tied_embeddings) {
    if (embeds_and_predicts(layout)) return {.with_layer = -words, .with_layer_tensors = -1};
  } else if (copies_embedding(model, layout)) {
    return {.with_layer = words, .with_layer_tensors = 1};
  }
  return {};
}

double summed_words(const Plan& plan, const Shards& shards, double words) {
  return plan.zero >= 2 ? words / shards.with_layer : words;
}

}  // namespace strategies
