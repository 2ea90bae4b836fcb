// SPDX-License-Identifier: Apache-2.0
// Private to the room: money, days and energy in words.
#pragma once
#include <string>

#include "units/quantity.hpp"

namespace report {

constexpr double seconds_per_day = 86'400, joules_per_watt_hour = 3'600;

// "12.3 million USD", "950,000 USD".
std::string money_words(units::Money money, const std::string& currency);

// "93 days"; "8.3 days"; without the word.
std::string days_words(units::Seconds time);
std::string days(units::Seconds time);

// "1.02 GWh", "870 kWh".
std::string energy_words(units::Joules energy);

// "2 trillion tokens", "300 billion tokens".
std::string tokens_words(double tokens);

}  // namespace report
