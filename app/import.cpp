// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "app/command.hpp"
#include "report/catalog.hpp"
#include "scenarios/huggingface.hpp"

namespace app {

int import_huggingface(const std::string& file, const Common& common, Streams streams) {
  std::vector<std::string> defaulted;
  const auto model = scenarios::load_huggingface(file, &defaulted);
  if (!common.quiet)
    for (const auto& field : defaulted) streams.err << "assumed: " << field << '\n';
  deliver(common.json ? report::model_json(model) : report::model_yaml(model), common, streams);
  return success;
}

}  // namespace app
