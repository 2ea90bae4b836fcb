// SPDX-License-Identifier: Apache-2.0
// A training job as its files describe it: arguments of a framework, in order, as they stand there.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/jobs/argument_table.hpp"

namespace scenarios {

// A value of an argument. What cannot be told without running a shell has no text, and `trouble`
// says why and what to write.
struct JobWord {
  std::string text, trouble;
  Place at;
};

struct JobArgument {
  std::string name;  // as it is written; empty: what only a shell can tell may hold arguments
  std::vector<JobWord> values;
  Place at;
  std::string text{};  // "num_layers 32", where the name stands for what the file calls otherwise
  std::string file{};  // that it stands in; empty: the job's own
  bool standard = false;  // a default of the framework, which counts where a key follows from it
  bool off = false;       // it says that what its name asks for is not wanted
};

struct Job {
  std::vector<JobArgument> arguments;  // of the framework
  std::vector<JobArgument> launcher;   // of what starts its processes: torchrun, srun, deepspeed
  std::string program;                 // the script that is started, without folder; or empty
  std::string table{};                 // of the arguments, where it is not the framework's own
};

// Reads a file that a job names by a path from the job's folder; nothing where there is none.
using JobFiles = std::function<std::optional<std::string>(const std::string& path)>;

// What a command line says about a job.
struct JobHints {
  std::string as;                // FRAMEWORK or FRAMEWORK@VERSION; empty: recognised by content
  std::vector<std::string> env;  // NAME=VALUE, for variables of the file
};

// What became of one argument.
struct JudgedArgument {
  std::string text, place;  // "--num-layers 32"
  Effect effect = Effect::unknown;
  std::vector<std::string> keys;  // of the scenario that follow from it
  std::string why;
};

struct JobAccount {
  std::string framework, version, file;
  std::vector<JudgedArgument> arguments;  // in the order of the file
};

// What a scenario needs and the job does not say.
struct WantedKey {
  std::string path, text;
  Place at;
};

// A job as a scenario: a document whose values stand where their arguments do.
struct JobScenario {
  Value document;
  std::map<std::string, std::string> comments;  // by path: which argument a key came from
  JobAccount account;
  std::vector<WantedKey> wanted;
};

}  // namespace scenarios
