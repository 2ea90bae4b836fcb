// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism (Shoeybi et al. 2019; with sequence parallelism Korthikanti et al. 2022):
// plain: an all-reduce after each row-parallel product forward, after each column-parallel
// product's input gradient backward. With sequence parallelism the rows are gathered before a
// column-parallel product and reduce-scattered after a row-parallel one; backward mirrors this, and
// gathers the column-parallel input once more for the weight gradient, under the input gradient.
// Context parallelism wraps the attention core in exchanges (context.hpp). Round a ring, c parts of
// a sequence meet in c rounds: the keys and values of a round travel beside the one before it, so
// that all of them have (c − 1)/c of the core to hide under.
#include "strategies/passes.hpp"

#include <algorithm>
#include <stdexcept>

#include "strategies/activity.hpp"

namespace strategies {

using model::Seam;
using sim::Lane;
using sim::Picoseconds;

sim::Picoseconds to_ticks(units::Seconds time) {
  constexpr double longest = 1e6;
  if (!(time.value <= longest))
    throw std::invalid_argument(
        "one kernel, collective or message would take more than 10^6 seconds; are the sizes and "
        "bandwidths of the scenario meant?");
  return static_cast<sim::Picoseconds>(time.value * 1e12 + 0.5);
}

// Appends steps; computation waits for the last collective unless told that it may run beside it.
class PassWriter::Writer {
 public:
  Writer(const PassWriter& of, units::Seconds issue, double slowdown)
      : of_(of),
        issue_(to_ticks(issue)),
        slowdown_(slowdown),
        outside_(of.share_.outside),
        pieces_(1) {}

  void compute(Picoseconds duration, Activity activity) {
    steps().push_back({.lane = Lane::compute,
                       .activity = activity,
                       .joins = pending_,
                       .issue = issue_,
                       .duration = stretched(duration)});
    pending_ = -1;
    last_compute_ = here();
  }
  void compute(const std::vector<Picoseconds>& durations, Activity activity) {
    for (auto duration : durations) compute(duration, activity);
  }
  // Begins after all computation so far. The next computation waits for it, unless `beside`: then
  // wait() says when.
  void communicate(const topology::Sending& sending, Activity activity, bool beside = false) {
    if (outside_) return exchange(FlowKind::tensor, sending, activity, beside);
    follow(activity);
    steps().push_back({.lane = Lane::tensor,
                       .rendezvous = true,
                       .activity = activity,
                       .joins = last_compute_,
                       .issue = issue_,
                       .duration = to_ticks(sending.time())});
    (beside ? beside_ : pending_) = here();
  }
  // For what runs beside computation.
  void wait() {
    if (beside_ >= 0) pending_ = beside_;
    if (beside_piece_ >= 0) {
      if (!steps().empty()) begin_piece();
      pieces_.back().waits_for = beside_piece_;
    }
    beside_ = beside_piece_ = -1;
  }

  // One forward sweep over a block.
  void sweep(const std::vector<OperatorCost>& ops, Activity compute_activity, Activity tensor,
             Activity context) {
    const bool divided = of_.divided_, rows_divided = of_.sequence_parallel_;
    bool core_done = false;
    for (const auto& op : ops) {
      if (op.core) {
        if (!core_done) core(ops, compute_activity, context);
        core_done = true;
        continue;
      }
      if (rows_divided && op.seam == Seam::enter) communicate(of_.all_gather_, tensor);
      compute(op.forward, compute_activity);
      if (divided && op.seam == Seam::leave)
        communicate(rows_divided ? of_.reduce_scatter_ : of_.all_reduce_, tensor);
      if (op.divided_loss)
        for (int i = 0; i < 3; ++i) communicate(of_.loss_reduce_, tensor);
    }
  }
  // The attention core of a block, forward.
  void core(const std::vector<OperatorCost>& ops, Activity compute_activity, Activity context) {
    std::vector<Picoseconds> durations;
    for (const auto& op : ops)
      if (op.core) durations.insert(durations.end(), op.forward.begin(), op.forward.end());
    core(durations, of_.context_.forward, compute_activity, context);
  }
  // And its input gradient.
  void core_backward(const std::vector<OperatorCost>& ops) {
    std::vector<Picoseconds> durations;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
      if (op->core)
        durations.insert(durations.end(), op->input_gradient.begin(), op->input_gradient.end());
    core(durations, of_.context_.backward, input_gradient_compute, backward_context_comm);
  }
  // Without a last piece that would do nothing.
  Pieces take() {
    if (pieces_.size() > 1 && pieces_.back().body.steps.empty()) pieces_.pop_back();
    return std::move(pieces_);
  }
  bool empty() const { return pieces_.size() == 1 && pieces_.front().body.steps.empty(); }

 private:
  void core(const std::vector<Picoseconds>& durations, const ContextExchanges::Round& round,
            Activity compute_activity, Activity context) {
    const auto& [parts, beside, forward, backward] = of_.context_;
    if (round.before) exchange(FlowKind::context, *round.before, context, beside);
    if (beside) {
      for (auto duration : durations) compute(duration - duration / parts, compute_activity);
      wait();
      for (auto duration : durations) compute(duration / parts, compute_activity);
    } else {
      compute(durations, compute_activity);
    }
    if (round.after) exchange(FlowKind::context, *round.after, context, false);
  }
  std::vector<sim::Step>& steps() { return pieces_.back().body.steps; }
  std::int32_t here() const {
    return static_cast<std::int32_t>(pieces_.back().body.steps.size()) - 1;
  }
  // A collective at the head of a pass still follows what the compute lane did before it.
  void follow(Activity activity) {
    if (!steps().empty()) return;
    steps().push_back({.lane = Lane::compute, .activity = activity});
    last_compute_ = here();
  }
  void begin_piece() {
    pieces_.emplace_back();
    last_compute_ = pending_ = -1;
  }
  void exchange(FlowKind group, const topology::Sending& sending, Activity activity, bool beside) {
    follow(activity);
    pieces_.back().then = Exchange{group, sending, activity};
    const auto index = static_cast<int>(pieces_.size()) - 1;
    begin_piece();
    (beside ? beside_piece_ : pieces_.back().waits_for) = index;
  }
  Picoseconds stretched(Picoseconds duration) const {
    if (slowdown_ == 1.0) return duration;
    return static_cast<Picoseconds>(static_cast<double>(duration) * slowdown_ + 0.5);
  }
  const PassWriter& of_;
  Picoseconds issue_;
  double slowdown_;
  bool outside_;
  Pieces pieces_;
  std::int32_t last_compute_ = -1, pending_ = -1, beside_ = -1;  // steps of the last piece
  int beside_piece_ = -1;
};

sim::Spent alone(const Pieces& pieces) {
  sim::Spent spent;
  std::vector<Picoseconds> over(pieces.size());  // each piece's exchange
  Picoseconds sent = 0;
  const auto wait = [&](std::size_t piece) {
    const auto exposed = over[piece] - spent.total();
    if (exposed > 0) spent.on[pieces[piece].then->activity] += exposed;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].waits_for >= 0) wait(static_cast<std::size_t>(pieces[i].waits_for));
    spent += sim::alone(pieces[i].body);
    if (!pieces[i].then) continue;
    sent = std::max(sent, spent.total()) + to_ticks(pieces[i].then->sending.time());
    over[i] = sent;
  }
  if (pieces.back().then) wait(pieces.size() - 1);
  return spent;
}

sim::Picoseconds PassWriter::row_gather() const { return to_ticks(all_gather_.time()); }

Pieces PassWriter::forward(const std::vector<Block>& blocks, double slowdown) const {
  Writer out(*this, share_.software.launch_forward, slowdown);
  std::int64_t held = 0, peak = 0;
  for (const auto& block : blocks) {
    const auto& price = cost(block);
    out.sweep(price.operators, forward_compute, forward_tensor_comm, forward_context_comm);
    // What is copied to the host leaves at the latest with the next but one (offload.cpp).
    peak =
        std::max(peak, held + price.kept + price.recomputed + price.largest + 2 * price.offloaded);
    held += price.kept;
  }
  if (out.empty()) out.compute(Picoseconds{0}, forward_compute);
  auto pieces = out.take();
  pieces.front().body.held = held;
  pieces.front().body.peak = peak;
  return pieces;
}

Pieces PassWriter::backward(const std::vector<Block>& blocks, Pass pass, double slowdown,
                            std::optional<model::Part> only) const {
  Writer out(*this, share_.software.launch_backward, slowdown);
  const bool inputs = pass != Pass::backward_weight, weights = pass != Pass::backward_input;
  std::int64_t held = 0, peak = 0;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const auto& price = cost(*block);
    const auto& ops = price.operators;
    const auto left_out = [&](const OperatorCost& op) { return only && op.part != *only; };
    auto replay = price.replays.begin();
    bool core_done = false;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      const auto index = static_cast<std::size_t>(ops.rend() - op) - 1;
      for (; inputs && replay != price.replays.end() && replay->before == index; ++replay) {
        auto again = replay->operators;
        std::erase_if(again, left_out);
        out.sweep(again, recompute_compute, recompute_tensor_comm, recompute_context_comm);
      }
      if (left_out(*op)) continue;
      const bool enters = divided_ && op->seam == Seam::enter;
      if (inputs && op->core) {
        if (!core_done) out.core_backward(ops);
        core_done = true;
      } else if (inputs) {
        if (divided_ && sequence_parallel_ && op->seam == Seam::leave)
          out.communicate(all_gather_, backward_tensor_comm);
        if (enters && sequence_parallel_ && weights)
          out.communicate(all_gather_, backward_tensor_comm, true);
        out.compute(op->input_gradient, input_gradient_compute);
        if (enters) {
          out.wait();
          out.communicate(sequence_parallel_ ? reduce_scatter_ : all_reduce_, backward_tensor_comm,
                          async_ && weights);
        }
      }
      if (weights) {
        out.compute(op->weight_gradient, weight_gradient_compute);
        out.wait();
      }
    }
    const auto gradients = 2 * price.largest;
    // Fetched: what this block reads and what the next will.
    peak = std::max(peak, held + price.recomputed + gradients + (inputs ? 2 * price.offloaded : 0));
    if (weights) held -= price.kept;
    if (inputs != weights) held += (inputs ? 1 : -1) * price.offloaded;
  }
  if (out.empty()) out.compute(Picoseconds{0}, input_gradient_compute);
  auto pieces = out.take();
  pieces.front().body.held = held;
  pieces.front().body.peak = std::max<std::int64_t>(0, peak);
  return pieces;
}

Pieces PassWriter::forward_part(const Block& block, model::Part part) const {
  Writer out(*this, units::Seconds{}, 1.0);
  auto ops = cost(block).operators;
  std::erase_if(ops, [&](const OperatorCost& op) { return op.part != part; });
  out.sweep(ops, forward_compute, forward_tensor_comm, forward_context_comm);
  return out.take();
}

Pieces PassWriter::backward_part(const Block& block, model::Part part) const {
  return backward({block}, Pass::backward, 1.0, part);
}

}  // namespace strategies
