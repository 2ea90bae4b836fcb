// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

#include "app/command.hpp"

namespace {

// Zero where standard output is no terminal.
int columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // One simulation's memory serves the next: to return it and fault it in again costs as much time
  // as to simulate.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
  return app::run(
      argc, argv,
      {std::cout, std::cerr, isatty(STDOUT_FILENO) == 1, isatty(STDERR_FILENO) == 1, columns()});
}
