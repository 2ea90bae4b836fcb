// SPDX-License-Identifier: Apache-2.0
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "report/alerts.hpp"
#include "report/basis.hpp"
#include "report/bubbles.hpp"
#include "report/correction_parts.hpp"
#include "report/experts_text.hpp"
#include "report/headline_text.hpp"
#include "report/network_text.hpp"
#include "report/picture.hpp"
#include "report/question_text.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

// With these limits the whole report fits one screen.
constexpr int most_memory_rows = 4, most_picture_rows = 6;

// --- Memory --------------------------------------------------------------------------------------

// Neighbouring stages of equal peak, shown as one.
struct StageGroup {
  int first = 0, last = 0;
  units::Bytes peak;
};

std::vector<StageGroup> grouped_stages(const forecast::Memory& memory) {
  std::vector<StageGroup> groups;
  for (std::size_t i = 0; i < memory.stages.size(); ++i) {
    const int stage = static_cast<int>(i);
    const units::Bytes peak = memory.stages[i].peak;
    if (!groups.empty() && groups.back().peak == peak)
      groups.back().last = stage;
    else
      groups.push_back({stage, stage, peak});
  }
  return groups;
}

// The first, the last and the heaviest between, in order.
std::vector<StageGroup> worth_showing(const std::vector<StageGroup>& groups) {
  if (groups.size() <= most_memory_rows) return groups;
  std::vector<StageGroup> inner(groups.begin() + 1, groups.end() - 1);
  std::ranges::stable_sort(inner, [](const auto& a, const auto& b) { return a.peak > b.peak; });
  inner.resize(most_memory_rows - 2);
  std::ranges::sort(inner, {}, &StageGroup::first);
  inner.insert(inner.begin(), groups.front());
  inner.push_back(groups.back());
  return inner;
}

std::string stages_name(const StageGroup& group) {
  return group.first == group.last ? fmt::format("stage {}", group.first)
                                   : fmt::format("stages {}-{}", group.first, group.last);
}

std::string composition(const forecast::StageMemory& stage, int number,
                        const TextOptions& options) {
  const std::pair<const char*, units::Bytes> parts[] = {
      {"weights", stage.weights},     {"gradients", stage.gradients},
      {"optimizer", stage.optimizer}, {"activations", stage.activations},
      {"temporary", stage.temporary}, {"communication", stage.communication},
      {"framework", stage.framework}};
  std::string text = fmt::format("stage {} at its peak:", number);
  const char* separator = " ";
  for (const auto& [name, size] : parts) {
    if (!(size.value > 0)) continue;
    text += fmt::format("{}{} {}", separator, name, units::short_text(size));
    separator = ", ";
  }
  return wrapped(text, 2, width_of(options));
}

// Returns the bytes that a node keeps off its devices.
std::string outside_text(const forecast::Memory& memory, const TextOptions& options) {
  const std::tuple<const char*, units::Bytes, units::Bytes> tiers[] = {
      {"host memory", memory.host, memory.host_capacity},
      {"NVMe", memory.nvme, memory.nvme_capacity}};
  std::string text;
  for (const auto& [name, held, capacity] : tiers) {
    if (held.value <= 0) continue;
    const bool fits = held <= capacity;
    text += fmt::format("  {} per node: {} of {}{}\n", name, units::short_text(held),
                        units::short_text(capacity),
                        fits ? "" : toned(": DOES NOT FIT", Tone::bad, options));
  }
  return text;
}

std::string peaks_text(const forecast::AllocatorPeaks& peaks) {
  return fmt::format("{} allocated, {} reserved, {} of the device",
                     units::short_text(peaks.allocated), units::short_text(peaks.reserved),
                     units::short_text(peaks.device));
}

std::string failure_text(const forecast::AllocatorFailure& failure) {
  const auto when = failure.step < 0 ? std::string("before the first step")
                                     : fmt::format("in step {}", failure.step + 1);
  const auto why =
      failure.by_fragments
          ? fmt::format("the largest free piece is {}", units::short_text(failure.largest_free))
          : fmt::format("{} are allocated", units::short_text(failure.allocated));
  return fmt::format("runs out of memory {}: {} for {}, {}", when,
                     units::short_text(failure.requested), failure.tensor, why);
}

// An operator whose name begins the tensor's is not named again.
std::string tensors_name(const forecast::HeldTensors& of) {
  const bool has_name = of.op.empty() || of.what.starts_with(of.op);
  return (has_name ? "" : of.op + ' ') + of.what + (of.block.empty() ? "" : " of " + of.block);
}

// The memory that the caching allocator holds, and the tensors that it holds at the peak.
std::string allocator_text(const forecast::AllocatorUse& use, const TextOptions& options) {
  std::string text = "caching allocator, replayed: ";
  if (use.failure) {
    text += failure_text(*use.failure);
    if (use.least_room.value > 0)
      text += fmt::format(
          "; it may reserve {} beside communicators and framework, and would have to reserve {}",
          units::short_text(use.failure->limit), units::short_text(use.least_room));
  } else {
    text += peaks_text(use.steady);
    if (use.first.reserved != use.steady.reserved)
      text += fmt::format(" (first step: {} reserved)", units::short_text(use.first.reserved));
    text += fmt::format("; fragments cost {}", units::short_text(use.unused_at_peak));
    if (use.retries > 0)
      text += "; it gave back all that it cached " +
              (use.retries == 1 ? "once" : fmt::format("{} times", use.retries));
  }
  text = wrapped(text, 2, width_of(options));
  constexpr std::size_t few = 3;  // all are in --json
  std::string held = "most of the peak:";
  const char* separator = " ";
  for (const auto& one : std::span(use.largest).first(std::min(few, use.largest.size()))) {
    held += fmt::format("{}{} {}", separator, tensors_name(one), units::short_text(one.bytes));
    separator = ", ";
  }
  return text + (use.largest.empty() ? "" : wrapped(held, 2, width_of(options)));
}

std::string memory_text(const forecast::Memory& memory, const TextOptions& options) {
  const auto groups = grouped_stages(memory);
  const auto shown = worth_showing(groups);
  std::string text = heading(
      fmt::format("Memory per GPU, of {}{}", units::short_text(memory.capacity), fit_words(memory)),
      options);
  int name_width = 0;
  for (const auto& group : shown) name_width = std::max(name_width, columns(stages_name(group)));
  const int bar_width = width_of(options) - name_width - 26;
  for (const auto& group : shown) {
    const double share = memory.capacity.value > 0 ? group.peak / memory.capacity : 0.0;
    text += fmt::format(
        "  {}  {}  {}  {}\n", left(stages_name(group), name_width),
        right(units::short_text(group.peak), 10), right(percent(share), 8),
        toned(bar(share, bar_width, true, options), share > 1 ? Tone::bad : Tone::good, options));
  }
  if (shown.size() < groups.size())
    text += fmt::format("  ({} lighter groups of stages are not shown)\n",
                        groups.size() - shown.size());
  const auto heaviest = static_cast<std::size_t>(std::max(memory.peak_stage, 0));
  if (heaviest < memory.stages.size())
    text += composition(memory.stages[heaviest], memory.peak_stage, options);
  if (memory.allocator) text += allocator_text(*memory.allocator, options);
  return text + outside_text(memory, options);
}

// --- Time ----------------------------------------------------------------------------------------

std::string time_text(const forecast::Forecast& forecast, const TextOptions& options) {
  std::string text = heading("Where the time went (exposed, on the rank that ends last)", options);
  const int bar_width = width_of(options) - 39;
  for (const auto& facts : forecast::step_parts) {
    const auto duration = forecast.time[facts.part];
    if (duration.value == 0 || !(forecast.step.time.value > 0)) continue;
    const double share = duration / forecast.step.time;
    text += fmt::format("  {}  {}  {}  {}\n", left(facts.words, 13),
                        right(units::short_text(duration), 10), right(percent(share), 8),
                        bar(share, bar_width, false, options));
  }
  constexpr double worth_words = 0.02;
  if (forecast.time[forecast::StepPart::other] > worth_words * forecast.step.time)
    text += wrapped(
        "other: the GPU neither computes nor communicates, and no pipeline makes it wait: its host "
        "has not launched the next kernel, or its data loader has no batch",
        2, width_of(options));
  return text;
}

// --- The pipeline --------------------------------------------------------------------------------

Shade shade_of(std::string_view kind) {
  if (kind.ends_with("comm")) return Shade::communication;
  if (kind.starts_with("forward")) return Shade::forward;
  if (kind.starts_with("backward_weight")) return Shade::weight;
  if (kind.starts_with("backward")) return Shade::backward;
  if (kind.starts_with("recompute")) return Shade::recompute;
  if (kind.starts_with("optimizer")) return Shade::optimizer;
  return Shade::other;
}

std::string label_of(const forecast::Slice& slice, Shade shade, bool chunks) {
  if (slice.microbatch < 0) return {};
  switch (shade) {
    case Shade::forward:
      return pass_label('F', slice.microbatch, slice.chunk, chunks);
    case Shade::backward:
      return pass_label('B', slice.microbatch, slice.chunk, chunks);
    case Shade::weight:
      return pass_label('W', slice.microbatch, slice.chunk, chunks);
    case Shade::recompute:
      return pass_label('R', slice.microbatch, slice.chunk, chunks);
    default:
      return {};
  }
}

// The bars of one rank after the other, as a timeline has them, and the rank's stage.
struct RankBars {
  int stage = 0;
  std::int64_t rank = 0;
  std::span<const forecast::Slice> bars;
};

// The lowest rank of each stage that gets a row, by stage.
std::vector<RankBars> drawn_ranks(const forecast::Timeline& timeline) {
  std::vector<RankBars> lowest;
  const std::span all(timeline.slices);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const auto& first = all[begin];
    while (end < all.size() && all[end].rank == first.rank && all[end].stage == first.stage) ++end;
    if (lowest.empty() || lowest.back().stage != first.stage)
      lowest.push_back({first.stage, first.rank, all.subspan(begin, end - begin)});
  }
  std::vector<RankBars> drawn;
  for (const int row : pictured_stages(std::ssize(lowest)))
    drawn.push_back(lowest[static_cast<std::size_t>(row)]);
  return drawn;
}

// One row for each of some stages, of its lowest rank. Computation, whose lane is the first, is in
// front of communication.
std::vector<PictureRow> stage_rows(const forecast::Timeline& timeline) {
  const bool chunks =
      std::ranges::any_of(timeline.slices, [](const auto& s) { return s.chunk > 0; });
  std::vector<PictureRow> rows;
  for (const auto& [stage, rank, bars] : drawn_ranks(timeline)) {
    PictureRow row{fmt::format("stage {}", stage), {}};
    row.marks.reserve(bars.size());
    for (const auto& slice : bars) {
      const Shade shade = shade_of(slice.kind);
      row.marks.push_back({static_cast<double>(slice.start_ps), static_cast<double>(slice.end_ps),
                           shade, label_of(slice, shade, chunks)});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string pipeline_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          const TextOptions& options) {
  std::string text = heading(fmt::format("Pipeline: the average stage is idle {} of the step",
                                         percent(forecast.pipeline.bubble_fraction)),
                             options) +
                     bubbles_text(scenario, forecast, options);
  const auto& timeline = forecast.timeline;
  if (timeline.slices.empty()) return text;
  text += picture(stage_rows(timeline), 0.0, static_cast<double>(timeline.end_ps), options);
  return text;
}

std::string warnings_text(const std::vector<std::string>& warnings, const TextOptions& options) {
  if (warnings.empty()) return {};
  std::string text = heading(warnings.size() == 1 ? "Warning" : "Warnings", options);
  for (const auto& warning : warnings) {
    std::string lines = wrapped(printable(warning, options.unicode), 4, width_of(options));
    if (lines.empty()) continue;
    lines[2] = '!';
    text += lines;
  }
  return text;
}

}  // namespace

std::string head_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                      const TextOptions& options) {
  return question_text(scenario, options) + headline_text(scenario, forecast, options);
}

std::string body_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                      const TextOptions& options) {
  return alerts_text(scenario, forecast, options) + memory_text(forecast.memory, options) +
         time_text(forecast, options) + experts_text(forecast, options) +
         measurements_text(forecast, options) + network_text(forecast, options) +
         pipeline_text(scenario, forecast, options) + warnings_text(forecast.warnings, options);
}

std::vector<int> pictured_stages(std::int64_t stages) {
  return spread(static_cast<int>(stages), most_picture_rows);
}

std::string simulate_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          const TextOptions& options) {
  return head_text(scenario, forecast, options) + body_text(scenario, forecast, options);
}

}  // namespace report
