// SPDX-License-Identifier: Apache-2.0
// The choice among a device's measured surfaces for a kernel.
#pragma once
#include "topology/cluster.hpp"
#include "topology/device.hpp"
#include "topology/rate_surface.hpp"

namespace topology {

// The surfaces of the kernels that are nearest to training's, null where there is none:
//   products   cuBLAS in 16 bit; CUTLASS with a scale for a tensor in fp8, which mxfp8 is taken to
//              be like; FlashInfer's CuTe kernel in nvfp4
//   experts    routed evenly: TensorRT-LLM's grouped products of CUTLASS in 16 bit, FlashInfer's
//              layer with a scale for a tensor in fp8 on Blackwell. Narrower types and Hopper's fp8
//              lose as much of their dense rate as the wider: other kernels miss layers that were
//              left out by 13 to 40 %, or (CUTLASS in fp8 on H100) are slower than 16 bit.
//   attention  of the inference framework, which is cuDNN's class of kernels on Blackwell
const RateSurface* product_surface(const Device& device, units::Precision precision);
struct ExpertsSurface {
  const RateSurface* surface;
  units::Precision precision;  // that it was measured in
};
ExpertsSurface experts_surface(const Device& device, units::Precision precision);
const RateSurface* attention_surface(const Device& device);
//   collectives inside a node: NCCL 2.27, which frameworks of 2025 carry, or the version next to it
const RateSurface* collective_surface(const Device& device, Collective collective);

}  // namespace topology
