// SPDX-License-Identifier: Apache-2.0
// Conditions on the stages and microbatches of a pipeline.
#include <cstdint>
#include <numeric>
#include <string>

#include "plans/admissible.hpp"
#include "plans/schedules/schedule_needs.hpp"
#include "plans/words.hpp"

namespace strategies {

namespace {

std::int64_t virtual_stages(const Case& c) { return c.plan.pipeline * c.plan.virtual_stages; }
std::int64_t entries(const Case& c) {
  return static_cast<std::int64_t>(c.plan.layers_per_stage.size());
}
std::int64_t sum_of_entries(const Case& c) {
  const auto& given = c.plan.layers_per_stage;
  return std::accumulate(given.begin(), given.end(), std::int64_t{0});
}
bool one_entry_each(const Case& c) { return entries(c) == 0 || entries(c) == virtual_stages(c); }

}  // namespace

std::span<const Condition> on_layers() {
  static const std::vector<std::string_view> asks{"plan.pipeline", "plan.virtual_stages",
                                                  "plan.schedule", "plan.layers_per_stage",
                                                  "model.layers"};
  static const std::vector<Condition> all{
      {asks,
       {"plan.pipeline", "plan.virtual_stages"},
       [](const Case& c) { return entries(c) > 0 || c.model.layers >= virtual_stages(c); },
       [](const Case& c) {
         return digits(c.plan.pipeline) + " ranks x " + digits(c.plan.virtual_stages) +
                " virtual stages = " + digits(virtual_stages(c)) + " stages for " +
                digits(c.model.layers) +
                " layers: each needs one; empty stages are written in layers_per_stage";
       }},
      {asks,
       {"plan.layers_per_stage"},
       one_entry_each,
       [](const Case& c) {
         return digits(entries(c)) + " entries; expected one per virtual stage: pipeline " +
                digits(c.plan.pipeline) + " x virtual_stages " + digits(c.plan.virtual_stages) +
                " = " + digits(virtual_stages(c));
       }},
      {asks,
       {"plan.layers_per_stage"},
       [](const Case& c) {
         return entries(c) == 0 || !one_entry_each(c) || sum_of_entries(c) == c.model.layers;
       },
       [](const Case& c) {
         return "the entries sum to " + digits(sum_of_entries(c)) + ", but the model has " +
                digits(c.model.layers) + " layers";
       }}};
  return all;
}

namespace {

std::int64_t in_turn(const Case& c) { return c.plan.micro_batch * c.plan.data; }
bool whole_microbatches(const Case& c) { return c.training.global_batch % in_turn(c) == 0; }
std::int64_t microbatches(const Case& c) { return c.training.global_batch / in_turn(c); }
std::string product_in_turn(const Case& c) {
  return "micro_batch " + digits(c.plan.micro_batch) + " x data " + digits(c.plan.data) + " = " +
         digits(in_turn(c));
}
constexpr std::int64_t most_microbatches_of_a_step = 1'000'000;

}  // namespace

std::span<const Condition> on_batch() {
  static const std::vector<Condition> all{
      {{"plan.micro_batch", "training.global_batch"},
       {"training.global_batch"},
       whole_microbatches,
       [](const Case& c) {
         const auto batch = c.training.global_batch, step = in_turn(c), lower = batch / step * step;
         return digits(batch) + " is not divisible by " + product_in_turn(c) +
                ": every replica runs whole microbatches; write " +
                (lower > 0 ? digits(lower) + " or " : "") + digits(lower + step);
       }},
      {{"plan.micro_batch", "training.global_batch"},
       {"training.global_batch"},
       [](const Case& c) {
         return !whole_microbatches(c) || microbatches(c) <= most_microbatches_of_a_step;
       },
       [](const Case& c) {
         return digits(c.training.global_batch) + " over " + product_in_turn(c) + " makes " +
                digits(microbatches(c)) + " microbatches; expected at most " +
                digits(most_microbatches_of_a_step);
       }}};
  return all;
}

std::span<const Condition> on_stages() {
  static const std::vector<Condition> all{
      {{"plan.schedule", "plan.pipeline"},
       {"plan.pipeline"},
       [](const Case& c) { return takes_stages(c.plan.schedule, c.plan.pipeline); },
       [](const Case& c) {
         return digits(c.plan.pipeline) +
                " is odd: dualpipe pairs the ranks from both ends; write an even number";
       }}};
  return all;
}

// DualPipe (DeepSeek-V3, arXiv 2412.19437, section 3.2.1) feeds half of the microbatches from
// either end of the ranks; cut in half, dualpipe-v feeds all into either arm of a V.
std::span<const Condition> on_microbatches() {
  static const std::vector<Condition> all{
      {{"plan.schedule", "plan.pipeline", "plan.micro_batch", "plan.data", "plan.tensor",
        "plan.context", "cluster", "training.global_batch"},
       {"training.global_batch"},
       [](const Case& c) {
         const auto& plan = c.plan;
         return !takes_stages(plan.schedule, plan.pipeline) || !whole_microbatches(c) ||
                takes_microbatches(plan.schedule, plan.pipeline, microbatches(c));
       },
       [](const Case& c) {
         return digits(c.training.global_batch) + " makes " + digits(microbatches(c)) +
                " microbatches: " +
                (c.plan.schedule == ScheduleKind::dualpipe
                     ? "dualpipe feeds half of them from each end; expected an even "
                       "number, at least 2 x pipeline = "
                     : "dualpipe-v fills both arms of a V; expected at least 2 x "
                       "pipeline = ") +
                digits(least_microbatches(c.plan.schedule, c.plan.pipeline));
       }}};
  return all;
}

std::span<const Condition> on_chunks() {
  static const std::vector<Condition> all{
      {{"plan.virtual_stages", "plan.schedule"},
       {"plan.virtual_stages"},
       [](const Case& c) {
         return !has_two_chunks(c.plan.schedule) ||
                takes_chunks(c.plan.schedule, c.plan.virtual_stages);
       },
       [](const Case& c) {
         return digits(c.plan.virtual_stages) +
                " with schedule: " + std::string(units::word(c.plan.schedule)) +
                ", which folds the model into two chunks per rank; write 2 or leave it out";
       }},
      {{"plan.virtual_stages", "plan.schedule"},
       {"plan.virtual_stages"},
       [](const Case& c) {
         return has_two_chunks(c.plan.schedule) ||
                takes_chunks(c.plan.schedule, c.plan.virtual_stages);
       },
       [](const Case& c) {
         return digits(c.plan.virtual_stages) +
                " needs schedule: interleaved, the only one that runs any number of chunks "
                "per rank; write 1 or change the schedule";
       }}};
  return all;
}

bool takes_pipeline(const Case& of) {
  return all_hold(on_layers(), of) && all_hold(on_stages(), of) &&
         all_hold(on_microbatches(), of) && all_hold(on_chunks(), of);
}

}  // namespace strategies
