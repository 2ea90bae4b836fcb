// SPDX-License-Identifier: Apache-2.0
#include "topology/attention_rate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "topology/product_rate.hpp"
#include "topology/surface_choice.hpp"

namespace topology {
namespace {

using units::Kernel;
using Pass = MeasuredAttention::Pass;

// Rate of the backward over that of the forward pass: FlashAttention-2 on H100, forward against
// forward and backward in the figures of Dao-AILab/flash-attention (0.83 … 0.98).
constexpr double backward_share = 0.88;
constexpr double backward_flops = 2.5;  // of the forward pass
// Sequence at which half of the rate is reached, where nothing is measured: from the same figures.
constexpr double half_sequence = 190, half_sequence_causal = 550;
// Blocks that run while others wait for a processor, in waves: fitted to attention of 4 to 32
// heads in MooreThreads/SimuMax @4dcaae5 configs/system/a100_pcie.json.
constexpr double idle_waves = 1.2;
constexpr double block_rows = 128, measured_blocks = 2048;

// On Blackwell cuDNN's kernels use the tensor cores' new instructions (about 1400 TFLOP/s forward
// and 1150 backward in long causal sequences with heads of 128), FlashAttention-2 those of Ampere,
// at Hopper's rate per processor and clock. (mem)
constexpr double blackwell_forward = 3.4, blackwell_backward = 3.15;

// Rates over that of FlashAttention-2, where a kernel was not measured. FlashAttention-1 and
// xFormers' kernel: about half (Dao 2023, arXiv 2307.08691, section 4.1). FlashAttention-3: 1.5
// to 2.0 forward, 1.5 to 1.75 backward (Shah et al. 2024, arXiv 2407.08608, section 4.1); the
// middle of each. cuDNN's keeps up with it from Hopper on (devices with fp8), a little behind in
// the backward pass (figures 5 and 6 there); before, it is no faster than FlashAttention-2.
double over_flash_2(units::FusedAttention fused, Pass pass, const Device& device) {
  switch (fused) {
    case units::FusedAttention::flash_1:
    case units::FusedAttention::memory_efficient:
      return 0.5;
    case units::FusedAttention::flash_2:
      return 1.0;
    case units::FusedAttention::flash_3:
      return pass == Pass::forward ? 1.75 : 1.625;
    case units::FusedAttention::cudnn:
      if (device.peak_of(units::Precision::fp8).value <= 0) return 1.0;
      if (device.peak_of(units::Precision::mxfp8).value > 0)
        return pass == Pass::forward ? blackwell_forward : blackwell_backward;
      return pass == Pass::forward ? 1.75 : 1.5;
  }
  return 1.0;
}

// Rate with heads of `dim` over that with the wider heads of `known`: there are fewer flops to an
// exponential. Heads of 64 reach 0.86 to 0.94 of 128 in FlashAttention-2 on A100 and H100, 0.63 to
// 0.77 in FlashAttention-3 (figures of Dao-AILab/flash-attention), after which cuDNN's is taken.
double of_heads(units::FusedAttention fused, double dim, double known) {
  const bool hopper =
      fused == units::FusedAttention::flash_3 || fused == units::FusedAttention::cudnn;
  return std::pow(std::min(1.0, dim / known), hopper ? 0.43 : 0.19);
}

struct Point {
  double sequence, efficiency;
};

// Share of the rate of `both` at which one of its passes runs.
double share_of_both(Pass wanted) {
  const double forward = (1 + backward_flops / backward_share) / (1 + backward_flops);
  return wanted == Pass::forward ? forward : forward * backward_share;
}

// Efficiency at s on the line of 1/f over 1/s through two points; flat where f would fall with s.
double on_line(Point a, Point b, double s) {
  const double slope = (1 / a.efficiency - 1 / b.efficiency) / (1 / a.sequence - 1 / b.sequence);
  const bool between = s >= a.sequence && s <= b.sequence;
  const double safe = between ? slope : std::max(0.0, slope);
  const Point near = s <= a.sequence ? a : b;
  // A line drawn beyond measurements that rise steeply would cross zero.
  return 1 / std::max(1 / most_of_peak, 1 / near.efficiency + safe * (1 / s - 1 / near.sequence));
}

struct Series {
  units::FusedAttention fused;
  Pass pass;
  std::int64_t head_dim;
  bool causal;
};

bool belongs(const MeasuredAttention& row, const Series& series) {
  return row.fused.value_or(series.fused) == series.fused && row.pass == series.pass &&
         row.head_dim == series.head_dim && row.causal == series.causal;
}

// The efficiency of one series at s, on the line through its measurements nearest below and above,
// or through the nearest two on one side.
std::optional<double> over_sequence(const std::vector<MeasuredAttention>& rows,
                                    const Series& series, double s) {
  std::optional<Point> below, before, above, after;  // before < below ≤ s < above < after
  for (const auto& row : rows) {
    if (!belongs(row, series)) continue;
    const Point p{static_cast<double>(row.sequence), row.efficiency};
    if (p.sequence <= s) {
      if (!below || p.sequence > below->sequence) {
        before = below;
        below = p;
      } else if (p.sequence < below->sequence && (!before || p.sequence > before->sequence)) {
        before = p;
      }
    } else if (!above || p.sequence < above->sequence) {
      after = above;
      above = p;
    } else if (p.sequence > above->sequence && (!after || p.sequence < after->sequence)) {
      after = p;
    }
  }
  if (below && above) return on_line(*below, *above, s);
  if (below) return before ? on_line(*before, *below, s) : below->efficiency;
  if (above) return after ? on_line(*above, *after, s) : above->efficiency;
  return std::nullopt;
}

std::optional<double> measured(const std::vector<MeasuredAttention>& rows, Series series,
                               double head_dim, double s) {
  std::int64_t smaller = 0, larger = 0;  // nearest measured head dimensions on both sides
  for (const auto& row : rows) {
    series.head_dim = row.head_dim;
    if (!belongs(row, series)) continue;
    const auto size = static_cast<double>(row.head_dim);
    if (size <= head_dim) smaller = std::max(smaller, row.head_dim);
    if (size >= head_dim && (larger == 0 || row.head_dim < larger)) larger = row.head_dim;
  }
  if (smaller == 0 && larger == 0) return std::nullopt;
  const double beyond =
      smaller == 0 ? of_heads(series.fused, head_dim, static_cast<double>(larger)) : 1;
  if (smaller == 0) smaller = larger;
  if (larger == 0) larger = smaller;
  const auto at = [&](std::int64_t dim) {
    series.head_dim = dim;
    return over_sequence(rows, series, s);
  };
  const auto low = at(smaller), high = at(larger);
  if (!low || !high || smaller == larger) return low ? std::optional{*low * beyond} : low;
  const double a = std::log2(static_cast<double>(smaller));
  const double b = std::log2(static_cast<double>(larger));
  return *low + (*high - *low) * (std::log2(head_dim) - a) / (b - a);
}

// The measured efficiency of the pass, or the share of it in that of both passes.
std::optional<double> of_pass(const std::vector<MeasuredAttention>& rows,
                              units::FusedAttention fused, Pass pass, bool causal, double head_dim,
                              double s) {
  if (const auto alone = measured(rows, {fused, pass, 0, causal}, head_dim, s)) return alone;
  auto both = measured(rows, {fused, Pass::both, 0, causal}, head_dim, s);
  if (both) *both *= share_of_both(pass);
  return both;
}

double busy(const Kernel& kernel, const Device& device) {
  const double idle = idle_waves * device.sms;
  const auto use = [&](double blocks) { return blocks / (blocks + idle); };
  const double blocks =
      static_cast<double>(kernel.batch) * std::ceil(static_cast<double>(kernel.m) / block_rows);
  return use(blocks) / use(measured_blocks);
}

double without_tables(Pass pass, bool causal, double s, const Device& device) {
  const double half = causal ? half_sequence_causal : half_sequence;
  const double share = pass == Pass::forward ? 1.0 : backward_share;
  return device.efficiency.attention_plateau * share * s / (s + half);
}

// The rate of cuDNN's attention where the device has a surface of its like, in which few heads
// leave processors idle.
std::optional<double> of_surface(const Kernel& kernel, Pass pass, double head_dim, double s,
                                 const Device& device) {
  if (kernel.fused != units::FusedAttention::cudnn) return {};
  const auto* surface = attention_surface(device);
  if (surface == nullptr) return {};
  const auto rate = value_at(*surface, head_dim, static_cast<double>(kernel.batch), s);
  if (!rate) return {};
  const double share = pass == Pass::forward ? 1.0 : blackwell_backward / blackwell_forward;
  return rate->value * share;
}

// The side of a square with as many pairs of tokens: blocks of ring attention and windows are not
// square, and the mean keeps the work per block.
double length_of(const Kernel& kernel) {
  return std::max(1.0, std::sqrt(static_cast<double>(kernel.m) * static_cast<double>(kernel.n)));
}

Pass direction_of(const Kernel& kernel) {
  return kernel.layout == Kernel::Layout::forward ? Pass::forward : Pass::backward;
}

// The evidence that the rows of one kernel and pass give for a head size and a length; nothing
// without such rows.
std::optional<Evidence> of_series(const std::vector<MeasuredAttention>& rows, Series series,
                                  double head_dim, double s) {
  std::array<double, 4> range{};  // least and most head size, least and most length
  bool any = false;
  for (const auto& row : rows) {
    series.head_dim = row.head_dim;
    if (!belongs(row, series)) continue;
    const auto head = static_cast<double>(row.head_dim), length = static_cast<double>(row.sequence);
    if (same_size(head, head_dim) && same_size(length, s)) return Evidence::measured;
    if (!any) range = {head, head, length, length};
    range = {std::min(range[0], head), std::max(range[1], head), std::min(range[2], length),
             std::max(range[3], length)};
    any = true;
  }
  if (!any) return {};
  return in_range(head_dim, range[0], range[1]) && in_range(s, range[2], range[3])
             ? Evidence::interpolated
             : Evidence::scaled;
}

std::optional<Evidence> of_rows(const std::vector<MeasuredAttention>& rows, const Kernel& kernel) {
  const auto head_dim = static_cast<double>(kernel.k), s = length_of(kernel);
  for (const auto pass : {direction_of(kernel), Pass::both})
    if (const auto found = of_series(rows, {kernel.fused, pass, 0, kernel.causal}, head_dim, s))
      return found;
  return {};
}

Evidence of_lengths(const RateSurface& surface, const Kernel& kernel) {
  const auto rate = value_at(surface, static_cast<double>(kernel.k),
                             static_cast<double>(kernel.batch), length_of(kernel));
  if (!rate) return Evidence::physics;
  const bool like = kernel.causal && direction_of(kernel) == Pass::forward;
  return like && !rate->beyond ? Evidence::interpolated : Evidence::scaled;
}

}  // namespace

Evidence attention_evidence(const Kernel& kernel, const Device& device) {
  const auto& rows = device.efficiency.attention;
  const auto* surface =
      kernel.fused == units::FusedAttention::cudnn ? attention_surface(device) : nullptr;
  const bool square = kernel.m == kernel.n && units::element_bytes(kernel.precision) >= 2;
  if (const auto found = of_rows(rows, kernel)) {
    const bool own = device.measured_itself(device.efficiency.kernels);
    return own && square ? *found : weaker(*found, Evidence::scaled);
  }
  if (surface != nullptr) {
    const auto found = of_lengths(*surface, kernel);
    const bool own = family_of(device.rates->name) == family_of(device.name);
    if (found != Evidence::physics) return own && square ? found : weaker(found, Evidence::scaled);
  }
  auto like = kernel;
  like.fused = units::FusedAttention::flash_2;
  return of_rows(rows, like) ? Evidence::scaled : Evidence::physics;
}

units::FlopsPerSecond attention_rate(const Kernel& kernel, const Device& device) {
  const auto& rows = device.efficiency.attention;
  const auto pass = direction_of(kernel);
  const double s = length_of(kernel);
  const double head_dim = std::max(1.0, static_cast<double>(kernel.k));
  auto efficiency = of_pass(rows, kernel.fused, pass, kernel.causal, head_dim, s);
  if (!efficiency) {
    if (const auto teraflops = of_surface(kernel, pass, head_dim, s, device))
      return units::FlopsPerSecond{*teraflops * 1e12} * device.clock();
    efficiency = of_pass(rows, units::FusedAttention::flash_2, pass, kernel.causal, head_dim, s);
    if (!efficiency)
      efficiency = without_tables(pass, kernel.causal, s, device) *
                   of_heads(units::FusedAttention::flash_2, head_dim, 128);
    // Before Hopper cuDNN's kernels are as FlashAttention-2's.
    const bool fast = device.peak_of(units::Precision::fp8).value > 0;
    const auto like = kernel.fused == units::FusedAttention::cudnn && !fast
                          ? units::FusedAttention::flash_2
                          : kernel.fused;
    *efficiency *=
        of_heads(like, head_dim, 128) / of_heads(units::FusedAttention::flash_2, head_dim, 128);
    *efficiency *= over_flash_2(kernel.fused, pass, device);
  }
  const double reached = std::min(most_of_peak, *efficiency * busy(kernel, device));
  return device.peak_of(kernel.precision) * (reached * device.clock());
}

}  // namespace topology
