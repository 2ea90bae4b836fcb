// SPDX-License-Identifier: Apache-2.0
#include "topology/product_rate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "topology/surface_choice.hpp"

namespace topology {
namespace {

using units::Kernel;
using units::Precision;

// Best products of narrow types reach this share of what bf16 reaches of its own peak: mean of
// five devices in stas00/ml-engineering @744d01e compute/accelerator/README.md (0.88 … 0.98).
constexpr double narrow_share = 0.93;
// Rows that do not start on 16 bytes rule out the widest loads; 10-50 % slower, (mem).
constexpr double misaligned_share = 0.75;
constexpr double alignment_bytes = 16;
constexpr double fade = 4.0;
constexpr double layout_distance = 2.0;
// Surfaces are of forward products; weight gradients, summed in fp32, run at this share of their
// rate, input gradients at 0.99: medians of 144 layers of B200 in MooreThreads/SimuMax @4dcaae5.
constexpr double weight_gradient_share = 0.93;
// Weight gradients of all experts in one kernel run at this share of the forward rate: medians of
// 36 layers of H100, 0.88, and of 144 layers of H200, 0.91 (scenarios/kernels).
constexpr double experts_weight_gradient_share = 0.90;
// Products of experts that are kernels of their own, as Transformer Engine runs them, take as long
// one after the other as dense products of their shapes, but that the next begins on processors
// that the last leaves idle, and that all add to weight gradients of their own: 0.92, 0.97 and 1.21
// times as long forward, for the input's and for the weight's gradient, medians of 36 layers each
// (10th to 90th percentile 0.78 to 1.15, 0.87 to 1.21, 0.86 to 1.62) of B200 in the same table.
constexpr std::array<double, 3> alone_share{1 / 0.92, 1 / 0.97, 1 / 1.21};
// The same for Hopper, and for devices without scales for blocks, where plain products were
// measured: medians of 9 expert layers of 8 and 32 experts, 256 to 4096 rows each, on H100 and H200
// (scenarios/kernels; 0.96 to 1.13, 0.96 to 1.06, 1.00 to 1.10).
constexpr std::array<double, 3> alone_share_hopper{1 / 1.03, 1 / 1.00, 1 / 1.06};

// Blackwell, and AMD's CDNA 4 like it.
bool scales_blocks(const Device& device) { return device.peak_of(Precision::mxfp8).value > 0; }

struct Shape {
  Kernel::Layout layout;
  double batch, m, n, k;
};

Shape product_shape(const Kernel& kernel) {
  return {kernel.layout, static_cast<double>(kernel.batch), static_cast<double>(kernel.m),
          static_cast<double>(kernel.n), static_cast<double>(kernel.k)};
}

Shape product_shape(const MeasuredProduct& row) {
  return {row.layout, static_cast<double>(row.batch), static_cast<double>(row.m),
          static_cast<double>(row.n), static_cast<double>(row.k)};
}

double flops_of(const Shape& s) { return 2 * s.batch * s.m * s.n * s.k; }

// Logarithm to base 2, straight between powers of two: a coordinate, and much cheaper than log2.
double octave(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto fraction = static_cast<double>(bits & ((std::uint64_t{1} << 52) - 1)) * 0x1p-52;
  return static_cast<double>(static_cast<int>(bits >> 52) - 1023) + fraction;
}

using LogShape = ProductRates::LogShape;

LogShape place_of(const Shape& s) {
  return {s.layout, octave(s.batch), octave(s.m), octave(s.n), octave(s.k)};
}

double square(double x) { return x * x; }

// Square of the distance in octaves.
double apart(const LogShape& a, const LogShape& b) {
  const double shift = a.layout == b.layout ? 0 : layout_distance;
  return square(a.m - b.m) + square(a.n - b.n) + square(a.k - b.k) + square(a.batch - b.batch) +
         square(shift);
}

// Smallest whole number not below x ≥ 0; std::ceil is a call on the oldest x86-64.
double ceiling(double x) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole + static_cast<double>(whole < x);
}

// The device as the shape model sees it for one precision.
struct Machine {
  double per_plateau, half_depth, processors, per_processor, peak, flops_per_byte, element;
};

// The type that the tables were measured in, and its dense peak.
Precision table_precision(const Device& device) {
  for (auto precision : {Precision::bf16, Precision::fp16})
    if (device.peak_of(precision).value > 0) return precision;
  return Precision::fp32;
}
double table_peak(const Device& device) {
  return std::max(0.0, device.peak_of(table_precision(device)).value);
}

Machine machine_for(Precision precision, double peak, const Device& device) {
  const auto& e = device.efficiency;
  const double bandwidth = device.memory_bandwidth.value * e.memory;
  Machine machine{1 / e.product_plateau,
                  e.product_half_depth,
                  static_cast<double>(device.sms),
                  (1 - 1e-12) / std::max(1, device.sms),  // exact multiples must not round up
                  peak,
                  bandwidth > 0 ? peak / bandwidth : 0,
                  units::element_bytes(precision)};
  // Filling and draining the pipeline takes its time whatever the arithmetic's speed.
  const double wide = table_peak(device);
  if (machine.element < 2 && wide > 0) machine.half_depth *= std::max(1.0, peak / wide);
  if (machine.element > 2 && wide > 0) machine.half_depth *= std::min(1.0, peak / wide);
  if (machine.element < 2) machine.per_plateau /= narrow_share;
  return machine;
}

// Results that the processors could have made in the waves that the product takes with k cut into
// `split` parts, in tiles of 128 × 128 results. Larger tiles never take fewer slots.
double occupied(const Shape& s, const Machine& on, double split) {
  const double tiles = s.batch * split * ceiling(s.m / 128) * ceiling(s.n / 128);
  const double slots =
      on.processors > 0 ? ceiling(tiles * on.per_processor) * on.processors : tiles;
  return slots * 128 * 128 / split;
}

// Duration of the product by the model, in flops that the device at its peak would do meanwhile.
double model_work(const Shape& s, const Machine& on) {
  double work = occupied(s, on, 1) * (s.k + on.half_depth);
  // Splitting k pays only where tiles do not even fill one wave.
  if (s.batch * s.m * s.n < on.processors * 128 * 256)
    for (const double split : {2.0, 4.0})
      work = std::min(work, occupied(s, on, split) * (s.k + split * on.half_depth));
  const double bytes = on.element * s.batch * (s.m * s.k + s.k * s.n + s.m * s.n);
  return std::max(2 * work * on.per_plateau, bytes * on.flops_per_byte);
}

// The duration of a measured product in such flops, its start-up taken out. Where the start-up
// exceeds half of the measured time the two contradict each other and half of it counts.
double measured_work(const Shape& s, double efficiency, double startup) {
  const double work = flops_of(s) / efficiency;
  return std::max(work - startup, work * 0.5);
}

bool misaligned(const Kernel& kernel) {
  const auto step =
      static_cast<std::int64_t>(alignment_bytes / units::element_bytes(kernel.precision));
  return kernel.n % step != 0 || kernel.k % step != 0;
}

double nearest_node(std::span<const double> axis, double size) {
  return std::clamp(size, axis.front(), axis.back());
}

// Correction at one place of a surface: its rate over the model's, the start-up taken out.
std::optional<double> at_surface(const RateSurface& surface, const std::array<double, 3>& sizes,
                                 const Shape& shape, const Machine& on, double startup) {
  const auto rate = value_at(surface, sizes[0], sizes[1], sizes[2]);
  if (!rate) return {};
  return model_work(shape, on) / measured_work(shape, rate->value * 1e12 / on.peak, startup);
}

double dense_correction(const RateSurface& surface, Shape s, const Machine& on, double startup) {
  s.m = nearest_node(surface.axes[0], s.m);
  s.n = nearest_node(surface.axes[1], s.n);
  s.k = nearest_node(surface.axes[2], s.k);
  return at_surface(surface, {s.m, s.n, s.k}, s, on, startup).value_or(1);
}

// The sizes by which surfaces of experts go: the width of a layer as wide as it is deep, the
// experts, and the rows of an expert. Weight gradients sum up over rows.
struct ExpertSizes {
  double wide, experts, rows;
};
ExpertSizes expert_sizes(const Shape& s) {
  const bool last = s.layout == Kernel::Layout::weight_gradient;
  return {std::sqrt(s.n * (last ? s.m : s.k)), s.batch, last ? s.k : s.m};
}

// The correction from a surface of experts. Both projections of a layer were measured together, in
// a layer as wide as it is deep. Fewer rows were measured with many experts than with few, so the
// nearest may be some octaves away.
double experts_correction(const RateSurface& surface, const Shape& s, const Machine& on,
                          double startup) {
  const auto sizes = expert_sizes(s);
  const double wide = nearest_node(surface.axes[0], sizes.wide);
  const double experts = nearest_node(surface.axes[1], sizes.experts);
  double rows = nearest_node(surface.axes[2], sizes.rows);
  for (; rows >= surface.axes[2].front(); rows /= 2)
    if (const auto c =
            at_surface(surface, {wide, experts, rows},
                       {Kernel::Layout::forward, experts, rows, wide, wide}, on, startup))
      return *c;
  return 1;
}

bool is_wide(Precision precision) { return units::element_bytes(precision) >= 2; }

}  // namespace

// A table with products of all passes is one of training: its surfaces can be joined to it, and
// price the precisions that it lacks on Blackwell. On Hopper they price nothing but experts: fp8
// products measured beside the tables (scenarios/kernels) reach 0.91 of bf16's share, near
// narrow_share's 0.93.
void ProductRates::join_surfaces() {
  const auto& rows = device_->efficiency.products;
  const bool dense = !rows.empty();
  const bool training = scales_blocks(*device_) && std::ranges::any_of(rows, [](const auto& row) {
                          return row.layout != Kernel::Layout::forward;
                        });
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    const auto precision = static_cast<Precision>(i);
    const bool wide = is_wide(precision);
    if (device_->peak[i].value <= 0) continue;
    const bool priced = !dense || (training && !wide);
    const auto layers = experts_surfaces(*device_, precision);
    surfaces_[i].dense = priced ? product_surface(*device_, precision) : nullptr;
    surfaces_[i].of_experts = layers.precision;
    if (!(wide && has_experts_)) surfaces_[i].experts = layers.surfaces;
  }
  if (dense) join_ = table_over_surface();
}

// The geometric mean of the table's rate over the surface's, over the dense forward products of the
// table.
double ProductRates::table_over_surface() const {
  const auto* surface = product_surface(*device_, Precision::bf16);
  if (surface == nullptr) return 1;
  const double peak = table_peak(*device_);
  double logs = 0, count = 0;
  for (const auto& row : device_->efficiency.products) {
    if (row.batch > 1 || row.layout != Kernel::Layout::forward) continue;
    const auto shape = product_shape(row);
    if (const auto rate = value_at(*surface, shape.m, shape.n, shape.k); rate && !rate->beyond) {
      logs += std::log(row.efficiency * peak / (rate->value * 1e12));
      ++count;
    }
  }
  return count > 0 ? std::exp(logs / count) : 1;
}

// Whether experts' products run one by one and the table does not have them so: a table of 16 bit
// that has layers of experts was measured so.
bool ProductRates::is_one_by_one(const Kernel& kernel) const {
  return kernel.grouped && kernel.launches > 1 && !(has_experts_ && is_wide(kernel.precision));
}

std::array<const RateSurface*, 2> ProductRates::surfaces_of(const Kernel& kernel) const {
  const auto& own = surfaces_[static_cast<std::size_t>(kernel.precision)];
  if (kernel.grouped) return own.experts;
  return {kernel.batch == 1 ? own.dense : nullptr};
}

// The factor on a product's rate by the model of shapes: from surfaces, or else from the table.
double ProductRates::surface_or_table(const Kernel& kernel) const {
  const auto& own = surfaces_[static_cast<std::size_t>(kernel.precision)];
  const auto shape = product_shape(kernel);
  const auto surfaces = surfaces_of(kernel);
  if (surfaces[0] == nullptr) return correction(place_of(shape));
  const auto precision = kernel.grouped ? own.of_experts : kernel.precision;
  const double peak = device_->peak_of(precision).value;
  const auto machine = machine_for(precision, peak, *device_);
  const double startup = device_->efficiency.kernel_gap.value * peak;
  const double pass = kernel.layout != Kernel::Layout::weight_gradient ? 1.0
                      : kernel.grouped ? experts_weight_gradient_share
                                       : weight_gradient_share;
  double best = 0;
  for (const auto* surface : surfaces)
    if (surface != nullptr)
      best = std::max(best, kernel.grouped ? experts_correction(*surface, shape, machine, startup)
                                           : dense_correction(*surface, shape, machine, startup));
  return join_ * pass * best;
}

ProductRates::ProductRates(const Device& device) : device_(&device) {
  const auto& rows = device.efficiency.products;
  const auto machine = machine_for(Precision::bf16, table_peak(device), device);
  const double startup = device.efficiency.kernel_gap.value * machine.peak;
  double product = 1, logs = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto shape = product_shape(rows[i]);
    const double c = model_work(shape, machine) / measured_work(shape, rows[i].efficiency, startup);
    measured_.push_back({place_of(shape), c});
    product *= c;
    if (i % 16 == 15) logs += std::log(std::exchange(product, 1));  // one for sixteen rows
  }
  logs += std::log(product);
  has_experts_ = std::ranges::any_of(rows, [](const auto& row) { return row.batch > 1; });
  if (!rows.empty()) mean_ = std::exp(logs / static_cast<double>(rows.size()));
  if (device.rates != nullptr) join_surfaces();
}

double ProductRates::correction(const LogShape& here) const {
  if (measured_.empty()) return 1;
  double weights = 0, sum = 0;
  for (const auto& [place, c] : measured_) {
    const double distance = apart(here, place);
    if (distance <= 0) return c;
    const double weight = 1 / square(distance);
    weights += weight;
    sum += weight * c;
  }
  const double weight = 1 / square(square(fade));
  return (sum + weight * mean_) / (weights + weight);
}

namespace {

Kernel one_expert(Kernel kernel) {
  kernel.batch = kernel.launches = 1;
  kernel.grouped = false;
  return kernel;
}

// Whether a precision counts as measured: tables of 16 bit are measured in either of its formats.
bool as_measured(Precision precision, Precision measured) {
  const auto of_16_bit = [](Precision of) {
    return of == Precision::bf16 || of == Precision::fp16;
  };
  return precision == measured || (of_16_bit(precision) && of_16_bit(measured));
}

// The evidence that a surface gives for these sizes; `experts`: with the fallback of
// experts_correction.
Evidence at_sizes(const RateSurface& surface, std::array<double, 3> sizes, bool experts) {
  bool inside = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto axis = surface.axes[i];
    inside = inside && in_range(sizes[i], axis.front(), axis.back());
    sizes[i] = nearest_node(axis, sizes[i]);
  }
  auto rate = value_at(surface, sizes[0], sizes[1], sizes[2]);
  if (rate) return inside && !rate->beyond ? Evidence::interpolated : Evidence::scaled;
  for (double rows = sizes[2]; experts && !rate && rows >= surface.axes[2].front(); rows /= 2)
    rate = value_at(surface, sizes[0], sizes[1], rows);
  return rate ? Evidence::scaled : Evidence::physics;
}

}  // namespace

Evidence ProductRates::of_surface(const Kernel& kernel, const RateSurface& surface) const {
  const auto& own = surfaces_[static_cast<std::size_t>(kernel.precision)];
  const auto shape = product_shape(kernel);
  const auto [wide, experts, rows] = expert_sizes(shape);
  const auto found = kernel.grouped ? at_sizes(surface, {wide, experts, rows}, true)
                                    : at_sizes(surface, {shape.m, shape.n, shape.k}, false);
  const auto precision = kernel.grouped                         ? own.of_experts
                         : kernel.precision == Precision::mxfp8 ? Precision::fp8
                                                                : kernel.precision;
  // The surface has the forward products of one kernel.
  const bool like = kernel.layout == Kernel::Layout::forward && kernel.launches == 1 &&
                    as_measured(kernel.precision, precision) && !misaligned(kernel) &&
                    family_of(device_->rates->name) == family_of(device_->name);
  return like ? found : weaker(found, Evidence::scaled);
}

Evidence ProductRates::of_table(const Kernel& kernel) const {
  const auto& rows = device_->efficiency.products;
  if (rows.empty()) return Evidence::physics;
  const auto measured_in = table_precision(*device_);
  if (!device_->measured_itself(device_->efficiency.kernels) || misaligned(kernel) ||
      !as_measured(kernel.precision, measured_in))
    return Evidence::scaled;
  const auto sizes_of = [](const Shape& s) { return std::array{s.batch, s.m, s.n, s.k}; };
  const auto sizes = sizes_of(product_shape(kernel));
  auto least = sizes, most = sizes;
  bool any = false;
  for (const auto& row : rows) {
    if (row.layout != kernel.layout || (row.batch > 1) != (kernel.batch > 1)) continue;
    const auto measured = sizes_of(product_shape(row));
    if (std::ranges::equal(sizes, measured, same_size)) return Evidence::measured;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      least[i] = any ? std::min(least[i], measured[i]) : measured[i];
      most[i] = any ? std::max(most[i], measured[i]) : measured[i];
    }
    any = true;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) any = any && in_range(sizes[i], least[i], most[i]);
  return any ? Evidence::interpolated : Evidence::scaled;
}

Evidence ProductRates::evidence(const Kernel& kernel) const {
  if (is_one_by_one(kernel)) return weaker(evidence(one_expert(kernel)), Evidence::scaled);
  const auto* surface = surfaces_of(kernel)[0];
  return surface == nullptr ? of_table(kernel) : of_surface(kernel, *surface);
}

units::FlopsPerSecond ProductRates::rate(const Kernel& kernel) const {
  if (is_one_by_one(kernel)) {
    const auto most = device_->peak_of(kernel.precision) * (most_of_peak * device_->clock());
    const auto alone =
        rate(one_expert(kernel)) *
        (scales_blocks(*device_) ? alone_share
                                 : alone_share_hopper)[static_cast<std::size_t>(kernel.layout)];
    return std::min(alone, most);
  }
  const auto shape = product_shape(kernel);
  const auto peak = device_->peak_of(kernel.precision);
  const auto machine = machine_for(kernel.precision, peak.value, *device_);
  double efficiency = flops_of(shape) / model_work(shape, machine) * surface_or_table(kernel);
  efficiency = std::min(efficiency, most_of_peak);
  if (misaligned(kernel)) efficiency *= misaligned_share;
  return peak * (efficiency * device_->clock());
}

}  // namespace topology
