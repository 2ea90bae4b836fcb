// SPDX-License-Identifier: Apache-2.0
#include "topology/surface_choice.hpp"

#include <initializer_list>

namespace topology {
namespace {

using Kind = RateSurface::Kind;
using Numbers = RateSurface::Numbers;
using units::Precision;

const RateSurface* first_surface(const Device& device, Kind kind, Numbers numbers,
                                 std::initializer_list<std::string_view> kernels) {
  if (device.rates == nullptr) return nullptr;
  for (const auto kernel : kernels)
    if (const auto* found = device.rates->find(kind, kernel, numbers)) return found;
  return nullptr;
}

}  // namespace

const RateSurface* product_surface(const Device& device, Precision precision) {
  switch (precision) {
    case Precision::bf16:
    case Precision::fp16:
      return first_surface(device, Kind::product, Numbers::bf16, {"cublas", "vllm-default"});
    case Precision::fp8:
    case Precision::mxfp8:
      return first_surface(device, Kind::product, Numbers::fp8, {"cutlass"});
    case Precision::nvfp4:
      return first_surface(device, Kind::product, Numbers::nvfp4, {"flashinfer-cutedsl"});
    case Precision::fp32:
    case Precision::tf32:
      return nullptr;
  }
  return nullptr;
}

ExpertsSurfaces experts_surfaces(const Device& device, Precision precision) {
  const auto of = [&](Numbers numbers, std::string_view kernel) {
    return first_surface(device, Kind::experts, numbers, {kernel});
  };
  if (precision == Precision::fp32 || precision == Precision::tf32) return {};
  if (precision == Precision::fp8 || precision == Precision::mxfp8 || precision == Precision::nvfp4)
    if (const auto* layer = of(Numbers::fp8, "vllm:flashinfer-trtllm-monolithic:balanced"))
      return {{layer, of(Numbers::fp8_block, "trtllm:deepgemm:balanced")}, Precision::fp8};
  return {{of(Numbers::bf16, "trtllm:cutlass:balanced")}, Precision::bf16};
}

const RateSurface* attention_surface(const Device& device) {
  return first_surface(device, Kind::attention, Numbers::bf16, {"vllm:flashinfer-trtllm-prefill"});
}

const RateSurface* collective_surface(const Device& device, Collective collective) {
  const auto of = [&](auto... kernels) {
    return first_surface(device, Kind::collective, Numbers::bf16, {kernels...});
  };
  switch (collective) {
    case Collective::all_reduce:
      return of("all_reduce:nccl-2.27.3", "all_reduce:nccl-2.27", "all_reduce:nccl-2.26.2",
                "all_reduce:nccl-2.29.2");
    case Collective::all_gather:
      return of("all_gather:nccl-2.27.3", "all_gather:nccl-2.27", "all_gather:nccl-2.26.2",
                "all_gather:nccl-2.29.2");
    case Collective::reduce_scatter:
      return of("reduce_scatter:nccl-2.27.3", "reduce_scatter:nccl-2.27",
                "reduce_scatter:nccl-2.26.2", "reduce_scatter:nccl-2.29.2");
    case Collective::all_to_all:
      return of("alltoall:nccl-2.27.3", "alltoall:nccl-2.27", "alltoall:nccl-2.26.2",
                "alltoall:nccl-2.29.2");
    case Collective::broadcast:
    case Collective::reduce:
      return nullptr;
  }
  return nullptr;
}

}  // namespace topology
