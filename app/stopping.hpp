// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, a caller or a limit of time ends a long piece of work before it is done.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "app/caller.hpp"
#include "units/quantity.hpp"

namespace app {

// Raises a flag, while it lives, when a caller asks to stop. If there is no caller, or it has no
// token, the first Ctrl-C raises the flag instead of ending the program, and a second one ends it.
// The flag also rises when the time is over. Only one object that heeds Ctrl-C may live at a time.
class Stopping {
 public:
  explicit Stopping(std::optional<units::Seconds> time_limit, const Caller* caller = nullptr);
  ~Stopping();
  Stopping(const Stopping&) = delete;
  Stopping& operator=(const Stopping&) = delete;

  const std::atomic<bool>& flag() const { return stop_; }
  bool by_user() const { return user_; }
  void stop_for_user();  // a signal handler may call it

 private:
  std::atomic<bool> stop_ = false, user_ = false;
  bool heeds_signal_;
  void (*before_)(int) = nullptr;
  std::optional<std::stop_callback<std::function<void()>>> asked_;
  std::jthread timer_;
};

}  // namespace app
