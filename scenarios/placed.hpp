// SPDX-License-Identifier: Apache-2.0
// Places in a file of mistakes that only a simulation finds: a step that is too large or too long.
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// The document of a file after `--set` was applied.
struct Origin {
  std::string file;
  Value document;
  Files read = {};  // the file, and those that it names; none where a text was read
  std::optional<JobAccount> job = {};   // the effects of its arguments, if it was a job
  std::vector<std::string> notes = {};  // what files that it names have, and the scenario lacks
};

// A value and the document that it was read from.
template <class T>
struct Placed {
  T value;
  Origin origin;
};

// Returns the complaint about a step that simulation refused. The place of a strategies::Refusal is
// the first of its keys that the document gives, or the innermost map around the first key;
// anything else has the beginning of the file. `inside` is the path of the map that holds the
// scenario's keys; empty: the document.
Complaint placed(const std::invalid_argument& refused, const Origin& origin,
                 const std::string& inside = {});

}  // namespace scenarios
