// SPDX-License-Identifier: Apache-2.0
#include "scenarios/job_file.hpp"

#include <memory>
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
  const auto text = read_file(file);
  const auto read = [&](const JobHints& told) {
    return read_job(text, file.string(), told, files_beside(texts, file.parent_path()));
  };
  const auto folder = file.parent_path();
  auto job = read_under(hints, values_of(sets, folder), {}, folder, read);
  if (!job)
    throw Error({{Complaints(file.string()).text_of({}),
                  "this is no job of a framework that is known; expected one of " +
                      listed(job_frameworks())}});
  Reading reading(file.string(), file.parent_path());
  apply_sets(job->document, sets, reading);
  reading.throw_if_any();
  settle_size(job->document);
  if (const auto again = over_job(hints, job->document, {}, file.parent_path())) try {
      auto second = read(*again);
      apply_sets(second->document, sets, reading);
      settle_size(second->document);
      return std::move(*second);
    } catch (const Error&) {
      return std::move(*job);  // the scenario's checks tell why
    }
  return std::move(*job);
}

JobFiles files_of_job(const std::filesystem::path& folder) {
  const auto texts = std::make_shared<Texts>();
  return [texts, folder](const std::string& path) { return files_beside(*texts, folder)(path); };
}

}  // namespace scenarios
