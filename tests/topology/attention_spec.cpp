// SPDX-License-Identifier: Apache-2.0
// Rates of attention between measured ones, and the evidence of each.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/kernel_time.hpp"
#include "topology/rate_surface.hpp"

namespace attention_spec {
namespace {

using namespace topology;
using Catch::Matchers::WithinRel;
using samples::round_device;
using units::FusedAttention;
using units::Kernel;
using Layout = Kernel::Layout;
using Pass = MeasuredAttention::Pass;
using Rows = std::vector<MeasuredAttention>;
using enum Evidence;

Kernel attention(std::int64_t length, std::int64_t head = 128, bool causal = true) {
  return {.kind = Kernel::Kind::attention,
          .causal = causal,
          .batch = 64,
          .m = length,
          .n = length,
          .k = head,
          .flops = {1e15}};
}

// The rate of the kernel as a share of 100 TFLOP/s.
double share(const Kernel& kernel, const Device& device) {
  return kernel.flops.value / kernel_time(kernel, device).value / 100e12;
}

// A device with these rows, and no number of processors, so that none is left idle.
Device with(Rows rows) {
  auto device = round_device();
  device.sms = 0;
  device.efficiency.attention = std::move(rows);
  return device;
}

bool before(const MeasuredAttention& a, const MeasuredAttention& b) {
  return std::pair(a.head_dim, a.sequence) < std::pair(b.head_dim, b.sequence);
}

// Calls `check` with a device for every order of the rows.
template <class Check>
void in_every_order(Rows rows, Check check) {
  std::ranges::sort(rows, before);
  do check(with(rows));
  while (std::ranges::next_permutation(rows, before).found);
}

// At 24,000/s = 8, 4, 2 and 1 for length s, the inverse of the share is 5, 2.5, 2 and 1.75.
const Rows four_lengths{{Pass::forward, 128, 3000, true, 1 / 5.0},
                        {Pass::forward, 128, 6000, true, 1 / 2.5},
                        {Pass::forward, 128, 12000, true, 1 / 2.0},
                        {Pass::forward, 128, 24000, true, 1 / 1.75}};

void on_the_lines(const Device& device) {
  const auto at = [&](std::int64_t length, double inverse) {
    CHECK_THAT(1 / share(attention(length), device), WithinRel(inverse, 1e-9));
  };
  at(3000, 5);
  at(6000, 2.5);
  at(24000, 1.75);
  at(4800, 2.5 + 2.5 / 4);    // at 24,000/s = 5
  at(8000, 2 + 0.5 / 2);      // at 3
  at(16000, 1.75 + 0.5 / 4);  // at 1.5
  at(2400, 5 + 2 * 2.5 / 4);  // at 10, on the line of the nearest two
  at(48000, 1.75 - 0.5 / 4);  // at 0.5
}

TEST_CASE("the nearest two lengths count, in whichever order a table has them") {
  in_every_order(four_lengths, on_the_lines);
}

TEST_CASE("lengths that a table has twice change nothing") {
  auto twice = four_lengths;
  twice.insert(twice.end(), four_lengths.begin(), four_lengths.end());
  on_the_lines(with(twice));
  std::ranges::sort(twice, before);
  on_the_lines(with(twice));
  std::ranges::reverse(twice);
  on_the_lines(with(twice));
}

TEST_CASE("where longer sequences were slower it is so between them, and flat beyond") {
  const auto device =
      with({{Pass::forward, 128, 3000, true, 1 / 2.0}, {Pass::forward, 128, 6000, true, 1 / 2.5}});
  CHECK_THAT(share(attention(4000), device), WithinRel(1 / 2.25, 1e-9));
  CHECK_THAT(share(attention(1500), device), WithinRel(1 / 2.0, 1e-9));
  CHECK_THAT(share(attention(12000), device), WithinRel(1 / 2.5, 1e-9));
}

TEST_CASE("a rate that no device can reach is capped before the share of idle processors") {
  // The inverse of the share falls from 20 by 8.3 with each doubling of length. 64 heads of 256
  // queries are 128 blocks.
  auto device = with({{Pass::forward, 128, 128, true, 0.05}, {Pass::forward, 128, 192, true, 0.8}});
  device.sms = 100;
  CHECK_THAT(share(attention(256), device),
             WithinRel(0.95 * (128 / (128 + 120.0)) / (2048 / (2048 + 120.0)), 1e-9));
}

TEST_CASE(
    "attention of as many blocks as measured runs as measured, and a block begun counts whole") {
  auto device = with({{Pass::forward, 128, 4096, true, 0.4}});
  device.sms = 100;
  CHECK_THAT(share(attention(32 * 128), device), WithinRel(0.4, 1e-9));  // 64 · 32 blocks
  CHECK_THAT(share(attention(31 * 128 + 1), device), WithinRel(0.4, 1e-9));
}

TEST_CASE("between two head sizes the rate is straight in their doublings, beyond the nearest's") {
  const Rows rows{{Pass::forward, 32, 4096, true, 0.1},
                  {Pass::forward, 64, 4096, true, 0.2},
                  {Pass::forward, 512, 4096, true, 0.8},
                  {Pass::forward, 1024, 4096, true, 0.6}};
  in_every_order(rows, [](const Device& device) {
    const auto at = [&](std::int64_t head, double expected) {
      CHECK_THAT(share(attention(4096, head), device), WithinRel(expected, 1e-9));
    };
    at(64, 0.2);
    at(128, 0.4);
    at(256, 0.6);
    at(512, 0.8);
    at(1024, 0.6);
    at(4096, 0.6);
    at(8, 0.1 * std::pow(0.25, 0.19));
  });
}

TEST_CASE("heads wider than a table's run as its widest, however narrow that is") {
  const auto device = with({{Pass::forward, 1, 4096, true, 0.3}});
  CHECK_THAT(share(attention(4096, 1), device), WithinRel(0.3, 1e-9));
  CHECK_THAT(share(attention(4096, 8), device), WithinRel(0.3, 1e-9));
}

TEST_CASE("other passes, masks and kernels than a table's are none of its lengths or heads") {
  auto rows = four_lengths;
  rows.push_back({Pass::backward, 128, 4500, true, 0.9});
  rows.push_back({Pass::forward, 128, 4500, false, 0.9});
  rows.push_back({Pass::forward, 128, 4500, true, 0.9, FusedAttention::flash_3});
  rows.push_back({Pass::forward, 64, 4500, true, 0.9, FusedAttention::flash_3});
  on_the_lines(with(rows));
}

TEST_CASE("without a table half of the plateau is reached at 190 tokens, causal at 550") {
  const auto device = with({});  // its plateau is 0.5
  CHECK_THAT(share(attention(190, 128, false), device), WithinRel(0.25, 1e-9));
  CHECK_THAT(share(attention(550, 128, true), device), WithinRel(0.25, 1e-9));
  CHECK_THAT(share(attention(1, 128, false), device), WithinRel(0.5 / 191, 1e-9));
  auto gradient = attention(550);
  gradient.layout = Layout::input_gradient;
  CHECK_THAT(share(gradient, device), WithinRel(0.88 * 0.25, 1e-9));
  for (const std::int64_t head : {1, 2, 32})
    CHECK_THAT(share(attention(550, head), device),
               WithinRel(0.25 * std::pow(static_cast<double>(head) / 128, 0.19), 1e-9));
  CHECK_THAT(share(attention(550, 512), device), WithinRel(0.25, 1e-9));
}

TEST_CASE("attention lies inside of a table between the least and the most of its sizes") {
  const Rows rows{{Pass::forward, 64, 4096, true, 0.3},
                  {Pass::forward, 128, 1024, true, 0.3},
                  {Pass::forward, 256, 2048, true, 0.3},
                  {Pass::backward, 32, 512, true, 0.3}};
  in_every_order(rows, [](const Device& device) {
    const auto of = [&](std::int64_t length, std::int64_t head) {
      return KernelTimes(device).evidence(attention(length, head));
    };
    CHECK(of(2048, 256) == measured);
    CHECK(of(1024, 64) == interpolated);
    CHECK(of(4096, 256) == interpolated);
    CHECK(of(2048, 32) == scaled);
    CHECK(of(2048, 512) == scaled);
    CHECK(of(512, 128) == scaled);
    CHECK(of(8192, 128) == scaled);
  });
}

constexpr std::array<double, 2> heads{64, 128}, copies{1, 64}, lengths{1024, 4096};
// The surface has no value for many long sequences with heads of 128.
constexpr std::array<float, 8> sixty{60, 60, 60, 60, 60, 60, 60, 0};
constexpr std::array<RateSurface, 1> surfaces{{{RateSurface::Kind::attention,
                                                "vllm:flashinfer-trtllm-prefill",
                                                RateSurface::Numbers::bf16,
                                                RateSurface::Unit::teraflops,
                                                {heads, copies, lengths},
                                                sixty}}};
constexpr DeviceRates own_rates{"round", "pencil", "today", "none", surfaces};
constexpr DeviceRates other_rates{"square", "pencil", "today", "none", surfaces};

TEST_CASE("a surface of attention is of causal, square, forward passes of cuDNN's on its device") {
  auto device = with({});
  device.rates = &own_rates;
  const auto of = [&](const Kernel& kernel) { return KernelTimes(device).evidence(kernel); };
  auto kernel = attention(2048, 96);
  CHECK(of(kernel) == physics);  // FlashAttention has no surface
  kernel.fused = FusedAttention::cudnn;
  kernel.batch = 8;
  CHECK(of(kernel) == scaled);  // lies beside the unmeasured node
  kernel.k = 64;
  CHECK(of(kernel) == interpolated);
  const auto changed = [&](auto change) {
    auto other = kernel;
    change(other);
    return of(other);
  };
  CHECK(changed([](Kernel& k) { k.causal = false; }) == scaled);
  CHECK(changed([](Kernel& k) { k.layout = Layout::input_gradient; }) == scaled);
  CHECK(changed([](Kernel& k) { k.n = 1024; }) == scaled);
  CHECK(changed([](Kernel& k) { k.m = k.n = 8192; }) == scaled);
  CHECK(changed([](Kernel& k) { k.k = 128, k.batch = 64, k.m = k.n = 4096; }) == physics);
  device.rates = &other_rates;
  CHECK(of(kernel) == scaled);
}

}  // namespace
}  // namespace attention_spec
