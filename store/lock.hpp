// SPDX-License-Identifier: Apache-2.0
// Private to the room: one writer to a file.
#pragma once
#include <filesystem>

namespace store {

// Makes the file if there is none. While it lives, no other process can hold the same file; the
// system lets go of it when the process ends, however it ends. Throws Error.
class Lock {
 public:
  explicit Lock(const std::filesystem::path& file);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

}  // namespace store
