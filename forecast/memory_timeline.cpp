// SPDX-License-Identifier: Apache-2.0
#include "forecast/memory_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "forecast/chunk_tensors.hpp"
#include "forecast/rank_chunks.hpp"
#include "plans/holdings.hpp"
#include "plans/memory.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "strategies/passes.hpp"

namespace forecast {

using units::Bytes;

namespace {

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

// The passes of an actor, in the order of the program, which is that of allocation. A pass that is
// cut into several ops counts where the first of them stands.
struct Turn {
  strategies::Pass pass;
  std::size_t chunk, microbatch;
  // Whether this pass is the first or the second of a pair whose layers take turns.
  bool beside_next = false, beside_previous = false;
  friend bool operator==(const Turn&, const Turn&) = default;
};

bool ends_microbatch(strategies::Pass pass) {
  return pass == strategies::Pass::backward || pass == strategies::Pass::backward_weight;
}

// Returns the most microbatches of a chunk from the oldest that is alive to the newest.
std::size_t most_alive(const std::vector<Turn>& turns, std::size_t chunks,
                       std::size_t microbatches) {
  struct Alive {
    std::vector<bool> ended;
    std::size_t oldest = 0, newest = 0;
  };
  std::vector<Alive> of(chunks, {std::vector<bool>(microbatches, false), 0, 0});
  std::size_t most = 1;
  for (const auto& turn : turns) {
    const auto [pass, chunk, microbatch] = std::tuple(turn.pass, turn.chunk, turn.microbatch);
    auto& alive = of[chunk];
    alive.newest = std::max(alive.newest, microbatch);
    while (alive.oldest < alive.newest && alive.ended[alive.oldest]) ++alive.oldest;
    most = std::max(most, alive.newest - alive.oldest + 1);
    if (ends_microbatch(pass)) alive.ended[microbatch] = true;
  }
  return most;
}

// Returns the longest stretch of turns that repeats every `length` turns, as rounds of `length`
// turns; none begins inside of a pair. O(turns)
allocator::Rounds rounds_of(const std::vector<Turn>& turns, std::size_t length) {
  allocator::Rounds best;
  std::size_t alike = 0;  // turns before this one that are as those a round later
  for (std::size_t i = 0; i + length <= turns.size(); ++i) {
    if (i + length < turns.size() && turns[i] == turns[i + length]) {
      ++alike;
      continue;
    }
    auto begin = i - alike;
    if (begin > 0 && turns[begin - 1].beside_next)
      ++begin, alike = std::max<std::size_t>(alike, 1) - 1;
    const auto count = static_cast<std::int64_t>(alike / length) + 1;
    if (count > best.count) best = {begin, begin + length, count};
    alike = 0;
  }
  return best;
}

class StepTensors {
 public:
  StepTensors(const Scenario& scenario, const strategies::Lowered& lowered, std::uint32_t actor)
      : scenario_(scenario),
        lowered_(lowered),
        actor_(actor),
        facts_(lowered.actors[actor]),
        fixed_(strategies::static_memory(facts_.held, lowered.shards, scenario.plan,
                                         scenario.training, scenario.software)),
        moments_{std::floor(fixed_.moments.value)},
        late_(strategies::gradients_come_late(scenario.software, lowered.microbatches)),
        rank_chunks_(chunks_of(scenario, facts_.stage)),
        log_(result_.events.before, result_.names) {
    read_chunks();
  }

  TensorTimeline write() {
    states();
    log_.write_to(result_.events.step);
    std::vector<allocator::TensorId> gathered, reduced;
    allocate(gathered, fixed_.gathered, "parameters and gradients gathered", "gathered");
    allocator::Events after_passes;
    log_.write_to(after_passes);
    log_.free(gathered);
    moments(after_passes);
    allocate(reduced, fixed_.reduction, "gradients being reduced", "communication");
    allocate(reduced, fixed_.stepping, "gradients of the update", "gradients");
    log_.free(reduced);
    if (late_) gradients(after_passes);
    result_.name_of.resize(result_.names.size());
    std::iota(result_.name_of.begin(), result_.name_of.end(), 0u);
    passes(after_passes.size());
    auto& step = result_.events.step;
    result_.events.once.at += step.size();
    step.insert(step.end(), after_passes.begin(), after_passes.end());
    return std::move(result_);
  }

 private:
  void allocate(std::vector<allocator::TensorId>& ids, Bytes bytes, const std::string& what,
                const std::string& category) {
    if (whole(bytes) > 0) ids.push_back(log_.allocate(whole(bytes), {{}, {}, what, category}));
  }

  void read_chunks() {
    for (const auto& of_rank : rank_chunks_) {
      ChunkBlocks blocks{of_rank.blocks, {}, {}};
      auto layer = of_rank.first_layer;
      for (const auto& block : blocks.blocks) {
        blocks.tensors.push_back(lowered_.writer->tensors(block));
        blocks.names.push_back(block_name(block.kind, layer));
        if (block.kind == strategies::Block::Kind::layer) ++layer;
      }
      chunks_.push_back(std::move(blocks));
    }
  }

  // Writes the allocations of gradients that backward passes make, for `append` to put behind the
  // blocks, and frees all of them after the passes.
  void gradients(allocator::Events& after_passes) {
    std::vector<allocator::TensorId> all;
    for (const auto& chunk : chunks_) made_.emplace_back(chunk.blocks.size());
    spread(fixed_.gradients, [&](std::size_t c, std::size_t b, std::int64_t bytes) {
      log_.write_to(made_[c][b]);
      all.push_back(log_.allocate(bytes, {chunks_[c].names[b], {}, "gradients", "gradients"}));
    });
    log_.write_to(after_passes);
    log_.free(all);
  }

  // Calls visit(chunk, block, bytes) for each block's share of bytes that go by parameters.
  void spread(Bytes bytes, auto visit) const {
    const auto shares = spread_by_parameters(bytes, rank_chunks_, *lowered_.writer);
    for (std::size_t c = 0; c < chunks_.size(); ++c)
      for (std::size_t b = 0; b < shares[c].size(); ++b)
        if (shares[c][b] > 0) visit(c, b, shares[c][b]);
  }

  // One tensor of weights, gradients and states for each block that has parameters, as large as its
  // share of them.
  void states() {
    const auto by_block = [&](Bytes bytes, const std::string& what, const std::string& category) {
      spread(bytes, [&](std::size_t c, std::size_t b, std::int64_t share) {
        log_.allocate(share, {chunks_[c].names[b], {}, what, category});
      });
    };
    by_block(fixed_.weights, "weights", "parameters");
    if (!late_) by_block(fixed_.gradients, "gradients", "gradients");
    by_block(fixed_.optimizer - moments_,
             moments_.value > 0 ? "master weights" : "optimizer states", "optimizer");
    std::vector<allocator::TensorId> stay;
    allocate(stay, scenario_.software.workspace, "workspace of products", "workspace");
    if (scenario_.model.moe)
      allocate(stay, scenario_.software.expert_workspace, "workspace of experts", "workspace");
  }

  // Where the first update begins, a tensor for each moment of each tensor of weights.
  void moments(allocator::Events& after_passes) {
    auto& [events, at] = result_.events.once;
    at = after_passes.size();
    log_.write_to(events);
    const auto count = std::max(1, strategies::moments_of(scenario_.training.optimizer));
    std::vector<NamedTensor> tensors;
    std::vector<double> parameters;
    for (const auto& chunk : chunks_)
      for (std::size_t b = 0; b < chunk.blocks.size(); ++b)
        for (const auto& weight : chunk.tensors[b].weights)
          for (int moment = 0; moment < count; ++moment) {
            tensors.push_back({chunk.names[b], std::string(weight.op), "moments", "optimizer"});
            parameters.push_back(updated(weight));
          }
    const auto sizes = in_proportion(whole(moments_), parameters);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] > 0) log_.allocate(sizes[i], std::move(tensors[i]));
    log_.write_to(after_passes);
  }

  // The number of a weight's parameters that this rank updates. A tied head has none.
  double updated(const strategies::Weight& weight) const {
    const auto& plan = scenario_.plan;
    const auto layout = strategies::layout_of(plan);
    if (weight.lm_head && scenario_.model.tied_embeddings &&
        strategies::embeds_and_predicts(layout))
      return 0;
    if (plan.zero == 0) return weight.parameters;
    return weight.parameters / (weight.apart ? lowered_.shards.apart : lowered_.shards.with_layer);
  }

  std::vector<Turn> turns() const {
    const auto& program = lowered_.program;
    const auto microbatches = static_cast<std::size_t>(lowered_.microbatches);
    std::vector<std::uint8_t> seen(chunks_.size() * microbatches, 0);  // a bit for each pass
    std::vector<Turn> list;
    for (std::size_t i = 0; i < program.ops().size(); ++i) {
      const auto& op = program.ops()[i];
      const auto& label = program.labels()[i];
      const auto pass = pass_of(label.kind);
      if (op.kind != sim::Op::Kind::pass || !pass || !part_of(program, op, actor_)) continue;
      const auto chunk = static_cast<std::size_t>(std::max<int>(0, label.chunk));
      const auto microbatch = static_cast<std::size_t>(label.microbatch);
      const auto bit = static_cast<std::uint8_t>(1u << static_cast<unsigned>(*pass));
      auto& passes = seen.at(chunk * microbatches + microbatch);
      if ((passes & bit) != 0) continue;
      passes |= bit;
      const bool second = !list.empty() && list.back().beside_next;
      const bool first = !second && *pass == strategies::Pass::forward && in_pair(op);
      list.push_back({*pass, chunk, microbatch, first, second});
    }
    return list;
  }

  // Returns the number of slots of tensors that the microbatches of a chunk take turns at: the most
  // that a chunk needs; with several chunks, whose stages pass on groups of as many microbatches as
  // there are stages, the next multiple of the stages, so that events repeat by slots, too.
  std::size_t slots_of(const std::vector<Turn>& turns) const {
    const auto stages = static_cast<std::size_t>(scenario_.plan.pipeline);
    const auto needed =
        most_alive(turns, chunks_.size(), static_cast<std::size_t>(lowered_.microbatches));
    return chunks_.size() > 1 ? (needed + stages - 1) / stages * stages : needed;
  }

  // Each slot of a chunk has tensors of its own; rounds of passes are written once. `behind`: the
  // number of events that will follow.
  void passes(std::size_t behind) {
    auto list = turns();
    const auto slots = slots_of(list);
    for (auto& turn : list) turn.microbatch %= slots;
    const auto microbatches = static_cast<std::size_t>(lowered_.microbatches);
    std::vector<PassScripts> scripts;
    std::vector<allocator::TensorId> first;  // tensor of each chunk
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      scripts.push_back(scripts_of(chunks_[c]));
      first.push_back(static_cast<allocator::TensorId>(result_.name_of.size()));
      const auto& tensors = scripts.back().tensors;
      const auto name = static_cast<std::uint32_t>(result_.names.size());
      for (std::size_t slot = 0; slot < slots; ++slot)
        for (std::uint32_t t = 0; t < tensors.size(); ++t) result_.name_of.push_back(name + t);
      result_.names.insert(result_.names.end(), tensors.begin(), tensors.end());
    }
    const auto base_of = [&](const Turn& turn) {
      return first[turn.chunk] +
             static_cast<allocator::TensorId>(turn.microbatch * scripts[turn.chunk].tensors.size());
    };
    const auto length_of = [&](const Turn& turn) {
      auto length = scripts[turn.chunk].of(turn.pass).size();
      if (late_ && ends_microbatch(turn.pass))
        for (const auto& gradients : made_[turn.chunk]) length += gradients.size();
      return length;
    };
    const auto write = [&](std::size_t from, std::size_t to) {
      for (auto i = from; i < to; ++i) {
        const auto& turn = list[i];
        if (turn.beside_next && i + 1 < to) {
          take_turns({scripts[turn.chunk], base_of(turn)},
                     {scripts[list[i + 1].chunk], base_of(list[i + 1])});
          ++i;
          continue;
        }
        if (late_ && ends_microbatch(turn.pass))
          append_with_gradients(scripts[turn.chunk], turn, base_of(turn));
        else
          append(scripts[turn.chunk].of(turn.pass), base_of(turn));
      }
      return result_.events.step.size();
    };
    const auto [begin, end, count] = rounds_of(list, list.size() / microbatches * slots);
    const auto rest = begin + static_cast<std::size_t>(count) * (end - begin);
    auto events = result_.events.step.size() + behind;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (i < end || i >= rest) events += length_of(list[i]);
    result_.events.step.reserve(events);
    auto& rounds = result_.events.rounds;
    rounds.begin = write(0, begin);
    rounds.end = write(begin, end);
    rounds.count = count;
    write(rest, list.size());
  }

  void append(std::span<const allocator::Event> events, allocator::TensorId base) {
    for (auto event : events) {
      event.tensor += base;
      result_.events.step.push_back(event);
    }
  }
  // Appends a backward pass, and the gradients of each block when the block has run; a pass of
  // weight gradients alone has all of them from its begin.
  void append_with_gradients(const PassScripts& script, const Turn& turn,
                             allocator::TensorId base) {
    const auto& made = made_[turn.chunk];
    const bool apart = turn.pass == strategies::Pass::backward_weight;
    for (std::size_t b = 0; apart && b < made.size(); ++b) append(made[b], 0);
    const auto& events = script.of(turn.pass);
    std::size_t begin = 0;
    for (std::size_t b = 0; !apart && b < script.backward_ends.size(); ++b) {
      append(std::span(events).subspan(begin, script.backward_ends[b] - begin), base);
      append(made[made.size() - 1 - b], 0);
      begin = script.backward_ends[b];
    }
    append(std::span(events).subspan(begin), base);
  }
  struct OfMicrobatch {
    const PassScripts& script;
    allocator::TensorId base;
  };
  // Appends a forward and a backward pass, one block of each after the other.
  void take_turns(const OfMicrobatch& ahead, const OfMicrobatch& back) {
    const auto block = [&](const OfMicrobatch& of, const allocator::Events& events,
                           const ChunkTensors::Ends& ends, std::size_t b) {
      if (b >= ends.size()) return;
      const auto begin = b == 0 ? 0 : ends[b - 1];
      append(std::span(events).subspan(begin, ends[b] - begin), of.base);
    };
    const auto &forward = ahead.script, &backward = back.script;
    for (std::size_t b = 0;
         b < std::max(forward.forward_ends.size(), backward.backward_ends.size()); ++b) {
      block(ahead, forward.forward, forward.forward_ends, b);
      block(back, backward.backward, backward.backward_ends, b);
    }
  }

  // Whether the op is in a pair of passes whose bytes the other one has: the second has those of
  // both.
  bool in_pair(const sim::Op& op) const {
    const auto& body =
        lowered_.program.body(lowered_.program.body_of(op, *part_of(lowered_.program, op, actor_)));
    return body.held == 0 && body.peak == 0;
  }

  const Scenario& scenario_;
  const strategies::Lowered& lowered_;
  std::uint32_t actor_;
  const strategies::ActorFacts& facts_;
  strategies::StaticMemory fixed_;
  Bytes moments_;  // that the first update makes
  bool late_;      // gradients are made by the backward pass
  std::vector<RankChunk> rank_chunks_;
  std::vector<ChunkBlocks> chunks_;
  std::vector<std::vector<allocator::Events>> made_;  // gradients, by chunk and block
  TensorTimeline result_;
  TensorLog log_;
};

}  // namespace

TensorTimeline tensor_timeline(const Scenario& scenario, const strategies::Lowered& lowered,
                               std::uint32_t actor) {
  return StepTensors(scenario, lowered, actor).write();
}

namespace {

// Sizes of the tensors that are alive, by id, and their sum.
class Alive {
 public:
  void happens(const allocator::Event& event) {
    using enum allocator::Event::Kind;
    if (event.tensor >= sizes_.size()) sizes_.resize(event.tensor + std::size_t{1});
    auto& size = sizes_[event.tensor];
    if (event.kind == allocate) sum_ += size = event.size;
    if (event.kind == free) sum_ -= std::exchange(size, 0);
  }
  std::int64_t sum() const { return sum_; }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }

 private:
  std::vector<std::int64_t> sizes_;
  std::int64_t sum_ = 0;
};

}  // namespace

AliveAtPeak peak_of(const allocator::Timeline& events) {
  AliveAtPeak peak;
  std::size_t index = 0, at_peak = 0;
  Alive all, until_peak;
  // All later steps have what the first has made.
  const auto each = [&](auto&& what) {
    for (const auto* list : {&events.before, &events.once.events, &events.step})
      for (const auto& event : *list) what(event);
  };
  each([&](const allocator::Event& event) {
    all.happens(event);
    ++index;
    if (all.sum() <= peak.bytes) return;
    peak.bytes = all.sum();
    at_peak = index;
  });
  index = 0;
  each([&](const allocator::Event& event) {
    if (index++ < at_peak) until_peak.happens(event);
  });
  for (allocator::TensorId id = 0; id < until_peak.sizes().size(); ++id)
    if (const auto size = until_peak.sizes()[id]; size > 0) peak.alive.push_back({id, size});
  return peak;
}

}  // namespace forecast
