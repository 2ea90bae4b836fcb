// SPDX-License-Identifier: Apache-2.0
#include "report/runs/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "forecast/accuracy/correction.hpp"
#include "report/document.hpp"
#include "report/question_text.hpp"
#include "report/runs/profile.hpp"
#include "report/runs/profile_parts.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {

using forecast::Cause;
using forecast::Diagnosis;
using forecast::Suspect;
using units::Seconds;

namespace {

// "ranks 0 to 3 and 7", "rank 5"; "all ranks" of none.
std::string ranks_words(const std::vector<std::int64_t>& ranks) {
  if (ranks.empty()) return "all ranks";
  constexpr std::size_t most = 6;
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    runs.push_back(last == i       ? fmt::format("{}", ranks[i])
                   : last == i + 1 ? fmt::format("{}, {}", ranks[i], ranks[last])
                                   : fmt::format("{} to {}", ranks[i], ranks[last]));
    i = last + 1;
  }
  const auto more = runs.size() > most ? fmt::format(" and {} more", runs.size() - most) : "";
  if (runs.size() > most) runs.resize(most);
  return fmt::format("{} {}{}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(runs, ", "), more);
}

std::string communication_words(const Suspect& suspect) {
  return suspect.part ? std::string(facts_of(*suspect.part).words) + "unication" : "communication";
}

std::string class_words(const Suspect& suspect) {
  static constexpr std::array<std::string_view, forecast::kernel_classes> classes{
      "matrix products", "attention kernels", "kernels of experts",
      "kernels that are neither products nor attention nor of experts"};
  return std::string(suspect.kernels ? classes[static_cast<std::size_t>(*suspect.kernels)]
                                     : "kernels of all classes");
}

std::string slow_link_words(const Suspect& suspect) {
  return fmt::format(
      "{} of {} takes {:.2f} times as long as forecast once all have come ({} instead of {}): "
      "{:.0f} % of the bus bandwidth",
      communication_words(suspect), ranks_words(suspect.ranks), suspect.factor,
      units::short_text(suspect.seen), units::short_text(suspect.expected), 100 / suspect.factor);
}

std::string stall_words(const Suspect& suspect) {
  return fmt::format(
      "{} of {} transfers of {} of {} took {}{}, others of the same size {}, though all ranks had "
      "come: look for a link or a NIC that dropped out and sent again; no link was slow throughout",
      suspect.stalled, suspect.transfers, communication_words(suspect), ranks_words(suspect.ranks),
      suspect.stalled == 1 ? "" : "up to ", units::short_text(suspect.seen),
      units::short_text(suspect.expected));
}

std::string straggler_words(const Suspect& suspect) {
  return fmt::format("{} on {} take {:.2f} times as long as on the other ranks, which wait",
                     class_words(suspect), ranks_words(suspect.ranks), suspect.factor);
}

std::string loading_words(const Suspect& suspect) {
  return fmt::format("{}: the GPU does nothing for {} before the first kernel of the step",
                     ranks_words(suspect.ranks), units::short_text(suspect.seen));
}

// A trace names no sizes, so that wider kernels look like slower ones.
std::string_view other_sizes_words(const Suspect& suspect) {
  constexpr double suspicious = 1.5;
  return suspect.factor < suspicious
             ? ""
             : "; or the traced model has other widths, or sequences of another length";
}

std::string slow_kernels_words(const Suspect& suspect, const Diagnosis& diagnosis) {
  const auto slow = std::ranges::count(diagnosis.suspects, Cause::slow_kernels, &Suspect::cause);
  return fmt::format("{} take {:.2f} times as long as forecast on all ranks, {}{}",
                     class_words(suspect), suspect.factor,
                     slow > 1 ? "the rest by another factor" : "the rest does not",
                     other_sizes_words(suspect));
}

std::string evidence_words(const Suspect& suspect, const Diagnosis& diagnosis) {
  switch (suspect.cause) {
    case Cause::straggler:
      return straggler_words(suspect);
    case Cause::late_rank:
      return fmt::format(
          "the GPU of {} idles between kernels while others wait for it in collectives: look for "
          "pauses of its host (garbage collection, logging, checkpoints, another process)",
          ranks_words(suspect.ranks));
    case Cause::unseen_rank:
      return fmt::format(
          "transfers of {} that are alike take very different times, as if some waited for a late "
          "rank that is not traced: trace the ranks of their group",
          communication_words(suspect));
    case Cause::stall:
      return stall_words(suspect);
    case Cause::slow_link:
      return slow_link_words(suspect);
    case Cause::host_bound:
      return fmt::format(
          "GPUs idle for {} between kernels, on all ranks alike: the host launches too slowly or "
          "waits for the device",
          units::short_text(suspect.seen));
    case Cause::no_overlap:
      return fmt::format(
          "ranks wait {1} for {0}, in the forecast {2}: the rest should hide under computation",
          communication_words(suspect), units::short_text(suspect.seen),
          units::short_text(suspect.expected));
    case Cause::slow_kernels:
      return slow_kernels_words(suspect, diagnosis);
    case Cause::low_clock:
      return fmt::format(
          "kernels of all classes take {:.2f} times as long as forecast on all "
          "ranks: look for power and thermal limits{}",
          suspect.factor, other_sizes_words(suspect));
    case Cause::data_loading:
      return loading_words(suspect);
    case Cause::stage_imbalance:
      return fmt::format("stage {} runs {:.2f} times the layers that the scenario gives it",
                         suspect.stage, suspect.factor);
    case Cause::expert_imbalance:
      return fmt::format(
          "experts of {} compute {:.2f} times as long as those of the mean rank, "
          "other kernels do not",
          ranks_words(suspect.ranks), suspect.factor);
    case Cause::recomputation:
      return fmt::format(
          "attention runs forward {:.2f} times as often as it should beside "
          "backward: {} is computed again",
          suspect.factor, suspect.kernels ? "the attention core" : "every layer");
    case Cause::copies:
      return fmt::format("copies between GPU and host take {} with nothing beside them",
                         units::short_text(suspect.seen));
  }
  return {};
}

double share_explained(const Explanation& of, Seconds step) {
  const double gap = of.measured.value - of.forecast.value;
  return gap != 0 ? (step.value - of.forecast.value) / gap : 0;
}

std::string header(const Explanation& of, const TextOptions& options) {
  std::string text = toned(printable(of.scenario, options.unicode), Tone::strong, options) + '\n';
  if (of.model != nullptr)
    text += item("model", printable(model_words(*of.model), options.unicode), options);
  const double gap = of.measured.value - of.forecast.value;
  text += item("measured",
               fmt::format("{}, {} {} than the forecast", units::short_text(of.measured),
                           units::short_text(Seconds{std::abs(gap)}), gap >= 0 ? "more" : "less"),
               options);
  const bool inside = of.measured >= of.low && of.measured <= of.high;
  text += item("forecast",
               fmt::format("{} (80 %: {} to {}): the measured step lies {} that, {:.1f} standard "
                           "deviations of what such forecasts are off by",
                           units::short_text(of.forecast), units::short_text(of.low),
                           units::short_text(of.high), inside ? "inside" : "outside",
                           std::abs(of.deviations)),
               options);
  return text;
}

std::string traced_text(const Explanation& of, const Diagnosis& diagnosis,
                        const TextOptions& options) {
  std::string text =
      item("traces",
           fmt::format("{} of {} ranks ({}), step {} of {}", diagnosis.ranks.size(), diagnosis.gpus,
                       ranks_words(diagnosis.ranks), printable(diagnosis.step, options.unicode),
                       units::short_text(diagnosis.measured)),
           options);
  constexpr double apart = 0.05;
  if (of.told && std::abs(of.told->value / diagnosis.measured.value - 1) > apart)
    text += item("!",
                 fmt::format("--measured says {}, the traced step took {}: the traced one is "
                             "explained; a profiler slows a run down, and steps differ",
                             units::short_text(*of.told), units::short_text(diagnosis.measured)),
                 options);
  return text;
}

std::string suspects_text(const Explanation& of, const Diagnosis& diagnosis,
                          const TextOptions& options) {
  const int width = width_of(options);
  std::string text = heading("Suspects, the most seconds first", options);
  if (diagnosis.suspects.empty())
    text += wrapped(fmt::format("None above {:.0f} % of the step.", 1.0), 2, width);
  for (std::size_t i = 0; i < diagnosis.suspects.size(); ++i) {
    const auto& suspect = diagnosis.suspects[i];
    text += fmt::format("  {}. {}  {}, {} of the step\n", i + 1,
                        toned(to_text(suspect.cause), Tone::strong, options),
                        units::short_text(suspect.seconds),
                        percent(suspect.seconds / diagnosis.measured));
    text += wrapped(evidence_words(suspect, diagnosis), 5, width);
    if (suspect.set.empty()) continue;
    const auto tried =
        i < of.tried.size() && of.tried[i]
            ? fmt::format(" (the forecast is {} then)", units::short_text(*of.tried[i]))
            : std::string();
    text += wrapped(fmt::format("--set '{}'{}", suspect.set, tried), 5, width);
  }
  text += item("unexplained", units::short_text(diagnosis.unexplained), options);
  return text;
}

std::string changes_text(const Explanation& of, const TextOptions& options) {
  const int width = width_of(options);
  if (of.measured <= of.forecast) {
    std::string text = "The step took no longer than forecast: nothing slowed it.";
    if (std::abs(of.deviations) > forecast::suspicious_deviations)
      text +=
          " It is far below: see whether the time is that of a whole step and has the right unit, "
          "and whether the scenario describes what ran.";
    return '\n' + wrapped(text, 2, width);
  }
  std::string text =
      heading("Changes of one key that would explain it, as far as they do", options);
  if (of.changes.empty())
    return text + wrapped(
                      "No single key explains as much as a tenth of the difference. A trace tells "
                      "more: profile one step of some ranks with torch.profiler, then --trace "
                      "FOLDER.",
                      2, width);
  for (const auto& change : of.changes) {
    text += fmt::format("  {}{}  {}, {} of it\n", change.words,
                        change.factor ? fmt::format(": {:.2f} times", *change.factor) : "",
                        units::short_text(change.step - of.forecast),
                        percent(share_explained(of, change.step)));
    text += wrapped(fmt::format("--set '{}': {}", change.set, units::short_text(change.step)), 5,
                    width);
  }
  return text + '\n' +
         wrapped(
             "A time alone does not tell these apart. A trace decides: profile one step of some "
             "ranks with torch.profiler, then --trace FOLDER.",
             2, width);
}

Document suspect_document(const Suspect& suspect, const Diagnosis& diagnosis,
                          std::optional<Seconds> tried) {
  std::string cause(to_text(suspect.cause));
  std::ranges::replace(cause, ' ', '_');
  Document ranks = Document::array();
  for (const auto rank : suspect.ranks) ranks.push_back(rank);
  return Object()
      .put("cause", cause)
      .quantity("seconds", suspect.seconds)
      .number("share", suspect.seconds / diagnosis.measured)
      .number("factor", suspect.factor)
      .put("kernels",
           suspect.kernels ? Document(std::string(to_text(*suspect.kernels))) : Document())
      .put("communication",
           suspect.part ? Document(std::string(facts_of(*suspect.part).name())) : Document())
      .put("ranks", std::move(ranks))
      .put("stage", suspect.stage >= 0 ? Document(suspect.stage) : Document())
      .put("evidence", evidence_words(suspect, diagnosis))
      .put("set", suspect.set.empty() ? Document() : Document(suspect.set))
      .optional("forecast_with_set_s", tried)
      .take();
}

Document trace_document(const Explanation& of, const Diagnosis& diagnosis) {
  Document ranks = Document::array();
  for (const auto rank : diagnosis.ranks) ranks.push_back(rank);
  return Object()
      .put("files", Document(of.traces))
      .put("step", diagnosis.step)
      .put("ranks", std::move(ranks))
      .put("gpus", diagnosis.gpus)
      .put("mismatches", mismatches_document(diagnosis.mismatches))
      .take();
}

}  // namespace

std::string explanation_text(const Explanation& of, const TextOptions& options) {
  if (!of.diagnosis) return header(of, options) + changes_text(of, options);
  const auto& diagnosis = *of.diagnosis;
  const auto traced = traced_text(of, diagnosis, options);
  if (!diagnosis.mismatches.empty())
    return toned(printable(of.scenario, options.unicode), Tone::strong, options) + '\n' + traced +
           mismatches_text(diagnosis.mismatches, options);
  return header(of, options) + traced + suspects_text(of, diagnosis, options);
}

std::string explanation_json(const Explanation& of, std::string_view version) {
  Document suspects = Document::array(), changes = Document::array();
  if (of.diagnosis)
    for (std::size_t i = 0; i < of.diagnosis->suspects.size(); ++i)
      suspects.push_back(suspect_document(of.diagnosis->suspects[i], *of.diagnosis,
                                          i < of.tried.size() ? of.tried[i] : std::nullopt));
  for (const auto& change : of.changes)
    changes.push_back(Object()
                          .put("words", change.words)
                          .put("set", change.set)
                          .quantity("time_s", change.step)
                          .number("explains", share_explained(of, change.step))
                          .optional("factor", change.factor)
                          .take());
  return dump(Object()
                  .put("stepcast", std::string(version))
                  .put("scenario", of.scenario)
                  .put("model", of.model == nullptr ? Document() : parameters_document(*of.model))
                  .quantity("measured_s", of.measured)
                  .optional("told_s", of.told)
                  .put("forecast", Object()
                                       .quantity("time_s", of.forecast)
                                       .quantity("time_low_s", of.low)
                                       .quantity("time_high_s", of.high)
                                       .take())
                  .quantity("excess_s", of.measured - of.forecast)
                  .number("deviations", of.deviations)
                  .put("trace", of.diagnosis ? trace_document(of, *of.diagnosis) : Document())
                  .put("suspects", std::move(suspects))
                  .optional("unexplained_s", of.diagnosis && of.diagnosis->mismatches.empty()
                                                 ? std::optional(of.diagnosis->unexplained)
                                                 : std::nullopt)
                  .put("changes", std::move(changes))
                  .take());
}

}  // namespace report
