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
#include <numeric>
#include <stdexcept>
#include <utility>

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

namespace {

// What a forward sweep over a block is spent on.
struct Sweep {
  Activity compute, tensor, context, expert;
};
constexpr Sweep first_time{forward_compute, forward_tensor_comm, forward_context_comm,
                           forward_expert_comm};
constexpr Sweep once_more{recompute_compute, recompute_tensor_comm, recompute_context_comm,
                          recompute_expert_comm};

}  // namespace

// Appends steps; computation waits for the last collective unless told that it may run beside it.
class PassWriter::Writer {
 public:
  Writer(const PassWriter& of, units::Seconds issue, double slowdown)
      : of_(of),
        issue_(to_ticks(issue)),
        slowdown_(slowdown),
        outside_(of.share_.outside),
        pieces_(1) {}

  void compute(Picoseconds duration, Activity activity, double slower = 1.0) {
    steps().push_back({.lane = Lane::compute,
                       .activity = activity,
                       .joins = pending_,
                       .issue = issue(),
                       .duration = stretched(duration, slower)});
    pending_ = -1;
    last_compute_ = here();
  }
  void compute(const std::vector<Picoseconds>& durations, Activity activity, double slower = 1.0) {
    for (auto duration : durations) compute(duration, activity, slower);
  }
  // How much slower computation is that so much is sent beside.
  double beside(const topology::Sending& sending, const std::vector<Picoseconds>& durations) const {
    return slowdown_beside(of_.share_.software.interference, to_ticks(sending.time()),
                           sum(durations));
  }
  // What follows belongs to this graph.
  void enter(Graph graph) {
    if (graph != graph_) launched_ = false;
    graph_ = graph;
  }
  // Begins after all computation so far. The next computation waits for it, unless `beside`: then
  // wait() says when.
  void communicate(const topology::Sending& sending, Activity activity, bool beside = false) {
    if (outside_) return exchange(FlowKind::tensor, sending, activity, beside);
    follow(activity);
    send(to_ticks(sending.time()), activity, last_compute_);
    (beside ? beside_ : pending_) = here();
  }
  // Both as tensor_overlap.hpp has them; `part` is one of t of the product.
  void gather_into(const RowExchanges& rows, const std::vector<Picoseconds>& part,
                   Activity activity, Activity tensor) {
    const auto cuts = start_parts(tensor);
    const auto from = last_compute_;
    const double slower = beside(rows.all_gather, whole(part));
    for (std::int64_t i = 0; i < cuts; ++i) {
      const bool sends = i + 1 < cuts;
      if (sends) send(to_ticks(rows.all_gather.time()) / (cuts - 1), tensor, from);
      const auto arrives = here();
      compute(part, activity, slower);
      if (sends) pending_ = arrives;
    }
    in_parts_ = false;
  }
  void scatter_from(const RowExchanges& rows, const std::vector<Picoseconds>& part,
                    Activity activity, Activity tensor) {
    const auto cuts = start_parts(tensor);
    const double slower = beside(rows.reduce_scatter, whole(part));
    std::int32_t sent = -1;
    for (std::int64_t i = 0; i < cuts; ++i) {
      compute(part, activity, slower);
      if (i + 1 == cuts) break;
      send(to_ticks(rows.reduce_scatter.time()) / (cuts - 1), tensor, last_compute_);
      sent = here();
    }
    pending_ = sent;
    compute(of_.sum_of_parts_, activity);
    in_parts_ = false;
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
  void sweep(const std::vector<OperatorCost>& ops, const Sweep& on) {
    const bool divided = of_.divided_, rows_divided = of_.sequence_parallel_;
    bool core_done = false;
    for (const auto& op : ops) {
      if (op.core) {
        if (!core_done) core(ops, on.compute, on.context);
        core_done = true;
        continue;
      }
      enter(op.graph);
      if (!op.forward_part.empty()) {
        if (op.seam == Seam::enter)
          gather_into(op.rows, op.forward_part, on.compute, on.tensor);
        else
          scatter_from(op.rows, op.forward_part, on.compute, on.tensor);
        continue;
      }
      if (rows_divided && op.seam == Seam::enter) communicate(op.rows.all_gather, on.tensor);
      if (op.seam == Seam::dispatch && of_.host_waits_) drain();
      compute(op.forward, on.compute);
      if (divided && op.seam == Seam::leave)
        communicate(rows_divided ? op.rows.reduce_scatter : op.rows.all_reduce, on.tensor);
      if (op.seam == Seam::dispatch) experts(of_.experts_.dispatch, on.expert);
      if (op.seam == Seam::combine) experts(of_.experts_.combine, on.expert);
      if (op.divided_loss)
        for (int i = 0; i < 3; ++i) communicate(of_.loss_reduce_, on.tensor);
    }
  }
  // The attention core of a block, forward.
  void core(const std::vector<OperatorCost>& ops, Activity compute_activity, Activity context) {
    std::vector<Picoseconds> durations, last;
    for (const auto& op : ops) {
      if (!op.core) continue;
      enter(op.graph);
      durations.insert(durations.end(), op.forward.begin(), op.forward.end());
      last.insert(last.end(), op.forward_last.begin(), op.forward_last.end());
    }
    core(durations, last, of_.context_.forward, compute_activity, context);
  }
  // And its input gradient.
  void core_backward(const std::vector<OperatorCost>& ops) {
    std::vector<Picoseconds> durations, last;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (!op->core) continue;
      enter(op->graph);
      durations.insert(durations.end(), op->input_gradient.begin(), op->input_gradient.end());
      last.insert(last.end(), op->input_gradient_last.begin(), op->input_gradient_last.end());
    }
    core(durations, last, of_.context_.backward, input_gradient_compute, backward_context_comm);
  }
  // Of tokens or their gradients, to experts or back.
  void experts(const std::optional<topology::Sending>& sending, Activity activity) {
    if (!sending) return;
    if (of_.experts_.group == FlowKind::tensor) return communicate(*sending, activity);
    exchange(of_.experts_.group, *sending, activity, false);
  }
  // Without a last piece that would do nothing.
  Pieces take() {
    if (pieces_.size() > 1 && pieces_.back().body.steps.empty()) pieces_.pop_back();
    return std::move(pieces_);
  }
  bool empty() const { return pieces_.size() == 1 && pieces_.front().body.steps.empty(); }

 private:
  // `last` waits for what is sent beside the others.
  void core(const std::vector<Picoseconds>& durations, const std::vector<Picoseconds>& last,
            const ContextExchanges::Round& round, Activity compute_activity, Activity context) {
    const bool hides = of_.context_.beside;
    if (round.before) exchange(FlowKind::context, *round.before, context, hides);
    compute(durations, compute_activity, hides ? beside(*round.before, durations) : 1.0);
    if (hides) wait();
    compute(last, compute_activity);
    if (round.after) exchange(FlowKind::context, *round.after, context, false);
  }
  static Picoseconds sum(const std::vector<Picoseconds>& durations) {
    return std::accumulate(durations.begin(), durations.end(), Picoseconds{0});
  }
  std::vector<Picoseconds> whole(const std::vector<Picoseconds>& part) const {
    return {of_.share_.plan.tensor * sum(part)};
  }
  // Returns how many parts there are.
  std::int64_t start_parts(Activity tensor) {
    follow(tensor);
    if (graph_ == Graph::none) launched_ = false;
    in_parts_ = true;
    return of_.share_.plan.tensor;
  }
  // A graph, or a product in parts, is launched with its first kernel.
  Picoseconds issue() {
    if (graph_ == Graph::none && !in_parts_) return issue_;
    return std::exchange(launched_, true) ? 0 : issue_;
  }
  void send(Picoseconds duration, Activity activity, std::int32_t after) {
    steps().push_back({.lane = Lane::tensor,
                       .rendezvous = true,
                       .activity = activity,
                       .joins = after,
                       .issue = issue(),
                       .duration = duration});
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
  // The host waits for the device before it issues more.
  void drain() {
    if (!steps().empty()) begin_piece();
    pieces_.back().body.drains = true;
  }
  void exchange(FlowKind group, const topology::Sending& sending, Activity activity, bool beside) {
    follow(activity);
    pieces_.back().then = Exchange{group, sending, activity};
    const auto index = static_cast<int>(pieces_.size()) - 1;
    begin_piece();
    (beside ? beside_piece_ : pieces_.back().waits_for) = index;
  }
  Picoseconds stretched(Picoseconds duration, double slower) const {
    const double by = slowdown_ * slower;
    if (by == 1.0) return duration;
    return static_cast<Picoseconds>(static_cast<double>(duration) * by + 0.5);
  }
  const PassWriter& of_;
  Picoseconds issue_;
  double slowdown_;
  bool outside_;
  Graph graph_ = Graph::none;
  bool launched_ = false, in_parts_ = false;
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

sim::Picoseconds PassWriter::row_gather() const { return to_ticks(rows_.all_gather.time()); }

Pieces PassWriter::forward(const std::vector<Block>& blocks, double slowdown) const {
  Writer out(*this, share_.software.launch_forward, slowdown);
  std::int64_t held = 0, peak = 0;
  for (const auto& block : blocks) {
    const auto& price = cost(block);
    out.sweep(price.operators, first_time);
    // What is copied to the host leaves at the latest with the next but one
    // (activation_offload.cpp).
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
        out.sweep(again, once_more);
      }
      if (left_out(*op)) continue;
      const bool enters = divided_ && op->seam == Seam::enter;
      const bool cut = !op->input_gradient_part.empty();
      out.enter(op->graph);
      double slower = 1.0;  // of the weight gradient
      if (inputs && op->core) {
        if (!core_done) out.core_backward(ops);
        core_done = true;
      } else if (inputs && cut && op->seam == Seam::leave) {
        out.gather_into(op->rows, op->input_gradient_part, input_gradient_compute,
                        backward_tensor_comm);
      } else if (inputs && cut && !weights) {
        out.scatter_from(op->rows, op->input_gradient_part, input_gradient_compute,
                         backward_tensor_comm);
      } else if (inputs) {
        if (divided_ && sequence_parallel_ && op->seam == Seam::leave)
          out.communicate(op->rows.all_gather, backward_tensor_comm);
        const bool gathers = enters && sequence_parallel_ && weights;
        if (gathers) out.communicate(op->rows.all_gather, backward_tensor_comm, true);
        if (op->seam == Seam::combine) out.experts(experts_.dispatch, backward_expert_comm);
        if (op->seam == Seam::dispatch) out.experts(experts_.combine, backward_expert_comm);
        out.compute(op->input_gradient, input_gradient_compute,
                    gathers ? out.beside(op->rows.all_gather, op->input_gradient) : 1.0);
        if (enters) {
          const auto& reduction =
              sequence_parallel_ ? op->rows.reduce_scatter : op->rows.all_reduce;
          const bool hides = async_ && weights;
          out.wait();
          out.communicate(reduction, backward_tensor_comm, hides);
          if (hides) slower = out.beside(reduction, op->weight_gradient);
        }
      }
      if (weights) {
        out.compute(op->weight_gradient, weight_gradient_compute, slower);
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
  out.sweep(ops, first_time);
  return out.take();
}

Pieces PassWriter::backward_part(const Block& block, model::Part part) const {
  return backward({block}, Pass::backward, 1.0, part);
}

}  // namespace strategies
