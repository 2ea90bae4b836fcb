// SPDX-License-Identifier: Apache-2.0
// Private to the room: the words of scenario files for the choices in a scenario.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "forecast/scenario.hpp"

namespace report {

std::string_view word(model::Activation activation);
std::string_view word(model::Norm norm);
std::string_view word(model::Position position);
std::string_view word(model::AttentionKernel kernel);
std::string_view word(model::ExpertProducts products);
std::string_view word(topology::NvLink::Kind kind);
std::string_view word(topology::Fabric::Kind kind);
std::string_view word(strategies::Optimizer optimizer);
std::string_view word(strategies::ScheduleKind schedule);
std::string_view word(strategies::Degree degree);
std::string_view word(strategies::ContextMethod method);
std::string_view word(strategies::Module module);
std::string_view word(strategies::Offload::Tier tier);
std::string_view word(strategies::GradientCompression compression);
std::string_view word(strategies::ActivationCompression compression);
std::string_view word(strategies::Fp8Recipe recipe);
std::string_view word(strategies::GraphedPart part);
std::string_view word(strategies::MoeDispatcher dispatcher);
std::string_view word(strategies::TensorOverlap overlap);
std::string word(const std::vector<strategies::Degree>& order);  // "tp-cp-ep-dp-pp"

}  // namespace report
