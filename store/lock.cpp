// SPDX-License-Identifier: Apache-2.0
#include "store/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "store/values.hpp"

namespace store {

Lock::Lock(const std::filesystem::path& file)
    : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0)
    throw Error(file.string() + ": cannot be opened for writing (" + std::strerror(errno) +
                "); is its folder there, and writable?");
  // A file system without such locks refuses them; SQLite's own locks then keep the file sound.
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(descriptor_);
  throw Error(file.string() +
              ": another process writes to it; wait until that has ended, or name another file");
}

Lock::~Lock() { close(descriptor_); }

}  // namespace store
