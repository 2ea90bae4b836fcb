// SPDX-License-Identifier: Apache-2.0
// A program that runs commands inside of itself, instead of a person at a terminal.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
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
  std::function<void(const Headway&)> progress;  // some ten times a second, from any thread
  std::map<std::string, std::string> texts;      // texts in place of files of these names

  std::vector<scenarios::Complaint> complaints;  // mistakes of a wrong input
  std::vector<std::string> warnings;             // also with --quiet
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

// Tells a caller how far a command is, some ten times a second however often it is called. Only one
// thread may use it at a time.
class Telling {
 public:
  explicit Telling(const Caller* caller) : caller_(caller) {}
  bool wanted() const { return caller_ != nullptr && caller_->progress; }
  template <class Make>  // () -> Headway, called when it is due
  void operator()(Make make) {
    const auto now = std::chrono::steady_clock::now();
    if (!wanted() || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    caller_->progress(make());
  }

 private:
  const Caller* caller_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace app
