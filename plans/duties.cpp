// SPDX-License-Identifier: Apache-2.0
#include "plans/duties.hpp"

#include "model/narrow.hpp"
#include "plans/memory.hpp"

namespace strategies {

bool pairs_passes(const model::Transformer& model, const Plan& plan, const Software& software) {
  const auto schedule = plan.schedule;
  return (schedule == ScheduleKind::one_f_one_b || schedule == ScheduleKind::interleaved) &&
         model.moe && plan.expert > 1 && overlaps_of(plan, software).expert;
}

bool runs_in_pairs(const model::Transformer& model, const Plan& plan, const Software& software) {
  return pairs_always(plan.schedule) || pairs_passes(model, plan, software);
}

bool post_validates(const Plan& plan, const Software& software) {
  return software.post_validation && is_searched(plan.schedule);
}

GradientSync gradient_sync(const Plan& plan, const Software& software) {
  const auto own =
      plan.pipeline > 1 ? software.gradient_sync_in_pipelines : GradientSync::microbatch;
  return plan.gradient_sync.value_or(own);
}

bool sums_whole_gradients(const Plan& plan, const Training& training, const Software& software) {
  return plan.zero >= 2 && gradient_sync(plan, software) == GradientSync::step &&
         training.global_batch > plan.data * plan.micro_batch;
}

bool overlaps_data(const Plan& plan, const Software& software) {
  const bool behind = plan.pipeline > 1 && plan.zero >= 2 &&
                      software.gradient_sync_in_pipelines == GradientSync::step &&
                      gradient_sync(plan, software) == GradientSync::step;
  return plan.overlap.data.value_or(software.overlap_data && !behind);
}

bool overlaps_gradients(const Plan& plan, const Training& training, const Software& software) {
  return training.optimizer != Optimizer::onebit_adam && overlaps_data(plan, software);
}

bool overlaps_parameters(const Plan& plan, const Software& software) {
  return plan.zero >= 1 && plan.overlap.parameters.value_or(software.overlap_parameters);
}

bool gathers_ahead(const Plan& plan, const Software& software) {
  return plan.overlap.parameters.value_or(plan.zero == 3 || software.overlap_parameters);
}

bool overlaps_pipeline(const Plan& plan, const Software& software) {
  const auto kind = plan.schedule;
  const bool one_chunk = plan.virtual_stages == 1 &&
                         (kind == ScheduleKind::gpipe || kind == ScheduleKind::one_f_one_b ||
                          kind == ScheduleKind::interleaved);
  const bool own = software.overlap_pipeline && !(software.overlaps_chunks_alone && one_chunk);
  return plan.overlap.pipeline.value_or(own);
}

Overlaps overlaps_of(const Plan& plan, const Software& software) {
  const auto& told = plan.overlap;
  return {overlaps_data(plan, software), told.tensor.value_or(software.overlap_tensor),
          overlaps_pipeline(plan, software), gathers_ahead(plan, software),
          told.expert.value_or(software.overlap_expert)};
}

DataDuties data_duties(const Plan& plan, const Training& training, const Software& software) {
  const bool overlaps = overlaps_parameters(plan, software);
  DataDuties duties;
  const bool once = plan.zero < 2 || sums_whole_gradients(plan, training, software);
  duties.reduces = once ? When::once : When::always;
  duties.beside = overlaps_gradients(plan, training, software);
  if (plan.zero == 3) {
    duties.gathers = once && !plan.reshard_after_forward ? When::once : When::always;
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

std::optional<std::int64_t> layers_of_unit(const Plan& plan) {
  if (plan.zero < 3) return {};
  return plan.wrap.layers;
}

bool owns_tensors(const Plan& plan, const Software& software) {
  return plan.zero == 1 && software.states_by_tensor;
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
  return buckets * gradient_bucket(plan, training, software);
}

}  // namespace strategies
