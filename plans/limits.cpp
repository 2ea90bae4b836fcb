// SPDX-License-Identifier: Apache-2.0
#include "plans/limits.hpp"

#include <algorithm>
#include <string>

#include "plans/schedule.hpp"
#include "plans/words.hpp"

namespace strategies {

namespace {

constexpr double most_played = 2e7 / 3;
constexpr std::int64_t most_stages = 10'000;
constexpr double most_searched = 1 << 21;   // passes
constexpr double most_searching = 1 << 27;  // passes times stages

bool folded(ScheduleKind schedule) { return layout_of(schedule, 1, 1).kind == Layout::Kind::v; }

double passes_of_a_microbatch(const PipelineSize& size) {
  auto one = size;
  one.microbatches = 1;
  return passes_of(one);
}

}  // namespace

double passes_of(const PipelineSize& size) {
  const auto kind = layout_of(size.schedule, 1, 1).kind;
  const double parts = kind == Layout::Kind::v          ? 2
                       : kind == Layout::Kind::mirrored ? 1
                                                        : static_cast<double>(size.chunks);
  return 2 * parts * static_cast<double>(size.stages) * static_cast<double>(size.microbatches);
}

std::int64_t most_microbatches(const PipelineSize& size) {
  if (size.stages > most_stages) return 0;
  const double each = passes_of_a_microbatch(size);
  if (!is_searched(size.schedule)) return static_cast<std::int64_t>(most_played / each);
  const auto stages = static_cast<double>(size.stages);
  const double most = std::min(most_searched, most_searching / stages) / each;
  if (folded(size.schedule) && most < stages) return 0;
  return static_cast<std::int64_t>(most);
}

std::optional<Refusal> too_large(const PipelineSize& size) {
  const auto most = most_microbatches(size);
  if (size.microbatches <= most) return {};
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::string stages = number(size.stages) + " stages";
  if (size.stages > most_stages)
    return Refusal({"plan.pipeline"}, stages + " are more than the " + number(most_stages) +
                                          " that are simulated; write fewer");
  if (!is_searched(size.schedule))
    return Refusal({"training.global_batch"},
                   number(size.microbatches) + " microbatches on " + stages + " are " +
                       number(static_cast<std::int64_t>(passes_of(size))) +
                       " forwards and backwards; at most " +
                       number(static_cast<std::int64_t>(most_played)) +
                       " are simulated: raise micro_batch, or lower global_batch, pipeline or "
                       "virtual_stages");
  const std::string order = "the order of " + std::string(units::word(size.schedule));
  const std::string instead = "; write a schedule of fixed order, such as 1f1b, or fewer ";
  if (most < 1)
    return Refusal({"plan.schedule", "search.schedule"},
                   order + " is searched for, which is not done on " + stages + instead + "stages");
  return Refusal({"plan.schedule", "search.schedule"},
                 order + " is searched for, on " + stages + " with at most " + number(most) +
                     " microbatches, not " + number(size.microbatches) + instead +
                     "and larger microbatches");
}

}  // namespace strategies
