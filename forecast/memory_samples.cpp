// SPDX-License-Identifier: Apache-2.0
#include "forecast/memory_samples.hpp"

#include <algorithm>

namespace forecast {

using units::Bytes;

void MemorySamples::pass(const PassBeside& beside, bool updates, sim::Picoseconds start,
                         sim::Picoseconds end, std::size_t slice) {
  const auto kept = held_ + beside.held_at_peak;
  const auto most = held_ + beside.peak;
  at(start, kept, most - kept, beside.gradients_at_peak, slice);
  peak_ = std::max(peak_, most + beside.gradients_at_peak);
  held_ += beside.held;
  if (!updates) gradients_ = beside.gradients_after;
  at(end, held_, 0, updates ? 0 : gradients_, slice);
  if (updates) {
    if (updates_begin_ < 0) updates_begin_ = start;
    return;
  }
  passes_end_ = end;
  last_pass_ = slice;
}

void MemorySamples::at(sim::Picoseconds when, std::int64_t kept, std::int64_t temporary,
                       std::int64_t gradients, std::size_t slice) {
  samples_.push_back(
      {.stage = stage_,
       .time_ps = when,
       .activations = {static_cast<double>(kept)},
       .temporary = {static_cast<double>(temporary)},
       .gradients = late_ ? Bytes{static_cast<double>(gradients)} : memory_.gradients,
       .slice = slice});
}

std::vector<MemorySample> MemorySamples::take() {
  const auto always = memory_.buffers;
  for (auto& sample : samples_) sample.temporary += always;
  const auto states = memory_.weights + memory_.optimizer;
  const auto in_passes =
      states + Bytes{static_cast<double>(peak_)} + always + (late_ ? Bytes{} : memory_.gradients);
  if (memory_.peak_allocated > in_passes && last_pass_ != no_slice &&
      updates_begin_ >= passes_end_) {
    at(passes_end_, 0, 0, gradients_, last_pass_);
    samples_.back().temporary = memory_.peak_allocated - states - samples_.back().gradients;
    at(updates_begin_, 0, 0, gradients_, last_pass_);
    samples_.back().temporary = always;
  }
  std::ranges::stable_sort(samples_, {}, &MemorySample::time_ps);
  for (auto& sample : samples_)
    sample.allocated = states + sample.gradients + sample.activations + sample.temporary;
  return std::move(samples_);
}

}  // namespace forecast
