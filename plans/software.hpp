// SPDX-License-Identifier: Apache-2.0
// A training framework: which kernels it fuses, what it overlaps, what it costs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/kernels.hpp"
#include "units/kernel.hpp"
#include "units/quantity.hpp"

namespace strategies {

// Parts of a layer whose kernels are captured together; Megatron's names.
enum class GraphedPart : std::uint8_t { attn, moe_router, moe_preprocess };

// When ranks of ZeRO 2 and 3 reduce gradients: after every microbatch, into the part that each
// keeps, or once a step, from whole gradients that each rank sums up until then (FSDP's no_sync).
enum class GradientSync { microbatch, step };

// The way in which tokens reach their experts and come back. DeepEP and HybridEP send a token once
// to each node that it has experts on, the others once to each expert or everywhere.
enum class MoeDispatcher { all_to_all, all_gather, deepep, hybridep };

// The overlap of tensor-parallel communication with computation. async: reductions of the backward
// pass run under the weight gradient. pipelined: besides, gathers and reduce-scatters of sequence
// parallelism run under the product beside them, part by part (tensor_overlap.hpp).
enum class TensorOverlap { async, pipelined };

// The input pipeline as a stage of its own in front of the first pass. Every GPU of the first stage
// has a loader, which makes the sequences of its replica one after the other, microbatch by
// microbatch. It begins a microbatch when the GPU has come to the forward pass of the one
// `prefetch` before it. A step is one of many alike: its first `prefetch` microbatches are ready
// when it begins, and it ends when those of the next step are; so it lasts no less than all of its
// microbatches take to be made, and with prefetch 0 nothing hides them.
struct DataLoader {
  double samples_per_second = 0;  // sequences that the loader of one GPU makes ready
  std::int64_t prefetch = 2;      // microbatches made ready ahead of the one in use
  friend bool operator==(const DataLoader&, const DataLoader&) = default;
};

// The owner of the device's memory between the driver and the tensors. PyTorch's caching allocator,
// as PYTORCH_CUDA_ALLOC_CONF sets it up, takes segments when it needs them; JAX takes a share of
// the memory at once, and keeps it.
struct AllocatorSettings {
  bool expandable_segments = false;
  std::optional<int> max_split_size_mb;       // MiB; blocks of that size or more are not split
  std::int64_t roundup_power2_divisions = 0;  // parts of a power of two; 0: multiples of 512 bytes
  double garbage_collection_threshold = 0;    // share of what is allowed; 0: never
  std::optional<double> preallocated;         // share of device memory taken before the first step
  friend bool operator==(const AllocatorSettings&, const AllocatorSettings&) = default;
};

struct Software {
  std::string name;
  model::Kernels kernels;
  bool compile = false;      // a compiler fuses element-wise chains, which are launched as one
  bool cuda_graphs = false;  // whole passes are launched at once (graphs.hpp)
  std::vector<GraphedPart> graphed_parts;  // or, where they are not, these parts of each layer
  MoeDispatcher moe_dispatcher = MoeDispatcher::all_to_all;

  // Host lane: what the host needs to launch one kernel, forward and backward, and what every
  // optimizer step costs besides kernels (logging, checks, data).
  units::Seconds launch_forward{8e-6};
  units::Seconds launch_backward{6e-6};
  units::Seconds step_overhead{5e-3};
  units::Seconds step_overhead_per_tensor{0};  // more for each tensor of weights that is updated
  // The host waits for each kernel of a pass before it launches the next (CUDA_LAUNCH_BLOCKING=1),
  // so that no launch hides behind a kernel: it counts as part of its own.
  bool launch_blocking = false;
  // After each pipeline transfer the host waits for the device (Megatron's batched p2p).
  bool pipeline_sync = true;
  std::optional<DataLoader> data_loader;  // absent: data are always there in time

  // Defaults of the plan's `overlap`.
  bool overlap_data = true;
  bool overlap_tensor = false;  // in the manner of
  TensorOverlap tensor_overlap = TensorOverlap::async;
  bool overlap_pipeline = false;       // transfers do not occupy the computing stream
  bool overlaps_chunks_alone = false;  // not of ranks with one virtual stage
  bool overlap_parameters = false;
  bool overlap_expert = false;  // dispatch and combine under the computation of another microbatch
  // Share by which communication slows computation beside it. Absent: the share of the device's
  // processors that the collective holds.
  std::optional<double> interference;
  // Attention of context-parallel ranks takes the keys of one rank after the other even where all
  // have been gathered, and gradients of keys and values go round in fp32 (PyTorch).
  bool blockwise_context = false;

  // Pipeline transfers carry only this rank's 1/t of the activation, gathered over NVLink after.
  bool scatter_gather = true;
  // Outputs that a stage has sent on stay until its backward pass (Megatron-Core frees them:
  // deallocate_pipeline_outputs).
  bool keep_sent_outputs = false;
  // Sequence parallelism: rows gathered for a column-parallel product are kept whole for its weight
  // gradient; otherwise each rank keeps its part, which is gathered once more (Megatron-Core).
  bool keep_gathered_inputs = false;
  // A zero-bubble schedule steps its optimizer before the global gradient norm is known, and undoes
  // the step where the norm would have clipped it: stages then need not wait for each other.
  bool post_validation = false;
  // ZeRO-3 gathers at most one unit ahead of the one in use; otherwise as far ahead as the host is.
  bool limit_all_gathers = true;
  // ZeRO-3: embedding, head and all that no other unit holds form a root unit, which stays gathered
  // from the forward to the backward pass (FSDP).
  bool root_unit = false;
  // ZeRO-3: tensors are gathered and reduced one by one inside of a compiled loop over layers (XLA;
  // FSDP copies a unit into one flat buffer). Of the unit in use alone parameters are whole, and
  // the whole gradient of a tensor takes the place of its parameters, which nothing reads any more.
  bool tensor_units = false;
  // ZeRO-3: the computing stream copies the tensors of a unit out of the buffer into which they
  // were gathered (FSDP 2), and their gradients into the buffer that is reduced (FSDP 1 and 2).
  bool copies_parameters = false, copies_gradients = false;
  // When pipelines reduce gradients if their plan does not say it. PyTorch's PipelineStage reduces
  // FSDP's after the last microbatch; until then parameters stay gathered that are not resharded
  // after the forward pass.
  GradientSync gradient_sync_in_pipelines = GradientSync::microbatch;
  // ZeRO-1 sums all gradients on all ranks, though each rank needs but its share (DeepSpeed's
  // BF16_Optimizer).
  bool all_reduce_gradients = false;
  // ZeRO-1 gives ranks whole tensors. Gradients are reduced to their owner and new parameters
  // broadcast from it, one owner after the other (InternEvo).
  bool states_by_tensor = false;
  // Vocabulary is padded to a multiple of this many rows per tensor-parallel rank.
  int vocab_multiple = 128;

  // Precision of gradient accumulation and reduction; of the copy the optimizer keeps.
  units::Precision gradient_precision = units::Precision::fp32;
  // Bytes per parameter: low-precision weights, gradients, optimizer states with master copy.
  double weight_bytes = 2, gradient_bytes = 4, optimizer_bytes = 12;
  // Gradients are there from step to step; otherwise the first backward pass of a step makes them
  // and they go with the step (torch.optim.Optimizer.zero_grad(set_to_none=True)).
  bool keep_gradients = true;
  // Bytes for each parameter that a rank updates, only while it updates them: flat or wider copies
  // of its gradients.
  double stepping_bytes = 0;
  // The optimizer's moments are there before the first step (DeepSpeed); otherwise the update of
  // the first step makes them (torch.optim), in memory that its passes have left in pieces.
  bool moments_at_start = false;
  // In 8 bit no 16-bit weights are kept beside the copies that products read (fp8 parameters of
  // Transformer Engine), where weights are whole.
  bool narrow_weights = false;
  double optimizer_traffic = 34;  // device memory traffic of one optimizer step per parameter
  units::Bytes bucket{40e6 * 4};  // gradient bucket

  // Memory while gradients are reduced after the last pass: bytes per parameter of flat copies, and
  // the size that a buffer has at most. Memory that the allocator caches for activations is in
  // pieces, and does not serve for these.
  double reduction_bytes = 0;
  units::Bytes reduction_buffer;

  units::Bytes framework_memory;     // context, modules, libraries outside the allocator
  units::Bytes communicator_memory;  // per communicator of more than one rank
  units::Bytes workspace;            // matrix-product workspace inside the allocator
  units::Bytes expert_workspace;     // another one, for grouped products of experts
  double reserved_over_allocated = 1.05;
  AllocatorSettings allocator;
  friend bool operator==(const Software&, const Software&) = default;
};

}  // namespace strategies
