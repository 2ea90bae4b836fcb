// SPDX-License-Identifier: Apache-2.0
// Private to the room: a model as the config.json of Hugging Face's transformers.
#pragma once
#include <optional>
#include <string>

#include "model/transformer.hpp"

namespace report {

// Returns a config.json of the first class of transformers that has all parts of the model, by the
// rules of the reader (scenarios/foreign); nothing if no class has them. It has the constants that
// no scenario has, such as the base of rotary positions, if they are known for the model.
std::optional<std::string> model_config(const model::Transformer& model);

}  // namespace report
