// SPDX-License-Identifier: Apache-2.0
#include "plans/duties.hpp"

#include "model/narrow.hpp"
#include "plans/memory.hpp"
#include "plans/schedule.hpp"

namespace strategies {

bool pairs_always(ScheduleKind schedule) {
  return schedule == ScheduleKind::dualpipe || schedule == ScheduleKind::dualpipe_v;
}

bool pairs_passes(const model::Transformer& model, const Plan& plan, const Software& software) {
  const auto schedule = plan.schedule;
  return (schedule == ScheduleKind::one_f_one_b || schedule == ScheduleKind::interleaved) &&
         model.moe && plan.expert > 1 && plan.overlap.expert.value_or(software.overlap_expert);
}

bool runs_in_pairs(const model::Transformer& model, const Plan& plan, const Software& software) {
  return pairs_always(plan.schedule) || pairs_passes(model, plan, software);
}

bool splits_gradients(ScheduleKind schedule) {
  return is_searched(schedule) || pairs_always(schedule);
}

bool has_fixed_order(ScheduleKind schedule) {
  return !is_searched(schedule) && !pairs_always(schedule);
}

bool post_validates(const Plan& plan, const Software& software) {
  return software.post_validation && is_searched(plan.schedule);
}

bool overlaps_gradients(const Plan& plan, const Training& training, const Software& software) {
  return training.optimizer != Optimizer::onebit_adam &&
         plan.overlap.data.value_or(software.overlap_data);
}

bool overlaps_parameters(const Plan& plan, const Software& software) {
  return plan.zero >= 1 && plan.overlap.parameters.value_or(software.overlap_parameters);
}

DataDuties data_duties(const Plan& plan, const Training& training, const Software& software) {
  const bool overlaps = overlaps_parameters(plan, software);
  DataDuties duties;
  duties.reduces = plan.zero >= 2 ? When::always : When::once;
  duties.beside = overlaps_gradients(plan, training, software);
  if (plan.zero == 3) {
    duties.gathers = When::always;
    duties.gathers_again = plan.reshard_after_forward;
  } else if (plan.zero >= 1) {
    if (overlaps) duties.gathers = When::once;
    duties.gathers_after = !overlaps;
  }
  return duties;
}

bool root_is_model(const Plan& plan, const Software& software) {
  return software.root_unit && plan.wrap.layers == 0;
}

double gradient_bucket(const Plan& plan, const Training& training, const Software& software) {
  return plan.bucket.value_or(software.bucket).value /
         reduced_gradient_bytes(plan, training, software);
}

double parameter_bucket(const Plan& plan, const Training& training, const Software& software) {
  return plan.gather_bucket ? plan.gather_bucket->value / model::wide_bytes(training.precision)
                            : gradient_bucket(plan, training, software);
}

double most_unreduced(const Plan& plan, const Training& training, const Software& software) {
  const double buckets = overlaps_gradients(plan, training, software) ? 2 : 1;
  return buckets * plan.bucket.value_or(software.bucket).value /
         reduced_gradient_bytes(plan, training, software);
}

}  // namespace strategies
