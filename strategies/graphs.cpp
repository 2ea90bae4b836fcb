// SPDX-License-Identifier: Apache-2.0
#include "strategies/graphs.hpp"

#include <algorithm>

namespace strategies {
namespace {

using model::Role;

bool holds(GraphedPart part, const model::Operator& op, bool expert_layer) {
  switch (part) {
    case GraphedPart::attn:
      return op.part == model::Part::attention;
    case GraphedPart::moe_router:
      return expert_layer && (op.role == Role::mlp_norm || op.role == Role::router ||
                              op.module == model::Module::shared_experts);
    case GraphedPart::moe_preprocess:
      return expert_layer && op.role == Role::permute;
  }
  return false;
}

}  // namespace

Graph graph_of(const model::Operator& op, bool expert_layer, const Software& software) {
  if (software.cuda_graphs) return Graph::pass;
  for (const auto part : software.graphed_parts)
    if (holds(part, op, expert_layer))
      return part == GraphedPart::attn ? Graph::attention : Graph::experts;
  return Graph::none;
}

}  // namespace strategies
