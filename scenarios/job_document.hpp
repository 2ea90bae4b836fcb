// SPDX-License-Identifier: Apache-2.0
// Private to the room: the document of a scenario from a file that is a scenario, a job, or a
// scenario that names a job.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/document.hpp"
#include "scenarios/documents/cursor.hpp"
#include "scenarios/jobs/job.hpp"
#include "scenarios/placed.hpp"

namespace scenarios {

// A file as the document of a scenario.
struct OpenedDocument {
  Value document;
  std::optional<JobAccount> job;    // where it came from one
  std::vector<WantedKey> wanted{};  // needed keys that the job does not give
  Value over{};                     // the scenario that was laid over it, if there is one
};

// Files that a job in the folder names, by paths from there; `texts` must outlive it.
JobFiles files_beside(Texts& texts, const std::filesystem::path& folder);

// A job as its scenario, or the text as YAML. `job: FILE`, or {file, as, env: {NAME: VALUE}}, lays
// a scenario over the job that it names, relative to `base`: its value at SECTION.KEY replaces the
// job's. `loosen`, if given, removes keys from the job's document. Throws Error for text that is
// neither.
OpenedDocument open_document(std::string_view text, const std::string& file,
                             const std::filesystem::path& base, const JobHints& hints, Texts& texts,
                             void (*loosen)(Value&) = nullptr);

// The same for a document that is parsed already.
OpenedDocument open_document(Value document, const std::string& file,
                             const std::filesystem::path& base, const JobHints& hints, Texts& texts,
                             void (*loosen)(Value&) = nullptr);

// Removes the cluster's number of GPUs, unless `--set` says it.
void drop_gpus(Value& document);

// Lets the scenario's size of the cluster replace the job's number of GPUs.
void settle_size(Value& document);

// Returns the hints with what the document has from `--set` or from `over`, a part of it, so that
// the job's defaults follow from that; nothing if none can. `base` is the folder of its files.
std::optional<JobHints> over_job(const JobHints& hints, const Value& document, const Value& over,
                                 const std::filesystem::path& base);

// Returns read(hints), or, where that throws Error, read() under the values of a scenario; throws
// the first Error if neither can be.
template <class Read>
auto read_under(const JobHints& hints, const Value& document, const Value& over,
                const std::filesystem::path& base, const Read& read) {
  try {
    return read(hints);
  } catch (const Error&) {
    if (const auto again = over_job(hints, document, over, base)) try {
        return read(*again);
      } catch (const Error&) {  // the first says what is wrong with the job alone
      }
    throw;
  }
}

// Returns the document that `--set` alone makes.
Value values_of(std::span<const std::string> sets, const std::filesystem::path& folder);

// How a document is opened: under these hints, or others. Files of the document are in `folder`.
struct Opening {
  std::filesystem::path folder;
  JobHints hints;
  std::function<OpenedDocument(const JobHints&)> under;
};

// Opens the document, where it must be under the values of `sets`, without which its job
// contradicts itself. Throws the Error of the reading without them.
OpenedDocument open_first(const Opening& opening, std::span<const std::string> sets);

// Reads the job again under the values that lie over it, `--set` among them, and applies `sets`
// to it; a job that cannot be so stays as it was read, and the scenario's checks tell why.
void read_again(OpenedDocument& opened, const Opening& opening, std::span<const std::string> sets,
                Reading& reading);

// Whether the document gives the key, or names an entry that has it.
bool says(const Value& document, std::string_view path);

// Opens a file on which scenarios are based; a job is read again under the scenario that lies over
// it. Errors are those of open_document.
Value open_base(const std::filesystem::path& file, Reading& reading);

// Complains of needed keys that neither the job nor the scenario gives; a given number of nodes
// replaces the job's number of GPUs. Call it after `--set` was applied.
void complete_from_job(OpenedDocument& opened, Reading& reading);

// Reads a file, or a job as its scenario, and returns the result of `read(document, reading)` with
// its origin.
template <class Read>
auto load_scenario_file(const Source& source, std::span<const std::string> sets,
                        const JobHints& hints, const Read& read, void (*loosen)(Value&) = nullptr) {
  const auto file = source.file.string();
  Reading reading(file, source.folder());
  const auto text = source.read();
  const Opening opening{source.folder(), hints, [&](const JobHints& under) {
                          return open_document(text, file, source.folder(), under, reading.texts(),
                                               loosen);
                        }};
  auto opened = open_first(opening, sets);
  apply_sets(opened.document, sets, reading);
  read_again(opened, opening, sets, reading);
  complete_from_job(opened, reading);
  auto value = read(std::as_const(opened.document), reading);
  reading.throw_if_any();
  Files files;
  reading.texts().tell(&files);
  source.tell(&files);
  return Placed<decltype(value)>{
      std::move(value),
      {file, std::move(opened.document), std::move(files), std::move(opened.job), reading.notes()}};
}

}  // namespace scenarios
