// SPDX-License-Identifier: Apache-2.0
#include "forecast/memory_samples.hpp"

#include <algorithm>

namespace forecast {

using units::Bytes;

void MemorySamples::pass(const sim::Template& body, bool updates, sim::Picoseconds start,
                         sim::Picoseconds end, std::size_t slice) {
  const auto kept = held_ + std::max<std::int64_t>(0, body.held);
  const auto most = held_ + std::max(body.peak, body.held);
  at(start, kept, most - kept, slice);
  if (most > peak_) {
    peak_ = most;
    temporary_at_peak_ = most - kept;
  }
  held_ += body.held;
  at(end, held_, 0, slice);
  if (updates) {
    if (updates_begin_ < 0) updates_begin_ = start;
    return;
  }
  passes_end_ = end;
  last_pass_ = slice;
}

void MemorySamples::at(sim::Picoseconds when, std::int64_t kept, std::int64_t temporary,
                       std::size_t slice) {
  samples_.push_back({.stage = stage_,
                      .time_ps = when,
                      .activations = {static_cast<double>(kept)},
                      .temporary = {static_cast<double>(temporary)},
                      .slice = slice});
}

std::vector<MemorySample> MemorySamples::take() {
  const auto states = memory_.weights + memory_.gradients + memory_.optimizer;
  const auto always =
      std::max(Bytes{}, memory_.temporary - Bytes{static_cast<double>(temporary_at_peak_)});
  for (auto& sample : samples_) sample.temporary += always;
  const auto in_passes = Bytes{static_cast<double>(peak_)} + always;
  const auto reduced = memory_.peak_allocated - states;
  if (reduced > in_passes && last_pass_ != no_slice && updates_begin_ >= passes_end_) {
    at(passes_end_, 0, 0, last_pass_);
    samples_.back().temporary = reduced;
    at(updates_begin_, 0, 0, last_pass_);
    samples_.back().temporary = always;
  }
  std::ranges::stable_sort(samples_, {}, &MemorySample::time_ps);
  for (auto& sample : samples_) sample.allocated = states + sample.activations + sample.temporary;
  return std::move(samples_);
}

}  // namespace forecast
