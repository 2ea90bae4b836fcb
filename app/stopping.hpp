// SPDX-License-Identifier: Apache-2.0
// What ends a long piece of work before it is done: Ctrl-C, or a limit of time.
#pragma once
#include <atomic>
#include <optional>
#include <thread>

#include "units/quantity.hpp"

namespace app {

// While it lives, the first Ctrl-C raises the flag instead of ending the program, and a second one
// ends it; so does the flag rise when the time is over. One at a time.
class Stopping {
 public:
  explicit Stopping(std::optional<units::Seconds> time_limit);
  ~Stopping();
  Stopping(const Stopping&) = delete;
  Stopping& operator=(const Stopping&) = delete;

  const std::atomic<bool>& flag() const;
  bool by_user() const;

 private:
  void (*before_)(int);
  std::jthread timer_;
};

}  // namespace app
