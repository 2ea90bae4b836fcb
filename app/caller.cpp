// SPDX-License-Identifier: Apache-2.0
#include "app/caller.hpp"

namespace app {

scenarios::Source source_of(const std::string& file, const Caller* caller) {
  if (caller != nullptr)
    if (const auto given = caller->texts.find(file); given != caller->texts.end())
      return {file, given->second};
  return file;
}

}  // namespace app
