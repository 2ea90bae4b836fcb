// SPDX-License-Identifier: Apache-2.0
// The keys of a device's efficiency.
#include "scenarios/tables.hpp"

namespace scenarios {

using topology::Efficiency;

namespace {

constexpr Range share_of_peak{0, 1, "a share lies between nothing and all"};

Key<topology::Slowdown> slower(std::string_view name, std::string_view description,
                               double topology::Slowdown::*member) {
  return number<topology::Slowdown>(
      name, "1", {1, 1000, "a multiple of the time: 1 leaves kernels as they are, 1.3 is longer"},
      description, member);
}

const Table<topology::Slowdown>& slowdown_table() {
  using topology::Slowdown;
  static const Table<Slowdown> table{
      slower("products", "Times as long as matrix products take", &Slowdown::products),
      slower("attention", "Times as long as fused attention takes", &Slowdown::attention),
      slower("experts", "Times as long as matrix products of experts take", &Slowdown::experts),
      slower("others", "Times as long as all other kernels take", &Slowdown::others)};
  return table;
}

}  // namespace

const Table<Efficiency>& efficiency_table() {
  static const Table<Efficiency> table{
      number<Efficiency>("product_plateau", "0.75", share_of_peak,
                         "Large matrix products over the dense peak, where none was measured",
                         &Efficiency::product_plateau),
      number<Efficiency>(
          "product_half_depth", "160", {0, 1e6, "a depth in elements"},
          "Depth k at which a product loses half: k / (k + half_depth); where products "
          "were measured, it tells only the way from their sizes to others",
          &Efficiency::product_half_depth),
      number<Efficiency>(
          "attention_plateau", "0.5", share_of_peak,
          "Fused attention, forward, long sequences, over the dense peak, where none "
          "was measured",
          &Efficiency::attention_plateau),
      number<Efficiency>("memory", "0.85", {0.01, 1, "streaming reaches part of the bandwidth"},
                         "Large streaming kernels over the specified bandwidth",
                         &Efficiency::memory),
      number<Efficiency>("sustained_clock", "1", {0.1, 1, "clocks only fall in long runs"},
                         "Sustained over benchmark clock in long runs",
                         &Efficiency::sustained_clock),
      watts<Efficiency>("measured_power", device_power,
                        "Power limit of the measurements; below it products slow with the root",
                        &Efficiency::measured_power),
      duration<Efficiency>("kernel_gap", "2 us", "Start-up and tail of every kernel",
                           &Efficiency::kernel_gap),
      shown_if([](const Efficiency& of) { return of.slowdown != topology::Slowdown{}; },
               inner<Efficiency>("slowdown",
                                 "Kernels that take longer than measured, by kind: a fault to try",
                                 slowdown_table(), &Efficiency::slowdown))};
  return table;
}

}  // namespace scenarios
