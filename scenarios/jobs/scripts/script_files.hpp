// SPDX-License-Identifier: Apache-2.0
// Private to the room: scripts that a script starts, and files that it writes.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/jobs/job.hpp"
#include "scenarios/jobs/scripts/script_commands.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// A file that a script writes or changes.
struct WrittenFile {
  std::string marked;   // its text; what only a shell can tell is marked in it
  std::string text;     // its text as far as it is known
  std::string trouble;  // why only a shell can tell what it holds; empty: all is known
  std::string doubt;    // why it may hold something else than `marked` where the script is now
  Place at{};           // of the command that wrote it last
};
using WrittenFiles = std::map<std::string, WrittenFile, std::less<>>;

// Returns a reader of files that a script writes, else of those that lie in the folder which its
// training command runs in; `beside` reads those beside the script and must outlive it. The reader
// throws Error, with the place in the script of that name, for a file of which only a shell can
// tell what it holds, or where it lies.
JobFiles with_written(WrittenFiles written, std::optional<ShellWord> folder,
                      const std::string& script, const JobFiles& beside);

// Returns the word that names the file in "source FILE" or ". FILE"; null: another command.
const RawWord* sourced_by(const Statement& statement);

// Returns what a statement has that is not read: variables that the output of a command sets,
// "export $(…)", and commands that another one prints, "$(…)" and "… | bash".
std::vector<JobArgument> unread_in(const Statement& statement, const ShellVariables& variables);

class ScriptFiles {
 public:
  // `beside` reads files beside the script. `moves`: it may be the reader of with_written().
  ScriptFiles(const JobFiles& beside, bool moves) : beside_(beside), moves_(moves) {}

  // Keeps the text of "cat <<EOF > FILE". A file that is written under a condition, twice, or by
  // another command is one of which only a shell can tell what it holds.
  void add_written(const Statement& statement, const ShellVariables& variables,
                   const Certainty& runs);
  // The text of a file that the script writes, or that lies beside it. What only a shell can tell
  // is marked in it, as in the value of a variable. With trouble it is the text before a change
  // that only a shell can tell, and may be empty.
  std::optional<ShellWord> text_of(const std::string& path, const ShellVariables& variables) const;
  // Returns the number of words up to the script in "bash FILE", "sbatch --nodes 2 FILE" and
  // "./FILE"; 0: another command, or a script that is not there or of which nothing is known.
  std::size_t started_by(const Statement& statement, const ShellVariables& variables) const;
  const WrittenFiles& written() const { return written_; }
  void restore(WrittenFiles written) { written_ = std::move(written); }

 private:
  std::optional<std::string> beside(const std::string& path, const ShellVariables& variables) const;
  void doubt(const std::string& path, const Place& at, const std::string& why);
  void add_changed(const Statement& statement, const ShellVariables& variables);

  const JobFiles& beside_;
  bool moves_;
  WrittenFiles written_;
};

}  // namespace scenarios
