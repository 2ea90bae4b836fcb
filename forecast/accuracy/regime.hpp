// SPDX-License-Identifier: Apache-2.0
// Regimes: runs on devices of one generation, of one kind of model, whose errors are alike.
#pragma once
#include <string>
#include <string_view>

namespace forecast {

// Generation of the device and kind of model: "B200" and "MoE" are of "Blackwell MoE". A device
// that is of none that is known stands for itself.
std::string regime_of(std::string_view device, std::string_view model);

}  // namespace forecast
