// SPDX-License-Identifier: Apache-2.0
// A training job as its files describe it: arguments of a framework, in order, as the files write
// them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/jobs/argument_table.hpp"
#include "scenarios/shell/word.hpp"

namespace scenarios {

struct JobArgument {
  std::string name;  // as it is written; empty: what only a shell can tell may hold arguments
  std::vector<ShellWord> values;
  Place at;
  std::string text{};  // "num_layers 32", where the name stands for what the file calls otherwise
  std::string file{};  // the file with the argument; empty: the job's
  bool standard = false;  // a default of the framework, which counts where a key follows from it
  bool off = false;       // it says that what its name asks for is not wanted
  bool stray = false;     // a word of a command that no argument takes
  // Where the job names that file, if the file's arguments are the job's own and no defaults.
  std::optional<Place> named{};
  std::vector<std::size_t> parts{};  // of a list of lists: how many of the values each has
  std::string wrong{};  // why its value is none that the argument takes; empty: it is one
};

// Values that a scenario or `--set` lays over a job; defaults of the framework follow from them.
struct OverJob {
  // Single values by "section.key"; empty ones for lists.
  std::map<std::string, std::string, std::less<>> values;
  std::optional<std::int64_t> gpus{};       // as WORLD_SIZE says, if it comes from there
  std::optional<std::int64_t> node_gpus{};  // of each of its nodes, if the node is known
  bool changes = false;  // the job is being changed, so that it need not start as it is
};

struct FrameworkJob {
  std::vector<JobArgument> arguments;  // arguments of the framework
  std::vector<JobArgument> launcher;   // and of the launcher: torchrun, srun, deepspeed
  std::string program;                 // the script that is started, without folder; or empty
  std::string table{};                 // argument table; empty: the framework's own
  OverJob over{};
};

// Reads a file that a job names by a path from the job's folder; returns nothing if there is none.
using JobFiles = std::function<std::optional<std::string>(const std::string& path)>;

// The command line's hints for reading a job.
struct JobHints {
  std::string as;                // FRAMEWORK or FRAMEWORK@VERSION; empty: recognised by content
  std::vector<std::string> env;  // NAME=VALUE, for variables of the file
  OverJob over{};
  // WORLD_SIZE is the number of nodes to the script, so its launcher says how many GPUs there are.
  bool own_world = false;
};

// An argument and its effect on the scenario.
struct JudgedArgument {
  std::string text, place;  // "--num-layers 32"
  Effect effect = Effect::unknown;
  std::vector<std::string> keys;  // keys of the scenario that follow from it
  std::string why;
};

struct JobAccount {
  std::string framework, version, file;
  std::vector<JudgedArgument> arguments;  // in the order of the file
  bool known = false;                     // an argument of the job itself is the framework's
  bool fork = false;                      // it is one of Megatron-DeepSpeed
};

// A key that a scenario needs and that the job does not give.
struct WantedKey {
  std::string path, text;
  Place at;
};

// A job as a scenario: a document whose values have the places of their arguments.
struct JobScenario {
  Value document;
  std::map<std::string, std::string> comments;  // by path: which argument a key came from
  JobAccount account;
  std::vector<WantedKey> wanted;
};

}  // namespace scenarios
