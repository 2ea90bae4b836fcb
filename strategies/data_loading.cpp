// SPDX-License-Identifier: Apache-2.0
// The data loader as a stage in front of the first pass (DataLoader in software.hpp).
#include <algorithm>

#include "strategies/lowering.hpp"

namespace strategies {

// A microbatch that the n-th forward pass of the first virtual stage takes was begun when the GPU
// came to the pass `ahead` before it; the first ones in the step before, as those of the next step
// are begun here.
void Lowering::load_data(int stage, const Slot& slot) {
  const auto& loader = *job_.software.data_loader;
  const auto ahead = static_cast<std::size_t>(std::min(loader.prefetch, out_.microbatches));
  const auto duration = to_ticks(
      units::Seconds{static_cast<double>(job_.plan.micro_batch) / loader.samples_per_second});
  const auto n = taken_++;
  const auto begun = static_cast<std::int64_t>(n + ahead) % out_.microbatches;
  const sim::Label label{label_load_data, static_cast<std::int16_t>(slot.chunk),
                         static_cast<std::int32_t>(begun)};
  loaded_.resize(out_.actors.size());
  for (auto cell : cells_of_stage_[static_cast<std::size_t>(stage)])
    for (auto actor : cells_[cell].actors) {
      const sim::Participant who{sim::ActorId{actor}, {latest_[actor], sim::no_event}};
      const auto op =
          out_.program.add_collective(sim::Lane::load, duration, data_loading, {&who, 1}, label);
      loaded_[actor].push_back(out_.program.event(op));
      if (n >= ahead) arrival_[actor] = loaded_[actor][n - ahead];
    }
}

}  // namespace strategies
