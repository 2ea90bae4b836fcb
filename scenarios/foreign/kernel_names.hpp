// SPDX-License-Identifier: Apache-2.0
// Private to the sub-room: what the names of kernels in a trace tell of their work.
#pragma once
#include <string>

#include "forecast/kernel_class.hpp"
#include "forecast/profile.hpp"

namespace scenarios {

// Names are given in lower case, as cuBLAS, CUTLASS, FlashAttention, cuDNN, Transformer Engine,
// DeepGEMM, MegaBlocks, vLLM and Triton give them (from memory).
forecast::KernelClass class_of_kernel(const std::string& lower_name);
forecast::AttentionPass pass_of_attention(const std::string& lower_name);
forecast::ProductFormat format_of_product(const std::string& lower_name);

}  // namespace scenarios
