// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/kernel_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forecast/accuracy/calibration.hpp"
#include "topology/kernel_time.hpp"

namespace forecast {
namespace {

using topology::Device;
using topology::Efficiency;
using topology::Measured;
using topology::MeasuredAttention;
using topology::MeasuredProduct;
using units::Kernel;
using units::Precision;

constexpr double backward_flops = 2.5;  // of the forward pass of attention
constexpr double measured_tokens = 16384, measured_hidden = 2048;

// One row: kernels that were timed together, and how long they took.
struct Timed {
  std::string set;
  std::vector<Kernel> kernels;
  double seconds;
};

// The 16 bit type that the tables are measured in.
Precision wide(const Device& device) {
  for (const auto precision : {Precision::bf16, Precision::fp16})
    if (device.peak_of(precision).value > 0) return precision;
  throw std::invalid_argument(device.name + " has no peak in bf16 or fp16, of which efficiencies " +
                              "are a share; give one");
}

double double_of(std::int64_t whole) { return static_cast<double>(whole); }

Timed timed(const MeasuredProduct& row, Precision precision, const Device& device) {
  const double b = double_of(row.batch), m = double_of(row.m), n = double_of(row.n),
               k = double_of(row.k);
  Kernel kernel{
      .kind = Kernel::Kind::product,
      .precision = precision,
      .layout = row.layout,
      .batch = row.batch,
      .m = row.m,
      .n = row.n,
      .k = row.k,
      .flops = units::Flops{2 * b * m * n * k},
      .traffic = units::Bytes{units::element_bytes(precision) * b * (m * k + k * n + m * n)}};
  static constexpr const char* names[] = {"products forward", "products, input gradient",
                                          "products, weight gradient"};
  const double peak = device.peak_of(precision).value;
  return {
      precision == Precision::fp8 ? "products in fp8" : names[static_cast<std::size_t>(row.layout)],
      {kernel},
      kernel.flops.value / (row.efficiency * peak)};
}

Timed timed(const MeasuredAttention& row, Precision precision, const Device& device) {
  using Pass = MeasuredAttention::Pass;
  const double s = double_of(row.sequence), heads = measured_hidden / double_of(row.head_dim);
  const double batch = std::max(1.0, std::round(heads * measured_tokens / s));
  const double forward = 4 * batch * s * s * double_of(row.head_dim) / (row.causal ? 2 : 1);
  Timed result{"attention", {}, 0};
  double flops = 0;
  for (const auto& [pass, share] :
       {std::pair{Pass::forward, 1.0}, {Pass::backward, backward_flops}})
    if (row.pass == pass || row.pass == Pass::both) {
      result.kernels.push_back({.kind = Kernel::Kind::attention,
                                .precision = precision,
                                .layout = pass == Pass::forward ? Kernel::Layout::forward
                                                                : Kernel::Layout::input_gradient,
                                .causal = row.causal,
                                .fused = row.fused.value_or(units::FusedAttention::flash_2),
                                .batch = static_cast<std::int64_t>(batch),
                                .m = row.sequence,
                                .n = row.sequence,
                                .k = row.head_dim,
                                .flops = units::Flops{forward * share}});
      flops += forward * share;
    }
  result.seconds = flops / (row.efficiency * device.peak_of(precision).value);
  return result;
}

Timed timed(const topology::MeasuredStream& row, const Device& device) {
  return {"streams",
          {{.kind = Kernel::Kind::stream, .traffic = row.traffic}},
          row.traffic.value / (row.efficiency * device.memory_bandwidth.value)};
}

// Returns all rows, products first and attention next, in the order of the table.
std::vector<Timed> rows_of(const Measured& measured, const Device& device) {
  std::vector<Timed> rows;
  for (const auto& row : measured.products) rows.push_back(timed(row, wide(device), device));
  for (const auto& row : measured.attention) rows.push_back(timed(row, wide(device), device));
  if (device.peak_of(Precision::fp8).value > 0)
    for (const auto& row : measured.narrow) rows.push_back(timed(row, Precision::fp8, device));
  for (const auto& row : measured.streams) rows.push_back(timed(row, device));
  if (rows.empty()) throw std::invalid_argument("the table has no row");
  return rows;
}

double residual(const Timed& row, const Device& device) {
  const topology::KernelTimes times(device);
  double seconds = 0;
  for (const auto& kernel : row.kernels) seconds += times.of(kernel).value;
  return std::log(seconds / row.seconds);
}

// A number of the device that is fitted on a logarithmic scale.
struct Number {
  const char *key, *unit, *meaning;
  double low, high, width;
  std::function<double&(Efficiency&)> of;
  double per_unit = 1;
};

std::vector<Number> numbers_for(const Measured& measured) {
  std::vector<Number> numbers;
  if (!measured.products.empty()) {
    numbers.push_back({"efficiency.product_plateau", "", "large products over the dense peak", 0.05,
                       0.98, 3, [](Efficiency& e) -> double& { return e.product_plateau; }});
    numbers.push_back({"efficiency.product_half_depth", "", "depth that costs half of the rate", 5,
                       2000, 3, [](Efficiency& e) -> double& { return e.product_half_depth; }});
  }
  if (!measured.attention.empty())
    numbers.push_back({"efficiency.attention_plateau", "", "attention over the dense peak", 0.02,
                       0.95, 3, [](Efficiency& e) -> double& { return e.attention_plateau; }});
  if (!measured.streams.empty()) {
    numbers.push_back({"efficiency.memory", "", "large streams over the specified bandwidth", 0.05,
                       1, 3, [](Efficiency& e) -> double& { return e.memory; }});
    numbers.push_back({"efficiency.kernel_gap", "us", "start-up and tail of every kernel", 0.1, 50,
                       3, [](Efficiency& e) -> double& { return e.kernel_gap.value; }, 1e-6});
  }
  return numbers;
}

// The device as a benchmark sees it: no long run, no table, its own power limit.
Device bare(Device device) {
  device.efficiency.sustained_clock = 1;
  device.efficiency.measured_power = {};
  device.efficiency.products.clear();
  device.efficiency.attention.clear();
  device.rates = nullptr;
  return device;
}

Device with(Device device, const std::vector<Number>& numbers, const Point& logarithms) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i].of(device.efficiency) =
        numbers[i].per_unit * std::clamp(std::exp(logarithms[i]), numbers[i].low, numbers[i].high);
  return device;
}

double in_unit(const Number& number, Device device) {
  return std::clamp(number.of(device.efficiency) / number.per_unit, number.low, number.high);
}

FitProblem problem_of(const std::vector<Number>& numbers, const std::vector<Timed>& rows,
                      const Device& device) {
  FitProblem problem{.threshold = 0.1, .noise = 0.1};
  for (const auto& number : numbers)
    problem.unknowns.push_back({.start = std::log(in_unit(number, device)),
                                .low = std::log(number.low),
                                .high = std::log(number.high),
                                .width = number.width,
                                .step = 0.01});
  for (std::size_t i = 0; i < rows.size(); ++i) problem.observations.push_back({.group = i});
  return problem;
}

// Rounds to three digits, as the value is written.
double rounded(double value) {
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

// Returns the residual of row `i`, forecast by the table without that row.
double left_out_kernel(std::size_t i, const Measured& measured, const Timed& row, Device device) {
  auto& e = device.efficiency;
  e.products = measured.products;
  e.attention = measured.attention;
  const auto attention = i - measured.products.size();
  if (i < measured.products.size())
    e.products.erase(e.products.begin() + static_cast<std::ptrdiff_t>(i));
  else if (attention < measured.attention.size())
    e.attention.erase(e.attention.begin() + static_cast<std::ptrdiff_t>(attention));
  return residual(row, device);
}

class Sets {
 public:
  void add(const std::string& name, double before, double after, double out) {
    auto found = std::ranges::find(sets_, name, &FittedSet::name);
    if (found == sets_.end())
      found = sets_.insert(sets_.end(), FittedSet{.name = name, .measure = "time"});
    ++found->observations;
    found->before += std::abs(std::expm1(before));
    found->after += std::abs(std::expm1(after));
    found->left_out += std::abs(std::expm1(out));
  }
  void finish(CalibrationSummary& summary) {
    const auto count = static_cast<double>(sets_.size());
    for (auto& set : sets_) {
      const auto rows = static_cast<double>(set.observations);
      summary.before += (set.before /= rows) / count;
      summary.after += (set.after /= rows) / count;
      summary.left_out += (set.left_out /= rows) / count;
    }
    summary.sets = std::move(sets_);
  }

 private:
  std::vector<FittedSet> sets_;
};

}  // namespace

CalibrationSummary fit_kernels(const Measured& measured, const Device& device) {
  const auto start = bare(device);
  const auto rows = rows_of(measured, start);
  const auto numbers = numbers_for(measured);
  const auto problem = problem_of(numbers, rows, start);
  const Residuals residuals = [&](const std::vector<Point>& points) {
    std::vector<std::vector<double>> all;
    for (const auto& point : points) {
      const auto there = with(start, numbers, point);
      auto& one = all.emplace_back();
      for (const auto& row : rows) one.push_back(residual(row, there));
    }
    return all;
  };
  const auto minimum = minimise(problem, residuals);
  Point point;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    point.push_back(std::clamp(std::log(rounded(std::exp(minimum.point[i]))),
                               problem.unknowns[i].low, problem.unknowns[i].high));
  const auto sure = assess(problem, point, residuals);
  const auto fitted = with(start, numbers, point);
  CalibrationSummary summary{.observations = rows.size(),
                             .groups = rows.size(),
                             .steps = minimum.steps,
                             .converged = minimum.converged,
                             .note =
                                 "fitted: these figures alone; left out: with the table, each "
                                 "row forecast from all others"};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double value = rounded(in_unit(numbers[i], fitted));
    summary.parameters.push_back({.key = numbers[i].key,
                                  .unit = numbers[i].unit,
                                  .meaning = numbers[i].meaning,
                                  .value = value,
                                  .standard_error = sure.standard_errors[i] * value,
                                  .start = in_unit(numbers[i], start),
                                  .low = numbers[i].low,
                                  .high = numbers[i].high,
                                  .width = numbers[i].width,
                                  .at_bound = sure.at_bound[i],
                                  .observations = rows.size()});
  }
  Sets sets;
  for (std::size_t i = 0; i < rows.size(); ++i)
    sets.add(rows[i].set, residual(rows[i], start), sure.residuals[i],
             left_out_kernel(i, measured, rows[i], fitted));
  sets.finish(summary);
  return summary;
}

}  // namespace forecast
