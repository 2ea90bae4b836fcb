// SPDX-License-Identifier: Apache-2.0
#include "report/headline_text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "report/basis.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

std::string measured_beside(const Published& published, units::Seconds forecast,
                            const TextOptions& options) {
  if (!(published.step_time.value > 0)) return {};
  const double error = (forecast - published.step_time) / published.step_time;
  return item("",
              fmt::format("published {} ({}): the forecast is {} off",
                          units::short_text(published.step_time),
                          printable(published.source, options.unicode), signed_percent(error)),
              options);
}

// "29.0 to 33.5 s"; "950 ms to 1.20 s" where the units differ.
std::string interval_text(const forecast::Step& step) {
  auto low = units::short_text(step.time_low);
  const auto high = units::short_text(step.time_high);
  const auto unit = high.substr(high.find(' '));
  if (low.ends_with(unit)) low.resize(low.size() - unit.size());
  return low + " to " + high;
}

std::string validated_text(const std::optional<forecast::Validated>& validated,
                           const TextOptions& options) {
  if (!validated) return {};
  std::string text = fmt::format("against {} measured run{} from {} data set{}", validated->rows,
                                 validated->rows == 1 ? "" : "s", validated->datasets,
                                 validated->datasets == 1 ? "" : "s");
  const char* separator = " of ";
  for (const auto& one : validated->regime) text += std::exchange(separator, ", ") + one;
  separator = "; outside: ";
  for (const auto& one : validated->outside) text += std::exchange(separator, "; ") + one;
  return item("validated", printable(text, options.unicode), options);
}

bool is_padded(const forecast::Step& step) { return step.useful_tokens < step.tokens; }

// Returns the words on tokens that are no padding, beside the rate of all tokens.
std::string useful_words(const forecast::Step& step) {
  if (!is_padded(step)) return {};
  return fmt::format(" ({} useful)", grouped(step.useful_tokens_per_second()));
}

std::string costs(const forecast::Step& step, std::int64_t gpus, const TextOptions& options) {
  if (!(step.tokens_per_second > 0)) return {};
  const double rate = step.useful_tokens_per_second();
  const double gpu_hours = 1e9 / rate / 3600 * static_cast<double>(gpus);
  return item("cost",
              fmt::format("{} billion {}tokens/day, {} GPU-hours per billion{}",
                          grouped(rate * 86400 / 1e9), is_padded(step) ? "useful " : "",
                          grouped(gpu_hours), is_padded(step) ? "" : " tokens"),
              options);
}

}  // namespace

std::string headline_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          const TextOptions& options) {
  const auto& step = forecast.step;
  std::string text =
      fmt::format("\n  step time   {}", toned(units::short_text(step.time), Tone::strong, options));
  if (step.time_low < step.time_high) text += fmt::format("   (80 %: {})", interval_text(step));
  text += '\n';
  if (options.published) text += measured_beside(*options.published, step.time, options);
  text += validated_text(forecast.validated, options);
  text += basis_line(forecast, options);
  text += item("throughput",
               fmt::format("{} tokens/s{}, {} tokens/s per GPU, {} microbatch{} per step",
                           grouped(step.tokens_per_second), useful_words(step),
                           grouped(step.tokens_per_second_per_gpu),
                           grouped(static_cast<double>(step.microbatches)),
                           step.microbatches == 1 ? "" : "es"),
               options);
  text += item("efficiency",
               fmt::format("{} per GPU, MFU {}, HFU {}", units::short_text(step.flops_per_gpu),
                           percent(step.mfu), percent(step.hfu)),
               options);
  return text + costs(step, scenario.cluster.gpus, options);
}

std::string fit_words(const forecast::Memory& memory) {
  const std::string plainly = memory.fits ? "" : ": DOES NOT FIT";
  if (!memory.fit_chance || *memory.fit_chance >= 0.995 || *memory.fit_chance < 0.005)
    return plainly;
  return plainly + fmt::format("{} {:.0f} %", memory.fits ? ": fits with" : ", but for a chance of",
                               100 * *memory.fit_chance);
}

}  // namespace report
