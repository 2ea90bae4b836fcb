// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism (Shoeybi et al. 2019; with sequence parallelism Korthikanti et al. 2022):
// plain: an all-reduce after each row-parallel product forward, after each column-parallel
// product's input gradient backward. With sequence parallelism the rows are gathered before a
// column-parallel product and reduce-scattered after a row-parallel one; backward mirrors this, and
// gathers the column-parallel input once more for the weight gradient, under the input gradient.
// The software may hide more of it (tensor_overlap.hpp).
// Context parallelism wraps the attention core in exchanges (context.hpp). Round a ring, c parts of
// a sequence meet in c rounds (ring.hpp): the keys and values of a round travel beside the one
// before it, so that all of them have the rounds but the last to hide under.
// Expert parallelism dispatches token copies before the experts and combines their results after
// them (experts.hpp); backward, gradients go the same ways. Where experts are only divided as the
// rest of a layer is, that is a collective of the tensor-parallel group like others.
#include "strategies/passes.hpp"

#include <algorithm>

#include "strategies/checkpoints.hpp"
#include "strategies/regrouping.hpp"
#include "strategies/writer.hpp"

namespace strategies {

using sim::Picoseconds;

namespace {

constexpr PassActivities first_time{forward_compute, forward_tensor_comm, forward_context_comm,
                                    forward_expert_comm};
constexpr PassActivities once_more{recompute_compute, recompute_tensor_comm, recompute_context_comm,
                                   recompute_expert_comm};

}  // namespace

sim::Spent spent_alone(const Pieces& pieces) {
  sim::Spent spent;
  std::vector<Picoseconds> over(pieces.size());  // each piece's exchange
  Picoseconds sent = 0;
  const auto wait = [&](std::size_t piece) {
    const auto exposed = over[piece] - spent.total();
    if (exposed > 0) spent.on[pieces[piece].then->activity] += exposed;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].waits_for >= 0) wait(static_cast<std::size_t>(pieces[i].waits_for));
    spent += sim::spent_alone(pieces[i].body);
    if (!pieces[i].then) continue;
    sent = std::max(sent, spent.total()) + to_ticks(pieces[i].then->sending.time());
    over[i] = sent;
  }
  if (pieces.back().then) wait(pieces.size() - 1);
  return spent;
}

sim::Picoseconds PassWriter::row_gather() const { return to_ticks(rows_.all_gather.time()); }

Pieces PassWriter::forward(const std::vector<Block>& blocks, double slowdown) const {
  Writer out(*this, share_.software.launch_forward, slowdown);
  const auto regroup = [&](const std::optional<topology::Sending>& sending) {
    if (sending) out.communicate(*sending, forward_tensor_comm);
  };
  for (const auto& block : blocks) {
    const auto& price = cost(block);
    if (block.regroups_before) regroup(regrouped_->exchanges.before);
    out.run_as(writer_of(block));
    out.call(price.checkpoints);
    out.sweep(price.operators, first_time);
    if (block.regroups_after) regroup(regrouped_->exchanges.after);
  }
  if (out.empty()) out.compute(KernelRun{}, forward_compute);
  auto pieces = out.take();
  auto& body = pieces.front().body;
  for (const auto& [held, peak] : forward_memory(blocks)) {
    body.peak = std::max(body.peak, peak);
    body.held = held;
  }
  return pieces;
}

std::vector<PassMemory> PassWriter::forward_memory(const std::vector<Block>& blocks) const {
  std::vector<PassMemory> path;
  std::int64_t held = 0;
  for (const auto& block : blocks) {
    const auto& price = cost(block);
    held += price.kept;
    // Tensors that are copied to the host leave at the latest with the next layer but one
    // (activation_offload.cpp).
    path.push_back({held, held + price.recomputed + price.largest_growing + 2 * price.offloaded});
  }
  return path;
}

// A backward pass as it is written, and the bytes that its rank holds meanwhile.
class PassWriter::Backward {
 public:
  Backward(const PassWriter& of, const std::vector<Block>& blocks, Pass pass, Writer& out,
           std::optional<model::Part> only)
      : of_(of),
        blocks_(blocks),
        inputs_(pass != Pass::backward_weight),
        weights_(pass != Pass::backward_input),
        out_(out),
        only_(only) {}

  void again(std::size_t first, std::size_t last, std::uint8_t level) {
    if (!inputs_) return;
    run_again(first, last);
    for (auto i = first + 1; i <= last; ++i)
      if (blocks_[i].checkpoint == level) held_ += price(i).input;
  }

  // Runs layers again and then backwards; the last one runs again with its own gradients.
  void back(std::size_t first, std::size_t last) {
    std::int64_t made = 0;  // bytes made again of layers before the one that runs
    if (inputs_) {
      if (first > 0 && blocks_[first].checkpoint > 0) held_ -= price(first).input;
      run_again(first, last - 1);
      for (auto i = first; i < last; ++i) made += price(i).recomputed;
    }
    for (auto i = last; i-- > first;) {
      if (inputs_) made -= price(i).recomputed;
      const auto& block = blocks_[i];
      if (block.regroups_after) regroup(&Regrouping::back_after);
      out_.run_as(of_.writer_of(block));
      run(price(i), i + 1 == last);
      if (block.regroups_before) regroup(&Regrouping::back_before);
      account(price(i), made);
    }
  }

  std::int64_t held() const { return held_; }
  std::int64_t peak() const { return std::max<std::int64_t>(0, peak_); }
  // The memory after each block, and the most while that block ran.
  const std::vector<PassMemory>& path() const { return path_; }

 private:
  const BlockCost& price(std::size_t block) const { return of_.cost(blocks_[block]); }
  bool left_out(const OperatorCost& op) const { return only_ && op.part != *only_; }

  void sweep(const ReplayCost& replay) {
    auto again = replay.operators;
    std::erase_if(again, [&](const OperatorCost& op) { return left_out(op); });
    out_.sweep(again, once_more);
  }
  void call(const BlockCost& price) {
    if (!only_) out_.call(price.checkpoints);
  }
  void run_again(std::size_t first, std::size_t last) {
    for (auto i = first; i < last; ++i) {
      out_.run_as(of_.writer_of(blocks_[i]));
      call(price(i));
      for (const auto& replay : price(i).replays) sweep(replay);
    }
  }
  void regroup(std::optional<topology::Sending> Regrouping::*exchange) {
    if (!inputs_ || only_) return;
    if (const auto& sending = of_.regrouped_->exchanges.*exchange)
      out_.communicate(*sending, backward_tensor_comm);
  }

  void run(const BlockCost& price, bool replays) {
    const auto& ops = price.operators;
    auto replay = price.replays.begin();
    bool core_done = false;
    if (inputs_ && replays) call(price);
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      const auto index = static_cast<std::size_t>(ops.rend() - op) - 1;
      for (; inputs_ && replays && replay != price.replays.end() && replay->before == index;
           ++replay)
        sweep(*replay);
      if (left_out(*op)) continue;
      out_.enter(op->graph);
      double slower = 1.0;  // of the weight gradient
      if (inputs_ && op->core) {
        if (!core_done) out_.core_backward(ops);
        core_done = true;
      } else if (inputs_) {
        slower = out_.input_gradient(*op, weights_);
      }
      if (weights_) {
        out_.count(op->flops.weight_gradient);
        out_.compute(op->weight_gradient, weight_gradient_compute, slower);
        out_.wait();
      }
    }
  }

  void account(const BlockCost& price, std::int64_t made) {
    const auto gradients = inputs_ && weights_ ? price.gradients_freeing : price.gradients;
    // The tensors that this block reads, and those that the next will, have been fetched.
    if (inputs_) made += price.recomputed + 2 * price.offloaded;
    const auto most = held_ + made + gradients;
    peak_ = std::max(peak_, most);
    if (weights_) held_ -= price.kept;
    // A separate pass of weight gradients reads tensors that the pass before it made again or
    // fetched.
    if (inputs_ != weights_) held_ += (inputs_ ? 1 : -1) * (price.recomputed + price.offloaded);
    path_.push_back({held_, most});
  }

  const PassWriter& of_;
  const std::vector<Block>& blocks_;
  bool inputs_, weights_;
  Writer& out_;
  std::optional<model::Part> only_;
  std::int64_t held_ = 0, peak_ = 0;
  std::vector<PassMemory> path_;
};

std::vector<PassMemory> PassWriter::backward_memory(const std::vector<Block>& blocks) const {
  Writer out(*this, share_.software.launch_backward, 1.0);
  Backward backward(*this, blocks, Pass::backward, out, {});
  walk_back(blocks, 0, blocks.size(), backward);
  return backward.path();
}

PassMemory PassWriter::pair_memory(const std::vector<Block>& ahead,
                                   const std::vector<Block>& back) const {
  const auto forward = forward_memory(ahead);
  const auto freeing = backward_memory(back);
  PassMemory pair;
  std::int64_t kept = 0, freed = 0;
  for (std::size_t i = 0; i < std::max(forward.size(), freeing.size()); ++i) {
    if (i < forward.size()) {
      pair.peak = std::max(pair.peak, forward[i].peak + freed);
      kept = forward[i].held;
    }
    if (i < freeing.size()) {
      const auto running = i < forward.size() ? forward[i].peak : kept;
      pair.peak = std::max(pair.peak, running + freeing[i].peak);
      freed = freeing[i].held;
    }
  }
  pair.held = kept + freed;
  return pair;
}

Pieces PassWriter::backward(const std::vector<Block>& blocks, Pass pass, double slowdown,
                            std::optional<model::Part> only) const {
  Writer out(*this, share_.software.launch_backward, slowdown);
  Backward backward(*this, blocks, pass, out, only);
  walk_back(blocks, 0, blocks.size(), backward);
  if (out.empty()) out.compute(KernelRun{}, input_gradient_compute);
  auto pieces = out.take();
  pieces.front().body.held = backward.held();
  pieces.front().body.peak = backward.peak();
  pieces.front().body.blocks = static_cast<std::int32_t>(blocks.size());
  return pieces;
}

Pieces PassWriter::forward_part(const Block& block, model::Part part) const {
  Writer out(writer_of(block), units::Seconds{}, 1.0);
  auto ops = cost(block).operators;
  std::erase_if(ops, [&](const OperatorCost& op) { return op.part != part; });
  out.sweep(ops, first_time);
  return out.take();
}

Pieces PassWriter::backward_part(const Block& block, model::Part part) const {
  return backward({block}, Pass::backward, 1.0, part);
}

}  // namespace strategies
