// SPDX-License-Identifier: Apache-2.0
#include "report/launch/launch_constants.hpp"

#include <algorithm>
#include <array>

namespace report {
namespace {

using enum ModelConstants::Scaling;

// The constants are from the config.json of each model, which the catalog names. GPT-2, GPT-3, OPT,
// BLOOM and Megatron's own have layer norm's usual epsilon, because their papers give none.
constexpr std::array models{
    ModelConstants{"llama2-7b", 32, 4096, 32000, 10'000, 1e-5},
    ModelConstants{"llama2-13b", 40, 5120, 32000, 10'000, 1e-5},
    ModelConstants{"llama2-70b", 80, 8192, 32000, 10'000, 1e-5},
    ModelConstants{"llama3-8b", 32, 4096, 128256, 500'000, 1e-5, llama3, 8, 8192},
    ModelConstants{"llama3-70b", 80, 8192, 128256, 500'000, 1e-5, llama3, 8, 8192},
    ModelConstants{"llama3-405b", 126, 16384, 128256, 500'000, 1e-5, llama3, 8, 8192},
    ModelConstants{"mistral-7b", 32, 4096, 32768, 1'000'000, 1e-5},
    ModelConstants{"mixtral-8x7b", 32, 4096, 32000, 1'000'000, 1e-5},
    ModelConstants{"mixtral-8x22b", 56, 6144, 32000, 1'000'000, 1e-5},
    ModelConstants{"qwen2-72b", 80, 8192, 152064, 1'000'000, 1e-6},
    ModelConstants{"qwen3-30b-a3b", 48, 2048, 151936, 1'000'000, 1e-6},
    ModelConstants{"qwen3-235b-a22b", 94, 4096, 151936, 1'000'000, 1e-6},
    ModelConstants{.model = "deepseek-v2",
                   .layers = 60,
                   .hidden = 5120,
                   .vocab = 102400,
                   .rotary_base = 10'000,
                   .norm_epsilon = 1e-6,
                   .scaling = yarn,
                   .scaling_factor = 40,
                   .original_length = 4096,
                   .mscale = 0.707,
                   .groups = 8,
                   .chosen_groups = 3,
                   .routed_scale = 16,
                   .scores_all = true},
    ModelConstants{.model = "deepseek-v3",
                   .layers = 61,
                   .hidden = 7168,
                   .vocab = 129280,
                   .rotary_base = 10'000,
                   .norm_epsilon = 1e-6,
                   .scaling = yarn,
                   .scaling_factor = 40,
                   .original_length = 4096,
                   .groups = 8,
                   .chosen_groups = 4,
                   .routed_scale = 2.5},
    ModelConstants{.model = "kimi-k2",
                   .layers = 61,
                   .hidden = 7168,
                   .vocab = 163840,
                   .rotary_base = 50'000,
                   .norm_epsilon = 1e-6,
                   .scaling = yarn,
                   .scaling_factor = 32,
                   .original_length = 4096,
                   .routed_scale = 2.827},
    ModelConstants{"gpt-oss-120b", 36, 2880, 201088, 150'000, 1e-5, yarn, 32, 4096},
    ModelConstants{.model = "gpt-neox-20b",
                   .layers = 44,
                   .hidden = 6144,
                   .vocab = 50432,
                   .rotary_base = 10'000,
                   .norm_epsilon = 1e-5,
                   .rotary_share = 0.25},
    ModelConstants{"gpt2-xl", 48, 1600, 50257, 0, 1e-5},
    ModelConstants{"dialogpt-large", 36, 1280, 50257, 0, 1e-5},
    ModelConstants{"gpt3-175b", 96, 12288, 51200, 0, 1e-5},
    ModelConstants{"opt-175b", 96, 12288, 50272, 0, 1e-5},
    ModelConstants{"bloom-176b", 70, 14336, 250880, 0, 1e-5},
    ModelConstants{"megatron-22b", 48, 6144, 51200, 0, 1e-5},
    ModelConstants{"megatron-530b", 105, 20480, 51200, 0, 1e-5},
    ModelConstants{"megatron-1t", 128, 25600, 51200, 0, 1e-5}};

}  // namespace

const ModelConstants* constants_of(const model::Transformer& model) {
  const auto* found = std::ranges::find_if(models, [&](const ModelConstants& one) {
    return one.model == model.name && one.layers == model.layers && one.hidden == model.hidden &&
           one.vocab == model.vocab;
  });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace report
