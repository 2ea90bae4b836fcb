// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <random>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/kernel_time.hpp"

namespace kernel_time_spec {

using namespace topology;
namespace {

using Catch::Matchers::WithinRel;
using samples::round_device;
using units::Kernel;
using Layout = Kernel::Layout;

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1,
               Layout layout = Layout::forward) {
  const auto count = [](std::int64_t x) { return static_cast<double>(x); };
  return {.kind = Kernel::Kind::product,
          .layout = layout,
          .batch = batch,
          .m = m,
          .n = n,
          .k = k,
          .flops = {2 * count(batch) * count(m) * count(n) * count(k)},
          .traffic = {2 * count(batch) * (count(m * k) + count(k * n) + count(m * n))}};
}

// A kernel of attention with as many blocks as the measurements had: 16 heads, 16k tokens.
Kernel attention(std::int64_t sequence, bool causal, Layout layout = Layout::forward,
                 std::int64_t head_dim = 128) {
  const double s = static_cast<double>(sequence), d = static_cast<double>(head_dim);
  const std::int64_t groups = 2048 * 128 / sequence;
  const double flops = static_cast<double>(groups) * 4 * s * s * d * (causal ? 0.5 : 1);
  return {.kind = Kernel::Kind::attention,
          .layout = layout,
          .causal = causal,
          .batch = groups,
          .m = sequence,
          .n = sequence,
          .k = head_dim,
          .flops = {layout == Layout::forward ? flops : 2.5 * flops}};
}

double seconds(const Kernel& kernel, const Device& device) {
  return kernel_time(kernel, device).value;
}

double rate(const Kernel& kernel, const Device& device) {
  return kernel.flops.value / seconds(kernel, device);
}

TEST_CASE("a streaming kernel takes its start-up and its bytes over the bandwidth") {
  auto device = round_device();
  const Kernel copy{.kind = Kernel::Kind::stream, .traffic = {1e9}};
  CHECK_THAT(seconds(copy, device), WithinRel(1e-3, 1e-12));
  device.efficiency.memory = 0.5;
  device.efficiency.kernel_gap = {4e-6};
  CHECK_THAT(seconds(copy, device), WithinRel(2.004e-3, 1e-12));  // 1 GB at 0.5 TB/s, and 4 us
}

TEST_CASE("a gather is slower than a stream of as many bytes") {
  const Kernel copy{.kind = Kernel::Kind::stream, .traffic = {6e8}};
  auto gather = copy;
  gather.kind = Kernel::Kind::random;
  CHECK_THAT(seconds(gather, round_device()), WithinRel(8e-4, 1e-12));
  CHECK(seconds(copy, round_device()) < seconds(gather, round_device()));
}

TEST_CASE("an unmeasured product follows plateau, depth and waves of tiles") {
  const auto device = round_device();
  // The product has 10 x 10 tiles of 128 x 128, which is one full wave: 0.8 * 864/(864 + 96) = 0.72
  // of 100 TFLOP/s.
  CHECK_THAT(rate(product(1280, 1280, 864), device), WithinRel(72e12, 1e-9));
  // Ten products of 10 x 1 tiles fill the wave as well.
  CHECK_THAT(rate(product(1280, 128, 864, 10), device), WithinRel(72e12, 1e-9));
  // These 31 x 10 tiles need a fourth wave for 10 of its 100 slots.
  CHECK_THAT(rate(product(3968, 1280, 864), device), WithinRel(72e12 * 310 / 400, 1e-9));
  // These 11 x 10 tiles run better in four parts of k, 440 tiles in five waves, than whole, 110
  // tiles in two.
  CHECK_THAT(rate(product(1408, 1280, 864), device),
             WithinRel(80e12 * 440 / 500 * 864 / (864 + 4 * 96), 1e-9));
}

TEST_CASE("a product that moves more than it computes takes the time of its bytes") {
  auto device = round_device();
  device.memory_bandwidth = {10e9};
  for (const std::int64_t batch : {1, 4}) {
    const auto kernel = product(1280, 1280, 864, batch);
    CHECK_THAT(seconds(kernel, device), WithinRel(kernel.traffic.value / 10e9, 1e-9));
  }
}

TEST_CASE("rows that do not start on sixteen bytes cost a third more") {
  const auto odd = rate(product(1280, 1279, 864), round_device());
  CHECK_THAT(odd, WithinRel(0.75 * 72e12 * 1279 / 1280, 1e-9));
}

TEST_CASE("narrow numbers need more depth in proportion to their speed") {
  auto device = round_device();
  samples::set_peak(device, units::Precision::fp8, 200e12);
  auto kernel = product(1280, 1280, 768);
  kernel.precision = units::Precision::fp8;
  CHECK_THAT(rate(kernel, device), WithinRel(200e12 * 0.8 * 0.93 * 768 / 960, 1e-9));
}

TEST_CASE("a measured product takes exactly its measured time, start-up included") {
  auto device = round_device();
  device.efficiency.kernel_gap = {5e-6};
  device.efficiency.products = {{Layout::forward, 1, 2048, 4096, 4096, 0.61},
                                {Layout::weight_gradient, 1, 4096, 4096, 2048, 0.52},
                                {Layout::forward, 4, 1024, 1024, 2048, 0.4}};
  CHECK_THAT(rate(product(2048, 4096, 4096), device), WithinRel(61e12, 1e-9));
  CHECK_THAT(rate(product(4096, 4096, 2048, 1, Layout::weight_gradient), device),
             WithinRel(52e12, 1e-9));
  CHECK_THAT(rate(product(1024, 1024, 2048, 4), device), WithinRel(40e12, 1e-9));
}

TEST_CASE("far from its measurements a device keeps their geometric mean correction") {
  auto device = round_device();
  const auto plain = rate(product(1 << 20, 1 << 17, 864), device);
  // Both measurements are full waves, whose model says 0.72, so the corrections are 1/2 and 9/8.
  device.efficiency.products = {{Layout::forward, 1, 1280, 1280, 864, 0.36},
                                {Layout::forward, 1, 1280, 2560, 864, 0.81}};
  const auto far = rate(product(1 << 20, 1 << 17, 864), device);
  CHECK_THAT(far / plain, WithinRel(0.75, 0.01));
}

TEST_CASE("a measurement of the same layout counts more than one of another") {
  auto device = round_device();
  device.efficiency.products = {{Layout::forward, 1, 1280, 1280, 864, 0.36},
                                {Layout::weight_gradient, 1, 1280, 1280, 864, 0.72}};
  const auto near = product(1280, 1280, 1728);
  auto other = near;
  other.layout = Layout::weight_gradient;
  CHECK(seconds(near, device) > 1.3 * seconds(other, device));
}

TEST_CASE("no product passes 95 % of the peak") {
  auto device = round_device();
  device.efficiency.products = {{Layout::forward, 1, 1280, 1280, 864, 0.99}};
  CHECK_THAT(rate(product(1280, 1280, 864), device), WithinRel(95e12, 1e-9));
}

TEST_CASE("the sustained clock slows products and attention but not memory") {
  auto device = round_device();
  const auto gemm = product(1280, 1280, 864);
  const Kernel copy{.kind = Kernel::Kind::stream, .traffic = {1e9}};
  const double before = seconds(gemm, device), attended = seconds(attention(4096, true), device);
  device.efficiency.sustained_clock = 0.5;
  CHECK_THAT(seconds(gemm, device), WithinRel(2 * before, 1e-12));
  CHECK_THAT(seconds(attention(4096, true), device), WithinRel(2 * attended, 1e-12));
  CHECK_THAT(seconds(copy, device), WithinRel(1e-3, 1e-12));
}

TEST_CASE("at 49 % of the power of the measurements products run at 70 % of their rate") {
  auto device = round_device();
  const auto gemm = product(1280, 1280, 864);
  const double before = seconds(gemm, device);
  device.power = {343};
  CHECK(seconds(gemm, device) == before);  // its limit of power when measured is not known
  device.efficiency.measured_power = {700};
  CHECK_THAT(seconds(gemm, device), WithinRel(before / 0.7, 1e-12));
  device.power = {1000};
  CHECK(seconds(gemm, device) == before);
}

TEST_CASE("attention runs at its measured rate and on the saturation curve between") {
  auto device = round_device();
  device.sms = 0;  // no number of processors, so none is idle
  using Pass = MeasuredAttention::Pass;
  // The shares follow f = 0.6 s/(s + 1000), with 0.3 at 1000 and 0.45 at 3000.
  device.efficiency.attention = {{Pass::forward, 128, 1000, true, 0.3},
                                 {Pass::forward, 128, 3000, true, 0.45},
                                 {Pass::backward, 128, 1000, true, 0.2}};
  CHECK_THAT(rate(attention(1000, true), device), WithinRel(30e12, 1e-9));
  CHECK_THAT(rate(attention(2000, true), device), WithinRel(40e12, 1e-9));
  CHECK_THAT(rate(attention(9000, true), device), WithinRel(54e12, 1e-9));
  CHECK_THAT(rate(attention(500, true), device), WithinRel(20e12, 1e-9));
  CHECK_THAT(rate(attention(1000, true, Layout::input_gradient), device), WithinRel(20e12, 1e-9));
}

TEST_CASE("rates that rise steeply are not drawn beyond the most that a device can do") {
  auto device = round_device();
  device.sms = 0;
  using Pass = MeasuredAttention::Pass;
  device.efficiency.attention = {{Pass::forward, 128, 512, true, 0.05},
                                 {Pass::forward, 128, 1024, true, 0.12}};  // 1/f: 20, 8.3, -3.3
  CHECK_THAT(rate(attention(131072, true), device), WithinRel(95e12, 1e-9));
}

TEST_CASE("a kernel of attention runs as measured, or at a multiple of FlashAttention-2") {
  using enum units::FusedAttention;
  using Pass = MeasuredAttention::Pass;
  auto device = round_device();
  device.sms = 0;
  const auto rate_of = [&](units::FusedAttention fused, Layout layout = Layout::forward) {
    auto kernel = attention(1000, true, layout);
    kernel.fused = fused;
    return rate(kernel, device);
  };
  // Without measurements a kernel takes the plateau's multiples, none beyond 0.95 of the peak.
  CHECK_THAT(rate_of(flash_1) / rate_of(flash_2), WithinRel(0.5, 1e-9));
  CHECK_THAT(rate_of(memory_efficient) / rate_of(flash_2), WithinRel(0.5, 1e-9));
  CHECK_THAT(rate_of(flash_3) / rate_of(flash_2), WithinRel(1.75, 1e-9));
  CHECK_THAT(rate_of(cudnn) / rate_of(flash_2), WithinRel(1.0, 1e-9));
  device.efficiency.attention = {{Pass::forward, 128, 1000, true, 0.3, flash_2},
                                 {Pass::backward, 128, 1000, true, 0.2, flash_2},
                                 {Pass::forward, 128, 1000, true, 0.4, flash_3}};
  CHECK_THAT(rate_of(flash_2), WithinRel(30e12, 1e-9));
  CHECK_THAT(rate_of(flash_3), WithinRel(40e12, 1e-9));
  CHECK_THAT(rate_of(flash_3, Layout::input_gradient), WithinRel(1.625 * 20e12, 1e-9));
  CHECK_THAT(rate_of(flash_1, Layout::input_gradient), WithinRel(10e12, 1e-9));
  CHECK_THAT(rate_of(cudnn, Layout::input_gradient), WithinRel(20e12, 1e-9));
  device.peak[static_cast<std::size_t>(units::Precision::fp8)] = {200e12};  // makes it a Hopper
  CHECK_THAT(rate_of(cudnn, Layout::input_gradient), WithinRel(1.5 * 20e12, 1e-9));
  device.peak[static_cast<std::size_t>(units::Precision::mxfp8)] = {200e12};  // now a Blackwell
  CHECK_THAT(rate_of(cudnn, Layout::input_gradient), WithinRel(3.15 * 20e12, 1e-9));
  CHECK_THAT(rate_of(cudnn), WithinRel(95e12, 1e-9));
  // A row that names no kernel holds for any kernel.
  device.efficiency.attention = {{Pass::forward, 128, 1000, true, 0.3}};
  CHECK_THAT(rate_of(memory_efficient), WithinRel(30e12, 1e-9));
}

TEST_CASE("narrow heads run at a lower rate, where only wider ones were measured or none") {
  using enum units::FusedAttention;
  auto device = round_device();
  device.sms = 0;
  const auto share = [&](units::FusedAttention fused) {
    auto narrow = attention(4096, true, Layout::forward, 64);
    auto wide = attention(4096, true, Layout::forward, 128);
    narrow.fused = wide.fused = fused;
    return rate(narrow, device) / rate(wide, device);
  };
  CHECK_THAT(share(flash_2), WithinRel(std::pow(0.5, 0.19), 1e-9));  // 0.88 of the share
  CHECK_THAT(share(cudnn), WithinRel(std::pow(0.5, 0.19), 1e-9));    // as flash_2 before Hopper
  device.peak[static_cast<std::size_t>(units::Precision::fp8)] = {200e12};
  CHECK_THAT(share(cudnn), WithinRel(std::pow(0.5, 0.43), 1e-9));  // 0.74 of the share
  device.efficiency.attention = {{MeasuredAttention::Pass::forward, 128, 4096, true, 0.4, cudnn}};
  CHECK_THAT(share(cudnn), WithinRel(std::pow(0.5, 0.43), 1e-9));
}

TEST_CASE("forward and backward of a joint measurement add up to it") {
  auto device = round_device();
  device.efficiency.attention = {{MeasuredAttention::Pass::both, 64, 4096, false, 0.5}};
  const auto forward = attention(4096, false, Layout::forward, 64);
  const auto backward = attention(4096, false, Layout::input_gradient, 64);
  device.sms = 0;
  const double both = seconds(forward, device) + seconds(backward, device);
  CHECK_THAT(3.5 * forward.flops.value / both, WithinRel(50e12, 1e-9));
  CHECK(rate(backward, device) < rate(forward, device));
}

TEST_CASE("attention of few heads leaves processors idle") {
  // With 8 blocks of 128 queries 100 processors reach 8/(8 + 120) of the full rate, with 120 blocks
  // 1/2.
  const auto device = round_device();
  auto few = attention(1024, true), more = few;
  few.batch = 1;
  more.batch = 15;
  CHECK_THAT(rate(more, device) / rate(few, device), WithinRel(8.0, 1e-9));
}

TEST_CASE("more flops or more bytes never make a kernel faster") {
  const auto device = round_device();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> scale(0.1, 2);
  for (int i = 0; i < 200; ++i) {
    auto kernel = product(static_cast<std::int64_t>(random() % 4000 + 1), 1024, 1024);
    const double before = seconds(kernel, device);
    kernel.flops += units::Flops{scale(random) * 1e9};
    const double more = seconds(kernel, device);
    kernel.traffic += units::Bytes{scale(random) * 1e9};
    CHECK(before <= more);
    CHECK(more <= seconds(kernel, device));
  }
}

TEST_CASE("a slowdown makes each kind of kernel longer, measured or not, and no other") {
  auto device = round_device();
  device.efficiency.kernel_gap = {4e-6};
  auto experts = product(512, 1024, 1024, 8);
  experts.grouped = true;
  const std::array kernels{product(4096, 4096, 4096), attention(4096, true), experts,
                           Kernel{.kind = Kernel::Kind::random, .traffic = {6e8}}};
  device.efficiency.products = {{Layout::forward, 1, 4096, 4096, 4096, 0.5}};
  device.efficiency.attention = {{MeasuredAttention::Pass::forward, 128, 4096, true, 0.4}};
  const std::array factors{&Slowdown::products, &Slowdown::attention, &Slowdown::experts,
                           &Slowdown::others};
  for (std::size_t slow = 0; slow < factors.size(); ++slow) {
    auto slower = device;
    slower.efficiency.slowdown.*factors[slow] = 1.5;
    for (std::size_t i = 0; i < kernels.size(); ++i)
      CHECK_THAT(seconds(kernels[i], slower),
                 WithinRel((i == slow ? 1.5 : 1) * seconds(kernels[i], device), 1e-12));
  }
}

TEST_CASE("a device without the kernel's number format refuses it by name") {
  auto kernel = product(128, 128, 128);
  kernel.precision = units::Precision::fp8;
  CHECK_THROWS_WITH(kernel_time(kernel, round_device()),
                    "round has no rate for the kernel's precision");
}

TEST_CASE("a product with work but without size is refused") {
  auto kernel = product(128, 128, 128);
  kernel.n = 0;
  CHECK_THROWS_WITH(kernel_time(kernel, round_device()),
                    "a product or attention needs sizes of at least one");
}

}  // namespace
}  // namespace kernel_time_spec
