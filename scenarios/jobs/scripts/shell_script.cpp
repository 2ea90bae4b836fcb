// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/scripts/shell_script.hpp"

#include "scenarios/jobs/argument_list.hpp"
#include "scenarios/jobs/scripts/script_files.hpp"
#include "scenarios/jobs/scripts/script_run.hpp"
#include "scenarios/shell/folder.hpp"

namespace scenarios {
namespace {

const ArgumentTable& no_arguments() {
  static const ArgumentTable none("");
  return none;
}

}  // namespace

FrameworkJob read_shell_script(std::string_view text, const ArgumentTable& table,
                               std::span<const std::string> env, const JobFiles& files) {
  return is_list(text) ? read_list(text, table, env) : ScriptRun(text, table, env, files).read();
}

JobFiles files_of_script(std::string_view text, const std::string& file,
                         std::span<const std::string> env, const JobFiles& files) {
  if (text.find("<<") == text.npos && !may_change_folder(text)) return files;
  ScriptRun script(text, no_arguments(), env, files, true);
  script.read();
  return with_written(script.written(), script.folder(), file, files);
}

std::optional<LaunchScript> read_launch(std::string_view text, std::span<const std::string> env,
                                        const JobFiles& files) {
  ScriptRun script(text, no_arguments(), env, files, true);
  LaunchScript launch{script.read(), {}};
  const auto behind = script.behind_program();
  launch.words.assign(behind.begin(), behind.end());
  if (!script.starts()) return {};
  return launch;
}

}  // namespace scenarios
