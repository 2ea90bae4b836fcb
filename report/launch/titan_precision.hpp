// SPDX-License-Identifier: Apache-2.0
// The precision of products as torchtitan's converters of a model's layers. Private to the room.
#pragma once
#include <string>
#include <vector>

#include "report/launch/launch_torchtitan.hpp"

namespace report::torchtitan {

// The converters, of linear layers and of routed experts. None for products of 16 bit and more.
std::vector<std::string> converters_of(const forecast::Scenario& scenario);

// Their tables.
std::string quantization_text(const forecast::Scenario& scenario, LostKeys& lost);

// ["output", "attention"]
std::string json_list(const std::vector<std::string>& words);

}  // namespace report::torchtitan
