// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "app/command.hpp"

namespace {

// Zero where standard output is no terminal.
int columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

#ifdef __GLIBC__
// One simulation's memory serves the next: to return it and fault it in again costs as much time as
// to simulate. Where the system has pages of 2 MiB, the first 64 MiB of the heap consist of them,
// because a forecast faults in some thousand small ones.
void prepare_heap() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#ifdef MADV_HUGEPAGE
  // Addresses that the heap grows into; they have memory only once they are used.
  constexpr int ahead = 64 << 20;
  constexpr std::uintptr_t page = 2 << 20;
  mallopt(M_TOP_PAD, ahead);
  const auto old_end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  void* volatile grown = std::malloc(page);
  std::free(grown);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const auto begin = (old_end + page - 1) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}
#endif

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  prepare_heap();
#endif
  return app::run(
      argc, argv,
      {std::cout, std::cerr, isatty(STDOUT_FILENO) == 1, isatty(STDERR_FILENO) == 1, columns()});
}
