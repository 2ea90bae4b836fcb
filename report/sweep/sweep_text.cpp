// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "report/document.hpp"
#include "report/sweep/kept.hpp"
#include "report/sweep/sweep.hpp"
#include "report/terminal.hpp"
#include "search/points.hpp"
#include "units/text.hpp"

namespace report {
namespace {

std::string points(std::int64_t number) {
  return grouped_count(number) + (number == 1 ? " point" : " points");
}

// "5 min 20 s"
std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

// The names of rules that the point raises; nothing where it has no rules.
std::string alerts_item(const SweepRow& row, const TextOptions& options) {
  const auto result = row.result.empty() ? Document::object() : Document::parse(row.result);
  if (!result.contains("alerts")) return {};
  auto names = result["alerts"].get<std::string>();
  for (std::size_t at = 0; (at = names.find(';', at)) != names.npos; at += 2)
    names.replace(at, 1, ", ");
  return item("", names.empty() ? "no alert is raised" : "alerts raised: " + names, options);
}

// Says that a point which counts as fitting may run out of memory; nothing where that is unlikely.
std::string chance_item(const SweepRow& row, const TextOptions& options) {
  constexpr double likely = 0.9;
  const double chance = search::figure_named("fit_chance", row.figures);
  if (!(chance < likely)) return {};
  return item("!",
              fmt::format("it fits in memory with a chance of {:.0f} % only, by the errors of past "
                          "forecasts; column fit_chance has that of every point",
                          100 * chance),
              options);
}

std::string best_point_text(const std::string& name, const SweepRow& row,
                            const std::vector<std::string>& axis_names,
                            const TextOptions& options) {
  return item(name,
              fmt::format("{} tokens/s, {} per GPU on {} GPUs, step {}, {} MFU",
                          grouped(search::figure_named("tokens_per_s", row.figures)),
                          grouped(search::figure_named("tokens_per_s_per_gpu", row.figures)),
                          grouped_count(
                              static_cast<std::int64_t>(search::figure_named("gpus", row.figures))),
                          units::short_text(
                              units::Seconds{search::figure_named("step_time_s", row.figures)}),
                          percent(search::figure_named("mfu", row.figures))),
              options) +
         chance_item(row, options) + of_kept(row, [&] {
           return item("", printable(place_words(axis_names, row.axes), options.unicode), options) +
                  alerts_item(row, options);
         });
}

}  // namespace

std::string sweep_progress(const SweepProgress& progress) {
  std::string text = fmt::format("{} of {}", grouped_count(progress.done), points(progress.all));
  if (progress.fresh > 0 && progress.spent.value > 0) {
    const double rate = static_cast<double>(progress.fresh) / progress.spent.value;
    text += fmt::format(", {:.3g}/s, {} left", rate,
                        duration(static_cast<double>(progress.all - progress.done) / rate));
  }
  if (progress.best)
    text +=
        fmt::format(", best {} tokens/s per GPU ({})", grouped(*progress.best), progress.best_at);
  return text;
}

std::string sweep_text(const SweepSummary& summary, const TextOptions& options) {
  std::int64_t done = 0;
  std::string counts;
  for (const auto& [status, number] : summary.counts) {
    done += number;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", grouped_count(number), status);
  }
  std::string text =
      heading(fmt::format("{}: {}{}", printable(summary.name, options.unicode),
                          done == summary.all
                              ? points(done)
                              : fmt::format("{} of {}", grouped_count(done), points(summary.all)),
                          std::string(summary.mode == "search" ? ", each searched" : "") +
                              (summary.corrected ? ", corrected by measured steps" : "")),
              options);
  if (!counts.empty()) text += item("status", counts, options);
  if (summary.fastest)
    text += best_point_text("fastest", *summary.fastest, summary.axis_names, options);
  if (summary.thriftiest && summary.thriftiest->id != summary.fastest->id)
    text += best_point_text("per GPU", *summary.thriftiest, summary.axis_names, options);
  if (summary.nothing_ok)
    for (const auto& words : nothing_ok_words(*summary.nothing_ok, summary.axis_names))
      text += item("", printable(words, options.unicode), options);
  if (done < summary.all)
    text += item("missing", points(summary.all - done) + "; the same command goes on", options);
  return text;
}

}  // namespace report
