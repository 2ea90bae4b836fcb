// SPDX-License-Identifier: Apache-2.0
// The steps of one pass as they are appended, in pieces. Private to the room.
#pragma once
#include <optional>
#include <vector>

#include "strategies/activity.hpp"
#include "strategies/passes.hpp"

namespace strategies {

// The activities of a forward sweep over a block.
struct PassActivities {
  Activity compute, tensor, context, expert;
};

// Appends steps; computation waits for the last collective unless told that it may run beside it.
class PassWriter::Writer {
  using Picoseconds = sim::Picoseconds;

 public:
  Writer(const PassWriter& of, units::Seconds issue, double slowdown);

  // From now on, pieces are of the blocks that this writer prices.
  void run_as(const PassWriter& writer) { of_ = &writer; }
  void compute(const KernelRun& run, Activity activity, double slower = 1.0);
  void compute(const KernelRuns& runs, Activity activity, double slower = 1.0);
  // The factor by which computation is slower beside this communication.
  double beside(const topology::Sending& sending, const KernelRuns& runs) const;
  // Counts the operations of the work that is computed next, in the piece that is being written.
  void count(double flops) { pieces_.back().body.flops += flops; }
  void count_sent(const topology::Sending& sending) {
    pieces_.back().body.sent += sending.bytes.value;
  }
  // From now on, kernels belong to this graph.
  void enter(Graph graph);
  // Adds communication that begins after all computation so far. The next computation waits for it,
  // unless `beside`: then wait() says when.
  void communicate(const topology::Sending& sending, Activity activity, bool beside = false);
  // Both write parts as tensor_overlap.hpp has them; `part` is one of t of the product.
  void gather_into(const RowExchanges& rows, const KernelRuns& part, Activity activity,
                   Activity tensor);
  void scatter_from(const RowExchanges& rows, const KernelRuns& part, Activity activity,
                    Activity tensor);
  // Waits for the communication that runs beside computation.
  void wait();

  // One forward sweep over a block, or over what runs again of one. The host issues both alike.
  void sweep(const std::vector<OperatorCost>& ops, const PassActivities& on);
  // Adds calls of the framework that launch nothing: the host makes them before its next launch.
  void call(std::int64_t times) { ahead_ += times * to_ticks(of_->call_time_ * issue_); }
  // The attention core of a block, forward.
  void core(const std::vector<OperatorCost>& ops, Activity compute_activity, Activity context);
  // Writes the core's backward pass, with its input gradient.
  void core_backward(const std::vector<OperatorCost>& ops);
  // Writes the input gradient of an operator outside the attention core. Returns how much slower
  // its weight gradient is, if `weights` says that it follows, beside what is sent.
  double input_gradient(const OperatorCost& op, bool weights);
  // Writes the exchange of tokens or of their gradients, to experts or back.
  void experts(const std::optional<topology::Sending>& sending, Activity activity);
  // Returns the pieces, without a last one that would do nothing.
  Pieces take();
  bool empty() const { return pieces_.size() == 1 && pieces_.front().body.steps.empty(); }

 private:
  // `last` waits for what is sent beside the others.
  void core(const KernelRuns& runs, const KernelRuns& last, double flops,
            const ContextExchanges::Round& round, Activity compute_activity, Activity context);
  // Begins a product in parts; returns their number.
  std::int64_t start_parts(Activity tensor);
  // Launches the last step, of the question with this number. A graph, or a product in parts, is
  // launched with its first kernel.
  void launch(std::uint32_t asked, units::Issue by = units::Issue::call);
  void send(Picoseconds duration, Activity activity, std::int32_t after, std::uint32_t asked);
  std::vector<sim::Step>& steps() { return pieces_.back().body.steps; }
  std::int32_t here() const {
    return static_cast<std::int32_t>(pieces_.back().body.steps.size()) - 1;
  }
  // Lets a collective at the head of a pass follow what the compute lane did before it.
  void follow(Activity activity);
  void begin_piece();
  // Lets the host wait for the device before it issues more; no graph goes on beyond that.
  void drain();
  void exchange(FlowKind group, const topology::Sending& sending, Activity activity, bool beside);

  const PassWriter* of_;
  units::Seconds issue_;   // of a call, in the software profile
  Picoseconds ahead_ = 0;  // of the host, before its next launch
  double slowdown_;
  bool outside_;
  Graph graph_ = Graph::none;
  bool launched_ = false, in_parts_ = false;
  bool launches_forward_ = false;  // kernels outside of graphs, as in the forward pass
  Pieces pieces_;
  std::int32_t last_compute_ = -1, pending_ = -1, beside_ = -1;  // steps of the last piece
  int beside_piece_ = -1;
};

}  // namespace strategies
