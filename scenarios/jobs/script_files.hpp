// SPDX-License-Identifier: Apache-2.0
// Private to the room: scripts that a script starts, and files that it writes.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "scenarios/jobs/job.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Returns the word that names the file in "source FILE" or ". FILE"; null: another command.
const RawWord* sourced_by(const Statement& statement);

class ScriptFiles {
 public:
  using Texts = std::map<std::string, std::string, std::less<>>;

  // `beside` reads files beside the script.
  explicit ScriptFiles(const JobFiles& beside) : beside_(beside) {}

  // Keeps the text of "cat <<EOF > FILE".
  void add_written(const Statement& statement, const ShellVariables& variables);
  // The text of a file that the script writes, or that lies beside it. What only a shell can tell
  // is marked in it, as in the value of a variable.
  std::optional<std::string> text_of(const std::string& path) const;
  // Returns the number of words up to the script in "bash FILE", "sbatch --nodes 2 FILE" and
  // "./FILE"; 0: another command, or a script that is not there.
  std::size_t started_by(const Statement& statement, const ShellVariables& variables) const;
  // The files that the script writes, if all of their text is known.
  Texts written() const { return known_; }

 private:
  const JobFiles& beside_;
  Texts written_, known_;
};

}  // namespace scenarios
