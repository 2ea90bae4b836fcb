// SPDX-License-Identifier: Apache-2.0
// Files by which a cluster's software starts a job: SkyPilot's tasks and Kubernetes' objects.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/yaml.hpp"

namespace scenarios {

// Returns the script that such a file has, in the lines in which it stands there, with the
// variables that the file gives it; nothing: it is another document, or has no script.
std::optional<std::string> script_in_cluster_file(const Value& document);
// Returns that of a text of several documents, of which one of Kubernetes' has a script; the
// longest if several have.
std::optional<std::string> script_in_cluster_files(std::string_view text, const std::string& file);

// Returns the words that the containers of Kubernetes' objects start, in their places: those of the
// longest command, once for each container that starts the same. Empty: the text has no object, or
// a shell reads the longest command.
std::vector<std::vector<Value>> started_words(std::string_view text, const std::string& file);

}  // namespace scenarios
