// SPDX-License-Identifier: Apache-2.0
// The memory that a rank holds through the whole step, besides activations.
#pragma once
#include <cstdint>
#include <optional>

#include "plans/holdings.hpp"
#include "plans/plan.hpp"
#include "plans/software.hpp"
#include "units/quantity.hpp"

namespace strategies {

// The figures from which the bytes of a rank's states follow.
struct Holding {
  Parameters parameters;  // before sharding over data-parallel ranks
  // Those that narrow products read copies of, and of these the ones held apart.
  double cast = 0, cast_apart = 0;
  Parameters matrices;  // those that Muon orthogonalises
  // gathered: the most parameters that ZeRO-3 has whole at once, and of these gathered_cast are
  // cast. unreduced: the most parameters whose whole gradients are there under ZeRO-2 and 3.
  double gathered = 0, gathered_cast = 0, unreduced = 0;
};

// The tensors of moments that an optimizer keeps for a tensor of weights: Muon one, though two of
// those that it does not orthogonalise.
int moments_of(Optimizer optimizer);

// The bytes that a rank with such holdings keeps through the step.
struct StaticMemory {
  units::Bytes weights, gradients, optimizer;
  units::Bytes moments;     // of the optimizer's, those that the first update makes
  units::Bytes gathered;    // ZeRO-3: unsharded parameters and gradients of the units in use
  units::Bytes reduction;   // after the last pass: copies and buffers of gradients on their way
  units::Bytes stepping;    // while the optimizer runs: copies of the gradients that it reads
  units::Bytes host, nvme;  // states that live there instead
};

// Returns the bytes of a rank's states. Bytes per parameter are those of the software in 16-bit
// training with Adam; in fp32 and tf32 the weights are the master copy, gradients are fp32.
// Optimizers keep moments besides the master copy: Adam, LAMB, Sophia and 1-bit Adam two, SGD one,
// Adafactor rows and columns only, Muon one of the matrices that it orthogonalises and two of the
// others. The two of Adam are fp32, 8 of the software's bytes; where these leave no room for the
// fp32 master copy (the weights hold `weight_bytes` of its 4), the copy is whole and the moments
// have the bytes that remain. A master copy in 16 bit (Plan::master_weights) takes 2 bytes instead
// of these 4; 32-bit weights are their own master copy.
// Gradients sent as signs leave errors that are added to the next ones: those of a rank's own
// gradients in fp32, and those of the gradients that it sums up for all d holders of the same
// parameters: 4 (1 + 1/d) (1-bit Adam, Tang et al. 2021).
// In 8 and 4 bit the 16-bit weights stay, with both copies (`model/narrow.hpp`) of whole weights
// beside them; ZeRO-3 has copies of gathered units. Embedding, head, norms and biases have none.
// With Software::narrow_weights whole weights in 8 bit are these copies alone.
// zero 0: everything whole. 1: optimizer states / shards. 2: gradients / shards too. 3: weights
// too, plus the units that are whole at once (Rajbhandari et al. 2020, section 5). From stage 2 on
// whole gradients are there until they are reduced, or on the host: those of one bucket that fills
// while another is on its way, or those of a pass beside which nothing is reduced.
// Offloaded states leave the device; the host's optimizer finds the gradients beside it, as wide as
// it reads them, though they travel in 16 bit.
StaticMemory static_memory(const Holding& held, const Shards& shards, const Plan& plan,
                           const Training& training, const Software& software);

// Whether the gradients of a rank are not there before its backward pass makes them, block by
// block: where the software drops them after each step and there is one microbatch. With several
// microbatches gradients are there from the first to the last, and count from the begin of the
// step.
bool gradients_come_late(const Software& software, std::int64_t microbatches);

// The precision in which gradients are summed and reduced: the plan's if it gives one, else fp32 in
// training of 32 bit, else the software's.
units::Precision reduced_gradient_precision(const Plan& plan, const Training& training,
                                            const Software& software);
// Bytes of one gradient: as it is summed and reduced, and as it is kept. The software gives both
// for its own precision; the plan's `gradient_precision` makes both wider or narrower.
double reduced_gradient_bytes(const Plan& plan, const Training& training, const Software& software);
double kept_gradient_bytes(const Plan& plan, const Training& training, const Software& software);

// Device memory traffic of one optimizer step, bytes per parameter. The software's figure is for
// AdamW in 16 bit. The states take a part of it (two moments and the master copy read and written,
// 16-bit weights written); the rest is taken as passes over gradients of 4 bytes, more or less
// where the plan's are wider or narrower than the software's. fp32 has no second copy to write;
// LAMB and Adafactor hold the update against a norm before they apply it; the variance of 1-bit
// Adam no longer changes. In 8 and 4 bit the new weights of narrow products, the share `cast` of
// all, are read once more and their copies written.
double optimizer_traffic(const Plan& plan, const Training& training, const Software& software,
                         double cast = 1);

// Traffic of the host's memory in an optimizer step of the host (28 with Adam), and the size of
// states on NVMe, both in bytes per parameter.
double host_traffic(const Plan& plan, const Training& training, const Software& software);
double state_bytes(const Plan& plan, const Training& training, const Software& software);

// Whether gradients travel as signs and scales. Their rounding error is then added to the next
// gradients.
bool sends_signs(const Plan& plan, const Training& training);
// Bytes of a gradient on the wire, if it is compressed.
std::optional<double> packed_bytes(const Plan& plan, const Training& training);
// Device memory traffic of packing and unpacking gradients of `gradient_bytes` each, bytes per
// parameter.
double packing_traffic(const Plan& plan, const Training& training, double gradient_bytes);
double unpacking_traffic(const Plan& plan, const Training& training, double gradient_bytes);

// Device memory traffic of copying a unit of ZeRO-3, bytes per parameter; 0 where the software
// copies none. Parameters of `parameter_bytes` are read and written. Gradients are read as the
// backward pass leaves them, in the training's wide precision or summed over microbatches, and
// written in `gradient_bytes` as they are reduced; those that travel compressed are packed instead
// (packing_traffic). PyTorch: split_with_sizes_copy and chunk_cat in
// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, from memory.
double copied_parameter_traffic(const Plan& plan, const Software& software, double parameter_bytes);
double copied_gradient_traffic(const Plan& plan, const Training& training, const Software& software,
                               double gradient_bytes);

}  // namespace strategies
