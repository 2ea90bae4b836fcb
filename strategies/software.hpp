// SPDX-License-Identifier: Apache-2.0
// A training framework: which kernels it fuses, what it overlaps, what it costs.
#pragma once
#include <string>

#include "model/kernels.hpp"
#include "units/kernel.hpp"
#include "units/quantity.hpp"

namespace strategies {

struct Software {
  std::string name;
  model::Kernels kernels;
  bool compile = false;      // a compiler fuses element-wise chains and cuts host work
  bool cuda_graphs = false;  // whole passes are launched at once

  // Host lane: what the host needs to launch one kernel, forward and backward, and what every
  // optimizer step costs besides kernels (logging, checks, data).
  units::Seconds launch_forward{8e-6};
  units::Seconds launch_backward{6e-6};
  units::Seconds step_overhead{5e-3};
  // After each pipeline transfer the host waits for the device (Megatron's batched p2p).
  bool pipeline_sync = true;

  // Defaults of the plan's `overlap`.
  bool overlap_data = true;
  bool overlap_tensor = false;    // dgrad all-reduce (or gather) under the weight gradient
  bool overlap_pipeline = false;  // transfers do not occupy the computing stream
  bool overlap_parameters = false;
  double interference = 0.0;  // share by which overlapped communication slows computation

  // Pipeline transfers carry only this rank's 1/t of the activation, gathered over NVLink after.
  bool scatter_gather = true;
  // Vocabulary is padded to a multiple of this many rows per tensor-parallel rank.
  int vocab_multiple = 128;

  // Precision of gradient accumulation and reduction; of the copy the optimizer keeps.
  units::Precision gradient_precision = units::Precision::fp32;
  // Bytes per parameter: low-precision weights, gradients, optimizer states with master copy.
  double weight_bytes = 2, gradient_bytes = 4, optimizer_bytes = 12;
  double optimizer_traffic = 34;  // device memory traffic of one optimizer step per parameter
  units::Bytes bucket{40e6 * 4};  // gradient bucket

  units::Bytes framework_memory;     // context, modules, libraries outside the allocator
  units::Bytes communicator_memory;  // per communicator of more than one rank
  units::Bytes workspace;            // matrix-product workspace inside the allocator
  double reserved_over_allocated = 1.05;
  friend bool operator==(const Software&, const Software&) = default;
};

}  // namespace strategies
