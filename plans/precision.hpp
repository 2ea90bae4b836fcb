// SPDX-License-Identifier: Apache-2.0
// Which linear layers compute in the training's precision, if that is 8 or 4 bit, and which stay in
// 16 bit (Training::in_bf16).
#pragma once
#include <cstdint>

#include "model/narrow.hpp"
#include "plans/plan.hpp"

namespace strategies {

// Whether all linear layers of the layer with this index, of so many, stay in 16 bit.
bool is_wide_layer(const InBf16& in_bf16, std::int64_t layers, std::int64_t index);

// The precision of the products of a layer; `wide`: they all stay in 16 bit.
units::Precision layer_precision(const Training& training, bool wide);
// The precision of the products of a layer's routed experts.
units::Precision expert_precision(const Training& training, bool wide);

// The products that stay in 16 bit inside of the other layers.
model::WideProducts wide_products(const InBf16& in_bf16);

// The narrow copies of a weight: without the one that the gradient of the input reads, where that
// is computed in 16 bit.
model::Copies weight_copies(const InBf16& in_bf16);

}  // namespace strategies
