// SPDX-License-Identifier: Apache-2.0
// The choice among a device's measured surfaces for a kernel.
#pragma once
#include <array>

#include "topology/cluster.hpp"
#include "topology/device.hpp"
#include "topology/rate_surface.hpp"

namespace topology {

// The surfaces of the kernels that are nearest to training's, null where there is none:
//   products   cuBLAS in 16 bit; CUTLASS with a scale for a tensor in fp8, which mxfp8 is taken to
//              be like; FlashInfer's CuTe kernel in nvfp4
//   experts    routed evenly: TensorRT-LLM's grouped products of CUTLASS in 16 bit; in narrower
//              types on Blackwell the faster of FlashInfer's layer with a scale for a tensor in fp8
//              and of DeepGEMM's products with scales for blocks (torchao's mxfp8 products of
//              B200, 8 experts of 2048 x 7168 and 16,384 rows each, reach 2300 TFLOP/s, DeepGEMM
//              2510, FlashInfer 1530). Hopper's fp8 loses as much of its dense rate as 16 bit: its
//              other kernels miss layers that were left out by 13 to 40 %, or are slower than 16
//              bit.
//   attention  of the inference framework, which is cuDNN's class of kernels on Blackwell
const RateSurface* product_surface(const Device& device, units::Precision precision);
struct ExpertsSurfaces {
  std::array<const RateSurface*, 2> surfaces{};         // the faster counts; null: no more
  units::Precision precision = units::Precision::bf16;  // that they were measured in
};
ExpertsSurfaces experts_surfaces(const Device& device, units::Precision precision);
const RateSurface* attention_surface(const Device& device);
//   collectives inside a node: NCCL 2.27, which frameworks of 2025 carry, or the version next to it
const RateSurface* collective_surface(const Device& device, Collective collective);

}  // namespace topology
