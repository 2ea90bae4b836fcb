// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts and latent attention in a config.json.
#pragma once
#include "model/transformer.hpp"
#include "scenarios/foreign/huggingface_families.hpp"
#include "scenarios/foreign/huggingface_fields.hpp"

namespace scenarios {

// Reads ranks and head sizes of latent attention; head_dim and kv_heads follow from them, whatever
// the file says.
void read_latent(model::Transformer& transformer, Fields& fields);

// Reads the mixture of experts of a family that has one. Complains of a pattern of dense layers
// that is neither a beginning nor regular.
void read_experts(model::Transformer& transformer, const Family& family, Fields& fields);

}  // namespace scenarios
