// SPDX-License-Identifier: Apache-2.0
#include "app/stopping.hpp"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>

namespace app {
namespace {

// A signal handler reaches nothing else.
std::atomic<bool> stop, user;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void stop_by_user(int) {
  user = true;
  stop = true;
  std::signal(SIGINT, SIG_DFL);
}

void stop_after(const std::stop_token& cancelled, units::Seconds limit) {
  std::mutex mutex;
  std::condition_variable_any clock;
  std::unique_lock lock(mutex);
  clock.wait_for(lock, cancelled, std::chrono::duration<double>(limit.value), [] { return false; });
  if (!cancelled.stop_requested()) stop = true;
}

}  // namespace

Stopping::Stopping(std::optional<units::Seconds> time_limit) {
  stop = user = false;
  before_ = std::signal(SIGINT, stop_by_user);
  if (time_limit)
    timer_ = std::jthread(
        [limit = *time_limit](const std::stop_token& cancelled) { stop_after(cancelled, limit); });
}

Stopping::~Stopping() { std::signal(SIGINT, before_ == SIG_ERR ? SIG_DFL : before_); }

const std::atomic<bool>& Stopping::flag() const { return stop; }
bool Stopping::by_user() const { return user; }

}  // namespace app
