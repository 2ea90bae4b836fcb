// SPDX-License-Identifier: Apache-2.0
// Configurations that are maps of maps, as the arguments of a framework.
#pragma once
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// "section.key value" for every value of the document; of a list all values, and none of an empty
// one. A map is one argument where the table knows its path. In the order of the file.
Job keyed_job(const Value& document, const ArgumentTable& table);

}  // namespace scenarios
