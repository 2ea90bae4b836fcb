// SPDX-License-Identifier: Apache-2.0
// The models that torchtitan's releases register, as transformers.
#pragma once
#include <span>
#include <string>

#include "model/transformer.hpp"

namespace report {

struct TitanModel {
  std::string family, flavor;  // "llama3", "8B": model.name and model.flavor of a job
  model::Transformer sizes;    // without a name
};

// Returns the models in the order of scenarios/jobs/tables/torchtitan_models.yaml. They live as
// long as the program.
std::span<const TitanModel> titan_registry();

}  // namespace report
