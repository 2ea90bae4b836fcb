// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "app/command.hpp"
#include "report/catalog.hpp"
#include "report/fabric.hpp"
#include "scenarios/foreign/huggingface.hpp"
#include "scenarios/foreign/nccl_tests.hpp"

namespace app {

int import_huggingface(const std::string& file, const Common& common, Streams streams) {
  Outputs(common).spare({file});
  std::vector<std::string> defaulted;
  const auto model = scenarios::load_huggingface(file, &defaulted);
  if (!common.quiet)
    for (const auto& field : defaulted) streams.err << "assumed: " << field << '\n';
  deliver(common.json ? report::model_json(model) : report::model_yaml(model), common, streams);
  return success;
}

int import_nccl_tests(const std::string& file, const Common& common, Streams streams) {
  Outputs(common).spare({file});
  const auto fabric = scenarios::load_nccl_tests(file);
  deliver(common.json ? report::fabric_json(fabric) : report::fabric_yaml(fabric, file), common,
          streams);
  return success;
}

}  // namespace app
