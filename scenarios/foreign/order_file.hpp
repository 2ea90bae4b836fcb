// SPDX-License-Identifier: Apache-2.0
// Orders of pipelines that users wrote down.
#pragma once
#include <string>
#include <string_view>

#include "plans/schedules/schedule_file.hpp"
#include "scenarios/documents/file.hpp"

namespace scenarios {

// Reads an order in the form of strategies::read_order. Throws Error with the place of every
// mistake.
strategies::WrittenOrder read_order(std::string_view csv, const std::string& file_name);

// Reads the order from a file.
strategies::WrittenOrder load_order(const Source& source);

}  // namespace scenarios
