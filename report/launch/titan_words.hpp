// SPDX-License-Identifier: Apache-2.0
// Private to the room: keys of torchtitan as its older releases have them.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/launch/job_edit.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// The vocabulary of a job's file. Releases before 0.2 have degrees under [training] and
// [experimental], later ones under [parallelism]; both call the batch of a rank
// training.batch_size, and sum no gradients of several batches (from memory).
class TitanWords {
 public:
  explicit TitanWords(const scenarios::JobScenario& job);

  // Returns the name by which the file's release knows the key of 0.2.2; nothing: it has no such
  // key.
  std::optional<std::string> own_name(const std::string& name) const;

  // Returns the name that 0.2.2 has for a key of an older release.
  static std::string newer_name(const std::string& name);

  // Returns the edits by the names of the file's release, without those of keys that it lacks,
  // which are added to `lacking`.
  std::vector<JobEdit> own(const std::vector<JobEdit>& edits, std::set<std::string>& lacking) const;

 private:
  std::set<std::string> given_;  // names in the file
  bool older_degrees_ = false, older_batch_ = false;
};

}  // namespace report
