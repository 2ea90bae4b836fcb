// SPDX-License-Identifier: Apache-2.0
#include "report/intervals.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/document.hpp"

namespace report {
namespace {

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + json_string(word);
  return '[' + text + ']';
}

// Returns four decimals. Zero has no minus, which would depend on digits beyond them.
std::string decimals(double value) {
  const auto text = fmt::format("{:.4f}", value);
  return text == "-0.0000" ? "0.0000" : text;
}

}  // namespace

std::string intervals_yaml(const forecast::Intervals& intervals) {
  std::string text =
      "# Written by `stepcast validate --intervals scenarios/catalog/intervals.yaml`; do not "
      "edit.\n"
      "# Of log(measured / predicted) step time over the runs in scenarios/published: the "
      "standard\n"
      "# deviation between data sets, and for each regime the 10th and 90th percentile.\n";
  text += "between: " + decimals(intervals.between) + "\nregimes:\n";
  for (const auto& one : intervals.regimes)
    text +=
        fmt::format("  - {{of: {}, rows: {}, datasets: {}, low: {}, high: {}}}\n", list(one.regime),
                    one.rows, one.datasets, decimals(one.low), decimals(one.high));
  text += "devices:\n";
  for (const auto& device : intervals.devices)
    text +=
        fmt::format("  - {{name: {}, gpus: {}, sequence: {}, traits: {}}}\n",
                    json_string(device.device), device.gpus, device.sequence, list(device.traits));
  return text;
}

}  // namespace report
