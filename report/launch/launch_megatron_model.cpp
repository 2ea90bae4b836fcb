// SPDX-License-Identifier: Apache-2.0
// The model, its kernels and its training in Megatron-LM's words.
#include <algorithm>

#include "plans/precision.hpp"
#include "report/launch/launch_constants.hpp"
#include "report/launch/launch_megatron.hpp"
#include "report/words.hpp"
#include "units/text.hpp"

namespace report::megatron {
namespace {

using model::Transformer;
using units::Precision;

// One entry per layer, 1 where `holds`: a Python expression, "([0]*3+[1]*58)", as
// --moe-layer-freq and --window-attn-skip-freq read it.
template <class Holds>
std::string pattern(std::int64_t layers, Holds holds) {
  std::string text;
  for (std::int64_t first = 0, next = 0; first < layers; first = next) {
    for (next = first + 1; next < layers && holds(next) == holds(first);) ++next;
    text += fmt::format("{}[{}]*{}", text.empty() ? "" : "+", holds(first) ? 1 : 0, next - first);
  }
  return "(" + text + ")";
}

void write_attention(const Transformer& m, Flags& flags, LostKeys& lost) {
  flags.add("--num-attention-heads", m.heads);
  if (m.latent) {
    flags.add("--multi-latent-attention");
    if (m.latent->q_lora_rank > 0) flags.add("--q-lora-rank", m.latent->q_lora_rank);
    flags.add("--kv-lora-rank", m.latent->kv_lora_rank)
        .add("--qk-head-dim", m.latent->qk_nope_head_dim)
        .add("--qk-pos-emb-head-dim", m.latent->qk_rope_head_dim)
        .add("--v-head-dim", m.latent->v_head_dim);
  } else {
    flags.add("--kv-channels", m.head_dim);
    if (m.kv_heads != m.heads)
      flags.add("--group-query-attention").add("--num-query-groups", m.kv_heads);
  }
  flags.when(m.query_key_norm || m.latent, "--qk-layernorm");  // of latent values, where they are
  if (m.attention_sinks) flags.add("--softmax-type", "learnable");
  if (m.window) flags.add("--window-size", fmt::format("({},0)", m.window->size));
  if (m.window && m.window->every == 1 && m.window->full_every > 0)
    flags.add("--window-attn-skip-freq", m.window->full_every);
  if (m.window && m.window->every > 1)
    flags.add("--window-attn-skip-freq",
              pattern(m.layers, [&](std::int64_t l) { return model::is_windowed_layer(m, l); }));
  if (!m.causal)
    lost.push_back({"model.causal", "model.causal false: pretrain_gpt.py trains causal models"});
}

// Where no rank sends tokens, Megatron-LM refuses the dispatchers that send them by kernels of
// their own; capacity of experts it has with all-to-all. Both from memory: core/transformer/moe/
// token_dispatcher.py and transformer_config.py.
void write_dispatcher(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  using enum strategies::MoeDispatcher;
  const auto wanted = s.software.moe_dispatcher;
  const bool sends = s.plan.expert * expert_tensor_of(s) > 1;
  const bool drops = wanted == all_gather && s.model.moe->capacity_factor;
  const auto dispatcher = drops || (!sends && wanted != all_gather) ? all_to_all : wanted;
  if (drops)
    lost.push_back({"software.moe_dispatcher",
                    "software.moe_dispatcher all-gather: Megatron-LM has model.moe.capacity_factor "
                    "with all-to-all, which is written instead"});
  if (dispatcher == all_to_all || dispatcher == all_gather)
    flags.add("--moe-token-dispatcher-type", dispatcher == all_to_all ? "alltoall" : "allgather");
  else
    flags.add("--moe-token-dispatcher-type", "flex")
        .add("--moe-flex-dispatcher-backend", dispatcher == deepep ? "deepep" : "hybridep");
}

void write_experts(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  const auto& m = s.model;
  const auto& routing = s.training.routing;
  if (!m.moe) return;
  const auto& moe = *m.moe;
  flags.add("--num-experts", moe.experts)
      .add("--moe-router-topk", moe.top_k)
      .add("--moe-ffn-hidden-size", moe.expert_ffn)
      .add("--moe-grouped-gemm");
  const auto* known = constants_of(m);
  if (routing.locality == strategies::Locality::group_limited)
    flags.add("--moe-router-num-groups", routing.groups)
        .add("--moe-router-group-topk", routing.top_groups);
  else if (known != nullptr && known->groups > 1)
    flags.add("--moe-router-num-groups", known->groups)
        .add("--moe-router-group-topk", known->chosen_groups);
  if (moe.first_dense_layers > 0 || moe.every > 1)
    flags.add("--moe-layer-freq",
              pattern(m.layers, [&](std::int64_t l) { return model::is_moe_layer(m, l); }));
  if (moe.shared_experts > 0)
    flags.add("--moe-shared-expert-intermediate-size", moe.shared_experts * moe.shared_ffn)
        .when(moe.shared_gate, "--moe-shared-expert-gate");
  if (moe.capacity_factor) flags.add("--moe-expert-capacity-factor", *moe.capacity_factor);
  flags.when(moe.pad_to_capacity, "--moe-pad-expert-input-to-capacity");
  write_dispatcher(s, flags, lost);
  // DeepSeek-V3's bias, which balances sigmoid scores.
  if (moe.router_bias && !moe.expert_biases)
    flags.add("--moe-router-score-function", "sigmoid").add("--moe-router-enable-expert-bias");
  if (!moe.expert_biases && m.biases)
    lost.push_back({"model.moe.expert_biases",
                    "model.moe.expert_biases false: Megatron-LM has biases on all linear layers or "
                    "on none; experts have them, too, as it is written"});
  if (moe.expert_biases && !m.biases)
    lost.push_back({"model.moe.expert_biases",
                    "model.moe.expert_biases true: Megatron-LM has biases on all linear layers or "
                    "on none; none is written instead"});
}

void write_activation(const Transformer& m, Flags& flags, LostKeys& lost) {
  using enum model::Activation;
  switch (m.activation) {
    case gelu:
      return;
    case swiglu:
      flags.add("--swiglu");
      return;
    case squared_relu:
      flags.add("--squared-relu");
      return;
    case geglu:
      flags.add("--quick-geglu");
      lost.push_back({"model.activation",
                      "model.activation geglu: Megatron-LM has its sigmoid approximation "
                      "(--quick-geglu), which is written instead"});
      return;
    case relu:
      flags.add("--squared-relu");
      lost.push_back({"model.activation",
                      "model.activation relu: Megatron-LM has its square (--squared-relu), which "
                      "is written instead"});
      return;
  }
}

void write_position(const Transformer& m, Flags& flags, LostKeys& lost) {
  using enum model::Position;
  const bool rotates = m.position == rope, learns = m.position == learned;
  flags.add("--position-embedding-type", rotates ? "rope" : learns ? "learned_absolute" : "none");
  if (m.position == alibi)
    lost.push_back(
        {"model.position",
         "model.position alibi: Megatron-LM has no such biases; none is written instead"});
}

void write_biases(const Transformer& m, Flags& flags, LostKeys& lost) {
  flags.when(!m.biases, "--disable-bias-linear").when(m.qkv_biases && !m.biases, "--add-qkv-bias");
  if (m.biases && !m.qkv_biases)
    lost.push_back(
        {"model.qkv_biases",
         "model.qkv_biases false: with biases elsewhere, Megatron-LM has them there too"});
  if (m.output_bias && !m.biases)
    lost.push_back({"model.output_bias",
                    "model.output_bias true: without other biases Megatron-LM has none on "
                    "attention's output projection"});
}

void lose_layer_shape(const Transformer& m, LostKeys& lost) {
  if (m.parallel_block)
    lost.push_back({"model.parallel_block",
                    "model.parallel_block true: Megatron-LM's layers run their MLP after "
                    "attention, with a norm of its own"});
  if (m.norms_per_layer != 2)
    lost.push_back(
        {"model.norms_per_layer",
         fmt::format("model.norms_per_layer {}: Megatron-LM's layers have 2", m.norms_per_layer)});
}

// Returns the kernel of attention that Transformer Engine has. From memory (attention/
// dot_product_attention/utils.py): its flash and fused kernels take 16 bit, and its unfused one no
// divided sequences.
model::AttentionKernel runnable_attention(const forecast::Scenario& s, LostKeys& lost) {
  using enum model::AttentionKernel;
  const auto wanted = s.software.kernels.attention;
  const bool wide = is_wide(s.training.precision);
  if ((wide && wanted == unfused) || (!wide && (wanted != unfused || s.plan.context == 1)))
    return wanted;
  lost.push_back({"software.attention",
                  fmt::format("software.attention {}: {}, and {} is written instead", word(wanted),
                              wide ? "in 32 bit Transformer Engine has unfused alone"
                                   : "Transformer Engine divides no sequences for it",
                              wide ? "unfused" : "flash")});
  return wide ? unfused : flash;
}

void write_attention_kernel(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  using enum model::AttentionKernel;
  const auto attention = runnable_attention(s, lost);
  flags.add("--attention-backend", attention == unfused ? "unfused"
                                   : attention == fused ? "fused"
                                                        : "flash");
  if (attention == flash_3) flags.add("--flash-attention-version", 3);
  if (attention == flash_1 || attention == memory_efficient)
    lost.push_back(
        {"software.attention", fmt::format("software.attention {}: Megatron-LM has unfused, fused "
                                           "and flash; flash is written instead",
                                           word(attention))});
}

// Transformer Engine's fused biases know no squared ReLU (from memory: transformer_config.py).
void write_bias_fusion(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  using enum model::Activation;
  const auto& m = s.model;
  const bool squared = m.biases && (m.activation == squared_relu || m.activation == relu);
  const bool fuses = s.software.kernels.fused_bias_activation;
  flags.when(!fuses || squared, m.gated() ? "--no-bias-swiglu-fusion" : "--no-bias-gelu-fusion");
  if (fuses && squared)
    lost.push_back({"software.fused_bias_activation",
                    "software.fused_bias_activation true: Megatron-LM fuses biases with GELU and "
                    "gated activations only"});
}

// Graphs of a whole step want losses that no one checks, and activations that stay.
void write_graphs(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  if (!s.software.graphed_parts.empty()) {
    flags.add("--cuda-graph-impl", "transformer_engine").add("--cuda-graph-modules");
    for (const auto part : s.software.graphed_parts) flags.word(word(part));
  } else if (s.software.cuda_graphs && s.plan.offload.activations) {
    lost.push_back(
        {"software.cuda_graphs",
         "software.cuda_graphs true: Megatron-LM graphs no step that offloads activations"});
  } else if (s.software.cuda_graphs) {
    flags.add("--cuda-graph-impl", "full_iteration").add("--no-check-for-nan-in-loss-and-grad");
  }
}

void write_kernels(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  const auto& kernels = s.software.kernels;
  write_attention_kernel(s, flags, lost);
  flags.when(!kernels.fused_softmax, "--no-masked-softmax-fusion")
      .when(kernels.softmax_in_fp32, "--attention-softmax-in-fp32");
  write_bias_fusion(s, flags, lost);
  flags.when(!kernels.fused_bias_dropout_add, "--no-bias-dropout-fusion")
      .when(!kernels.fused_rotary && s.model.position == model::Position::rope, "--no-rope-fusion")
      .when(kernels.fused_cross_entropy, "--cross-entropy-loss-fusion")
      .when(!kernels.fused_gradient_accumulation, "--no-gradient-accumulation-fusion");
  write_graphs(s, flags, lost);
  if (s.software.compile)
    lost.push_back({"software.compile",
                    "software.compile true: Megatron-LM compiles a few chains of element-wise "
                    "operators only"});
}

// The tokenizer of mock data, which Megatron-LM pads, counts the end of a document besides the
// vocabulary it is given.
void write_vocabulary(const forecast::Scenario& s, Flags& flags) {
  flags.add("--tokenizer-type", "NullTokenizer")
      .add("--vocab-size", s.model.vocab - 1)
      .add("--make-vocab-size-divisible-by", s.software.vocab_multiple)
      .add("--mock-data");
}

// Megatron-Core counts no layers where --first-last-layers-bf16 does not stand.
void write_bf16(const strategies::Training& training, Flags& flags, LostKeys& lost) {
  const auto& in_bf16 = training.in_bf16;
  const auto first = in_bf16.first_layers, last = in_bf16.last_layers;
  const bool delayed =
      training.precision == Precision::fp8 && training.fp8_recipe == model::Scaling::delayed;
  if (first + last > 0 && !delayed)
    flags.add("--first-last-layers-bf16")
        .add("--num-layers-at-start-in-bf16", first)
        .add("--num-layers-at-end-in-bf16", last);
  if (first + last > 0 && delayed)
    lost.push_back({"training.in_bf16.first_layers",
                    "training.in_bf16.first_layers and last_layers: Megatron-LM keeps no layers in "
                    "bf16 with fp8_recipe delayed; all are in fp8"});
  if (!in_bf16.parts.empty())
    lost.push_back(
        {"training.in_bf16.modules",
         "training.in_bf16.modules: Megatron-LM has one precision for all modules of a layer"});
  const auto wide = strategies::wide_products(in_bf16);
  flags.when(wide.weight_gradients && delayed, "--no-fp8-wgrad");
  if (wide.weight_gradients && !delayed)
    lost.push_back({"training.in_bf16.gradients",
                    "training.in_bf16.gradients weights: Megatron-LM has them in bf16 with "
                    "fp8_recipe delayed alone"});
  if (wide.input_gradients)
    lost.push_back({"training.in_bf16.gradients",
                    "training.in_bf16.gradients inputs: Megatron-LM computes gradients of inputs "
                    "as the forward pass"});
}

// Weights that are in 8 bit alone, as the distributed optimizer and Megatron-FSDP have them.
void write_narrow_weights(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  using enum Precision;
  const auto precision = s.training.precision;
  if (!s.software.narrow_weights || (precision != fp8 && precision != mxfp8)) return;
  if (distributes(s))
    flags.add("--fp8-param-gather");
  else
    lost.push_back({"software.narrow_weights",
                    "software.narrow_weights: Megatron-LM keeps 16-bit weights without the "
                    "distributed optimizer (zero 1)"});
}

void write_precision(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  using enum Precision;
  const auto& training = s.training;
  const auto precision = training.precision;
  if (precision == tf32)
    lost.push_back({"training.precision",
                    "training.precision tf32: PyTorch's setting, not a flag; fp32 is written"});
  if (is_wide(precision)) return;
  flags.add(precision == fp16 ? "--fp16" : "--bf16");
  write_bf16(training, flags, lost);
  if (precision == nvfp4) flags.add("--fp4-format", "e2m1").add("--fp4-recipe", "nvfp4");
  if (precision == mxfp8) flags.add("--fp8-format", "e4m3").add("--fp8-recipe", "mxfp8");
  write_narrow_weights(s, flags, lost);
  if (precision != fp8) return;
  using enum model::Scaling;
  const auto recipe = training.fp8_recipe;
  flags.add("--fp8-format", recipe == blockwise ? "e4m3" : "hybrid")
      .add("--fp8-recipe", word(recipe == rowwise ? tensorwise : recipe));
  if (recipe == rowwise)
    lost.push_back({"training.fp8_recipe",
                    "training.fp8_recipe rowwise: Megatron-LM has delayed, tensorwise and "
                    "blockwise; tensorwise is written instead"});
}

// Adam's weight decay is decoupled in Megatron-LM; without decay the two are one.
void write_optimizer(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  using enum strategies::Optimizer;
  const auto optimizer = s.training.optimizer;
  switch (optimizer) {
    case muon:
      flags.add("--optimizer", s.plan.zero > 0 ? "dist_muon" : "muon");
      break;
    case sgd:
      flags.add("--optimizer", "sgd");
      break;
    case adamw:
    case adam:
      flags.add("--optimizer", "adam");
      break;
    case lamb:
    case adafactor:
    case sophia:
    case onebit_adam:
      flags.add("--optimizer", "adam");
      lost.push_back(
          {"training.optimizer",
           fmt::format(
               "training.optimizer {}: Megatron-LM has adam, sgd and muon; adam is written instead",
               word(optimizer))});
  }
  flags.add("--weight-decay", optimizer == adam ? "0" : "0.1");
}

void write_gradients(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  using enum Precision;
  const auto gradients = gradient_precision_of(s), compute = s.training.precision;
  if (is_wide(compute)) {
    if (gradients != fp32)
      lost.push_back(
          {"gradient_precision",
           fmt::format(
               "gradient_precision {}: with fp32 parameters Megatron-LM has gradients in fp32",
               units::to_text(gradients))});
    return;
  }
  if (s.plan.master_weights != fp32) {
    if (s.plan.zero > 0 && s.training.optimizer == strategies::Optimizer::adamw) {
      flags.add("--use-precision-aware-optimizer").add("--main-params-dtype", "fp16");
      if (s.plan.master_weights == bf16)
        lost.push_back(
            {"master_weights",
             "master_weights bf16: Megatron-LM has fp16 of the same size, written instead"});
    } else {
      lost.push_back({"master_weights",
                      "master_weights: Megatron-LM asks for AdamW and the distributed optimizer "
                      "(zero 1) where they are not fp32, which is written instead"});
    }
  }
  if (gradients == fp32)
    flags.add("--accumulate-allreduce-grads-in-fp32");
  else if (gradients == bf16 && compute != fp16)
    flags.add("--grad-reduce-in-bf16");
  else if (gradients != compute)
    lost.push_back({"gradient_precision",
                    fmt::format("gradient_precision {}: with {} parameters Megatron-LM reduces "
                                "gradients in fp32 or {}; the latter is written instead",
                                units::to_text(gradients), compute == fp16 ? "fp16" : "bf16",
                                compute == fp16 ? "fp16" : "bf16")});
}

}  // namespace

void write_model(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  const auto& m = s.model;
  flags.add("--num-layers", m.layers)
      .add("--hidden-size", m.hidden)
      .add("--ffn-hidden-size", m.ffn);
  write_attention(m, flags, lost);
  flags.add("--seq-length", s.training.sequence_length)
      .add("--max-position-embeddings", std::max(m.max_sequence, s.training.sequence_length));
  write_position(m, flags, lost);
  flags.add("--normalization", m.norm == model::Norm::rmsnorm ? "RMSNorm" : "LayerNorm");
  write_activation(m, flags, lost);
  write_biases(m, flags, lost);
  flags.when(!m.tied_embeddings, "--untie-embeddings-and-output-weights")
      .add("--attention-dropout", m.dropout)
      .add("--hidden-dropout", m.dropout);
  write_experts(s, flags, lost);
  if (const auto modules = predictions_of(m); modules > 0)
    flags.add("--mtp-num-layers", modules);
  else if (m.multi_token_prediction > 0)
    lost.push_back({"model.multi_token_prediction",
                    fmt::format("model.multi_token_prediction {}: Megatron-LM builds no such "
                                "modules for learned positions; none are written",
                                m.multi_token_prediction)});
  lose_layer_shape(m, lost);
  write_kernels(s, flags, lost);
  write_vocabulary(s, flags);
}

// From memory, Muon does not run in fp16 (core/optimizer/muon.py).
void write_training(const forecast::Scenario& scenario, Flags& flags, LostKeys& lost) {
  auto s = scenario;
  auto& precision = s.training.precision;
  if (precision == Precision::fp16 && s.training.optimizer == strategies::Optimizer::muon) {
    precision = Precision::bf16;
    lost.push_back(
        {"training.precision",
         "training.precision fp16: Megatron-LM has no Muon in it; bf16 is written instead"});
  }
  flags.add("--micro-batch-size", s.plan.micro_batch)
      .add("--global-batch-size", s.training.global_batch);
  write_precision(s, flags, lost);
  write_optimizer(s, flags, lost);
  write_gradients(s, flags, lost);
  flags.add("--lr", "1e-4").add("--train-iters", 50);
}

}  // namespace report::megatron
