// SPDX-License-Identifier: Apache-2.0
// Private to the room: how the files of a framework's jobs are changed.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/job_edit.hpp"
#include "report/launch/launch.hpp"
#include "report/launch/script_edit.hpp"

namespace report {

struct JobFormat {
  bool (*holds_arguments)(std::string_view);
  // Quotes concern scripts alone.
  std::function<std::string(std::string_view, const std::vector<JobEdit>&, InnerQuotes)> edited;
  // The value of an argument as the file spells it.
  std::optional<std::string> (*value)(std::string_view, std::string_view);
  // The name that our launch files have for an argument of the file.
  std::string (*usual_name)(const std::string&) = [](const std::string& name) { return name; };
};

JobFormat format_of(Framework framework, const PlaceChoice& chosen = last_place);

}  // namespace report
