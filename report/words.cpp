// SPDX-License-Identifier: Apache-2.0
#include "report/words.hpp"

#include "plans/schedule_names.hpp"

namespace report {

std::string_view word(model::Activation activation) {
  switch (activation) {
    case model::Activation::gelu:
      return "gelu";
    case model::Activation::relu:
      return "relu";
    case model::Activation::squared_relu:
      return "squared_relu";
    case model::Activation::swiglu:
      return "swiglu";
    case model::Activation::geglu:
      return "geglu";
  }
  return "";
}

std::string_view word(model::Norm norm) {
  return norm == model::Norm::layernorm ? "layernorm" : "rmsnorm";
}

std::string_view word(model::Position position) {
  switch (position) {
    case model::Position::learned:
      return "learned";
    case model::Position::rope:
      return "rope";
    case model::Position::alibi:
      return "alibi";
    case model::Position::none:
      return "none";
  }
  return "";
}

std::string_view word(model::ExpertProducts products) {
  switch (products) {
    case model::ExpertProducts::one_by_one:
      return "one-by-one";
    case model::ExpertProducts::grouped:
      return "grouped";
    case model::ExpertProducts::fused:
      return "fused";
  }
  return "";
}

std::string_view word(model::AttentionKernel kernel) {
  switch (kernel) {
    case model::AttentionKernel::unfused:
      return "unfused";
    case model::AttentionKernel::fused:
      return "fused";
    case model::AttentionKernel::flash:
      return "flash";
    case model::AttentionKernel::flash_1:
      return "flash1";
    case model::AttentionKernel::flash_3:
      return "flash3";
    case model::AttentionKernel::memory_efficient:
      return "memory-efficient";
  }
  return "";
}

std::string_view word(topology::NvLink::Kind kind) {
  switch (kind) {
    case topology::NvLink::Kind::nvswitch:
      return "nvswitch";
    case topology::NvLink::Kind::mesh:
      return "mesh";
    case topology::NvLink::Kind::pairs:
      return "pairs";
    case topology::NvLink::Kind::none:
      return "none";
  }
  return "";
}

std::string_view word(topology::Fabric::Kind kind) {
  switch (kind) {
    case topology::Fabric::Kind::fat_tree:
      return "fat-tree";
    case topology::Fabric::Kind::rail_fat_tree:
      return "rail-fat-tree";
    case topology::Fabric::Kind::rail_only:
      return "rail-only";
    case topology::Fabric::Kind::dragonfly_plus:
      return "dragonfly-plus";
    case topology::Fabric::Kind::torus_3d:
      return "torus-3d";
    case topology::Fabric::Kind::single_switch:
      return "single-switch";
  }
  return "";
}

std::string_view word(strategies::Optimizer optimizer) {
  switch (optimizer) {
    case strategies::Optimizer::adamw:
      return "adamw";
    case strategies::Optimizer::adam:
      return "adam";
    case strategies::Optimizer::lamb:
      return "lamb";
    case strategies::Optimizer::adafactor:
      return "adafactor";
    case strategies::Optimizer::sophia:
      return "sophia";
    case strategies::Optimizer::muon:
      return "muon";
    case strategies::Optimizer::sgd:
      return "sgd";
    case strategies::Optimizer::onebit_adam:
      return "onebit-adam";
  }
  return "";
}

std::string_view word(strategies::ScheduleKind schedule) { return strategies::name_of(schedule); }

std::string_view word(strategies::Degree degree) {
  switch (degree) {
    case strategies::Degree::tensor:
      return "tp";
    case strategies::Degree::context:
      return "cp";
    case strategies::Degree::expert:
      return "ep";
    case strategies::Degree::data:
      return "dp";
    case strategies::Degree::pipeline:
      return "pp";
  }
  return "";
}

std::string_view word(strategies::ContextMethod method) {
  switch (method) {
    case strategies::ContextMethod::ring:
      return "ring";
    case strategies::ContextMethod::ulysses:
      return "ulysses";
    case strategies::ContextMethod::all_gather:
      return "all-gather";
  }
  return "";
}

std::string_view word(strategies::Module module) {
  switch (module) {
    case strategies::Module::other:
      return "other";
    case strategies::Module::core_attn:
      return "core_attn";
    case strategies::Module::layernorm:
      return "layernorm";
    case strategies::Module::moe_act:
      return "moe_act";
    case strategies::Module::mla_up_proj:
      return "mla_up_proj";
    case strategies::Module::mlp:
      return "mlp";
    case strategies::Module::moe:
      return "moe";
    case strategies::Module::shared_experts:
      return "shared_experts";
  }
  return "";
}

std::string_view word(strategies::Offload::Tier tier) {
  switch (tier) {
    case strategies::Offload::Tier::none:
      return "none";
    case strategies::Offload::Tier::cpu:
      return "cpu";
    case strategies::Offload::Tier::nvme:
      return "nvme";
  }
  return "";
}

std::string_view word(strategies::GradientCompression compression) {
  switch (compression) {
    case strategies::GradientCompression::none:
      return "none";
    case strategies::GradientCompression::onebit:
      return "onebit";
    case strategies::GradientCompression::fp8:
      return "fp8";
  }
  return "";
}

std::string_view word(strategies::ActivationCompression compression) {
  switch (compression) {
    case strategies::ActivationCompression::none:
      return "none";
    case strategies::ActivationCompression::fp8:
      return "fp8";
    case strategies::ActivationCompression::int8:
      return "int8";
  }
  return "";
}

std::string_view word(strategies::Fp8Recipe recipe) {
  switch (recipe) {
    case strategies::Fp8Recipe::delayed:
      return "delayed";
    case strategies::Fp8Recipe::tensorwise:
      return "tensorwise";
    case strategies::Fp8Recipe::rowwise:
      return "rowwise";
    case strategies::Fp8Recipe::blockwise:
      return "blockwise";
  }
  return "";
}

std::string_view word(strategies::GraphedPart part) {
  switch (part) {
    case strategies::GraphedPart::attn:
      return "attn";
    case strategies::GraphedPart::moe_router:
      return "moe_router";
    case strategies::GraphedPart::moe_preprocess:
      return "moe_preprocess";
  }
  return "";
}

std::string_view word(strategies::TensorOverlap overlap) {
  return overlap == strategies::TensorOverlap::async ? "async" : "pipelined";
}

std::string_view word(strategies::MoeDispatcher dispatcher) {
  switch (dispatcher) {
    case strategies::MoeDispatcher::all_to_all:
      return "all-to-all";
    case strategies::MoeDispatcher::all_gather:
      return "all-gather";
    case strategies::MoeDispatcher::deepep:
      return "deepep";
    case strategies::MoeDispatcher::hybridep:
      return "hybridep";
  }
  return "";
}

std::string word(const std::vector<strategies::Degree>& order) {
  std::string joined;
  for (const auto degree : order) {
    if (!joined.empty()) joined += '-';
    joined += word(degree);
  }
  return joined;
}

}  // namespace report
