// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/scripts/script_files.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "scenarios/shell/builtins.hpp"
#include "scenarios/shell/folder.hpp"

namespace scenarios {
namespace {

// Returns the path by which a file is found again that commands in the folder name so: of a folder
// that only a shell can tell, one that no other folder has.
std::string known_path(const std::optional<ShellWord>& folder, const std::string& path) {
  if (auto told = path_from(folder, path)) return *std::move(told);
  return std::string(1, '\x1d') + std::to_string(folder->at.line) + ":" +
         std::to_string(folder->at.column) + "/" + *path_from({}, path);
}

// Says why only a shell can tell what a file holds.
std::string untold(const std::string& path, const std::string& why) {
  return path + ": the script writes this file, and only a shell can tell what it holds: " + why;
}

}  // namespace

JobFiles with_written(WrittenFiles written, std::optional<ShellWord> folder,
                      const std::string& script, const JobFiles& beside) {
  return [written = std::move(written), folder = std::move(folder), script,
          &beside](const std::string& path) {
    const auto place = path_from(folder, path);
    const auto found = written.find(known_path(folder, path));
    if (!place && found == written.end())
      throw Error({{Complaints(script).text_of(folder->at),
                    "the script changes its folder here, in which " + path + " is looked for: " +
                        folder->trouble + "; or name the file by an absolute path"}});
    if (found == written.end()) return beside ? beside(folder ? *place : path) : std::nullopt;
    if (!found->second.trouble.empty())
      throw Error(
          {{Complaints(script).text_of(found->second.at), untold(path, found->second.trouble)}});
    return std::optional(found->second.text);
  };
}

const RawWord* sourced_by(const Statement& statement) {
  const auto& words = statement.words;
  const bool sources = words.size() > 1 && (words[0].text == "source" || words[0].text == ".");
  return sources ? &words[1] : nullptr;
}

void ScriptFiles::doubt(const std::string& path, const Place& at, const std::string& why) {
  auto& file = written_[path];
  file.at = at;
  file.doubt = why;
  if (file.trouble.empty()) file.trouble = why;
}

// Doubts the files that a command changes, other than "cat <<EOF > FILE".
void ScriptFiles::add_changed(const Statement& statement, const ShellVariables& variables) {
  const auto& words = statement.words;
  const auto& command = words.front().text;
  const auto at = words.front().at;
  const auto why = command + " changes it in line " + std::to_string(at.line);
  const auto folder = other_folder(variables);
  const auto doubt_words = [&](std::size_t first) {
    for (std::size_t i = first; i < words.size(); ++i)
      for (const auto& name : variables.expanded(words[i].text, words[i].at))
        if (name.trouble.empty()) doubt(known_path(folder, name.text), at, why);
  };
  if (!statement.output.empty())
    for (const auto& name : variables.expanded(statement.output, at))
      if (name.trouble.empty()) doubt(known_path(folder, name.text), at, why);
  const bool in_place = std::ranges::any_of(words, [](const RawWord& word) {
    return word.text.starts_with("-i") || word.text.starts_with("--in-place");
  });
  constexpr std::array<std::string_view, 4> editors{"sed", "perl", "yq", "awk"};
  if (command == "tee" || (in_place && std::ranges::find(editors, command) != editors.end()))
    doubt_words(1);
  if (words.size() > 2 && (command == "cp" || command == "mv" || command == "envsubst"))
    doubt_words(words.size() - 1);
}

void ScriptFiles::add_written(const Statement& statement, const ShellVariables& variables,
                              const Certainty& runs) {
  if (statement.output.empty() || statement.document.text.empty() ||
      statement.words.front().text != "cat")
    return add_changed(statement, variables);
  const auto& [raw, at] = statement.document;
  const auto name = variables.expanded(statement.output, at);
  if (name.size() != 1 || !name.front().trouble.empty()) return;
  const auto path = known_path(other_folder(variables), name.front().text);
  const auto line = std::to_string(statement.words.front().at.line);
  const auto [known, fresh] = written_.try_emplace(path);
  auto& file = known->second;
  if (fresh && statement.appends)
    if (const auto there = beside(name.front().text, variables)) file.text = file.marked = *there;
  if (!fresh && !statement.appends) {
    if (file.trouble.empty()) file.trouble = "it is written once more in line " + line;
    file.text.clear(), file.marked.clear(), file.doubt.clear();
  }
  file.at = statement.words.front().at;
  if (!runs.sure)
    doubt(path, file.at, "it is written under a condition or in a loop in line " + line);
  for (const auto& one : variables.value_of(raw, at)) file.marked += one.text;
  for (const auto& one : variables.expanded(raw, at)) {
    file.text += one.text;
    if (file.trouble.empty()) file.trouble = one.trouble;
  }
}

std::optional<ShellWord> ScriptFiles::text_of(const std::string& path,
                                              const ShellVariables& variables) const {
  const auto found = written_.find(known_path(other_folder(variables), path));
  const bool own = found != written_.end();
  auto text = own && !found->second.marked.empty() ? std::optional(found->second.marked)
                                                   : beside(path, variables);
  const bool doubtful = own && !found->second.doubt.empty();
  if (!text && !doubtful) return {};
  return ShellWord{std::move(text).value_or(""),
                   doubtful ? untold(path, found->second.doubt) : std::string(),
                   own ? found->second.at : Place{}};
}

// The text of a file that the script does not write. A reader for the folder of the training
// command is told the path from the script's own.
std::optional<std::string> ScriptFiles::beside(const std::string& path,
                                               const ShellVariables& variables) const {
  const auto folder = other_folder(variables);
  const auto place = path_from(folder, path);
  if (!beside_ || !place) return {};
  return beside_(moves_ ? rooted(*place) : folder ? *place : unrooted(path));
}

std::size_t ScriptFiles::started_by(const Statement& statement,
                                    const ShellVariables& variables) const {
  constexpr std::array<std::string_view, 4> shells{"bash", "sh", "zsh", "sbatch"};
  constexpr std::array<std::string_view, 5> ends{".sh", ".bash", ".sbatch", ".slurm", ".job"};
  const auto& words = statement.words;
  const auto is_shell = [&](std::string_view word) {
    word.remove_prefix(word.rfind('/') + 1);
    return std::ranges::find(shells, word) != shells.end();
  };
  // Words that may stand before: values of variables, programs that start others, their options.
  constexpr std::array<std::string_view, 8> before{"time", "nohup", "exec",    "env",
                                                   "sudo", "srun",  "timeout", "nice"};
  const auto takes_name = [](std::string_view option) {  // env, sudo
    return option == "-u" || option == "--unset";
  };
  std::size_t first = 0;
  while (
      first + 1 < words.size() &&
      (assigned_at(words[first].text) != std::string_view::npos ||
       (first > 0 && takes_name(words[first - 1].text)) ||
       std::ranges::find(before, words[first].text) != before.end() ||
       (first > 0 && (words[first].text.starts_with('-') ||
                      std::isdigit(static_cast<unsigned char>(words[first].text.front())) != 0))))
    ++first;
  const auto is_option = [&](std::size_t i) { return words[i].text.starts_with('-'); };
  const bool shell = is_shell(words[first].text), submits = words[first].text.ends_with("sbatch");
  for (auto i = first + (shell ? 1 : 0); i < (shell ? words.size() : first + 1); ++i) {
    const auto name = variables.expanded(words[i].text, words[i].at);
    const bool known = name.size() == 1 && name.front().trouble.empty();
    // The value of an option of sbatch may be one that only a shell can tell, "-p $PARTITION".
    if (!known && submits && i > first && (is_option(i) || is_option(i - 1))) continue;
    if (!known) return 0;
    const auto& path = name.front().text;
    const auto place = known_path(other_folder(variables), path);
    const bool script =
        std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
    if (path == "-c" || (!script && !written_.contains(place))) continue;
    const auto text = text_of(path, variables);
    return text && !text->text.empty() ? i + 1 : 0;
  }
  return 0;
}

std::vector<JobArgument> unread_in(const Statement& statement, const ShellVariables& variables) {
  constexpr std::array<std::string_view, 6> setters{"export", "declare", "eval",
                                                    "local",  "source",  "."};
  const auto& words = statement.words;
  const auto& [command, at] = words.front();
  const auto is_made = [](const RawWord& word) {
    return word.text.starts_with("$(") || word.text.starts_with("\"$(") ||
           word.text.starts_with('`');
  };
  std::vector<JobArgument> unread;
  const bool piped = statement.reads && words.size() == 1 && (command == "bash" || command == "sh");
  const auto all =
      is_made(words.front()) ? variables.expanded(command, at) : std::vector<ShellWord>();
  const bool printed =
      std::ranges::any_of(all, [](const ShellWord& one) { return !one.trouble.empty(); });
  if (piped || printed) unread.push_back({"piped", {}, at, (piped ? "| " : "") + command});
  const bool sets = std::ranges::find(setters, command) != setters.end();
  if (!sets || sourced_by(statement) != nullptr) return unread;  // run_file names a missing file
  const bool sources = words.size() == 1 && (command == "source" || command == ".");
  // "export "$NAME"=2" sets a variable, and only a shell can tell which.
  const auto sets_unnamed = [&](const RawWord& word) {
    const auto name = word.text.substr(0, word.text.find('='));
    return name.find('$') != name.npos && !variables.value_of(word.text, word.at).empty();
  };
  const bool unnamed = is_declaration(statement) && std::ranges::any_of(words, sets_unnamed);
  if (!sources && !unnamed && std::ranges::none_of(words, is_made)) return unread;
  std::string text = command;
  for (std::size_t i = 1; i < words.size(); ++i) text += " " + words[i].text;
  unread.push_back({"source", {}, at, std::move(text)});
  return unread;
}

}  // namespace scenarios
