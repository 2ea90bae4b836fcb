// SPDX-License-Identifier: Apache-2.0
#include "scenarios/job_file.hpp"

#include <utility>

#include "scenarios/document.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "scenarios/job_document.hpp"

namespace scenarios {

JobScenario load_job(const std::filesystem::path& file, std::span<const std::string> sets,
                     const JobHints& hints) {
  Texts texts;
  auto job =
      read_job(read_file(file), file.string(), hints, files_beside(texts, file.parent_path()));
  if (!job)
    throw Error({{Complaints(file.string()).text_of({}),
                  "this is no job of a framework that is known; expected one of " +
                      listed(job_frameworks())}});
  Reading reading(file.string(), file.parent_path());
  apply_sets(job->document, sets, reading);
  reading.throw_if_any();
  return std::move(*job);
}

}  // namespace scenarios
