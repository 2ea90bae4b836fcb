// SPDX-License-Identifier: Apache-2.0
// The program run inside of a test: its output, its errors and its exit status.
#pragma once
#include <sstream>
#include <string>
#include <vector>

#include "app/command.hpp"

namespace tests {

struct Outcome {
  int status;
  std::string out, err;
};

inline Outcome stepcast(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "stepcast");
  std::vector<const char*> argv;
  for (const auto& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out, err;
  const int status = app::run(static_cast<int>(argv.size()), argv.data(), {out, err});
  return {status, out.str(), err.str()};
}

}  // namespace tests
