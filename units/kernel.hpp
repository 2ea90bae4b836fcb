// SPDX-License-Identifier: Apache-2.0
// A kernel: the work that is asked of a device, whatever the device.
#pragma once
#include <cstdint>

#include "units/quantity.hpp"

namespace units {

enum class Precision { fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4 };

// Bytes of one element as a kernel reads and writes it (mxfp8 and nvfp4 without their scales).
constexpr double element_bytes(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return 4.0;
    case Precision::fp16:
    case Precision::bf16:
      return 2.0;
    case Precision::fp8:
    case Precision::mxfp8:
      return 1.0;
    case Precision::nvfp4:
      return 0.5;
  }
  return 0.0;
}

// Kernels of fused attention that keep no score matrix: three generations of FlashAttention,
// xFormers' memory-efficient one and cuDNN's.
enum class FusedAttention { flash_1, flash_2, flash_3, memory_efficient, cudnn };

// The way in which the host issues a kernel: by a call of a module or function of the framework; by
// an operation of PyTorch alone; or within the call that issued the kernel it serves, as casts are.
enum class Issue : std::uint8_t { call, operation, within_call };

// One kernel launch.
//   product    `batch` matrix products (m × k)·(k × n); `layout` says which gradient it serves
//   attention  fused attention: m = query tokens, n = key tokens, k = head dimension,
//              batch = sequences × heads; flops as executed (causal halves them)
//   stream     element-wise work and reductions, limited by memory traffic
//   random     a gather or scatter by index (embedding)
struct Kernel {
  enum class Kind { product, attention, stream, random };
  enum class Layout { forward, input_gradient, weight_gradient };
  Kind kind = Kind::stream;
  Precision precision = Precision::bf16;
  Layout layout = Layout::forward;
  bool causal = false;
  FusedAttention fused = FusedAttention::flash_2;  // attention
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  Flops flops;
  Bytes traffic;         // to and from device memory
  bool grouped = false;  // product: of `batch` experts, m rows each
  bool reduces = false;  // stream: what needs its result needs all of it, so must be another kernel
  // Equal parts that the host launches one by one, on streams of their own: together they take the
  // device as long as one kernel.
  std::int64_t launches = 1;
  Issue issue = Issue::call;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

}  // namespace units
