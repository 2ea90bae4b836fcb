// SPDX-License-Identifier: Apache-2.0
// Private to the room: Megatron-LM's command line, and who writes which part of it.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "report/launch/launch_parts.hpp"

namespace report::megatron {

// Flags with their values, one per line, quoted for a shell where they must be.
class Flags {
 public:
  Flags& add(std::string_view flag) {
    text_.append(" \\\n  ").append(flag);
    return *this;
  }
  template <class Value>
  Flags& add(std::string_view flag, const Value& value) {
    add(flag);
    return word(fmt::to_string(value));
  }
  Flags& when(bool holds, std::string_view flag) { return holds ? add(flag) : *this; }
  // A further value of the last flag.
  Flags& word(std::string_view value) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
    const bool quotes = value.find_first_not_of(plain) != value.npos;
    text_.append(quotes ? " '" : " ").append(value).append(quotes ? "'" : "");
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Writes the architecture, and the kernels that compute it.
void write_model(const forecast::Scenario& scenario, Flags& flags, LostKeys& lost);

// Writes constants of the model that no forecast needs: rotary base, epsilon of norms, groups of
// experts.
void write_constants(const model::Transformer& model, const strategies::Routing& routing,
                     Flags& flags, Sentences& undecided);

// Writes batch, precision and optimizer.
void write_training(const forecast::Scenario& scenario, Flags& flags, LostKeys& lost);

// Whether Megatron-FSDP is needed, which shards gradients, or gradients and parameters. Megatron's
// distributed optimizers of Muon shard neither.
inline bool fsdp(const forecast::Scenario& scenario) {
  return scenario.plan.zero >= 2 && scenario.training.optimizer != strategies::Optimizer::muon;
}

// The hardware queues, CUDA_DEVICE_MAX_CONNECTIONS, with which Megatron-LM starts: reductions run
// under weight gradients only if kernels start in the order of their launch (before Blackwell);
// Megatron-FSDP wants several. PyTorch's FSDP, and exchanges of experts beside computation, start
// with any number (`eased`).
enum class Queues { any, one, several };
inline Queues queues_for(bool tensor_or_context, bool megatron_fsdp, bool eased = false) {
  if (megatron_fsdp) return Queues::several;
  return tensor_or_context && !eased ? Queues::one : Queues::any;
}

// Whether optimizer states are offloaded. Megatron-LM offloads those of Adam, which is also written
// for optimizers that it lacks.
inline bool offloads_states(const forecast::Scenario& scenario) {
  using enum strategies::Optimizer;
  return scenario.plan.offload.optimizer != strategies::Offload::Tier::none &&
         scenario.training.optimizer != muon && scenario.training.optimizer != sgd;
}

// Whether the distributed optimizer shards states. Muon has one of its own.
inline bool distributes(const forecast::Scenario& scenario) {
  return (scenario.plan.zero > 0 || offloads_states(scenario)) &&
         scenario.training.optimizer != strategies::Optimizer::muon;
}

// The modules that predict further tokens and that Megatron-LM builds: none for learned positions.
inline int predictions_of(const model::Transformer& model) {
  return model.position == model::Position::learned ? 0 : model.multi_token_prediction;
}

// The tensor ranks that divide an expert: experts with biases are divided by none.
inline std::int64_t expert_tensor_of(const forecast::Scenario& scenario) {
  return scenario.model.biases ? 1 : strategies::expert_tensor(scenario.plan);
}

// Writes flags of recomputation for the stages that run. Returns whether whole layers are
// recomputed.
bool write_recompute(const Stages& stages, const forecast::Scenario& scenario, Flags& flags,
                     LostKeys& lost);

void write_offload(const forecast::Scenario& scenario, bool recomputes, Flags& flags,
                   LostKeys& lost);

}  // namespace report::megatron
