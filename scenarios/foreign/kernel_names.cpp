// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/kernel_names.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace scenarios {

namespace {

using Parts = std::initializer_list<std::string_view>;

bool holds_any(const std::string& in, Parts parts) {
  return std::ranges::any_of(parts, [&](auto part) { return in.find(part) != in.npos; });
}

// Whether a part stands in the name with no letter before it: "m_group_gemm", not "warpgroup_gemm".
bool begins_any(const std::string& in, Parts parts) {
  return std::ranges::any_of(parts, [&](auto part) {
    for (auto at = in.find(part); at != in.npos; at = in.find(part, at + 1))
      if (at == 0 || std::isalpha(static_cast<unsigned char>(in[at - 1])) == 0) return true;
    return false;
  });
}

// Whether a kernel multiplies a matrix for each of several experts. The "warpgroupsize" of cuBLAS
// and the WarpGroup of CUTLASS are groups of threads.
bool multiplies_for_experts(const std::string& name) {
  // MegaBlocks multiplies by block-sparse matrices, ScatterMoE by scattered rows.
  if (holds_any(name, {"sdd_kernel", "dsd_kernel", "dds_kernel", "scatter2scatter", "groupxty",
                       "fused_moe_kernel", "fusedmoe"}))
    return true;
  const bool gemm = holds_any(name, {"gemm", "matmul", "wgmma", "_mm_", "cublas"});
  // Kernels that route tokens are in the namespace cutlass_kernels, too: its name alone is no
  // product.
  if (gemm && (holds_any(name, {"expert"}) || begins_any(name, {"moe"}))) return true;
  // The template argument of DeepGEMM is 0 for one product.
  if (holds_any(name, {"gemmtype)1", "gemmtype)2", "gemmtype)3"})) return true;
  const bool any_gemm = gemm || holds_any(name, {"cutlass", "nvjet", "xmma"});
  return (any_gemm && holds_any(name, {"grouped", "groupproblemshape"})) ||
         holds_any(name, {"grouped_mm", "grouped_gemm", "groupedgemm"}) ||
         begins_any(name, {"group_gemm", "groupgemm"});
}

}  // namespace

forecast::KernelClass class_of_kernel(const std::string& lower_name) {
  using forecast::KernelClass;
  if (holds_any(lower_name, {"flash", "fmha", "attention", "attn", "sdpa"}))
    return KernelClass::attention;
  if (multiplies_for_experts(lower_name)) return KernelClass::experts;
  const bool multiplies = holds_any(
      lower_name, {"gemm", "nvjet", "cutlass", "cublas", "matmul", "wgmma", "xmma", "_mm_"});
  return multiplies ? KernelClass::products : KernelClass::others;
}

forecast::AttentionPass pass_of_attention(const std::string& lower_name) {
  using forecast::AttentionPass;
  if (holds_any(lower_name, {"preprocess", "postprocess", "dot_do_o", "convert"}))
    return AttentionPass::unknown;
  if (holds_any(lower_name, {"bwd", "backward", "bprop"})) return AttentionPass::backward;
  if (holds_any(lower_name, {"fwd", "forward", "fprop"})) return AttentionPass::forward;
  return AttentionPass::unknown;
}

forecast::ProductFormat format_of_product(const std::string& lower_name) {
  using forecast::ProductFormat;
  // cuBLAS calls e4m3 "q" and e5m2 "r", bf16 "t" and fp16 "h": nvjet_qqtst, nvjet_sm100_tst.
  const auto nvjet = lower_name.find("nvjet_");
  if (nvjet != lower_name.npos) {
    std::string_view letters = std::string_view(lower_name).substr(nvjet + 6);
    if (letters.starts_with("sm") && letters.find('_') != letters.npos)
      letters.remove_prefix(letters.find('_') + 1);
    if (letters.starts_with("qq") || letters.starts_with("qr") || letters.starts_with("rq"))
      return ProductFormat::narrow;
    if (letters.starts_with("t") || letters.starts_with("h")) return ProductFormat::wide;
  }
  // Results of products of fp8 are wider: "e4m3bf16_e4m3f32".
  if (holds_any(lower_name, {"e4m3", "e5m2", "fp8", "float8", "ue8m0", "e2m1", "nvfp4"}))
    return ProductFormat::narrow;
  if (holds_any(lower_name,
                {"bf16", "bfloat16", "fp16", "f16", "half_t", "s16816", "tf32", "sgemm", "f32f32"}))
    return ProductFormat::wide;
  return ProductFormat::unknown;
}

}  // namespace scenarios
