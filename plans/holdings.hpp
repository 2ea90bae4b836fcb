// SPDX-License-Identifier: Apache-2.0
// The parameters that a rank holds, and the number of ranks that share them.
#pragma once
#include <cstdint>

#include "model/transformer.hpp"
#include "plans/placement.hpp"
#include "plans/plan.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "topology/cluster.hpp"

namespace strategies {

// Two groups of ranks hold the same parameters, sum their gradients and share their states: those
// of the layers as the plan divides them, and those of what is held apart. Apart are routed experts
// that are spread over ranks or divided otherwise than layers are, and layers that are regrouped.
enum class Held { with_layer, apart };

// Parameters that one such group shares, and the tensors that hold them.
struct Shared {
  double parameters = 0;
  std::int64_t tensors = 0;
  friend auto operator<=>(const Shared&, const Shared&) = default;
};

// Parameters of one rank, by the group that shares them.
struct Parameters {
  double with_layer = 0, apart = 0;
  std::int64_t with_layer_tensors = 0, apart_tensors = 0;
  double all() const { return with_layer + apart; }
  Shared of(Held held) const {
    return held == Held::with_layer ? Shared{with_layer, with_layer_tensors}
                                    : Shared{apart, apart_tensors};
  }
  // The same parameters where one group shares both kinds.
  Parameters together() const {
    return {.with_layer = all(), .with_layer_tensors = with_layer_tensors + apart_tensors};
  }
  void add(Held held, double parameters, std::int64_t tensors) {
    (held == Held::with_layer ? with_layer : apart) += parameters;
    (held == Held::with_layer ? with_layer_tensors : apart_tensors) += tensors;
  }
  Parameters& operator+=(const Parameters& other) {
    with_layer += other.with_layer;
    apart += other.apart;
    with_layer_tensors += other.with_layer_tensors;
    apart_tensors += other.apart_tensors;
    return *this;
  }
};

// The number of ranks over which ZeRO divides the states of either kind: 1 without ZeRO.
struct Shards {
  int with_layer = 1, apart = 1;
  int most() const { return with_layer > apart ? with_layer : apart; }
  friend bool operator==(const Shards&, const Shards&) = default;
};
// O(1), but where shard_group is node and replicas do not fill whole nodes: O(sharers).
Shards shards_of(const Plan& plan, const Placement& placement, const topology::Cluster& cluster);

// The number of ranks that hold the same parameters of either kind and sum their gradients. Experts
// that do not fit the ranks of the plan count as spread over none.
Shards holders_of(const Plan& plan);
// Whether any ranks sum gradients: those of replicas, of parts of a sequence, of copies of a
// mirrored pipeline, of the holders of an expert or of a regrouped layer. Otherwise nothing is
// reduced, and every stage of ZeRO is the same.
bool sums_gradients(const Plan& plan);

// The number of these parameters that a rank holds only in part or keeps `elsewhere`.
double not_whole(const Parameters& of, const Shards& shards, bool elsewhere);

// Parameters whose states one rank keeps.
double owned_parameters(const Parameters& of, const Shards& shards);
// The number of tensors whose states one rank keeps, where every rank keeps as many.
double owned_tensors(const Parameters& of, const Shards& shards);

// Groups of more than one rank that a rank belongs to, the job included: each has a communicator.
// `holds_apart`: the rank's stage holds parameters apart.
int communicators(const Placement& placement, bool holds_apart);

// Whether the first and the last virtual stage sit on one device.
bool embeds_and_predicts(const Layout& layout);
// Whether the last stage holds a copy of the embedding, as its head or for its prediction modules,
// so that the first and the last stage sum its gradients.
bool copies_embedding(const model::Transformer& model, const Layout& layout);
// The parameters that the head's device holds besides the head's own: a copy of the embedding's
// `words`, or fewer if the head is the embedding, which the device has anyway.
Parameters beside_head(const model::Transformer& model, const Layout& layout, double words);
// The number of those `words` whose gradients each rank of the two copies sums: from ZeRO-2 on,
// those that the reduction left to it.
double summed_words(const Plan& plan, const Shards& shards, double words);

}  // namespace strategies
