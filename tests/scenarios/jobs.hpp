// SPDX-License-Identifier: Apache-2.0
// Job files of tests/scenarios/jobs, and the scenarios that they make.
#pragma once
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/documents/file.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "scenarios/jobs/scenario_text.hpp"
#include "tests/catch.hpp"

namespace tests {

inline const std::filesystem::path job_folder =
    std::filesystem::path(STEPCAST_SOURCE_DIR) / "tests/scenarios/jobs";

// The files of these folders in an order that is the same everywhere.
inline std::vector<std::filesystem::path> job_files(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : folders)
    for (const auto& file : std::filesystem::directory_iterator(job_folder / folder))
      files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

inline const std::vector<std::string>& megatron_folders() {
  static const std::vector<std::string> folders{"megatron_functional_tests", "megatron_scripts",
                                                "megatron_moe_modelzoo",
                                                "megatron_deepspeed_scripts"};
  return folders;
}

// The job as a scenario; it must be one.
inline scenarios::JobScenario job(const std::string& text, std::vector<std::string> env = {},
                                  const std::string& as = {}) {
  auto made = scenarios::read_job(text, "job", {as, std::move(env)});
  if (!made) throw std::logic_error("no job");
  return std::move(*made);
}

// Checks that every file of the folder is a scenario without unknown arguments, or is refused:
// `refused` checks the error.
template <class Refused>
void check_jobs(const std::string& folder, Refused&& refused) {
  for (const auto& file : job_files({folder})) {
    INFO(file);
    try {
      const auto job = scenarios::read_job(scenarios::read_file(file), file.filename(), {});
      REQUIRE(job);
      for (const auto& argument : job->account.arguments) {
        INFO(argument.text);
        CHECK(argument.effect != scenarios::Effect::unknown);
      }
    } catch (const scenarios::Error& wrong) {
      refused(wrong, file);
    }
  }
}

// The value at "section.key" of a document; "" where there is none.
inline std::string at(const scenarios::Value& document, const std::string& path) {
  const auto* value = &document;
  for (std::size_t begin = 0; value != nullptr && begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    value = value->find(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (value == nullptr) return {};
  if (value->kind != scenarios::Value::Kind::list) return value->text;
  std::string all;
  for (const auto& item : value->items) all += (all.empty() ? "" : " ") + item.text;
  return all;
}

// The value at "section.key" of the scenario that the job makes.
inline std::string value(const std::string& text, const std::string& path,
                         std::vector<std::string> env = {}) {
  return at(job(text, std::move(env)).document, path);
}

// More text of a job, and the value that a key of its scenario has with it; "": none.
struct JobCase {
  std::string more, path, value;
};

// Checks the cases: `text` makes the text of a job from more text.
template <class Text>
void check_values(const std::vector<JobCase>& cases, Text&& text,
                  const std::vector<std::string>& env = {}) {
  for (const auto& one : cases) {
    INFO(one.more << " " << one.path);
    CHECK(value(text(one.more), one.path, env) == one.value);
  }
}

// More text of a job, and a part of its refusal; "accepted": it is none.
struct RefusedCase {
  std::string more, part;
};

// The complaints of a reading, one line each, with places.
template <class Read>
std::string refusal(Read&& read) {
  try {
    read();
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "accepted";
}

template <class Text>
void check_refusals(const std::vector<RefusedCase>& cases, Text&& text,
                    const std::vector<std::string>& env = {}) {
  for (const auto& one : cases) {
    INFO(one.more);
    CHECK_THAT(refusal([&] { job(text(one.more), env); }), STEPCAST_HOLDS(one.part));
  }
}

// The complaints about a job on 8 GPUs.
inline std::string refused(const std::string& text) {
  return refusal([&] { job(text, {"WORLD_SIZE=8"}); });
}

// The job with these files beside it.
inline scenarios::JobScenario beside(const std::string& text,
                                     std::map<std::string, std::string> files,
                                     std::vector<std::string> env = {}) {
  const auto read = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  auto made = scenarios::read_job(text, "job", {{}, std::move(env)}, read);
  if (!made) throw std::logic_error("no job");
  return std::move(*made);
}

// The paths that the job leaves to somebody else, in order.
inline std::string wanted(const scenarios::JobScenario& job) {
  std::string all;
  for (const auto& one : job.wanted) all += (all.empty() ? "" : " ") + one.path;
  return all;
}

// The effect of the argument with this text.
inline scenarios::Effect effect_of(const scenarios::JobScenario& job, const std::string& text) {
  for (const auto& one : job.account.arguments)
    if (one.text == text) return one.effect;
  throw std::logic_error("no argument " + text);
}

}  // namespace tests
