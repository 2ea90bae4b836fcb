// SPDX-License-Identifier: Apache-2.0
// Commands as calls inside of another program: arguments and options go in as JSON, the document of
// `--json` comes out.
#pragma once
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"

namespace library {

// Words of the command line, and texts that stand for files which they name.
struct Call {
  std::vector<std::string> words;  // "simulate", "--set=plan.tensor=8", "--", "scenario"
  std::map<std::string, std::string> texts;
};

// Parses a request:
//   {"command": "simulate",          a command's words
//    "inputs": [INPUT, …],           its arguments: names of files, or documents themselves
//    "options": {NAME: VALUE, …},    as after --: true for a flag, a list for one that is repeated
//    "texts": {NAME: TEXT, …}}       YAML or JSON that stands for files of these names
// A document, an object, is named after its option, or "scenario", "sweep" or "purchase"; so call
// complaints it. Values of `set` may be an object: {"plan.tensor": 8}, {"plan": {"tensor": 8}}.
// Throws std::invalid_argument for a text that is no request.
Call call_of(std::string_view request);

struct Answer {
  int status = 0;                                // exit status of the program (app/command.hpp)
  std::string document;                          // JSON; empty where there is no answer
  std::string said;                              // on standard error
  std::vector<scenarios::Complaint> complaints;  // mistakes of a wrong input
  std::vector<std::string> warnings;             // each as the command line prints it
  // The page of --report, and the timeline as a Chrome trace: computed when called, which takes as
  // long as the answer for commands that are quick. Throw std::invalid_argument where the command
  // has none.
  std::function<std::string()> page, trace;
  bool has_page = false, has_trace = false;
};

// Hooks of a call beside its words; see app::Caller.
struct Hooks {
  std::stop_token stop;
  std::function<void(const app::Headway&)> progress;
};

// Runs the command on this thread, with --json and --quiet. Throws nothing but std::bad_alloc. Any
// number of calls may run at once.
Answer run(const Call& call, const Hooks& hooks);

// Returns the answer's document; of an answer without one, the reasons: {"stepcast", "status",
// "error", "complaints": [{"file", "line", "column", "place", "text", "unsupported"}]}.
std::string document_of(const Answer& answer);

// Returns the answer's warnings as a list of texts.
std::string warnings_of(const Answer& answer);

// Returns {"text", figures …}.
std::string json_of(const app::Headway& headway);

std::string version();  // "0.1.0 (commit 4e5ac4e)"

}  // namespace library
