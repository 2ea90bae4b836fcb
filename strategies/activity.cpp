// SPDX-License-Identifier: Apache-2.0
#include "strategies/activity.hpp"

#include <array>

namespace strategies {

const char* to_text(LabelKind kind) {
  constexpr std::array<const char*, 16> texts{"forward",
                                              "backward",
                                              "input gradient",
                                              "weight gradient",
                                              "send activations",
                                              "send gradients",
                                              "reduce gradients",
                                              "gather parameters",
                                              "sum tied embedding",
                                              "gradient norm",
                                              "optimizer",
                                              "exchange in layers",
                                              "exchange for attention",
                                              "exchange for experts",
                                              "offload",
                                              "load data"};
  return texts[kind];
}

}  // namespace strategies
