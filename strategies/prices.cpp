// SPDX-License-Identifier: Apache-2.0
// The costs of the blocks of a rank's share: every kernel and collective is asked for once.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "model/narrow.hpp"
#include "plans/memory.hpp"
#include "plans/precision.hpp"
#include "strategies/block_tensors.hpp"
#include "strategies/compression.hpp"
#include "strategies/context.hpp"
#include "strategies/experts.hpp"
#include "strategies/flops.hpp"
#include "strategies/passes.hpp"
#include "strategies/regrouping.hpp"
#include "strategies/ring.hpp"
#include "strategies/tensor_overlap.hpp"

namespace strategies {

using sim::Picoseconds;

std::int64_t padded_vocab(const Share& share) {
  const auto multiple = share.software.vocab_multiple * share.plan.tensor;
  return (share.model.vocab + multiple - 1) / multiple * multiple;
}

PerOp per_op(const Share& share) {
  const auto& plan = share.plan;
  if (!plan.sequence_parallel || plan.tensor == 1) return {share.software.compile};
  return {share.software.compile, 1 / static_cast<double>(plan.tensor)};
}

model::Extent dense_extent_of(const Share& share) {
  const auto t = share.plan.tensor;
  auto extent = model::whole(share.model, share.plan.micro_batch,
                             share.training.sequence_length / share.plan.context);
  extent.heads /= t;
  extent.kv_heads = std::max<std::int64_t>(1, extent.kv_heads / t);
  extent.ffn /= t;
  extent.vocab = padded_vocab(share) / t;
  if (share.plan.sequence_parallel && t > 1) extent.rows /= t;
  if (share.model.moe) {
    extent.experts /= share.plan.expert;
    extent.expert_ffn /= expert_tensor(share.plan);
    extent.shared_ffn /= t;
  }
  return extent;
}

model::Extent extent_of(const Share& share) {
  auto extent = dense_extent_of(share);
  if (share.model.moe) {
    const auto load = share.loaded ? share.loaded->fullest : expert_loads(share).fullest;
    extent.routed = routed_copies(*share.model.moe, share.plan, extent.rows, load);
  }
  return extent;
}

namespace {

Share with_loads(Share share) {
  if (!share.model.moe || share.loaded) return share;
  const auto loads = expert_loads(share);
  share.loaded = {loads.own, loads.fullest};
  return share;
}

}  // namespace

PassWriter::PassWriter(const Share& given, const Costs& costs,
                       const std::vector<std::vector<Block>>& stages)
    : share_(with_loads(given)), call_time_(costs.call_time) {
  const auto& share = share_;
  divided_ = share.plan.tensor > 1;
  sequence_parallel_ = share.plan.sequence_parallel && divided_;
  keeps_gathered_ = sequence_parallel_ && share.software.keep_gathered_inputs;
  async_ = overlaps_tensor(share);
  pipelined_ = pipelines_tensor(share);
  if (divided_) {
    const auto extent = dense_extent_of(share);
    const auto tokens = static_cast<double>(extent.tokens());
    row_bytes_ = {tokens * static_cast<double>(share.model.hidden) *
                  model::wide_bytes(share.training.precision)};
    rows_ = row_exchanges(row_bytes_, costs);
    loss_reduce_ = row_exchanges(units::Bytes{4 * tokens}, costs).all_reduce;
    if (pipelined_)
      sum_of_parts_ = to_ticks(costs.kernel(sum_of_parts(share, row_bytes_.value), share.gpu));
  }
  context_ = context_exchanges(share, costs);
  std::set<Block> blocks, regrouped;
  for (const auto& stage : stages)
    for (const auto& block : stage)
      (block.regrouped && share.plan.layer_tensor ? regrouped : blocks).insert(block);
  const bool some_wide = std::ranges::any_of(
      stages, [](const auto& stage) { return std::ranges::any_of(stage, &Block::wide); });
  for (const bool wide : {false, true}) {
    if (wide && !some_wide) break;
    experts_[wide ? 1 : 0] = expert_exchanges(share, costs, wide);
    experts_[wide ? 1 : 0].host_waits = host_waits_for_counts(share, wide);
  }
  for (const auto& block : blocks) prices_.emplace_back(block, price(block, costs));
  if (regrouped.empty()) return;
  auto inside = std::make_shared<Regrouped>();
  inside->plan = regrouped_plan(share.plan);
  inside->exchanges = regrouping(share, costs, sequence_parallel_, row_bytes_);
  const Share share_inside{.model = share.model,
                           .plan = inside->plan,
                           .training = share.training,
                           .software = share.software,
                           .tensor_shape = share.apart_tensor_shape,
                           .tensor_rate = share.tensor_rate,
                           .gpu = share.gpu,
                           .processors = share.processors,
                           .context_shape = share.context_shape,
                           .counts_flops = share.counts_flops};
  std::vector<std::vector<Block>> all(1);
  all.front().assign(regrouped.begin(), regrouped.end());
  inside->writer.emplace(share_inside, costs, all);
  regrouped_ = std::move(inside);
}

const PassWriter& PassWriter::writer_of(const Block& block) const {
  return block.regrouped && regrouped_ ? *regrouped_->writer : *this;
}

RowExchanges PassWriter::row_exchanges(units::Bytes size, const Costs& costs) const {
  const auto time = [&](topology::Collective kind) {
    auto sending = costs.collective(kind, size, share_.tensor_shape);
    sending.rate.value = std::min(sending.rate.value, share_.tensor_rate);
    return sending;
  };
  return {time(topology::Collective::all_reduce), time(topology::Collective::all_gather),
          time(topology::Collective::reduce_scatter)};
}

model::Operators operators_of(const Share& share, const Block& block, const model::Extent& extent) {
  auto kernels = share.software.kernels;
  kernels.scaling = share.training.fp8_recipe;
  // A compiler makes one kernel of what stands between products.
  if (share.software.compile) {
    kernels.fused_norm = kernels.fused_rotary = kernels.fused_bias_activation = true;
    kernels.fused_softmax = true;
    kernels.joins_casts = true;
    kernels.gelu_in_steps = false;
  }
  // Context-parallel attention works on the layers' own layout.
  if (share.plan.context > 1) kernels.copies_attention_output = false;
  kernels.copies_tokens = share.plan.expert == 1 || !sends_rows(share.software.moe_dispatcher);
  kernels.gradient_bytes = reduced_gradient_bytes(share.plan, share.training, share.software);
  kernels.wide = wide_products(share.training.in_bf16);
  const auto precision = layer_precision(share.training, block.wide);
  switch (block.kind) {
    case Block::Kind::embedding:
      return model::embedding(share.model, extent, kernels, precision);
    case Block::Kind::head:
      return model::head(share.model, extent, kernels, precision);
    case Block::Kind::prediction:
    case Block::Kind::layer:
      break;
  }
  return block.kind == Block::Kind::prediction
             ? model::prediction(share.model, extent, kernels, precision)
             : model::layer(share.model, extent, kernels, precision,
                            block.windowed ? share.model.window->size : 0,
                            block.experts ? model::Mlp::experts : model::Mlp::dense);
}

namespace {

ReplayCost priced(const Replay& replay, const std::vector<OperatorCost>& operators) {
  ReplayCost cost{replay.before, {}};
  for (const auto& [op, share, sums] : replay.runs) {
    auto again = operators[op];
    for (auto* runs : {&again.forward, &again.forward_last, &again.forward_part})
      for (auto& run : *runs)
        for (auto* time : {&run.duration, &run.waiting})
          *time = static_cast<Picoseconds>(share * static_cast<double>(*time) + 0.5);
    if (!sums) {
      again.seam = model::Seam::none;
      again.forward_part.clear();
    }
    cost.operators.push_back(std::move(again));
  }
  return cost;
}

// The checkpoints that begin in a block. Each is a call of its own (torch.utils.checkpoint, and
// Megatron-Core's CheckpointFunction and CheckpointWithoutOutput): the forward pass saves the
// states of the random number generators, the backward pass restores them and runs what is inside.
// A row of layers is one, which begins with its first layer; a compiler or a CUDA graph leaves no
// call.
std::int64_t checkpoints_of(const BlockCost& cost, const Block& block) {
  if (block.checkpoint == Block::inside) return 0;
  return std::ranges::count_if(cost.replays, [](const ReplayCost& replay) {
    return !replay.operators.empty() && replay.operators.front().graph == Graph::none;
  });
}

// A compiler fuses neighbouring element-wise kernels: they then move the data of the largest. A
// reduction may end such a kernel, but what follows needs its result.
void fuse_streams(std::vector<units::Kernel>& kernels) {
  std::vector<units::Kernel> fused;
  for (const auto& kernel : kernels) {
    const bool joins = !fused.empty() && kernel.kind == units::Kernel::Kind::stream &&
                       fused.back().kind == units::Kernel::Kind::stream && !fused.back().reduces;
    if (!joins) {
      fused.push_back(kernel);
      continue;
    }
    fused.back().traffic = std::max(fused.back().traffic, kernel.traffic);
    fused.back().launches = std::max(fused.back().launches, kernel.launches);
    fused.back().reduces = kernel.reduces;
  }
  kernels = std::move(fused);
}

std::vector<units::Kernel> cut(std::vector<units::Kernel> kernels, std::int64_t parts) {
  for (auto& kernel : kernels) kernel = part_of(kernel, parts);
  return kernels;
}

// Turns kernels into durations, on one GPU.
class Clock {
 public:
  Clock(const Share& share, const Costs& costs, Graph graph) : share_(share), costs_(costs) {
    // A kernel that does nothing takes as long as the gap before any.
    if (graph != Graph::none)
      saved_ = gap_saved_by_graph * costs.kernel(units::Kernel{}, share.gpu);
  }
  // `parts` ranks share equally in the work.
  KernelRuns times(std::vector<units::Kernel> kernels, double parts = 1.0) const {
    if (share_.software.compile) fuse_streams(kernels);
    KernelRuns runs;
    for (const auto& kernel : kernels) {
      const auto all = to_ticks((costs_.kernel(kernel, share_.gpu) - saved_) / parts);
      const auto each = all / kernel.launches;
      const auto asked = costs_.asked(kernel, share_.gpu);
      runs.push_back(
          {.duration = all - each * (kernel.launches - 1), .issue = kernel.issue, .asked = asked});
      runs.insert(runs.end(), static_cast<std::size_t>(kernel.launches - 1),
                  {.duration = each, .issue = units::Issue::within_call, .asked = asked});
    }
    return runs;
  }
  // Splits the runs of attention, whose durations are one rank's, in rounds: the last ones, which
  // wait for others' keys, move to `last`.
  void split(const std::vector<units::Kernel>& kernels, bool forward, std::int64_t last_rounds,
             KernelRuns& runs, KernelRuns& last) const {
    if (kernels.size() == 1)
      if (const auto rounds = rounds_of(kernels.front(), forward, share_)) {
        runs = times({rounds->own});
        const auto each = times(rounds->each);
        for (std::int64_t other = 0; other < rounds->others; ++other) {
          auto& where = other < rounds->others - last_rounds ? runs : last;
          where.insert(where.end(), each.begin(), each.end());
        }
        return;
      }
    for (auto& run : runs) {
      last.push_back({.duration = run.duration * last_rounds / share_.plan.context,
                      .issue = run.issue,
                      .asked = run.asked});
      run.duration -= last.back().duration;
    }
  }

 private:
  const Share& share_;
  const Costs& costs_;
  units::Seconds saved_;
};

// Muon makes the momentum of each weight matrix orthogonal, n × m with n ≤ m, by five steps of a
// Newton–Schulz iteration of three products: 5 · (4n²m + 2n³) flops (Jordan et al. 2024). Divided
// by tensor parallelism, each rank does so with its own part. `precision` is that of the training.
void add_newton_schulz(BlockCost& cost, const model::Operator& op, Held held,
                       units::Precision precision) {
  if (op.parameters <= 0) return;
  const auto product = [&](std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
    const auto count = [&](std::int64_t a, std::int64_t b) {
      return static_cast<double>(batch) * static_cast<double>(a) * static_cast<double>(b);
    };
    const double elements = count(m, k) + count(k, n) + count(m, n);
    return units::Kernel{.kind = units::Kernel::Kind::product,
                         .precision = model::wide_precision(precision),
                         .batch = batch,
                         .m = m,
                         .n = n,
                         .k = k,
                         .flops = {2 * count(m, n) * static_cast<double>(k)},
                         .traffic = {model::wide_bytes(precision) * elements}};
  };
  for (const auto& kernel : op.forward) {
    if (kernel.kind != units::Kernel::Kind::product) continue;
    const auto n = std::min(kernel.n, kernel.k), m = std::max(kernel.n, kernel.k);
    auto& products = held == Held::apart ? cost.apart_newton_schulz : cost.newton_schulz;
    for (const auto& one : {product(kernel.batch, n, n, m), product(kernel.batch, n, n, n),
                            product(kernel.batch, n, m, n)})
      products.push_back(one);
    const double matrices = static_cast<double>(kernel.batch * n) * static_cast<double>(m);
    cost.matrices.add(held, matrices, 0);
  }
}

// Tensors of weights, joined ones as one: of experts each has its own.
std::int64_t tensors_of(const model::Operator& op, const Share& share) {
  if (op.parameters <= 0) return 0;
  return op.expert ? std::max<std::int64_t>(1, share.model.moe->experts / share.plan.expert) : 1;
}

Held held_of(const Block& block, const model::Operator& op) {
  return block.regrouped || op.expert ? Held::apart : Held::with_layer;
}

}  // namespace

OperatorCost PassWriter::price(const model::Operator& op, double parts, Graph graph,
                               const Costs& costs) const {
  const Clock clock(share_, costs, graph);
  // A latent projection's rows are less wide than the model.
  const bool narrow = divided_ && op.seam == model::Seam::enter && op.exchanged != row_bytes_;
  OperatorCost cost{.seam = op.seam,
                    .part = op.part,
                    .core = op.core,
                    .forward = clock.times(op.forward, parts),
                    .input_gradient = clock.times(op.input_gradient, parts),
                    .weight_gradient = clock.times(op.weight_gradient, parts),
                    .rows = narrow ? row_exchanges(op.exchanged, costs) : rows_,
                    .divided_loss = divided_ && op.role == model::Role::cross_entropy,
                    .graph = graph};
  if (op.core && context_.beside()) {
    const auto last = context_.last_parts;
    clock.split(op.forward, true, last, cost.forward, cost.forward_last);
    clock.split(op.input_gradient, false, last, cost.input_gradient, cost.input_gradient_last);
  }
  if (pipelined_ && can_be_cut(op)) {
    cost.forward_part = clock.times(cut(op.forward, share_.plan.tensor));
    cost.input_gradient_part = clock.times(cut(op.input_gradient, share_.plan.tensor));
  }
  return cost;
}

// The operators of a block that a rank computes, and, beside them, those with its share of the
// attention core.
struct PassWriter::Local {
  Local(const Share& share, const Block& block)
      : core(core_share_of(share)), operators(operators_of(share, block, extent_of(share))) {
    if (share.plan.activation_compression != ActivationCompression::none)
      store_in_8_bit(operators, block.drop);
    // Matched by their turn: other operators may stand in one list alone, such as the copies of
    // keys and values, which a rank with one head of queries does not need.
    auto all = operators_of(share, block, core.extent);
    auto next = all.begin();
    cores.resize(operators.size());
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (!operators[i].core) continue;
      next = std::find_if(next, all.end(), [](const model::Operator& op) { return op.core; });
      if (next == all.end()) throw std::logic_error("attention has fewer cores when it is divided");
      cores[i] = std::move(*next++);
    }
  }
  const model::Operator& computed(std::size_t i) const {
    return operators[i].core ? cores[i] : operators[i];
  }
  double parts(std::size_t i) const {
    return operators[i].core ? static_cast<double>(core.parts) : 1.0;
  }

  CoreShare core;
  model::Operators operators, cores;  // cores[i] stands for operators[i], where that is a core
};

BlockCost PassWriter::price(const Block& block, const Costs& costs) const {
  BlockCost cost;
  const Local local(share_, block);
  const TensorRules rules(share_, block);
  // After each operator: the bytes kept up to it, and those that its gradients take.
  std::vector<std::pair<std::int64_t, std::int64_t>> still_kept;
  std::int64_t most = 0;  // alive at once forward
  for (std::size_t i = 0; i < local.operators.size(); ++i) {
    const auto& op = local.computed(i);
    const auto& own = local.operators[i];
    const auto parts = local.parts(i);
    cost.operators.push_back(price(op, parts, graph_of(op, block.experts, share_.software), costs));
    cost.operators.back().wide = block.wide;
    const auto held = held_of(block, own);
    cost.parameters.add(held, own.parameters, tensors_of(own, share_));
    const auto narrow = model::narrow_weights(own);
    cost.cast += narrow;
    if (held == Held::apart) cost.cast_apart += narrow;
    if (share_.training.optimizer == Optimizer::muon &&
        (block.kind == Block::Kind::layer || block.kind == Block::Kind::prediction))
      add_newton_schulz(cost, own, held, share_.training.precision);
    const auto tensors = rules.of(op, parts);
    for (const auto& tensor : tensors.tensors) {
      (tensor.keeping == Keeping::made_again  ? cost.recomputed
       : tensor.keeping == Keeping::offloaded ? cost.offloaded
                                              : cost.kept) += tensor.bytes;
      if (tensor.layer_input) cost.input += tensor.bytes;
    }
    most = std::max(most, cost.kept + cost.recomputed + tensors.read + sum_of(tensors.made));
    const auto gradients = sum_of(tensors.gradients);
    cost.gradients = std::max(cost.gradients, gradients);
    still_kept.push_back({cost.kept + cost.recomputed, gradients});
  }
  add_waiting(cost, block, costs);
  const auto all = cost.kept + cost.recomputed;
  cost.largest_growing = most - all;
  for (const auto& [kept, gradients] : still_kept)
    cost.gradients_freeing = std::max(cost.gradients_freeing, gradients - (all - kept));
  if (block.keeps_output) cost.kept += rules.output();
  if (block.drop.kind == Drop::per_op) {
    const auto outputs = kept_outputs(local.operators, per_op(share_));
    (block.offloaded == ModuleSet::all() ? cost.offloaded : cost.kept) +=
        static_cast<std::int64_t>(outputs.kept);
    cost.recomputed -= std::min(cost.recomputed, static_cast<std::int64_t>(outputs.replaced));
  }
  for (const auto& replay : replays_of(local.operators, block.drop, per_op(share_)))
    cost.replays.push_back(priced(replay, cost.operators));
  cost.checkpoints = share_.software.compile ? 0 : checkpoints_of(cost, block);
  if (share_.counts_flops) count_flops(cost, share_, block);
  return cost;
}

void PassWriter::add_waiting(BlockCost& cost, const Block& block, const Costs& costs) const {
  if (!block.experts || share_.loaded->own == share_.loaded->fullest) return;
  auto own = share_;
  own.loaded->fullest = own.loaded->own;
  const auto operators = operators_of(own, block, extent_of(own));
  const auto wait = [](KernelRuns& fullest, const KernelRuns& shorter) {
    if (fullest.size() != shorter.size()) return;
    for (std::size_t run = 0; run < fullest.size(); ++run)
      fullest[run].waiting =
          std::max(Picoseconds{0}, fullest[run].duration - shorter[run].duration);
  };
  for (std::size_t i = 0; i < operators.size(); ++i) {
    auto& of = cost.operators[i];
    if (of.core) continue;
    const auto shorter = price(operators[i], 1.0, of.graph, costs);
    wait(of.forward, shorter.forward);
    wait(of.input_gradient, shorter.input_gradient);
    wait(of.weight_gradient, shorter.weight_gradient);
  }
}

BlockTensors PassWriter::tensors(const Block& block) const {
  if (const auto& writer = writer_of(block); &writer != this) return writer.tensors(block);
  const Local local(share_, block);
  const TensorRules rules(share_, block);
  BlockTensors tensors;
  for (std::size_t i = 0; i < local.operators.size(); ++i) {
    tensors.operators.push_back(rules.of(local.computed(i), local.parts(i)));
    const auto& own = local.operators[i];
    add_weights(tensors.weights, own, held_of(block, own) == Held::apart,
                share_.software.kernels.joined_projections);
  }
  if (block.keeps_output) tensors.sent = rules.output();
  if (block.drop.kind == Drop::per_op) {
    const auto outputs = kept_outputs(local.operators, per_op(share_));
    (block.offloaded == ModuleSet::all() ? tensors.outputs_offloaded : tensors.outputs) =
        static_cast<std::int64_t>(outputs.kept);
    tensors.replaced = static_cast<std::int64_t>(outputs.replaced);
  }
  return tensors;
}

const BlockCost& PassWriter::cost(const Block& block) const {
  if (const auto& writer = writer_of(block); &writer != this) return writer.cost(block);
  for (const auto& [known, cost] : prices_)
    if (known == block) return cost;
  throw std::invalid_argument("no such block in this model");
}

}  // namespace strategies
