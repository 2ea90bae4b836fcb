// SPDX-License-Identifier: Apache-2.0
// The duties of passes besides computing: which of them run in pairs, and what the ranks that hold
// the same parameters reduce and gather, and when.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/transformer.hpp"
#include "plans/plan.hpp"
#include "plans/schedules/order.hpp"
#include "plans/software.hpp"

namespace strategies {

// Whether 1F1B, interleaved or not, runs its passes in pairs because it is asked to: the exchanges
// of experts hide under the other pass.
bool pairs_passes(const model::Transformer& model, const Plan& plan, const Software& software);
// Whether passes run in pairs: by nature (pairs_always), or because they are asked to.
bool runs_in_pairs(const model::Transformer& model, const Plan& plan, const Software& software);

// Whether a zero-bubble schedule steps its optimizer before the global gradient norm is known. Then
// no stage waits for all others, and steps follow each other at the pace of the stage with the
// longest span of its own (Qi et al. 2023, section 4).
bool post_validates(const Plan& plan, const Software& software);

// When ZeRO 2 and 3 reduce gradients: as the plan says, else in pipelines as the software does.
GradientSync gradient_sync(const Plan& plan, const Software& software);
// Whether gradients of ZeRO 2 and 3 stay whole on each rank from microbatch to microbatch and are
// reduced once a step. Never with a single microbatch, whose gradients go as they come.
bool sums_whole_gradients(const Plan& plan, const Training& training, const Software& software);

// Whether gradients may be reduced while others are computed: as the plan says, else as the
// software does. Software that reduces once in pipelines does it when the last backward pass is
// over (PyTorch's PipelineStage).
bool overlaps_data(const Plan& plan, const Software& software);
// Whether they are: never by 1-bit Adam, which sends its momentum after the last of them.
bool overlaps_gradients(const Plan& plan, const Training& training, const Software& software);
// Whether parameters are gathered while passes compute.
bool overlaps_parameters(const Plan& plan, const Software& software);
// Whether parameters are gathered before the device comes to use them, where they are gathered at
// all: as the plan says, else under ZeRO-3 always, and otherwise as the software does.
bool gathers_ahead(const Plan& plan, const Software& software);

// Whether pipeline transfers run beside computation: as the plan says, else as the software does
// with the chunks that a rank has.
bool overlaps_pipeline(const Plan& plan, const Software& software);

// The communication that may run beside computation, where there is any: as the plan says, else as
// the software does it.
struct Overlaps {
  bool data, tensor, pipeline;  // data: overlaps_data
  bool parameters, expert;      // parameters: gathers_ahead
};
Overlaps overlaps_of(const Plan& plan, const Software& software);

// The exchanges of a stage with the ranks that hold the same parameters.
struct DataDuties {
  When reduces = When::once;   // gradients: complete ones once, or those of every pass
  bool beside = true;          // beside that pass; otherwise behind it, and the device waits
  When gathers = When::never;  // parameters, in the first forward pass or in each
  bool gathers_again = false;  // parameters once more, for the gradients of inputs
  bool gathers_after = false;  // parameters, once, after the update
  friend bool operator==(const DataDuties&, const DataDuties&) = default;
};
DataDuties data_duties(const Plan& plan, const Training& training, const Software& software);

// Whether the root unit of ZeRO-3 (Software::root_unit) is all of the model.
bool root_is_model(const Plan& plan, const Software& software);

// The number of layers whose parameters ZeRO-3 gathers, and whose gradients it reduces, at once; 0:
// all of the model. Nothing below ZeRO-3, which has buckets.
std::optional<std::int64_t> layers_of_unit(const Plan& plan);
// Whether ZeRO-1 gives each tensor's states to one rank, as some frameworks do: the others receive
// what that rank updates, one owner after the other.
bool owns_tensors(const Plan& plan, const Software& software);

// The number of parameters in a full bucket of gradients, and in one of parameters.
double gradient_bucket(const Plan& plan, const Training& training, const Software& software);
double parameter_bucket(const Plan& plan, const Training& training, const Software& software);
// The most parameters whose whole gradients are there at once under ZeRO-2. It reduces bucket by
// bucket, whether or not it computes meanwhile; if it does, one bucket is filled while another is
// on its way.
double most_unreduced(const Plan& plan, const Training& training, const Software& software);

}  // namespace strategies
