// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/casting.hpp"

#include <algorithm>

#include "plans/memory.hpp"
#include "strategies/lowering/cells.hpp"
#include "strategies/lowering/groups.hpp"
#include "strategies/lowering/sharding.hpp"

namespace strategies {

namespace {

// Units may be whole at once from the one in use to the one that is gathered farthest ahead; a unit
// whose gradients are being reduced has them whole. Tensor by tensor, no unit is whole ahead of the
// one in use, though the time of the step lets gathers run one unit ahead.
void describe_units(const Cast& cast, ActorFacts& facts) {
  if (cast.job.plan.zero < 3) return;
  double root = 0;
  for (int chunk = 0; chunk < cast.chunks(); ++chunk) {
    const auto units = units_of(cast, cast.blocks_at(facts.stage, chunk), false);
    std::vector<double> own, cast_bytes;  // of each unit, its share of the root left out
    for (const auto& unit : units) {
      own.push_back(0), cast_bytes.push_back(0);
      for (const auto& block : unit.blocks) {
        (is_root(cast, block) ? root : own.back()) +=
            not_whole(parameters_of(cast, block), cast.shards, host_parameters(cast));
        cast_bytes.back() += cast.writers.front()->cost(block).cast;
      }
    }
    for (std::size_t last = 0; last < units.size(); ++last) {
      const auto after =
          cast.job.software.tensor_units ? last + 1 : gathers_after(cast, units, last);
      double whole = 0, copied = 0;
      for (std::size_t i = std::max<std::size_t>(1, after) - 1; i <= last; ++i)
        whole += own[i], copied += cast_bytes[i];
      facts.held.gathered = std::max(facts.held.gathered, whole);
      facts.held.gathered_cast = std::max(facts.held.gathered_cast, copied);
      facts.held.unreduced = std::max(facts.held.unreduced, own[last]);
    }
  }
  facts.held.gathered += root;
  facts.held.unreduced += root;
}

void describe_gradients(const Cast& cast, ActorFacts& facts) {
  const auto& job = cast.job;
  if (job.plan.zero != 2) return;
  facts.held.unreduced = 0;
  for (int chunk = 0; chunk < cast.chunks(); ++chunk) {
    double sum = 0;
    for (const auto& block : cast.blocks_at(facts.stage, chunk))
      sum += not_whole(parameters_of(cast, block), cast.shards, job.plan.offload.gradients);
    facts.held.unreduced = std::max(facts.held.unreduced, sum);
  }
  facts.held.unreduced =
      std::min(facts.held.unreduced, most_unreduced(job.plan, job.training, job.software));
}

ActorFacts facts_of(const Cast& cast, std::size_t actor) {
  const auto rank = cast.folding.representative()[actor];
  ActorFacts facts{.rank = rank,
                   .gpu = gpu_of(cast.job, rank),
                   .multiplicity = cast.folding.multiplicity()[actor]};
  facts.stage = static_cast<int>(cast.placement.at(rank).pipeline);
  for (int chunk = 0; chunk < cast.chunks(); ++chunk)
    for (const auto& block : cast.blocks_at(facts.stage, chunk)) {
      facts.layers += block.kind == Block::Kind::layer ? 1 : 0;
      const auto& cost = cast.writers.front()->cost(block);
      facts.held.parameters += parameters_of(cast, block);
      facts.held.cast += cost.cast;
      facts.held.cast_apart += cost.cast_apart;
      facts.held.matrices +=
          cast.placement.holds_apart() ? cost.matrices : cost.matrices.together();
    }
  describe_units(cast, facts);
  describe_gradients(cast, facts);
  facts.communicators = communicators(cast.placement, facts.held.parameters.apart > 0);
  return facts;
}

}  // namespace

std::unique_ptr<Cast> cast_of(const Job& job, const Costs& costs, Ranks ranks) {
  auto cast = std::make_unique<Cast>(job, costs, ranks);
  add_cells(*cast);
  add_context_groups(*cast);
  add_expert_groups(*cast);
  add_sharers(*cast);
  add_apart_sharers(*cast);
  cast->shards = shards_of(job.plan, cast->placement, job.cluster);
  for (std::size_t actor = 0; actor < cast->folding.representative().size(); ++actor)
    cast->actors.push_back(facts_of(*cast, actor));
  return cast;
}

}  // namespace strategies
