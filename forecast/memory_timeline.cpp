// SPDX-License-Identifier: Apache-2.0
#include "forecast/memory_timeline.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "forecast/chunk_tensors.hpp"
#include "plans/memory.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "strategies/activity.hpp"
#include "strategies/blocks.hpp"

namespace forecast {

using units::Bytes;

namespace {

std::optional<strategies::Pass> pass_of(std::uint8_t label) {
  switch (label) {
    case strategies::label_forward:
      return strategies::Pass::forward;
    case strategies::label_backward:
      return strategies::Pass::backward;
    case strategies::label_backward_input:
      return strategies::Pass::backward_input;
    case strategies::label_backward_weight:
      return strategies::Pass::backward_weight;
    default:
      return {};
  }
}

std::string block_name(strategies::Block::Kind kind, std::int64_t layer) {
  switch (kind) {
    case strategies::Block::Kind::embedding:
      return "embedding";
    case strategies::Block::Kind::head:
      return "head";
    case strategies::Block::Kind::prediction:
      return "prediction module";
    case strategies::Block::Kind::layer:
      break;
  }
  return "layer " + std::to_string(layer);
}

std::int64_t whole(Bytes bytes) { return static_cast<std::int64_t>(bytes.value); }

class StepTensors {
 public:
  StepTensors(const Scenario& scenario, const strategies::Lowered& lowered, std::uint32_t actor)
      : scenario_(scenario),
        lowered_(lowered),
        actor_(actor),
        facts_(lowered.actors[actor]),
        fixed_(strategies::static_memory(facts_.held, lowered.shards, scenario.plan,
                                         scenario.training, scenario.software)),
        log_(result_.events.before, result_.tensors) {
    read_chunks();
  }

  TensorTimeline write() {
    states();
    log_.write_to(result_.events.step);
    std::vector<allocator::TensorId> gathered;
    allocate(gathered, fixed_.gathered, "parameters and gradients gathered", "gathered");
    passes();
    log_.free(gathered);
    std::vector<allocator::TensorId> reduced;
    allocate(reduced, fixed_.reduction, "gradients being reduced", "communication");
    log_.free(reduced);
    return std::move(result_);
  }

 private:
  void allocate(std::vector<allocator::TensorId>& ids, Bytes bytes, const std::string& name,
                const std::string& category) {
    if (whole(bytes) > 0) ids.push_back(log_.allocate(whole(bytes), name, category));
  }

  void read_chunks() {
    const auto& plan = scenario_.plan;
    const auto layout = strategies::layout_of(plan.schedule, static_cast<int>(plan.pipeline),
                                              static_cast<int>(plan.virtual_stages));
    const auto all =
        strategies::blocks_of(scenario_.model, plan, scenario_.software.keep_sent_outputs);
    std::vector<std::int64_t> first(all.size(), 0);  // layer of each virtual stage
    for (std::size_t v = 1; v < all.size(); ++v)
      first[v] = first[v - 1] + std::ranges::count(all[v - 1], strategies::Block::Kind::layer,
                                                   &strategies::Block::kind);
    for (int chunk = 0; chunk < layout.chunks; ++chunk) {
      const auto v =
          static_cast<std::size_t>(strategies::virtual_stage_of(facts_.stage, chunk, layout));
      ChunkBlocks blocks{all[v], {}, {}};
      auto layer = first[v];
      for (const auto& block : all[v]) {
        blocks.tensors.push_back(lowered_.writer->tensors(block));
        blocks.names.push_back(block_name(block.kind, layer));
        if (block.kind == strategies::Block::Kind::layer) ++layer;
      }
      chunks_.push_back(std::move(blocks));
    }
  }

  // One tensor of weights, gradients and states for each operator that has parameters, as large as
  // its share of them.
  void states() {
    std::vector<std::pair<std::string, double>> holders;
    double sum = 0;
    for (const auto& chunk : chunks_)
      for (std::size_t b = 0; b < chunk.blocks.size(); ++b) {
        const auto& parameters = lowered_.writer->cost(chunk.blocks[b]).parameters;
        if (parameters.all() <= 0) continue;
        holders.emplace_back(chunk.names[b], parameters.all());
        sum += parameters.all();
      }
    const auto spread = [&](Bytes bytes, const std::string& what, const std::string& category) {
      auto left = whole(bytes);
      for (std::size_t i = 0; i < holders.size(); ++i) {
        const auto& [name, parameters] = holders[i];
        const auto own =
            i + 1 == holders.size()
                ? left
                : std::min(left, static_cast<std::int64_t>(bytes.value * parameters / sum));
        left -= own;
        if (own > 0) log_.allocate(own, name + ": " + what, category);
      }
    };
    spread(fixed_.weights, "weights", "parameters");
    spread(fixed_.gradients, "gradients", "gradients");
    spread(fixed_.optimizer, "optimizer states", "optimizer");
    std::vector<allocator::TensorId> stay;
    allocate(stay, scenario_.software.workspace, "workspace of products", "workspace");
    if (scenario_.model.moe)
      allocate(stay, scenario_.software.expert_workspace, "workspace of experts", "workspace");
  }

  // In the order of the program, which is that of allocation. A pass that is cut into several ops
  // counts where the first of them stands.
  void passes() {
    const auto& program = lowered_.program;
    using Key = std::pair<std::int16_t, std::int32_t>;
    std::map<Key, ChunkTensors> running;  // by chunk and microbatch
    std::set<std::tuple<std::uint8_t, std::int16_t, std::int32_t>> seen;
    for (std::size_t i = 0; i < program.ops().size(); ++i) {
      const auto& op = program.ops()[i];
      const auto& label = program.labels()[i];
      const auto pass = pass_of(label.kind);
      if (op.kind != sim::Op::Kind::pass || !pass || !takes_part(op)) continue;
      if (!seen.emplace(label.kind, label.chunk, label.microbatch).second) continue;
      const auto& chunk = chunks_.at(static_cast<std::size_t>(std::max<int>(0, label.chunk)));
      auto& tensors = running.try_emplace({label.chunk, label.microbatch}, chunk).first->second;
      if (*pass == strategies::Pass::forward)
        tensors.forward(log_);
      else
        tensors.backward(log_, *pass);
      if (*pass == strategies::Pass::backward || *pass == strategies::Pass::backward_weight)
        running.erase({label.chunk, label.microbatch});
    }
  }

  bool takes_part(const sim::Op& op) const {
    const auto& all = lowered_.program.participants();
    for (auto event = op.first; event < op.first + op.count; ++event)
      if (all[event].actor == sim::ActorId{actor_}) return true;
    return false;
  }

  const Scenario& scenario_;
  const strategies::Lowered& lowered_;
  std::uint32_t actor_;
  const strategies::ActorFacts& facts_;
  strategies::StaticMemory fixed_;
  std::vector<ChunkBlocks> chunks_;
  TensorTimeline result_;
  TensorLog log_;
};

}  // namespace

TensorTimeline tensor_timeline(const Scenario& scenario, const strategies::Lowered& lowered,
                               std::uint32_t actor) {
  return StepTensors(scenario, lowered, actor).write();
}

std::int64_t most_alive(const allocator::Timeline& events) {
  std::vector<std::int64_t> size;
  std::int64_t alive = 0, most = 0;
  for (const auto* list : {&events.before, &events.step})
    for (const auto& event : *list) {
      if (event.tensor >= size.size()) size.resize(event.tensor + std::size_t{1});
      if (event.kind == allocator::Event::Kind::allocate) alive += size[event.tensor] = event.size;
      if (event.kind == allocator::Event::Kind::free) alive -= size[event.tensor];
      most = std::max(most, alive);
    }
  return most;
}

}  // namespace forecast
