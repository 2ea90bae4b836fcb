// SPDX-License-Identifier: Apache-2.0
// Private to the room: torchtitan's job configuration, as its releases 0.2 read it: TOML
// (torchtitan/config/job_config.py). Later versions are configured in Python.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "plans/schedules/schedule_layout.hpp"
#include "report/document.hpp"
#include "report/launch/launch_parts.hpp"

namespace report::torchtitan {

// A table of the file, key by key.
class Table {
 public:
  explicit Table(std::string_view name) : text_(fmt::format("\n[{}]\n", name)) {}
  template <class Value>
  Table& put(std::string_view key, const Value& value) {
    text_ += fmt::format("{} = {}\n", key, value);
    return *this;
  }
  Table& put(std::string_view key, const char* value) { return put(key, json_string(value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The schedule, and the stages it runs.
struct Pipeline {
  const char* schedule;
  Stages stages;
  strategies::Layout layout;
};

Pipeline pipeline_of(const forecast::Scenario& scenario, LostKeys& lost);

// Return the tables [parallelism] and [activation_checkpoint].
std::string parallelism_text(const forecast::Scenario& scenario, const Pipeline& pipeline,
                             LostKeys& lost);
std::string activations_text(const forecast::Scenario& scenario, const Pipeline& pipeline,
                             LostKeys& lost);

}  // namespace report::torchtitan
