// SPDX-License-Identifier: Apache-2.0
// Configurations that are maps of maps, as the arguments of a framework.
#pragma once
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Returns an argument "section.key value" for every value of the document, in the order of the
// file; a list gives all of its values, a list of maps "section[].key" for each. A null value is
// left out, or with `nulls` an argument that is off.
FrameworkJob keyed_job(const Value& document, bool nulls = false);

}  // namespace scenarios
