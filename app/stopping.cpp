// SPDX-License-Identifier: Apache-2.0
#include "app/stopping.hpp"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>

namespace app {
namespace {

// The object that Ctrl-C stops; a signal handler can only reach a global.
std::atomic<Stopping*> heeding;
static_assert(std::atomic<Stopping*>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void stop_by_user(int) {
  if (auto* stopping = heeding.load()) stopping->stop_for_user();
  std::signal(SIGINT, SIG_DFL);
}

void raise_after(const std::stop_token& cancelled, units::Seconds limit, std::atomic<bool>& flag) {
  std::mutex mutex;
  std::condition_variable_any clock;
  std::unique_lock lock(mutex);
  clock.wait_for(lock, cancelled, std::chrono::duration<double>(limit.value), [] { return false; });
  if (!cancelled.stop_requested()) flag = true;
}

}  // namespace

Stopping::Stopping(std::optional<units::Seconds> time_limit, const Caller* caller)
    : heeds_signal_(caller == nullptr || !caller->stop.stop_possible()) {
  if (heeds_signal_) {
    heeding = this;
    before_ = std::signal(SIGINT, stop_by_user);
  } else {
    asked_.emplace(caller->stop, [this] { stop_for_user(); });
  }
  if (time_limit)
    timer_ = std::jthread([this, limit = *time_limit](const std::stop_token& cancelled) {
      raise_after(cancelled, limit, stop_);
    });
}

Stopping::~Stopping() {
  if (!heeds_signal_) return;
  std::signal(SIGINT, before_ == SIG_ERR ? SIG_DFL : before_);
  heeding = nullptr;
}

void Stopping::stop_for_user() {
  user_ = true;
  stop_ = true;
}

}  // namespace app
