// SPDX-License-Identifier: Apache-2.0
// The activities that simulated time is spent on.
#pragma once
#include "sim/program.hpp"

namespace strategies {

enum Activity : sim::Activity {
  forward_compute,
  input_gradient_compute,
  weight_gradient_compute,
  recompute_compute,
  forward_tensor_comm,
  backward_tensor_comm,
  recompute_tensor_comm,
  forward_context_comm,
  backward_context_comm,
  recompute_context_comm,
  forward_expert_comm,
  backward_expert_comm,
  recompute_expert_comm,
  pipeline_comm,
  data_comm,
  offloading,
  data_loading,
  optimizer_compute,
  expert_waiting,  // for the fullest rank of an expert-parallel group, which still computes
};

// Labels of ops, for pictures and traces.
enum LabelKind : std::uint8_t {
  label_forward,
  label_backward,
  label_backward_input,
  label_backward_weight,
  label_send_forward,
  label_send_backward,
  label_reduce_gradients,
  label_gather_parameters,
  label_tied_embedding,
  label_gradient_norm,
  label_optimizer,
  label_exchange,
  label_context_exchange,
  label_expert_exchange,
  label_offload,
  label_load_data,
};
const char* to_text(LabelKind kind);  // "send activations"

}  // namespace strategies
