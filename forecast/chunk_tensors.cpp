// SPDX-License-Identifier: Apache-2.0
#include "forecast/chunk_tensors.hpp"

#include <algorithm>

#include "strategies/checkpoints.hpp"

namespace forecast {

using strategies::Keeping;
using strategies::Pass;

ChunkTensors::ChunkTensors(const ChunkBlocks& chunk) : chunk_(chunk), held_(chunk.blocks.size()) {
  for (std::size_t b = 0; b < held_.size(); ++b) {
    held_[b].kept.resize(chunk.tensors[b].operators.size());
    held_[b].made_again.resize(chunk.tensors[b].operators.size());
  }
}

NamedTensor ChunkTensors::named(std::size_t block, std::string_view op, std::string_view what,
                                std::string_view category) const {
  return {chunk_.names[block], std::string(op), std::string(what), std::string(category)};
}

std::int64_t ChunkTensors::offloaded(std::size_t block) const {
  auto bytes = chunk_.tensors[block].outputs_offloaded;
  for (const auto& op : chunk_.tensors[block].operators)
    for (const auto& tensor : op.tensors)
      if (tensor.keeping == Keeping::offloaded) bytes += tensor.bytes;
  return bytes;
}

// Returns the bytes of a tensor that are made again. Outputs that recomputation per operator keeps
// take the place of the first bytes.
std::int64_t ChunkTensors::again(std::size_t block, std::size_t op, std::size_t tensor) const {
  const auto& all = chunk_.tensors[block];
  auto left = all.replaced;
  for (std::size_t o = 0; o <= op; ++o) {
    const auto& tensors = all.operators[o].tensors;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (tensors[t].keeping != Keeping::made_again) continue;
      const auto stands_for = std::min(left, tensors[t].bytes);
      if (o == op && t == tensor) return tensors[t].bytes - stands_for;
      left -= stands_for;
    }
  }
  return 0;
}

// Activations that wait on the host leave through buffers of twice their size, as passes count
// them.
void ChunkTensors::forward(TensorLog& log, Ends& ends) {
  for (std::size_t b = 0; b < held_.size(); ++b) {
    const auto& block = chunk_.tensors[b];
    auto& held = held_[b];
    std::vector<allocator::TensorId> until_run;
    if (block.sent > 0)
      held.whole.push_back(
          log.allocate(block.sent, named(b, "", "output, sent on", "activations")));
    if (block.outputs > 0)
      held.whole.push_back(
          log.allocate(block.outputs, named(b, "", "outputs kept", "activations")));
    if (const auto away = 2 * offloaded(b); away > 0)
      until_run.push_back(log.allocate(away, named(b, "", "on its way to the host", "offload")));
    for (std::size_t o = 0; o < block.operators.size(); ++o) {
      const auto& op = block.operators[o];
      std::vector<allocator::TensorId> read;
      if (op.read > 0)
        read.push_back(log.allocate(op.read, named(b, op.name, "input, not kept", "temporary")));
      for (std::size_t t = 0; t < op.tensors.size(); ++t) {
        const auto& tensor = op.tensors[t];
        if (tensor.keeping == Keeping::kept && tensor.bytes > 0)
          held.kept[o].push_back(
              log.allocate(tensor.bytes, named(b, op.name, tensor.name, "activations")));
        if (const auto bytes = again(b, o, t); tensor.keeping == Keeping::made_again && bytes > 0)
          until_run.push_back(
              log.allocate(bytes, named(b, op.name, tensor.name, "activations, made again")));
      }
      log.passing(op.made, named(b, op.name, "while it runs", "temporary"));
      log.free(read);
    }
    log.free(until_run);
    ends.push_back(log.size());
  }
}

void ChunkTensors::make_again(TensorLog& log, std::size_t b) {
  const auto& block = chunk_.tensors[b];
  for (std::size_t o = 0; o < block.operators.size(); ++o)
    for (std::size_t t = 0; t < block.operators[o].tensors.size(); ++t) {
      const auto& op = block.operators[o];
      const auto bytes = again(b, o, t);
      if (op.tensors[t].keeping != Keeping::made_again || bytes == 0) continue;
      held_[b].made_again[o].push_back(
          log.allocate(bytes, named(b, op.name, op.tensors[t].name, "activations, made again")));
    }
}

class ChunkTensors::Backward {
 public:
  Backward(ChunkTensors& of, TensorLog& log, Pass pass, Ends& ends)
      : of_(of),
        log_(log),
        ends_(ends),
        inputs_(pass != Pass::backward_weight),
        weights_(pass != Pass::backward_input) {}

  void again(std::size_t first, std::size_t last, std::uint8_t level) {
    if (!inputs_) return;
    for (auto b = first + 1; b <= last; ++b)
      if (of_.chunk_.blocks[b].checkpoint == level) input_again(b);
  }

  void back(std::size_t first, std::size_t last) {
    if (inputs_) {
      if (first > 0 && of_.chunk_.blocks[first].checkpoint > 0)
        log_.free(of_.held_[first].input_again);
      for (auto b = first; b < last; ++b) of_.make_again(log_, b);
    }
    for (auto b = last; b-- > first;) {
      block(b);
      ends_.push_back(log_.size());
    }
  }

 private:
  void input_again(std::size_t b) {
    for (const auto& op : of_.chunk_.tensors[b].operators)
      for (const auto& tensor : op.tensors)
        if (tensor.layer_input && tensor.bytes > 0)
          of_.held_[b].input_again.push_back(
              log_.allocate(tensor.bytes, of_.named(b, "", "input", "activations, made again")));
  }

  // The tensors that an operator saved are freed with its gradients if the pass makes those of
  // inputs and of weights.
  void block(std::size_t b) {
    const auto& operators = of_.chunk_.tensors[b].operators;
    auto& held = of_.held_[b];
    const auto away = of_.offloaded(b);
    std::vector<allocator::TensorId> fetched;
    if (inputs_ && away > 0)
      fetched.push_back(
          log_.allocate(2 * away, of_.named(b, "", "fetched from the host", "offload")));
    for (auto o = operators.size(); o-- > 0;) {
      log_.passing(operators[o].gradients,
                   of_.named(b, operators[o].name, "gradients", "temporary"));
      if (!inputs_ || !weights_) continue;
      log_.free(held.made_again[o]);
      log_.free(held.kept[o]);
    }
    log_.free(fetched);
    if (!weights_ && away > 0)
      held.whole.push_back(
          log_.allocate(away, of_.named(b, "", "fetched from the host", "offload")));
    if (!weights_) return;
    for (auto o = operators.size(); o-- > 0;) {
      log_.free(held.made_again[o]);
      log_.free(held.kept[o]);
    }
    log_.free(held.whole);
  }

  ChunkTensors& of_;
  TensorLog& log_;
  Ends& ends_;
  bool inputs_, weights_;
};

void ChunkTensors::backward(TensorLog& log, Pass pass, Ends& ends) {
  Backward visit(*this, log, pass, ends);
  strategies::walk_back(chunk_.blocks, 0, chunk_.blocks.size(), visit);
}

const allocator::Events& PassScripts::of(Pass pass) const {
  switch (pass) {
    case Pass::forward:
      return forward;
    case Pass::backward:
      return backward;
    case Pass::backward_input:
      return backward_input;
    case Pass::backward_weight:
      break;
  }
  return backward_weight;
}

PassScripts scripts_of(const ChunkBlocks& chunk) {
  PassScripts scripts;
  TensorLog log(scripts.forward, scripts.tensors);
  ChunkTensors whole(chunk);
  whole.forward(log, scripts.forward_ends);
  auto split = whole;
  log.write_to(scripts.backward);
  whole.backward(log, Pass::backward, scripts.backward_ends);
  log.write_to(scripts.backward_input);
  ChunkTensors::Ends ends;  // passes of split gradients are never paired
  split.backward(log, Pass::backward_input, ends);
  log.write_to(scripts.backward_weight);
  split.backward(log, Pass::backward_weight, ends);
  return scripts;
}

}  // namespace forecast
