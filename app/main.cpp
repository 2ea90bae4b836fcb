// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <iostream>

#include "app/command.hpp"

int main(int argc, char** argv) {
  return app::run(argc, argv, {std::cout, std::cerr, isatty(STDOUT_FILENO) == 1});
}
