// SPDX-License-Identifier: Apache-2.0
// A range of a stage's layers as the steps of a pass, on one rank of a tensor-parallel group.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "model/layer.hpp"
#include "plans/duties.hpp"
#include "plans/holdings.hpp"
#include "plans/plan.hpp"
#include "plans/recompute.hpp"
#include "plans/schedules/schedule.hpp"
#include "plans/software.hpp"
#include "sim/measures.hpp"
#include "sim/program.hpp"
#include "strategies/costs.hpp"
#include "strategies/graphs.hpp"
#include "strategies/interference.hpp"
#include "strategies/routes.hpp"
#include "strategies/ticks.hpp"

namespace strategies {

// One block of a stage: the embedding, a layer, the head, or a module that predicts a token
// further.
struct Block {
  enum class Kind : std::uint8_t { embedding, layer, head, prediction };
  Kind kind = Kind::layer;
  bool windowed = false;
  bool experts = false;  // its MLP is a mixture of experts
  bool wide = false;     // its linear layers stay in 16 bit where others are in 8 or 4
  Drop drop;
  // The time from which its input is kept: 0 from its forward pass on, n from the n-th time on that
  // it is made again, `inside` only for its own backward pass.
  static constexpr std::uint8_t inside = 0xff;
  std::uint8_t checkpoint = 0;
  // Whether the block is divided over Plan::layer_tensor ranks; and whether the one before, or
  // behind, is not.
  bool regrouped = false, regroups_before = false, regroups_after = false;
  ModuleSet offloaded;        // kept tensors of these modules wait in host memory
  bool keeps_output = false;  // which went to another stage
  friend auto operator<=>(const Block&, const Block&) = default;
};

// Blocks that are played as one pass, in model order: a virtual stage, or a run of its blocks.
using Segment = std::vector<Block>;

// Everything that shapes a rank's share of the model besides the plan's degrees.
struct Share {
  const model::Transformer& model;
  const Plan& plan;
  const Training& training;
  const Software& software;
  topology::GroupShape tensor_shape = {};  // of its tensor-parallel group
  // The most that this group can send through each of its ports, bytes/s.
  double tensor_rate = std::numeric_limits<double>::infinity();
  bool outside = false;  // some tensor-parallel group of the job lies on several nodes
  Gpu gpu = {};
  int processors = 0;                       // of that GPU; 0: not known
  topology::GroupShape context_shape = {};  // of its context-parallel group
  // The shape of its expert-parallel group, whose ranks hold all experts (or the same part of
  // each).
  topology::GroupShape expert_shape = {};
  // The shape of the group that divides what the rank holds apart, its experts or regrouped layers,
  // if that is not its tensor-parallel group.
  topology::GroupShape apart_tensor_shape = {};
  // The shape of the group of ranks that have the same place in regrouped layers' groups, inside of
  // one of the plan's groups.
  topology::GroupShape regrouping_shape = {};
  bool counts_flops = false;  // passes say what they compute (flops.hpp)
  // Loads (plans/expert_loads.hpp) of its own experts, and of those of the fullest rank of its
  // group, for which it waits behind them. Absent: the rank is the mean one (experts.hpp).
  struct Loaded {
    double own = 1, fullest = 1;
    friend auto operator<=>(const Loaded&, const Loaded&) = default;
  };
  std::optional<Loaded> loaded = {};
};

PerOp per_op(const Share& share);
// Rows of the vocabulary after padding to a multiple of software.vocab_multiple · tensor.
std::int64_t padded_vocab(const Share& share);
// The extent that one rank computes outside the attention core: its part of each sequence. Experts
// count as those of the fullest rank of its group.
model::Extent extent_of(const Share& share);
// The same but for the rows of its experts, which it costs more to count: up to O(200 · experts).
model::Extent dense_extent_of(const Share& share);

// Steps of Muon's iteration (Jordan et al. 2024).
inline constexpr int newton_schulz_steps = 5;

// The collectives by which the rows of a microbatch meet over the tensor-parallel group.
struct RowExchanges {
  topology::Sending all_reduce, all_gather, reduce_scatter;
};

// The operations of one operator, as flops.hpp counts them.
struct OperatorFlops {
  double forward = 0, input_gradient = 0, weight_gradient = 0;
};

// One run of a kernel. `waiting`: the part of its duration by which a fuller rank computes
// longer.
struct KernelRun {
  sim::Picoseconds duration = 0;
  units::Issue issue = units::Issue::call;
  sim::Picoseconds waiting = 0;
  std::uint32_t asked = 0;  // number of the kernel's question (Costs::questions); 0: none
  operator sim::Picoseconds() const { return duration; }
};
using KernelRuns = std::vector<KernelRun>;

// Durations of one block's operators, looked up once.
struct OperatorCost {
  model::Seam seam;
  model::Part part;
  bool core;
  bool wide = false;  // of a block that stays in 16 bit
  KernelRuns forward, input_gradient, weight_gradient;
  RowExchanges rows;          // at its seam, where layers are divided
  bool divided_loss = false;  // cross entropy over a divided vocabulary: three small all-reduces
  Graph graph = Graph::none;
  // For an attention core beside an exchange of keys: the kernels that wait for the last of them,
  // besides those above.
  KernelRuns forward_last, input_gradient_last;
  // Kernels of one of t parts, where communication is pipelined with the operator.
  KernelRuns forward_part, input_gradient_part;
  OperatorFlops flops;  // if the share counts them
};
// Operators that run again before the gradients of another.
struct ReplayCost {
  std::size_t before;
  std::vector<OperatorCost> operators;
};
struct BlockCost {
  std::vector<OperatorCost> operators;
  std::vector<ReplayCost> replays;  // in the order of the backward pass
  // Calls of the framework that begin what runs again, each way (checkpoints_of).
  std::int64_t checkpoints = 0;
  // The block's parameters on this rank. Experts, and layers that are regrouped, count as held
  // apart, even if the same ranks share them as share the rest (Placement::holds_apart).
  Parameters parameters;
  // Those that narrow products read copies of, and of these the ones held apart.
  double cast = 0, cast_apart = 0;
  // The parameters in weight matrices of layers, which Muon orthogonalises, and the products of one
  // of its steps.
  Parameters matrices;
  std::vector<units::Kernel> newton_schulz, apart_newton_schulz;
  std::int64_t kept = 0;        // bytes on the device from forward to backward, by the block's drop
  std::int64_t offloaded = 0;   // bytes on the host meanwhile
  std::int64_t recomputed = 0;  // bytes that the backward pass makes again
  std::int64_t input = 0;       // of these or of what is kept, the layer's input
  // The most by which a forward run takes more than all that the block keeps or makes again, an
  // operator's largest tensor included: tensors of later operators are not there yet.
  std::int64_t largest_growing = 0;
  // The most that gradients take beside all that the block keeps; and beside what it still keeps
  // then, where each operator's tensors are freed with its gradients.
  std::int64_t gradients = 0, gradients_freeing = 0;
};

// Communication inside a layer that is an op of its own: because it meets others on links between
// nodes, or because its group is another than that which runs passes together.
struct Exchange {
  FlowKind group = FlowKind::tensor;  // who takes part
  topology::Sending sending;
  sim::Activity activity = 0;
};

// A pass is played piece by piece: steps, and then perhaps an exchange. Communication that stays
// within a node is a step like others, so most passes are one piece.
struct Piece {
  sim::Template body;
  int waits_for = -1;  // the piece whose exchange must be over before this one begins
  std::optional<Exchange> then;
};
using Pieces = std::vector<Piece>;

// The time of all pieces on an actor that was idle before, exchanges on an idle network.
sim::Spent spent_alone(const Pieces& pieces);

// The exchanges of context-parallel ranks round an attention core (context.hpp).
struct ContextExchanges {
  struct Round {
    std::optional<topology::Sending> before;  // the core
    std::optional<topology::Sending> within;  // beside its last part, waited for after that
    std::optional<topology::Sending> after;   // the core
  };
  // The number of the core's c equal parts that wait for what was sent before it; the others run
  // beside that. 0: all wait.
  std::int64_t last_parts = 0;
  bool beside() const { return last_parts > 0; }
  Round forward, backward;
};

// The exchanges of the ranks that hold a layer's experts (experts.hpp). In the backward pass the
// gradients of combined rows are dispatched, and those of dispatched rows are combined.
struct ExpertExchanges {
  FlowKind group = FlowKind::expert;
  std::optional<topology::Sending> dispatch, combine;
  std::optional<topology::Sending> gradient_dispatch;  // of combined rows' gradients
  bool host_waits = false;  // for the number of tokens that its experts get
};

// The exchanges of a tensor-parallel group before and after layers that are regrouped
// (regrouping.hpp): rows in the forward pass, gradients in the backward pass.
struct Regrouping {
  std::optional<topology::Sending> before, after, back_before, back_after;
};

struct BlockTensors;

// Bytes beyond those that were there before a pass: the bytes that it leaves (negative: frees), and
// the most that there are.
struct PassMemory {
  std::int64_t held = 0, peak = 0;
  friend auto operator<=>(const PassMemory&, const PassMemory&) = default;
};

// Writes passes of the blocks that it is told of. Costs are looked up once per kind of block;
// `slowdown` stretches computation that runs beside communication.
class PassWriter {
 public:
  PassWriter(const Share& share, const Costs& costs, const std::vector<std::vector<Block>>& stages);

  Pieces forward(const std::vector<Block>& blocks, double slowdown = 1.0) const;
  // `blocks` are in model order and run backwards. `pass`: backward, backward_input or
  // backward_weight.
  Pieces backward(const std::vector<Block>& blocks, Pass pass, double slowdown = 1.0) const {
    return backward(blocks, pass, slowdown, std::nullopt);
  }
  // The memory of a forward and a backward pass whose blocks take turns, the forward pass's first.
  // While one block of each runs, the tensors that the forward pass has kept so far and those that
  // the backward pass has not freed yet are there. O(blocks · operators)
  PassMemory pair_memory(const std::vector<Block>& ahead, const std::vector<Block>& back) const;
  // The memory of a backward pass after each of its blocks, the last one first, and the most while
  // that block ran. O(blocks · operators)
  std::vector<PassMemory> backward_memory(const std::vector<Block>& blocks) const;
  const BlockCost& cost(const Block& block) const;
  const Share& share() const { return share_; }
  // The memory that the cost counts, tensor by tensor (block_tensors.hpp). O(operators)
  BlockTensors tensors(const Block& block) const;
  // Time to gather a microbatch's rows over the tensor-parallel group.
  sim::Picoseconds row_gather() const;
  // Passes over the operators of one part of a block only (attention or MLP).
  Pieces forward_part(const Block& block, model::Part part) const;
  Pieces backward_part(const Block& block, model::Part part) const;

 private:
  BlockCost price(const Block& block, const Costs& costs) const;
  // Says of the runs of a block's kernels how long they wait for the fullest rank.
  void add_waiting(BlockCost& cost, const Block& block, const Costs& costs) const;
  OperatorCost price(const model::Operator& op, double parts, Graph graph,
                     const Costs& costs) const;
  RowExchanges row_exchanges(units::Bytes size, const Costs& costs) const;
  // The pieces of a backward pass over one part of the blocks, or all of them.
  Pieces backward(const std::vector<Block>& blocks, Pass pass, double slowdown,
                  std::optional<model::Part> only) const;
  // The memory of a forward pass after each of its blocks, and the most while that block ran.
  std::vector<PassMemory> forward_memory(const std::vector<Block>& blocks) const;
  const Share share_;
  double call_time_ = 1;  // Costs::call_time
  bool sequence_parallel_ = false, divided_ = false, async_ = false, pipelined_ = false;
  bool keeps_gathered_ = false;
  units::Bytes row_bytes_;  // of all rows, of the whole width
  RowExchanges rows_;
  topology::Sending loss_reduce_;
  sim::Picoseconds sum_of_parts_ = 0;
  ContextExchanges context_;
  std::array<ExpertExchanges, 2> experts_;  // the latter of layers that stay in 16 bit
  const ExpertExchanges& experts_of(const OperatorCost& op) const {
    return experts_[op.wide ? 1 : 0];
  }
  // The exchanges and prices of layers that are regrouped.
  struct Regrouped;
  struct Local;
  std::shared_ptr<const Regrouped> regrouped_;
  const PassWriter& writer_of(const Block& block) const;
  std::vector<std::pair<Block, BlockCost>> prices_;
  class Writer;
  class Backward;
};

}  // namespace strategies
