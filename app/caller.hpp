// SPDX-License-Identifier: Apache-2.0
// A program that runs commands inside of itself, instead of a person at a terminal.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/file.hpp"

namespace app {

// Progress of a command: a line for people, and figures by name.
struct Headway {
  std::string text;
  std::vector<std::pair<std::string, double>> figures;
};

// The door of a program that runs a command inside of itself: it gives a stop token and texts in
// place of files, and takes progress, complaints, warnings and pages beside the answer.
struct Caller {
  std::stop_token stop;  // ends the command as Ctrl-C does; without one, Ctrl-C itself does
  // Some ten times a second, from any thread, one call after the other; it must not throw.
  std::function<void(const Headway&)> progress;
  std::map<std::string, std::string> texts;  // texts in place of files of these names

  std::vector<scenarios::Complaint> complaints;  // mistakes of a wrong input
  std::vector<std::string> warnings;             // also with --quiet
  bool has_page = false, has_trace = false;      // the command has --report, and --trace writes
                                                 // the timeline
  // With takes_files, the command puts the files of --report and --trace here, by name, and writes
  // none to the disk.
  bool takes_files = false;
  std::map<std::string, std::string> files;
  // The page of --report and the Chrome trace of --trace, of commands whose answers are dear: they
  // compute when they are called, and need nothing of the command that left them.
  std::function<std::string()> page, trace;
};

// The file of that name, or the text that the caller has for it; `caller` may be null.
scenarios::Source source_of(const std::string& file, const Caller* caller);

// Tells a caller some ten times a second how far a command is, on a thread of its own, until the
// caller asks to stop. A phase that finds nothing new repeats what was said last, so that a caller
// can always end it.
class Telling {
 public:
  // `first`: what is said until there is more to say.
  Telling(const Caller* caller, Headway first);
  ~Telling();
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

  bool wanted() const { return caller_ != nullptr && caller_->progress; }
  // Takes what is said next; `make` is called some twenty times a second, however often this is.
  template <class Make>  // () -> Headway
  void operator()(Make make) {
    if (!wanted()) return;
    const auto now = Clock::now();
    const std::unique_lock lock(taking_, std::try_to_lock);
    if (!lock || now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    latest_ = make();
  }
  void say(Headway headway);  // at once

 private:
  using Clock = std::chrono::steady_clock;
  void tell();

  const Caller* caller_;
  std::mutex taking_, saying_;  // of latest_ and next_, and of calls to the caller
  Headway latest_;
  Clock::time_point next_{};
  std::jthread teller_;
};

}  // namespace app
