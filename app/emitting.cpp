// SPDX-License-Identifier: Apache-2.0
#include "app/emitting.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <utility>

#include "report/launch/job_change.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/job_file.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

report::Framework framework_of(const Emission& emission) {
  return std::ranges::find(report::framework_names, emission.framework,
                           [](const auto& each) { return std::string(each.first); })
      ->second;
}

std::string in_folder(const Emission& emission, const std::string& name) {
  return (fs::path(emission.folder) / name).string();
}

void say(const char* what, const std::vector<std::string>& sentences, Streams streams) {
  for (const auto& sentence : sentences) streams.err << what << ": " << sentence << '\n';
}

void make_folder(const std::string& folder) {
  std::error_code wrong;
  fs::create_directories(folder, wrong);
  if (wrong) throw Mistake("cannot make the folder '" + folder + "'; " + wrong.message());
}

// Writes a file whose name nobody chose: one that is there with other contents is kept beside it.
void write_kept(const std::string& path, const std::string& text, const Common& common,
                Streams streams) {
  std::error_code wrong;
  if (fs::is_regular_file(path, wrong) && scenarios::read_file(path) != text) {
    auto former = path + ".before";
    for (int n = 2; fs::exists(former, wrong); ++n) former = path + ".before-" + std::to_string(n);
    fs::rename(path, former, wrong);
    if (wrong) throw Mistake(path + ": cannot be kept as " + former + ": " + wrong.message());
    if (!common.quiet) streams.err << "kept the former " << path << " as " << former << '\n';
  }
  write_file(path, text);
  if (!common.quiet) streams.err << "wrote " << path << '\n';
}

void write_set(const report::Launch& launch, const Emission& emission, const Common& common,
               Streams streams) {
  make_folder(emission.folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    write_kept(in_folder(emission, name), text, common, streams);
  };
  write(launch.name, launch.text);
  for (const auto& file : launch.beside) write(file.name, file.text);
}

bool changes_job(const Emission& emission) {
  return emission.diff || (emission.framework.empty() && !emission.folder.empty());
}

// The changed file keeps its name; the change is named after it, with .diff behind.
std::vector<Output> changed_outputs(const Emission& emission, const scenarios::Origin& origin) {
  const auto name = fs::path(origin.job->file).filename().string();
  return {{"--emit-to", in_folder(emission, name)},
          {"--emit-to", in_folder(emission, name + ".diff")}};
}

std::string emit_change(const forecast::Scenario& scenario, const scenarios::Origin& origin,
                        const Emission& emission, const Common& common, Streams streams) {
  const auto& job = *origin.job;
  const scenarios::JobHints hints{job.framework + "@" + job.version, common.job.env};
  auto changed = report::changed_job(scenarios::read_file(job.file), job.file, hints, scenario,
                                     scenarios::files_of_job(fs::path(job.file).parent_path()));
  if (!changed) throw Mistake(job.file + ": this is no job that could be changed");
  if (!common.quiet) {
    for (const auto& key : changed->left)
      streams.err << "not changed: " << key << ": " << job.file << " still says otherwise\n";
    say("not changed", changed->beside, streams);
    say("not expressed", report::sentences_of(changed->launch.not_expressed), streams);
  }
  if (!emission.folder.empty()) {
    make_folder(emission.folder);
    const auto outputs = changed_outputs(emission, origin);
    write_kept(outputs[0].path, changed->text, common, streams);
    write_kept(outputs[1].path, changed->diff, common, streams);
  }
  return emission.diff ? std::move(changed->diff) : std::string();
}

}  // namespace

std::vector<Output> emitted_outputs(const Emission& emission) {
  std::vector<Output> outputs;
  if (emission.folder.empty()) return outputs;
  std::error_code wrong;
  if (!fs::exists(emission.folder, wrong)) return outputs;
  if (!fs::is_directory(emission.folder, wrong))
    throw Mistake("--emit-to " + emission.folder + ": is no folder; name another");
  if (emission.framework.empty()) return outputs;
  for (const auto& name : report::launch_names(framework_of(emission)))
    outputs.push_back({"--emit-to", in_folder(emission, name)});
  return outputs;
}

void check_emission(const Emission& emission, const scenarios::Origin& origin) {
  if (!changes_job(emission)) return;
  if (!origin.job)
    throw Mistake((emission.diff ? "--diff" : "--emit-to " + emission.folder) +
                  ": this is no job that could be changed; add --emit megatron, deepspeed, "
                  "torchtitan or nanotron");
  const auto& job = *origin.job;
  const auto why = report::why_unchangeable(job, scenarios::read_file(job.file));
  if (!why.empty()) throw Mistake(job.file + ": " + why);
  std::error_code wrong;
  if (emission.folder.empty() || !fs::exists(emission.folder, wrong)) return;
  Outputs(Common{}, changed_outputs(emission, origin)).spare(origin.read);
}

std::string emit(const report::Launch& launch, const Emission& emission, const Common& common,
                 Streams streams) {
  if (!common.quiet) {
    say("not expressed", report::sentences_of(launch.not_expressed), streams);
    if (emission.folder.empty()) say("in another file", launch.elsewhere, streams);
    say("not in the scenario", launch.undecided, streams);
  }
  if (emission.folder.empty()) return launch.text;
  write_set(launch, emission, common, streams);
  return {};
}

std::string emit(const forecast::Scenario& scenario, const scenarios::Origin& origin,
                 const Emission& emission, const Common& common, Streams streams) {
  if (changes_job(emission)) return emit_change(scenario, origin, emission, common, streams);
  if (emission.framework.empty()) return {};
  return emit(report::launch(scenario, framework_of(emission)), emission, common, streams);
}

}  // namespace app
