// SPDX-License-Identifier: Apache-2.0
// The kinds of model that a config.json may name.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "model/transformer.hpp"
#include "scenarios/foreign/huggingface_fields.hpp"

namespace scenarios {

// Defaults of the transformers class of that model_type, where the file gives no value.
struct Family {
  std::string_view type;
  bool gated = true;
  bool geglu = false;  // gated by a GELU where the file names no activation
  model::Norm norm = model::Norm::rmsnorm;
  model::Position position = model::Position::rope;
  bool tied = false;
  bool biases = false, qkv_biases = false;
  bool parallel = false;
  int norms = 2;
  bool query_key_norm = false;
  bool latent = false, experts = false;
  double dropout = 0.0;
  std::string_view approximation{};  // effects that no scenario can express
  // Keys by which a file switches parts on; null: no file of that kind has such a key.
  const char* biases_key = nullptr;                // biases of every linear layer
  const char* output_bias_key = "attention_bias";  // for the output projection
  const char* query_key_norm_key = nullptr;        // norms of queries and keys
  bool router_bias = false;                        // one value per expert
  const char* qkv_bias_key = "attention_bias";     // for queries, keys and values
  bool windows = true;           // false: its class ignores the file's (from memory)
  bool switched_window = false;  // only where use_sliding_window is true
  int window_period = 1;         // the window is for the first of so many
  int full_period = 0;           // the last of so many looks back all the way
  std::span<const ClassDefault> sizes{};
  std::span<const ClassDefault> sizes_inside{};  // besides, for a part of another model
};

inline constexpr model::Norm layernorm = model::Norm::layernorm;

inline constexpr auto cohere_note = "its layernorm has no bias; counted as rmsnorm";
inline constexpr auto gptj_note =
    "biases of attention's output and of the head differ from the description by under 0.01 % of "
    "the parameters";
inline constexpr auto head_bias_note = "the bias of its head (one value per word) is left out";
inline constexpr auto olmo_note = "its query and key norms span all heads; counted as one head's";

inline constexpr auto llama4_note =
    "all layers look back all the way, though three of four attend within chunks of "
    "attention_chunk_size tokens";
inline constexpr auto opt_note = "its table of positions has two rows more than positions";
inline constexpr auto bloom_note = "the norm behind its embedding is left out";
inline constexpr auto bare_norm_note = "its layernorm has no weights; counted as rmsnorm";
inline constexpr auto smollm_note = "every fourth layer rotates nothing; counted as rotating";
inline constexpr auto sines_note = "its positions are sines; counted as none";
inline constexpr auto arctic_note =
    "its MLP beside the experts is counted as a shared expert, with two norms in a layer of three";
inline constexpr auto chameleon_note =
    "its query and key norms are layernorms with weights of every head; counted as one head's";
inline constexpr auto xielu_note = "its activation, xIELU, is counted as a squared ReLU";

// GemmaConfig and Gemma2Config.
inline constexpr std::array<ClassDefault, 8> gemma_sizes{{{"vocab_size", 256'000},
                                                          {"hidden_size", 3072},
                                                          {"intermediate_size", 24'576},
                                                          {"num_hidden_layers", 28},
                                                          {"num_attention_heads", 16},
                                                          {"num_key_value_heads", 16},
                                                          {"head_dim", 256},
                                                          {"max_position_embeddings", 8192}}};
inline constexpr std::array<ClassDefault, 9> gemma2_sizes{{{"vocab_size", 256'000},
                                                           {"hidden_size", 2304},
                                                           {"intermediate_size", 9216},
                                                           {"num_hidden_layers", 26},
                                                           {"num_attention_heads", 8},
                                                           {"num_key_value_heads", 4},
                                                           {"head_dim", 256},
                                                           {"max_position_embeddings", 8192},
                                                           {"sliding_window", 4096}}};

// Gemma3TextConfig: files of transformers print only differences from the class.
inline constexpr std::array<ClassDefault, 9> gemma3_sizes{{{"vocab_size", 262'208},
                                                           {"hidden_size", 2304},
                                                           {"intermediate_size", 9216},
                                                           {"num_hidden_layers", 26},
                                                           {"num_attention_heads", 8},
                                                           {"num_key_value_heads", 4},
                                                           {"head_dim", 256},
                                                           {"max_position_embeddings", 131'072},
                                                           {"sliding_window", 4096}}};

// Configurations inside of another print only differences from their class: those of LLaVA are
// often a name. Defaults of LlamaConfig, of which GraniteConfig's are equal, of MistralConfig, of
// Qwen2Config, of which Qwen3Config's are equal, of Cohere2Config and of OPTConfig; sizes that
// files of their own may leave out, too, stand in other lists.
inline constexpr std::array<ClassDefault, 6> llama_sizes{{{"vocab_size", 32'000},
                                                          {"hidden_size", 4096},
                                                          {"intermediate_size", 11'008},
                                                          {"num_hidden_layers", 32},
                                                          {"num_attention_heads", 32},
                                                          {"max_position_embeddings", 2048}}};
inline constexpr std::array<ClassDefault, 7> mistral_sizes{{{"vocab_size", 32'000},
                                                            {"hidden_size", 4096},
                                                            {"intermediate_size", 14'336},
                                                            {"num_hidden_layers", 32},
                                                            {"num_attention_heads", 32},
                                                            {"max_position_embeddings", 131'072},
                                                            {"sliding_window", 4096}}};
inline constexpr std::array<ClassDefault, 7> qwen_sizes{{{"vocab_size", 151'936},
                                                         {"hidden_size", 4096},
                                                         {"intermediate_size", 22'016},
                                                         {"num_hidden_layers", 32},
                                                         {"num_attention_heads", 32},
                                                         {"num_key_value_heads", 32},
                                                         {"max_position_embeddings", 32'768}}};
inline constexpr std::array<ClassDefault, 7> cohere2_sizes{{{"vocab_size", 256'000},
                                                            {"hidden_size", 8192},
                                                            {"intermediate_size", 22'528},
                                                            {"num_hidden_layers", 40},
                                                            {"num_attention_heads", 64},
                                                            {"max_position_embeddings", 8192},
                                                            {"sliding_window", 4096}}};
inline constexpr std::array<ClassDefault, 6> opt_sizes{{{"vocab_size", 50'272},
                                                        {"hidden_size", 768},
                                                        {"ffn_dim", 3072},
                                                        {"num_hidden_layers", 12},
                                                        {"num_attention_heads", 12},
                                                        {"max_position_embeddings", 2048}}};

// A head's width that does not follow from hidden: Qwen3Config, GlmConfig, Glm4Config,
// SeedOssConfig and Ernie4_5Config; GptOssConfig.
inline constexpr std::array<ClassDefault, 1> heads_of_128{{{"head_dim", 128}}};
inline constexpr std::array<ClassDefault, 2> gpt_oss_sizes{
    {{"head_dim", 64}, {"sliding_window", 128}}};
// MixtralConfig and MistralConfig.
inline constexpr std::array<ClassDefault, 1> eight_kv_heads{{{"num_key_value_heads", 8}}};
inline constexpr std::array<ClassDefault, 2> eight_kv_heads_and_window{
    {{"num_key_value_heads", 8}, {"sliding_window", 4096}}};
// Starcoder2Config.
inline constexpr std::array<ClassDefault, 1> two_kv_heads{{{"num_key_value_heads", 2}}};
// Olmo3Config and Exaone4Config.
inline constexpr std::array<ClassDefault, 1> window_of_4096{{{"sliding_window", 4096}}};

// MiniCPM3Config: hidden / heads of its one size.
inline constexpr std::array<ClassDefault, 1> minicpm3_sizes{{{"v_head_dim", 64}}};

inline constexpr auto families = std::to_array<Family>({
    {.type = "gpt2",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::learned,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .dropout = 0.1,
     .windows = false},
    {.type = "gpt_neox",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .qkv_biases = true,
     .parallel = true,
     .windows = false},
    {.type = "gptj",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .parallel = true,
     .norms = 1,
     .approximation = gptj_note,
     .windows = false},
    {.type = "gpt_bigcode",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::learned,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .dropout = 0.1},
    {.type = "llama", .windows = false, .sizes_inside = llama_sizes},
    {.type = "mistral", .sizes = eight_kv_heads_and_window, .sizes_inside = mistral_sizes},
    {.type = "qwen2",
     .qkv_biases = true,
     .output_bias_key = nullptr,
     .qkv_bias_key = "qkv_bias",
     .switched_window = true,
     .sizes_inside = qwen_sizes},
    {.type = "qwen3",
     .query_key_norm = true,
     .switched_window = true,
     .sizes = heads_of_128,
     .sizes_inside = qwen_sizes},
    {.type = "plamo", .parallel = true, .norms = 1},
    {.type = "phi3"},
    {.type = "phi-msft",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .qkv_biases = true,
     .parallel = true,
     .norms = 1,
     .approximation = head_bias_note},
    {.type = "gemma", .geglu = true, .tied = true, .windows = false, .sizes = gemma_sizes},
    {.type = "gemma2",
     .geglu = true,
     .tied = true,
     .norms = 4,
     .window_period = 2,
     .sizes = gemma2_sizes},
    {.type = "gemma3_text",
     .geglu = true,
     .tied = true,
     .norms = 4,
     .query_key_norm = true,
     .full_period = 6,
     .sizes = gemma3_sizes},
    {.type = "olmo2", .query_key_norm = true, .approximation = olmo_note, .windows = false},
    {.type = "starcoder2",
     .gated = false,
     .norm = layernorm,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .biases_key = "use_bias",
     .sizes = two_kv_heads},
    {.type = "stablelm",
     .norm = layernorm,
     .query_key_norm_key = "qk_layernorm",
     .qkv_bias_key = "use_qkv_bias"},
    {.type = "cohere",
     .tied = true,
     .parallel = true,
     .norms = 1,
     .approximation = cohere_note,
     .query_key_norm_key = "use_qk_norm"},
    {.type = "cohere2",
     .tied = true,
     .parallel = true,
     .norms = 1,
     .approximation = cohere_note,
     .full_period = 4,
     .sizes_inside = cohere2_sizes},
    {.type = "falcon",
     .gated = false,
     .norm = layernorm,
     .tied = true,
     .parallel = true,
     .norms = 1,
     .biases_key = "bias",
     .windows = false},
    {.type = "mimo", .qkv_biases = true, .switched_window = true},
    {.type = "opt",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::learned,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .dropout = 0.1,
     .approximation = opt_note,
     .biases_key = "enable_bias",
     .windows = false,
     .sizes_inside = opt_sizes},
    {.type = "bloom",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::alibi,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .approximation = bloom_note,
     .windows = false},
    {.type = "mpt",
     .gated = false,
     .position = model::Position::learned,
     .tied = true,
     .approximation = cohere_note},
    {.type = "phi",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .qkv_biases = true,
     .parallel = true,
     .norms = 1,
     .approximation = head_bias_note,
     .query_key_norm_key = "qk_layernorm"},
    {.type = "nemotron", .gated = false, .norm = layernorm, .windows = false},
    {.type = "arcee", .gated = false, .windows = false},
    {.type = "chameleon", .query_key_norm = true, .approximation = chameleon_note},
    {.type = "apertus", .gated = false, .query_key_norm = true, .approximation = xielu_note},
    {.type = "olmo", .approximation = bare_norm_note, .windows = false},
    {.type = "olmo3",
     .query_key_norm = true,
     .approximation = olmo_note,
     .full_period = 4,
     .sizes = window_of_4096},
    {.type = "smollm3", .tied = true, .approximation = smollm_note},
    {.type = "exaone"},
    {.type = "exaone4", .query_key_norm = true, .full_period = 4, .sizes = window_of_4096},
    {.type = "ernie4_5", .tied = true, .biases_key = "use_bias", .sizes = heads_of_128},
    {.type = "hunyuan_v1_dense", .query_key_norm = true, .query_key_norm_key = "use_qk_norm"},
    {.type = "seed_oss",
     .qkv_biases = true,
     .output_bias_key = "attention_out_bias",
     .sizes = heads_of_128},
    {.type = "granite", .windows = false, .sizes_inside = llama_sizes},
    {.type = "glm", .qkv_biases = true, .output_bias_key = nullptr, .sizes = heads_of_128},
    {.type = "glm4", .norms = 4, .output_bias_key = nullptr, .sizes = heads_of_128},
    {.type = "chatglm",
     .qkv_biases = true,
     .biases_key = "add_bias_linear",
     .output_bias_key = nullptr,
     .qkv_bias_key = "add_qkv_bias"},
    {.type = "qwen", .qkv_biases = true, .output_bias_key = nullptr},
    {.type = "baichuan", .output_bias_key = nullptr},
    {.type = "internlm", .output_bias_key = "bias", .qkv_bias_key = "bias"},
    {.type = "internlm2", .output_bias_key = "bias", .qkv_bias_key = "bias"},
    {.type = "internlm3", .output_bias_key = "bias", .qkv_bias_key = "qkv_bias"},
    {.type = "orion", .norm = layernorm},
    {.type = "minicpm", .tied = true},
    {.type = "minicpm3", .tied = true, .latent = true, .sizes = minicpm3_sizes},
    {.type = "granitemoehybrid", .tied = true},
    {.type = "hyperclovax"},
    {.type = "vaultgemma", .geglu = true, .tied = true},
    {.type = "gpt_neo",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::learned,
     .tied = true,
     .biases = true,
     .window_period = 2},
    {.type = "xglm",
     .gated = false,
     .norm = layernorm,
     .position = model::Position::none,
     .tied = true,
     .biases = true,
     .qkv_biases = true,
     .dropout = 0.1,
     .approximation = sines_note},
    {.type = "jais",
     .norm = layernorm,
     .position = model::Position::alibi,
     .tied = true,
     .biases = true,
     .qkv_biases = true},
    {.type = "persimmon",
     .gated = false,
     .norm = layernorm,
     .biases = true,
     .qkv_biases = true,
     .query_key_norm = true,
     .query_key_norm_key = "qk_layernorm"},
    {.type = "mixtral", .experts = true, .sizes = eight_kv_heads},
    {.type = "aria_text", .experts = true},
    {.type = "xverse_moe", .experts = true},
    {.type = "grok-1", .geglu = true, .tied = true, .norms = 4, .experts = true},
    {.type = "arctic", .experts = true, .approximation = arctic_note},
    {.type = "bailing_moe",
     .experts = true,
     .output_bias_key = "use_bias",
     .query_key_norm_key = "use_qk_norm",
     .qkv_bias_key = "use_qkv_bias"},
    {.type = "exaone_moe",
     .query_key_norm = true,
     .experts = true,
     .router_bias = true,
     .full_period = 4},
    {.type = "qwen2_moe",
     .qkv_biases = true,
     .experts = true,
     .output_bias_key = nullptr,
     .qkv_bias_key = "qkv_bias",
     .switched_window = true},
    {.type = "qwen3_moe", .query_key_norm = true, .experts = true, .switched_window = true},
    {.type = "deepseek_v2", .latent = true, .experts = true, .windows = false},
    {.type = "deepseek_v3", .latent = true, .experts = true, .windows = false},
    {.type = "kimi_k2", .latent = true, .experts = true, .windows = false},
    {.type = "gpt_oss",
     .qkv_biases = true,
     .experts = true,
     .router_bias = true,
     .window_period = 2,
     .sizes = gpt_oss_sizes},
    {.type = "deepseek", .experts = true},
    {.type = "dots1", .query_key_norm = true, .experts = true, .router_bias = true},
    {.type = "glm4_moe",
     .experts = true,
     .output_bias_key = nullptr,
     .query_key_norm_key = "use_qk_norm",
     .router_bias = true},
    {.type = "glm4_moe_lite", .latent = true, .experts = true, .router_bias = true},
    {.type = "ernie4_5_moe",
     .tied = true,
     .experts = true,
     .biases_key = "use_bias",
     .router_bias = true},
    {.type = "hunyuan_v1_moe",
     .query_key_norm = true,
     .experts = true,
     .query_key_norm_key = "use_qk_norm"},
    {.type = "granitemoe", .experts = true},
    {.type = "granitemoeshared", .experts = true},
    {.type = "olmoe", .query_key_norm = true, .experts = true, .approximation = olmo_note},
    {.type = "phimoe", .norm = layernorm, .experts = true, .approximation = head_bias_note},
    {.type = "dbrx", .experts = true, .approximation = cohere_note},
    {.type = "llama4", .experts = true, .approximation = llama4_note},
    {.type = "llama4_text", .experts = true, .approximation = llama4_note},
    {.type = "minimax_m2", .query_key_norm = true, .experts = true, .approximation = olmo_note},
});

// Kinds whose part for text equals another kind in everything that is counted.
struct Alias {
  std::string_view type, like;
};

inline constexpr auto aliases = std::to_array<Alias>({{"Yi", "llama"},
                                                      {"RefinedWeb", "falcon"},
                                                      {"RefinedWebModel", "falcon"},
                                                      {"aquila", "llama"},
                                                      {"aria_moe_lm", "aria_text"},
                                                      {"bailing_moe_v2", "bailing_moe"},
                                                      {"btlm", "jais"},
                                                      {"codegen", "gptj"},
                                                      {"cwm", "llama"},
                                                      {"deci", "llama"},
                                                      {"deepseek_vl_v2", "deepseek_v2"},
                                                      {"emu3_text_model", "llama"},
                                                      {"flex_olmo", "olmoe"},
                                                      {"gemma3", "gemma3_text"},
                                                      {"glm4v", "glm4"},
                                                      {"glm4v_moe", "glm4_moe"},
                                                      {"glm4v_moe_text", "glm4_moe"},
                                                      {"glm4v_text", "glm4"},
                                                      {"grinmoe", "phimoe"},
                                                      {"grok", "grok-1"},
                                                      {"helium", "llama"},
                                                      {"hunyuan", "hunyuan_v1_moe"},
                                                      {"kimi_k25", "kimi_k2"},
                                                      {"llava_llama", "llama"},
                                                      {"llava_mistral", "mistral"},
                                                      {"llava_qwen", "qwen2"},
                                                      {"ministral", "mistral"},
                                                      {"ministral3", "mistral"},
                                                      {"phi3_v", "phi3"},
                                                      {"phi4_multimodal", "phi3"},
                                                      {"phi4mm", "phi3"},
                                                      {"qwen2_5_omni_text", "qwen2"},
                                                      {"qwen2_5_vl", "qwen2"},
                                                      {"qwen2_5_vl_text", "qwen2"},
                                                      {"qwen2_vl", "qwen2"},
                                                      {"qwen2_vl_text", "qwen2"},
                                                      {"qwen3_omni_moe_text", "qwen3_moe"},
                                                      {"qwen3_vl", "qwen3"},
                                                      {"qwen3_vl_moe", "qwen3_moe"},
                                                      {"qwen3_vl_moe_text", "qwen3_moe"},
                                                      {"qwen3_vl_text", "qwen3"},
                                                      {"skywork", "llama"},
                                                      {"stablelm_epoch", "stablelm"},
                                                      {"xverse", "llama"}});

// Classes of one kind each, by which a file without model_type names it.
struct ClassName {
  std::string_view name, type;
};

inline constexpr auto class_names =
    std::to_array<ClassName>({{"BloomForCausalLM", "bloom"},
                              {"DeepseekV2ForCausalLM", "deepseek_v2"},
                              {"DeepseekV3ForCausalLM", "deepseek_v3"},
                              {"FalconForCausalLM", "falcon"},
                              {"GPT2LMHeadModel", "gpt2"},
                              {"GPTNeoXForCausalLM", "gpt_neox"},
                              {"Gemma2ForCausalLM", "gemma2"},
                              {"GemmaForCausalLM", "gemma"},
                              {"GptOssForCausalLM", "gpt_oss"},
                              {"Grok1ForCausalLM", "grok-1"},
                              {"LlamaForCausalLM", "llama"},
                              {"MiniMaxM2ForCausalLM", "minimax_m2"},
                              {"MistralForCausalLM", "mistral"},
                              {"MixtralForCausalLM", "mixtral"},
                              {"OPTForCausalLM", "opt"},
                              {"Phi3ForCausalLM", "phi3"},
                              {"Qwen2ForCausalLM", "qwen2"},
                              {"Qwen2MoeForCausalLM", "qwen2_moe"},
                              {"Qwen3ForCausalLM", "qwen3"},
                              {"Qwen3MoeForCausalLM", "qwen3_moe"}});

}  // namespace scenarios
