// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/data_loading.hpp"

#include <algorithm>

namespace strategies {

// The microbatch of the n-th forward pass of the first virtual stage was begun when the GPU came to
// the pass `ahead` before it; those of the first passes in the step before, as those of the next
// step are begun here.
void load_data(Emitter& emitter, const Cast& cast, int stage, const Slot& slot) {
  const auto& loader = *cast.job.software.data_loader;
  const auto ahead = static_cast<std::size_t>(std::min(loader.prefetch, cast.microbatches.all));
  const auto duration = to_ticks(
      units::Seconds{static_cast<double>(cast.job.plan.micro_batch) / loader.samples_per_second});
  for_each_actor(cast, stage, [&](std::uint32_t actor) {
    auto& clock = emitter.clocks[actor];
    auto& loaded = emitter.inputs[actor].loaded;
    const auto n = loaded.size();
    const auto begun = static_cast<std::int64_t>(n + ahead) % cast.microbatches.written;
    loaded.push_back(emitter.work_of(actor, sim::Lane::load, duration, data_loading,
                                     {clock.latest, sim::no_event},
                                     {label_load_data, static_cast<std::int16_t>(slot.chunk),
                                      static_cast<std::int32_t>(begun)}));
    if (n >= ahead) clock.arrival = loaded[n - ahead];
  });
}

}  // namespace strategies
