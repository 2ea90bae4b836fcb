// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism (Shoeybi et al. 2019; with sequence parallelism Korthikanti et al. 2022):
// plain: an all-reduce after each row-parallel product forward, after each column-parallel
// product's input gradient backward. With sequence parallelism the rows are gathered before a
// column-parallel product and reduce-scattered after a row-parallel one; backward mirrors this, and
// gathers the column-parallel input once more for the weight gradient, under the input gradient.
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

std::int64_t padded_vocab(const Share& share) {
  const auto multiple = share.software.vocab_multiple * share.plan.tensor;
  return (share.model.vocab + multiple - 1) / multiple * multiple;
}

model::Extent extent_of(const Share& share) {
  const auto t = share.plan.tensor;
  auto extent = model::whole(share.model, share.plan.micro_batch, share.training.sequence_length);
  extent.heads /= t;
  extent.kv_heads = std::max<std::int64_t>(1, extent.kv_heads / t);
  extent.ffn /= t;
  extent.vocab = padded_vocab(share) / t;
  if (share.plan.sequence_parallel && t > 1) extent.rows /= t;
  return extent;
}

// Appends steps; computation waits for the last collective unless told that it may run beside it.
class PassWriter::Writer {
 public:
  // `outside`: collectives are exchanges.
  Writer(Picoseconds issue, double slowdown, bool outside)
      : issue_(issue), slowdown_(slowdown), outside_(outside), pieces_(1) {}

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
    // A collective at the head of a pass still follows what the compute lane did before it.
    if (steps().empty()) {
      steps().push_back({.lane = Lane::compute, .activity = activity});
      last_compute_ = here();
    }
    if (outside_) return exchange(sending, activity, beside);
    steps().push_back({.lane = Lane::tensor,
                       .rendezvous = true,
                       .activity = activity,
                       .joins = last_compute_,
                       .issue = issue_,
                       .duration = to_ticks(sending.time())});
    (beside ? beside_ : pending_) = here();
  }
  void wait() {
    if (beside_ < 0) return;
    if (!outside_)
      pending_ = beside_;
    else if (steps().empty())
      pieces_.back().waits_for = beside_;
    else
      pieces_.push_back({.waits_for = beside_});
    beside_ = -1;
  }
  // Without a last piece that would do nothing.
  Pieces take() {
    if (pieces_.size() > 1 && pieces_.back().body.steps.empty()) pieces_.pop_back();
    return std::move(pieces_);
  }
  bool empty() const { return pieces_.size() == 1 && pieces_.front().body.steps.empty(); }

 private:
  std::vector<sim::Step>& steps() { return pieces_.back().body.steps; }
  std::int32_t here() const {
    return static_cast<std::int32_t>(pieces_.back().body.steps.size()) - 1;
  }
  void exchange(const topology::Sending& sending, Activity activity, bool beside) {
    pieces_.back().then = Exchange{FlowKind::tensor, sending, activity};
    const auto index = static_cast<int>(pieces_.size()) - 1;
    pieces_.push_back({.waits_for = beside ? -1 : index});
    if (beside) beside_ = index;
  }
  Picoseconds stretched(Picoseconds duration) const {
    if (slowdown_ == 1.0) return duration;
    return static_cast<Picoseconds>(static_cast<double>(duration) * slowdown_ + 0.5);
  }
  Picoseconds issue_;
  double slowdown_;
  bool outside_;
  Pieces pieces_;
  std::int32_t last_compute_ = -1, pending_ = -1, beside_ = -1;  // steps; or pieces, outside
};

sim::Spent alone(const Pieces& pieces) {
  sim::Spent spent;
  for (const auto& piece : pieces) {
    spent += sim::alone(piece.body);
    if (piece.then) spent.on[piece.then->activity] += to_ticks(piece.then->sending.time());
  }
  return spent;
}

sim::Picoseconds PassWriter::row_gather() const { return to_ticks(all_gather_.time()); }

PassWriter::PassWriter(const Share& share, const Costs& costs) : share_(share) {
  divided_ = share.plan.tensor > 1;
  sequence_parallel_ = share.plan.sequence_parallel && divided_;
  async_ = share.plan.overlap.tensor.value_or(share.software.overlap_tensor);
  if (divided_) {
    const auto extent = extent_of(share);
    const auto tokens = static_cast<double>(extent.tokens());
    const double element = std::max(2.0, units::element_bytes(share.training.precision));
    const units::Bytes rows{tokens * static_cast<double>(share.model.hidden) * element};
    const auto time = [&](topology::Collective kind, units::Bytes size) {
      auto sending = costs.collective(kind, size, share.tensor_shape);
      sending.rate.value = std::min(sending.rate.value, share.tensor_rate);
      return sending;
    };
    all_reduce_ = time(topology::Collective::all_reduce, rows);
    all_gather_ = time(topology::Collective::all_gather, rows);
    reduce_scatter_ = time(topology::Collective::reduce_scatter, rows);
    loss_reduce_ = time(topology::Collective::all_reduce, units::Bytes{4 * tokens});
  }
  for (auto kind : {Block::Kind::embedding, Block::Kind::layer, Block::Kind::head})
    for (bool windowed : {false, true}) {
      if (windowed && (kind != Block::Kind::layer || !share.model.window)) continue;
      const Block block{kind, windowed, Drop::nothing};
      prices_.emplace_back(block, price(block, costs));
      if (kind != Block::Kind::layer) continue;
      for (Drop drop : {Drop::core, Drop::everything}) {
        auto dropped = price({kind, windowed, drop}, costs);
        prices_.emplace_back(Block{kind, windowed, drop}, std::move(dropped));
      }
    }
}

namespace {

model::Operators operators_of(const Share& share, const Block& block) {
  const auto extent = extent_of(share);
  auto kernels = share.software.kernels;
  kernels.scaling = share.training.fp8_recipe;
  const auto precision = share.training.precision;
  switch (block.kind) {
    case Block::Kind::embedding:
      return model::embedding(share.model, extent, kernels, precision);
    case Block::Kind::head:
      return model::head(share.model, extent, kernels, precision);
    case Block::Kind::layer:
      break;
  }
  return model::layer(share.model, extent, kernels, precision,
                      block.windowed ? share.model.window->size : 0);
}

// A compiler fuses neighbouring element-wise kernels: they then move the data of the largest.
void fuse_streams(std::vector<units::Kernel>& kernels) {
  std::vector<units::Kernel> fused;
  for (const auto& kernel : kernels) {
    const bool joins = !fused.empty() && kernel.kind == units::Kernel::Kind::stream &&
                       fused.back().kind == units::Kernel::Kind::stream;
    if (joins)
      fused.back().traffic = std::max(fused.back().traffic, kernel.traffic);
    else
      fused.push_back(kernel);
  }
  kernels = std::move(fused);
}

}  // namespace

BlockCost PassWriter::price(const Block& block, const Costs& costs) const {
  BlockCost cost;
  const auto times = [&](std::vector<units::Kernel> kernels) {
    if (share_.software.compile) fuse_streams(kernels);
    std::vector<Picoseconds> durations;
    for (const auto& kernel : kernels)
      durations.push_back(to_ticks(costs.kernel(kernel, share_.gpu)));
    return durations;
  };
  const bool known = !prices_.empty() && block.drop != Drop::nothing;
  for (const auto& op : operators_of(share_, block)) {
    if (!known)
      cost.operators.push_back({.seam = op.seam,
                                .part = op.part,
                                .core = op.core,
                                .forward = times(op.forward),
                                .input_gradient = times(op.input_gradient),
                                .weight_gradient = times(op.weight_gradient),
                                .divided_loss = divided_ && op.name == "cross entropy"});
    cost.parameters += op.parameters;
    cost.cast += model::narrow_weights(op);
    cost.largest = std::max(cost.largest, static_cast<std::int64_t>(op.largest.value));
    for (const auto& tensor : op.kept) {
      const bool dropped = (block.drop == Drop::everything && !tensor.layer_input) ||
                           (block.drop == Drop::core && tensor.core);
      (dropped ? cost.recomputed : cost.kept) += static_cast<std::int64_t>(tensor.size.value);
    }
  }
  if (known) cost.operators = this->cost({block.kind, block.windowed, Drop::nothing}).operators;
  return cost;
}

const BlockCost& PassWriter::cost(const Block& block) const {
  for (const auto& [known, cost] : prices_)
    if (known == block) return cost;
  throw std::invalid_argument("no such block in this model");
}

namespace {

// Seams and kernels of one forward sweep over a block.
template <class Writer>
struct ForwardSweep {
  Writer& out;
  bool divided, sequence_parallel;
  const topology::Sending &all_reduce, &all_gather, &reduce_scatter, &loss_reduce;

  void run(const OperatorCost& op, Activity compute, Activity comm) const {
    if (divided && sequence_parallel && op.seam == Seam::enter) out.communicate(all_gather, comm);
    out.compute(op.forward, compute);
    if (divided && op.seam == Seam::leave)
      out.communicate(sequence_parallel ? reduce_scatter : all_reduce, comm);
    if (op.divided_loss)
      for (int i = 0; i < 3; ++i) out.communicate(loss_reduce, comm);
  }
};

}  // namespace

Pieces PassWriter::forward(const std::vector<Block>& blocks, double slowdown) const {
  Writer out(to_ticks(share_.software.launch_forward), slowdown, share_.outside);
  const ForwardSweep<Writer> sweep{out,         divided_,        sequence_parallel_, all_reduce_,
                                   all_gather_, reduce_scatter_, loss_reduce_};
  std::int64_t held = 0, peak = 0;
  for (const auto& block : blocks) {
    const auto& price = cost(block);
    for (const auto& op : price.operators) sweep.run(op, forward_compute, forward_tensor_comm);
    peak = std::max(peak, held + price.kept + price.recomputed + price.largest);
    held += price.kept;
  }
  if (out.empty()) out.compute(Picoseconds{0}, forward_compute);
  auto pieces = out.take();
  pieces.front().body.held = held;
  pieces.front().body.peak = peak;
  return pieces;
}

Pieces PassWriter::backward(const std::vector<Block>& blocks, Pass pass, double slowdown) const {
  Writer out(to_ticks(share_.software.launch_backward), slowdown, share_.outside);
  const ForwardSweep<Writer> sweep{out,         divided_,        sequence_parallel_, all_reduce_,
                                   all_gather_, reduce_scatter_, loss_reduce_};
  const bool inputs = pass != Pass::backward_weight, weights = pass != Pass::backward_input;
  std::int64_t held = 0, peak = 0;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const auto& price = cost(*block);
    const auto& ops = price.operators;
    if (inputs && block->drop == Drop::everything)
      for (const auto& op : ops) sweep.run(op, recompute_compute, recompute_tensor_comm);
    bool core_again = inputs && block->drop == Drop::core;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (op->core && core_again) {
        for (const auto& again : ops)
          if (again.core) out.compute(again.forward, recompute_compute);
        core_again = false;
      }
      const bool enters = divided_ && op->seam == Seam::enter;
      if (inputs) {
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
    peak = std::max(peak, held + price.recomputed + gradients);
    if (weights) held -= price.kept;
  }
  if (out.empty()) out.compute(Picoseconds{0}, input_gradient_compute);
  auto pieces = out.take();
  pieces.front().body.held = held;
  pieces.front().body.peak = std::max<std::int64_t>(0, peak);
  return pieces;
}

Pieces PassWriter::forward_part(const Block& block, model::Part part) const {
  Writer out(0, 1.0, share_.outside);
  const ForwardSweep<Writer> sweep{out,         divided_,        sequence_parallel_, all_reduce_,
                                   all_gather_, reduce_scatter_, loss_reduce_};
  for (const auto& op : cost(block).operators)
    if (op.part == part) sweep.run(op, forward_compute, forward_tensor_comm);
  return out.take();
}

Pieces PassWriter::backward_part(const Block& block, model::Part part) const {
  // The same walk over a block that has only this part's operators.
  PassWriter only = *this;
  for (auto& [known, price] : only.prices_)
    std::erase_if(price.operators, [&](const OperatorCost& op) { return op.part != part; });
  return only.backward({block}, Pass::backward);
}

}  // namespace strategies
