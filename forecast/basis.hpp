// SPDX-License-Identifier: Apache-2.0
// The evidence for the seconds of a step: measurements, or formulas.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "strategies/costs.hpp"
#include "topology/evidence.hpp"

namespace forecast {

// Kinds of work that have a price.
//   products      matrix products outside of experts, batched ones too
//   attention     fused attention
//   experts       products of experts
//   element_wise  kernels that memory limits by nature, the optimizer's among them
//   collectives   of all sorts, exchanges of tokens too
//   messages      between pipeline stages
//   host          launches and waits of the host, its copies, the data loader
enum class Priced : std::uint8_t {
  products,
  attention,
  experts,
  element_wise,
  collectives,
  messages,
  host
};
inline constexpr std::size_t priced_kinds = 7;
std::string_view to_text(Priced kind);  // "element_wise"

using ByEvidence = std::array<std::int64_t, topology::evidences>;  // picoseconds

// A kernel or collective that nobody measured, with its seconds on the critical path.
struct Wanted {
  strategies::CostQuery question;
  Priced kind{};
  topology::Evidence evidence{};
  std::int64_t time_ps = 0;
};

// The time of the critical path by kind and evidence. Nobody is idle on that path, so the times sum
// to the step exactly.
struct Basis {
  std::array<ByEvidence, priced_kinds> of{};
  // Products, attention, experts and collectives whose price is scaled or physics, the most seconds
  // first.
  std::vector<Wanted> wanted;

  ByEvidence total() const;
};
inline constexpr std::size_t most_wanted = 8;

}  // namespace forecast
