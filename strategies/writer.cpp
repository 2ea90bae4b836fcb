// SPDX-License-Identifier: Apache-2.0
#include "strategies/writer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace strategies {

using model::Seam;
using sim::Lane;
using sim::Picoseconds;

namespace {

// The most that the host takes to issue a kernel, where a call of the framework takes longer: 5 to
// 10 µs for a product of a loop over cuBLAS, 10 to 30 µs for an operation of PyTorch from Python
// (mem, both).
units::Seconds most_issue(units::Issue by) {
  constexpr units::Seconds within_call{7.5e-6}, operation{20e-6};
  switch (by) {
    case units::Issue::within_call:
      return within_call;
    case units::Issue::operation:
      return operation;
    case units::Issue::call:
      break;
  }
  return units::Seconds{std::numeric_limits<double>::infinity()};
}

Picoseconds sum(const KernelRuns& runs) {
  return std::accumulate(runs.begin(), runs.end(), Picoseconds{0});
}

Picoseconds stretched(Picoseconds duration, double by) {
  if (by == 1.0) return duration;
  return static_cast<Picoseconds>(static_cast<double>(duration) * by + 0.5);
}

}  // namespace

PassWriter::Writer::Writer(const PassWriter& of, units::Seconds issue, double slowdown)
    : of_(&of), issue_(issue), slowdown_(slowdown), outside_(of.share_.outside), pieces_(1) {}

void PassWriter::Writer::compute(const KernelRun& run, Activity activity, double slower) {
  const auto all = stretched(run.duration, slowdown_ * slower);
  const auto waiting = std::min(all, stretched(run.waiting, slowdown_ * slower));
  steps().push_back(
      {.lane = Lane::compute, .activity = activity, .joins = pending_, .duration = all - waiting});
  launch(run.asked, run.issue);
  if (waiting > 0)
    steps().push_back({.lane = Lane::compute, .activity = expert_waiting, .duration = waiting});
  pending_ = -1;
  last_compute_ = here();
}

void PassWriter::Writer::compute(const KernelRuns& runs, Activity activity, double slower) {
  for (const auto& run : runs) compute(run, activity, slower);
}

double PassWriter::Writer::beside(const topology::Sending& sending, const KernelRuns& runs) const {
  Interference beside(of_->share_.software);
  beside.add(sending);
  return beside.slowdown(sum(runs));
}

void PassWriter::Writer::enter(Graph graph) {
  if (graph != graph_) launched_ = false;
  graph_ = graph;
}

void PassWriter::Writer::communicate(const topology::Sending& sending, Activity activity,
                                     bool beside) {
  if (outside_) return exchange(FlowKind::tensor, sending, activity, beside);
  follow(activity);
  count_sent(sending);
  send(to_ticks(sending.time()), activity, last_compute_, sending.asked);
  (beside ? beside_ : pending_) = here();
}

void PassWriter::Writer::gather_into(const RowExchanges& rows, const KernelRuns& part,
                                     Activity activity, Activity tensor) {
  const auto cuts = start_parts(tensor);
  const auto from = last_compute_;
  auto copied = rows.all_gather;  // by copy engines, which hold no processors
  copied.processors = 0;
  const double slower = beside(copied, {{of_->share_.plan.tensor * sum(part)}});
  count_sent(rows.all_gather);
  for (std::int64_t i = 0; i < cuts; ++i) {
    const bool sends = i + 1 < cuts;
    if (sends)
      send(to_ticks(rows.all_gather.time()) / (cuts - 1), tensor, from, rows.all_gather.asked);
    const auto arrives = here();
    compute(part, activity, slower);
    if (sends) pending_ = arrives;
  }
  in_parts_ = false;
}

void PassWriter::Writer::scatter_from(const RowExchanges& rows, const KernelRuns& part,
                                      Activity activity, Activity tensor) {
  const auto cuts = start_parts(tensor);
  const double slower = beside(rows.reduce_scatter, {{of_->share_.plan.tensor * sum(part)}});
  count_sent(rows.reduce_scatter);
  std::int32_t sent = -1;
  for (std::int64_t i = 0; i < cuts; ++i) {
    compute(part, activity, slower);
    if (i + 1 == cuts) break;
    send(to_ticks(rows.reduce_scatter.time()) / (cuts - 1), tensor, last_compute_,
         rows.reduce_scatter.asked);
    sent = here();
  }
  pending_ = sent;
  compute(KernelRun{of_->sum_of_parts_}, activity);
  in_parts_ = false;
}

void PassWriter::Writer::wait() {
  if (beside_ >= 0) pending_ = beside_;
  if (beside_piece_ >= 0) {
    if (!steps().empty()) begin_piece();
    pieces_.back().waits_for = beside_piece_;
  }
  beside_ = beside_piece_ = -1;
}

void PassWriter::Writer::sweep(const std::vector<OperatorCost>& ops, const PassActivities& on) {
  const auto& software = of_->share_.software;
  const bool divided = of_->divided_, rows_divided = of_->sequence_parallel_;
  const bool again = on.compute == recompute_compute;
  // The next kernel is of another graph than the last one, unless that is of the whole pass.
  const auto leave_graph = [&] {
    if (again && graph_ != Graph::pass) enter(Graph::none);
  };
  leave_graph();
  // A compiler leaves what runs again inside of the backward pass.
  launches_forward_ = again && !software.compile;
  bool core_done = false;
  for (const auto& op : ops) {
    if (op.core) {
      if (!core_done) core(ops, on.compute, on.context);
      core_done = true;
      continue;
    }
    enter(op.graph);
    if (!op.forward_part.empty()) {
      count(op.flops.forward);
      if (op.seam == Seam::enter)
        gather_into(op.rows, op.forward_part, on.compute, on.tensor);
      else
        scatter_from(op.rows, op.forward_part, on.compute, on.tensor);
      continue;
    }
    if (rows_divided && op.seam == Seam::enter) communicate(op.rows.all_gather, on.tensor);
    if (op.seam == Seam::dispatch && of_->experts_of(op).host_waits) drain();
    count(op.flops.forward);
    compute(op.forward, on.compute);
    if (divided && op.seam == Seam::leave)
      communicate(rows_divided ? op.rows.reduce_scatter : op.rows.all_reduce, on.tensor);
    if (op.seam == Seam::dispatch) experts(of_->experts_of(op).dispatch, on.expert);
    if (op.seam == Seam::combine) experts(of_->experts_of(op).combine, on.expert);
    if (op.divided_loss)
      for (int i = 0; i < 3; ++i) communicate(of_->loss_reduce_, on.tensor);
  }
  launches_forward_ = false;
  leave_graph();
}

void PassWriter::Writer::core(const std::vector<OperatorCost>& ops, Activity compute_activity,
                              Activity context) {
  KernelRuns runs, last;
  double flops = 0;
  for (const auto& op : ops) {
    if (!op.core) continue;
    enter(op.graph);
    flops += op.flops.forward;
    runs.insert(runs.end(), op.forward.begin(), op.forward.end());
    last.insert(last.end(), op.forward_last.begin(), op.forward_last.end());
  }
  core(runs, last, flops, of_->context_.forward, compute_activity, context);
}

void PassWriter::Writer::core_backward(const std::vector<OperatorCost>& ops) {
  KernelRuns runs, last;
  double flops = 0;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    if (!op->core) continue;
    enter(op->graph);
    flops += op->flops.input_gradient;
    runs.insert(runs.end(), op->input_gradient.begin(), op->input_gradient.end());
    last.insert(last.end(), op->input_gradient_last.begin(), op->input_gradient_last.end());
  }
  core(runs, last, flops, of_->context_.backward, input_gradient_compute, backward_context_comm);
}

double PassWriter::Writer::input_gradient(const OperatorCost& op, bool weights) {
  const bool rows_divided = of_->sequence_parallel_,
             enters = of_->divided_ && op.seam == Seam::enter;
  if (!op.input_gradient_part.empty()) {
    if (op.seam == Seam::leave) {
      count(op.flops.input_gradient);
      gather_into(op.rows, op.input_gradient_part, input_gradient_compute, backward_tensor_comm);
      return 1.0;
    }
    if (!weights) {
      count(op.flops.input_gradient);
      scatter_from(op.rows, op.input_gradient_part, input_gradient_compute, backward_tensor_comm);
      return 1.0;
    }
  }
  if (of_->divided_ && rows_divided && op.seam == Seam::leave)
    communicate(op.rows.all_gather, backward_tensor_comm);
  const bool gathers = enters && rows_divided && weights && !of_->keeps_gathered_;
  if (gathers) communicate(op.rows.all_gather, backward_tensor_comm, true);
  if (op.seam == Seam::combine)
    experts(of_->experts_of(op).gradient_dispatch, backward_expert_comm);
  if (op.seam == Seam::dispatch) experts(of_->experts_of(op).combine, backward_expert_comm);
  count(op.flops.input_gradient);
  compute(op.input_gradient, input_gradient_compute,
          gathers ? beside(op.rows.all_gather, op.input_gradient) : 1.0);
  if (!enters) return 1.0;
  const auto& reduction = rows_divided ? op.rows.reduce_scatter : op.rows.all_reduce;
  const bool hides = of_->async_ && weights;
  wait();
  communicate(reduction, backward_tensor_comm, hides);
  return hides ? beside(reduction, op.weight_gradient) : 1.0;
}

void PassWriter::Writer::experts(const std::optional<topology::Sending>& sending,
                                 Activity activity) {
  if (!sending) return;
  if (of_->experts_.front().group == FlowKind::tensor) return communicate(*sending, activity);
  exchange(of_->experts_.front().group, *sending, activity, false);
}

Pieces PassWriter::Writer::take() {
  if (pieces_.size() > 1 && pieces_.back().body.steps.empty()) pieces_.pop_back();
  return std::move(pieces_);
}

void PassWriter::Writer::core(const KernelRuns& runs, const KernelRuns& last, double flops,
                              const ContextExchanges::Round& round, Activity compute_activity,
                              Activity context) {
  const bool hides = of_->context_.beside();
  const double of_last = flops * static_cast<double>(of_->context_.last_parts) /
                         static_cast<double>(of_->share_.plan.context);
  if (round.before) exchange(FlowKind::context, *round.before, context, hides);
  count(flops - of_last);
  compute(runs, compute_activity, hides ? beside(*round.before, runs) : 1.0);
  if (hides) wait();
  if (round.within) exchange(FlowKind::context, *round.within, context, true);
  count(of_last);
  compute(last, compute_activity, round.within ? beside(*round.within, last) : 1.0);
  if (round.within) wait();
  if (round.after) exchange(FlowKind::context, *round.after, context, false);
}

std::int64_t PassWriter::Writer::start_parts(Activity tensor) {
  follow(tensor);
  if (graph_ == Graph::none) launched_ = false;
  in_parts_ = true;
  return of_->share_.plan.tensor;
}

void PassWriter::Writer::launch(std::uint32_t asked, units::Issue by) {
  if (asked != 0) {
    auto& body = pieces_.back().body;
    body.asked.resize(body.steps.size());
    body.asked.back() = asked;
  }
  const bool with_others = graph_ != Graph::none || in_parts_;
  if (with_others && std::exchange(launched_, true)) return;
  auto& step = steps().back();
  const auto& software = of_->share_.software;
  const bool as_forward = launches_forward_ && graph_ == Graph::none;
  const auto issue = std::min(as_forward ? software.launch_forward : issue_, most_issue(by));
  (software.launch_blocking ? step.duration : step.issue) +=
      std::exchange(ahead_, 0) + to_ticks(of_->call_time_ * issue);
}

void PassWriter::Writer::send(Picoseconds duration, Activity activity, std::int32_t after,
                              std::uint32_t asked) {
  steps().push_back({.lane = Lane::tensor,
                     .rendezvous = true,
                     .activity = activity,
                     .joins = after,
                     .duration = duration});
  launch(asked);
}

void PassWriter::Writer::follow(Activity activity) {
  if (!steps().empty()) return;
  steps().push_back({.lane = Lane::compute, .activity = activity});
  last_compute_ = here();
}

void PassWriter::Writer::begin_piece() {
  pieces_.emplace_back();
  last_compute_ = pending_ = -1;
}

void PassWriter::Writer::drain() {
  if (!steps().empty()) begin_piece();
  pieces_.back().body.drains = true;
  launched_ = false;
}

void PassWriter::Writer::exchange(FlowKind group, const topology::Sending& sending,
                                  Activity activity, bool beside) {
  follow(activity);
  pieces_.back().then = Exchange{group, sending, activity};
  const auto index = static_cast<int>(pieces_.size()) - 1;
  begin_piece();
  (beside ? beside_piece_ : pieces_.back().waits_for) = index;
}

}  // namespace strategies
