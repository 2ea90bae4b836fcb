// SPDX-License-Identifier: Apache-2.0
// Constants that define a model and that no forecast depends on, as flags of Megatron-LM.
#include "report/launch/launch_constants.hpp"
#include "report/launch/launch_megatron.hpp"

namespace report::megatron {
namespace {

using Scaling = ModelConstants::Scaling;

void write_rotation(const ModelConstants& known, bool latent, Flags& flags, Sentences& undecided) {
  flags.add("--rotary-base", known.rotary_base);
  if (known.rotary_share < 1) flags.add("--rotary-percent", known.rotary_share);
  if (known.scaling == Scaling::llama3)
    flags.add("--use-rope-scaling").add("--rope-scaling-factor", known.scaling_factor);
  if (known.scaling == Scaling::yarn && latent)
    flags.add("--rope-type", "yarn")
        .add("--rotary-scaling-factor", known.scaling_factor)
        .add("--mscale", known.mscale)
        .add("--mscale-all-dim", known.mscale);
  if (known.scaling == Scaling::yarn && !latent)
    undecided.push_back(
        fmt::format("YaRN's scaling of rotary positions by {} from {} tokens: Megatron-LM has a "
                    "flag for its factor with latent attention only; none is written",
                    known.scaling_factor, known.original_length));
}

// Groups are written with the experts (launch_megatron_model.cpp).
void write_routing(const ModelConstants& known, const strategies::Routing& routing, Flags& flags,
                   Sentences& undecided) {
  if (known.groups > 1 && routing.locality != strategies::Locality::group_limited)
    undecided.push_back(fmt::format(
        "groups of experts: the model's {} are written, of which a token chooses {}; the forecast "
        "has none (training.routing: {{locality: group_limited, groups: {}, top_groups: {}}})",
        known.groups, known.chosen_groups, known.groups, known.chosen_groups));
  if (known.routed_scale != 1) flags.add("--moe-router-topk-scaling-factor", known.routed_scale);
  flags.when(known.scores_all, "--moe-router-pre-softmax");
}

void leave_open(const model::Transformer& m, Sentences& undecided) {
  undecided.push_back("epsilon of norms: Megatron-LM's 1e-5 holds (--norm-epsilon)");
  if (m.position == model::Position::rope)
    undecided.push_back(
        "base and scaling of rotary positions: Megatron-LM's 10000 and none hold (--rotary-base, "
        "--use-rope-scaling)");
  if (m.moe)
    undecided.push_back(
        "groups of experts and scale of what they add: Megatron-LM's none and 1 hold "
        "(--moe-router-num-groups, --moe-router-group-topk, --moe-router-topk-scaling-factor)");
}

}  // namespace

void write_constants(const model::Transformer& m, const strategies::Routing& routing, Flags& flags,
                     Sentences& undecided) {
  if (m.moe && !m.moe->router_bias)
    undecided.push_back(
        "loss that balances experts: none is written (--moe-router-load-balancing-type, "
        "--moe-aux-loss-coeff)");
  const auto* known = constants_of(m);
  if (known == nullptr) {
    leave_open(m, undecided);
    return;
  }
  flags.add("--norm-epsilon", known->norm_epsilon);
  if (m.position == model::Position::rope && known->rotary_base > 0)
    write_rotation(*known, m.latent.has_value(), flags, undecided);
  if (m.moe) write_routing(*known, routing, flags, undecided);
}

}  // namespace report::megatron
