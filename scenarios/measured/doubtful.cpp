// SPDX-License-Identifier: Apache-2.0
#include "scenarios/measured/doubtful.hpp"

#include <algorithm>
#include <string_view>

#include "scenarios/catalog.hpp"
#include "topology/surface_choice.hpp"
#include "units/text.hpp"

namespace scenarios {

namespace {

using topology::Device;
using topology::Efficiency;
using units::Seconds;

// A device of the catalog has figures of its own, which a resolved scenario shows; another device
// has the usual ones.
Efficiency usual_efficiency(const Device& device) {
  const auto names = catalog_names(Kind::device);
  return std::ranges::find(names, device.name) == names.end()
             ? Efficiency{}
             : catalog_device(device.name).efficiency;
}

// Measured rates are divided by those of the formula at measured sizes, and multiplied by it at the
// sizes that are asked for, so that a figure of the formula nearly cancels out.
void add_overridden(const Device& device, std::vector<std::string>& sentences) {
  const auto& now = device.efficiency;
  const auto usual = usual_efficiency(device);
  const bool products =
      !now.products.empty() || topology::product_surface(device, units::Precision::bf16) != nullptr;
  const auto check = [&](bool given, std::string_view key, std::string_view kind,
                         std::string_view effect) {
    if (!given) return;
    const std::string efficiency = "cluster.node.device.efficiency.";
    sentences.push_back(efficiency + std::string(key) + " has " + std::string(effect) +
                        ": measured rates of " + std::string(kind) +
                        " decide on this device; for slower ones give " + efficiency + "slowdown." +
                        std::string(kind));
  };
  check(products && now.product_plateau != usual.product_plateau, "product_plateau", "products",
        "next to no effect");
  check(products && now.product_half_depth != usual.product_half_depth, "product_half_depth",
        "products", "an effect between measured sizes only, and not always that of its name");
  check(!now.attention.empty() && now.attention_plateau != usual.attention_plateau,
        "attention_plateau", "attention", "next to no effect");
}

// Warns of a time that is `least` or longer.
void add_long(Seconds time, Seconds least, std::string_view key, std::string_view example,
              std::vector<std::string>& sentences) {
  if (time < least) return;
  sentences.push_back(std::string(key) + " is " + units::short_text(time) +
                      ", far longer than any that is known; a bare number is in seconds: write "
                      "e.g. '" +
                      std::string(example) + "'");
}

}  // namespace

std::vector<std::string> doubtful_values(const forecast::Scenario& scenario) {
  std::vector<std::string> sentences;
  const auto& node = scenario.cluster.node;
  const auto& fabric = scenario.cluster.fabric;
  const auto& software = scenario.software;
  add_overridden(node.device, sentences);
  constexpr Seconds launch{1e-2}, hop{1e-1}, step{60};
  const auto check = [&](Seconds time, Seconds least, std::string_view key,
                         std::string_view example) {
    add_long(time, least, key, example, sentences);
  };
  check(node.device.efficiency.kernel_gap, launch, "cluster.node.device.efficiency.kernel_gap",
        "2 us");
  check(node.nvlink.latency, launch, "cluster.node.nvlink.latency", "1 us");
  check(node.nvlink.launch.value_or(Seconds{}), launch, "cluster.node.nvlink.launch", "10 us");
  check(node.pcie.latency, launch, "cluster.node.pcie.latency", "1 us");
  check(node.nics.latency, hop, "cluster.node.nics.latency", "1 us");
  check(fabric.latency, hop, "cluster.fabric.latency", "1 us");
  check(fabric.launch, hop, "cluster.fabric.launch", "20 us");
  check(software.launch_forward, launch, "software.launch_forward", "8 us");
  check(software.launch_backward, launch, "software.launch_backward", "6 us");
  check(software.step_overhead, step, "software.step_overhead", "5 ms");
  check(software.step_overhead_per_tensor, launch, "software.step_overhead_per_tensor", "10 us");
  return sentences;
}

}  // namespace scenarios
