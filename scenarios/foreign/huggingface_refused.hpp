// SPDX-License-Identifier: Apache-2.0
// Kinds of model that the description of a transformer cannot hold, and why.
#pragma once
#include <array>
#include <string_view>

namespace scenarios {

struct Refused {
  std::string_view type, reason;
};

inline constexpr auto indexer =
    "an indexer chooses the tokens that each attention layer looks at, and neither its parameters "
    "nor its sparsity can be described";
inline constexpr auto gemma4_reason =
    "its global layers have heads of another size and one projection for keys and values, and "
    "experts stand beside an MLP";
inline constexpr auto state_space =
    "most of its layers are state-space models or have no attention";
inline constexpr auto only_state_space = "its layers are state-space models, without attention";
inline constexpr auto linear_attention =
    "most of its layers have linear attention, which cannot be described";
inline constexpr auto recurrent = "its layers are recurrent, without attention";
inline constexpr auto two_stacks =
    "it has an encoder and a decoder that looks at it; only decoders alone can be described";
inline constexpr auto cross_layers = "some of its layers look at an image instead of the text";
inline constexpr auto masked =
    "it fills in masked tokens, which is another training than of the next token";
inline constexpr auto encoder = "it is an encoder, which does not predict the next token";

inline constexpr auto refused = std::to_array<Refused>(
    {{"deepseek_v32", indexer},
     {"glm_moe_dsa", indexer},
     {"minimax_m3", indexer},
     {"deepseek_v4",
      "its attention looks at compressed tokens that an indexer chooses, and its residual stream "
      "is several"},
     {"gemma4", gemma4_reason},
     {"gemma4_text", gemma4_reason},
     {"gemma3n", "every layer has an embedding of its own, and the residual stream is several"},
     {"nemotron_h", state_space},
     {"nemotron-nas", "its layers differ: each has its own attention, or none, and MLP width"},
     {"mimo_v2_flash", "its layers with a window have another number of key and value heads"},
     {"longcat_flash", "each layer has two attentions, and some of its experts compute nothing"},
     {"mllama", cross_layers},
     {"jamba", state_space},
     {"bamba", state_space},
     {"zamba2", state_space},
     {"granitemoehybrid", "its layers may be state-space models, and no list names them"},
     {"zamba", state_space},
     {"hymba", "a state-space model stands beside the attention of each layer"},
     {"plamo2", state_space},
     {"phi4flash", state_space},
     {"phi3small", "half of its layers look at blocks of the sequence that are chosen"},
     {"diffllama", "its attention is the difference of two, which cannot be described"},
     {"jetmoe", "its attention is a mixture of experts too"},
     {"bitnet", "its weights have three values, and norms stand inside of its layers"},
     {"ernie4_5_moe_vl", "it has experts of two widths, one for text and one for what is seen"},
     {"ernie4_5_vl_moe", "it has experts of two widths, one for text and one for what is seen"},
     {"bailing_moe_linear", linear_attention},
     {"minimax", linear_attention},
     {"olmo_hybrid", linear_attention},
     {"lfm2_moe", "most of its layers are convolutions"},
     {"falcon_h1", "a state-space model stands beside the attention of each layer"},
     {"mamba", only_state_space},
     {"mamba2", only_state_space},
     {"falcon_mamba", only_state_space},
     {"rwkv", recurrent},
     {"recurrent_gemma", "most of its layers are recurrent, without attention"},
     {"lfm2", "most of its layers are convolutions"},
     {"qwen3_next", linear_attention},
     {"qwen3_5", linear_attention},
     {"qwen3_5_text", linear_attention},
     {"qwen3_5_moe", linear_attention},
     {"qwen3_5_moe_text", linear_attention},
     {"kimi_linear", linear_attention},
     {"minimax_m1", linear_attention},
     {"minimax_text_01", linear_attention},
     {"t5", two_stacks},
     {"bart", two_stacks},
     {"whisper", two_stacks},
     {"bert", encoder},
     {"roberta", encoder},
     {"modernbert", encoder},
     {"nomic_bert", encoder},
     {"bert-generation", encoder},
     {"rwkv5", recurrent},
     {"rwkv6", recurrent},
     {"rwkv7", recurrent},
     {"llada", masked},
     {"dream", masked},
     {"Dream", masked},
     {"llada_moe", masked},
     {"xlnet", masked},
     {"afmoe", "its attention has gates, which cannot be described"},
     {"retnet", recurrent},
     {"xlstm", recurrent},
     {"step3_text",
      "its queries are products of two factors, with one key and value of that width"},
     {"step3", "its queries are products of two factors, with one key and value of that width"},
     {"step3_vl", "its queries are products of two factors, with one key and value of that width"},
     {"openelm", "its layers differ in heads and MLP width"},
     {"mbart", two_stacks},
     {"mt5", two_stacks},
     {"umt5", two_stacks},
     {"pegasus", two_stacks},
     {"marian", two_stacks},
     {"m2m_100", two_stacks},
     {"t5gemma", two_stacks},
     {"longt5", two_stacks},
     {"deberta", encoder},
     {"deberta-v2", encoder},
     {"distilbert", encoder},
     {"electra", encoder},
     {"albert", encoder},
     {"xlm-roberta", encoder},
     {"mpnet", encoder},
     {"vit", "it is an encoder of pictures"},
     {"siglip", "it is two encoders, of pictures and of text"},
     {"clip", "it is two encoders, of pictures and of text"}});

// Parts of the names of classes that do not predict the next token with a head over the vocabulary.
inline constexpr auto refused_classes =
    std::to_array<Refused>({{"Classification", "it sorts texts into classes, or scores them"},
                            {"RewardModel", "it scores texts"},
                            {"QuestionAnswering", "it points at a part of the text"},
                            {"MultipleChoice", "it scores texts"},
                            {"Eagle", "it drafts tokens from the layers of another model"},
                            {"Medusa", "it drafts tokens from the layers of another model"}});

}  // namespace scenarios
