// SPDX-License-Identifier: Apache-2.0
// What passes do besides computing, and when: which schedules split, pair or fix them, and what the
// ranks that hold the same parameters reduce and gather.
#pragma once
#include <algorithm>

#include "model/transformer.hpp"
#include "plans/plan.hpp"
#include "plans/software.hpp"

namespace strategies {

// The schedule pairs forward and backward passes by nature, and each runs under what the other
// exchanges.
bool pairs_always(ScheduleKind schedule);
// 1F1B runs its passes in pairs when asked to: the exchanges of experts hide under the other pass.
bool pairs_passes(const model::Transformer& model, const Plan& plan, const Software& software);
// Either of both.
bool runs_in_pairs(const model::Transformer& model, const Plan& plan, const Software& software);

// Gradients of inputs and of weights are passes of their own.
bool splits_gradients(ScheduleKind schedule);
// The order of passes follows from the numbers of stages, chunks and microbatches, and each pass
// runs alone.
bool has_fixed_order(ScheduleKind schedule);

// A zero-bubble schedule steps its optimizer before the global gradient norm is known. Then no
// stage waits for all others, and steps follow each other at the pace of the stage with the longest
// span of its own (Qi et al. 2023, section 4).
bool post_validates(const Plan& plan, const Software& software);

// Communication takes processors from computation beside it, which takes longer by this share of
// its time. Both in the same unit.
inline double slowed_share(double interference, double sending, double computing) {
  return sending <= 0 || computing <= 0 ? 0.0 : interference * std::min(1.0, sending / computing);
}

// Gradients are reduced while others are computed: as the plan says, else as the software does, and
// never by 1-bit Adam, which sends its momentum after the last of them.
bool overlaps_gradients(const Plan& plan, const Training& training, const Software& software);
// Parameters are gathered while passes compute.
bool overlaps_parameters(const Plan& plan, const Software& software);

enum class When { never, once, always };  // in a step, or in every pass

// What a stage whose parameters others hold too exchanges with them.
struct DataDuties {
  When reduces = When::once;   // gradients: complete ones once, or those of every pass
  bool beside = true;          // that pass; otherwise behind it, and the device waits
  When gathers = When::never;  // parameters, in the first forward pass or in each
  bool gathers_again = false;  // and for the gradients of inputs
  bool gathers_after = false;  // once, after the update
  friend bool operator==(const DataDuties&, const DataDuties&) = default;
};
DataDuties data_duties(const Plan& plan, const Training& training, const Software& software);

// ZeRO-3 with a root unit (Software::root_unit): all of the model is in it.
bool root_is_model(const Plan& plan, const Software& software);

// Parameters of a bucket of gradients that is full, and of one of parameters.
double gradient_bucket(const Plan& plan, const Training& training, const Software& software);
double parameter_bucket(const Plan& plan, const Training& training, const Software& software);
// ZeRO-2: the most parameters whose whole gradients are there at once. It reduces bucket by bucket,
// whether or not it computes meanwhile; if it does, one is filled while another is on its way.
double most_unreduced(const Plan& plan, const Training& training, const Software& software);

}  // namespace strategies
