// SPDX-License-Identifier: Apache-2.0
#include "app/caller.hpp"

#include <condition_variable>

namespace app {

scenarios::Source source_of(const std::string& file, const Caller* caller) {
  if (caller != nullptr)
    if (const auto given = caller->texts.find(file); given != caller->texts.end())
      return {file, given->second};
  return file;
}

Telling::Telling(const Caller* caller, Headway first) : caller_(caller), latest_(std::move(first)) {
  if (!wanted()) return;
  teller_ = std::jthread([this](const std::stop_token& over) {
    std::mutex mutex;
    std::condition_variable_any clock;
    std::unique_lock lock(mutex);
    const auto pace = std::chrono::milliseconds(100);
    for (;;) {
      clock.wait_for(lock, over, pace, [] { return false; });
      if (over.stop_requested()) return;
      tell();
    }
  });
}

Telling::~Telling() = default;

void Telling::say(Headway headway) {
  if (!wanted()) return;
  {
    const std::lock_guard lock(taking_);
    latest_ = std::move(headway);
  }
  tell();
}

void Telling::tell() {
  Headway said;
  {
    const std::lock_guard lock(taking_);
    said = latest_;
  }
  const std::lock_guard lock(saying_);
  if (!caller_->stop.stop_requested()) caller_->progress(said);
}

}  // namespace app
