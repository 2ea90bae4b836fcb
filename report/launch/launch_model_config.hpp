// SPDX-License-Identifier: Apache-2.0
// Private to the room: a model as the config.json of Hugging Face's transformers.
#pragma once
#include <optional>
#include <string>

#include "model/transformer.hpp"

namespace report {

// Of the first class of transformers that has all of its parts, as the reader of such files
// (scenarios/foreign) makes them out; nothing where none has. What no scenario says, such as the
// base of rotary positions, is there for models of which it is known.
std::optional<std::string> model_config(const model::Transformer& model);

}  // namespace report
