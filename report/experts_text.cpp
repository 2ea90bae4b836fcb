// SPDX-License-Identifier: Apache-2.0
#include "report/experts_text.hpp"

#include <fmt/format.h>

#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

std::string loads_text(const forecast::ExpertRanks& experts) {
  auto text = fmt::format("the fullest rank has {:.2f} times the token copies of a balanced one",
                          experts.fullest_load);
  const auto &first = experts.layers[1], &last = experts.layers.back();
  if (first.load < last.load)
    text += fmt::format(" in the mean layer ({:.2f} to {:.2f} in 10 to 99 % of layers)", first.load,
                        last.load);
  return text + fmt::format("; the mean rank waits {} for it", units::short_text(experts.waiting));
}

std::string dropped_text(double dropped, const TextOptions& options) {
  if (!(dropped > 0)) return {};
  return wrapped(fmt::format("{} of the token copies find no room in their expert and are dropped; "
                             "MFU and HFU count what is computed, tokens/s all tokens",
                             percent(dropped)),
                 2, width_of(options));
}

}  // namespace

std::string experts_text(const forecast::Forecast& forecast, const TextOptions& options) {
  const auto dropped = dropped_text(forecast.step.dropped, options);
  if (!forecast.experts) return dropped.empty() ? "" : heading("Experts", options) + dropped;
  const auto& experts = *forecast.experts;
  auto text = heading("Experts", options) +
              wrapped(fmt::format("a token reaches {:.2f} ranks on {:.2f} nodes",
                                  experts.ranks_reached, experts.nodes_reached),
                      2, width_of(options)) +
              dropped;
  if (experts.layers.empty()) return text;
  text += wrapped(loads_text(experts), 2, width_of(options));
  if (experts.given_load)
    text += wrapped(
        fmt::format("placing experts greedily: fullest rank {:.2f} instead of {:.2f} "
                    "of the mean; no placement is below {:.2f}",
                    experts.fullest_load, *experts.given_load, experts.least_load.value_or(1)),
        2, width_of(options));
  const auto layer = [](const forecast::ExpertRanks::Layer& of) {
    return fmt::format("{} and {}", units::short_text(of.mlp_forward + of.mlp_backward),
                       units::short_text(of.kept));
  };
  return text + wrapped(fmt::format("a layer's experts, forward and backward, and what it keeps: "
                                    "mean rank {}, fullest rank {}, of one layer in a hundred {}",
                                    layer(experts.layers[0]), layer(experts.layers[2]),
                                    layer(experts.layers.back())),
                        2, width_of(options));
}

}  // namespace report
