// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts that reports of traces share.
#pragma once
#include <vector>

#include "forecast/diagnosis/diagnosis.hpp"
#include "report/document.hpp"

namespace report {

// [ { "what", "trace", "scenario" } ]
Document mismatches_document(const std::vector<forecast::Mismatch>& mismatches);

}  // namespace report
