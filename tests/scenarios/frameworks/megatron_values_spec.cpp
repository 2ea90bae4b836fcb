// SPDX-License-Identifier: Apache-2.0
// Arguments of a Megatron-LM job, each as the key of a scenario that it means.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace megatron_values_spec {

namespace {

// A model of 12 layers on one GPU, and more arguments.
std::string text(const std::string& more) {
  return "--num-layers 12\n--hidden-size 512\n--num-attention-heads 8\n--seq-length 1024\n"
         "--global-batch-size 32\n--micro-batch-size 4\n" +
         more + "\n";
}
std::string in_bf16(const std::string& more) { return text("--bf16\n" + more); }
std::string of_experts(const std::string& more) { return in_bf16("--num-experts 8\n" + more); }

void check(const std::vector<tests::JobCase>& cases) { tests::check_values(cases, in_bf16); }

}  // namespace

TEST_CASE("positions of a Megatron-LM model are learned unless it names others") {
  check({{"", "model.position", "learned"},
         {"--position-embedding-type rope", "model.position", "rope"},
         {"--position-embedding-type mrope", "model.position", "rope"},
         {"--position-embedding-type yarn", "model.position", "rope"},
         {"--position-embedding-type none", "model.position", "none"},
         {"--position-embedding-type alibi", "model.position", "alibi"},
         {"--use-rotary-position-embeddings", "model.position", "rope"},
         {"--position-embedding-type learned_absolute\n--use-rotary-position-embeddings",
          "model.position", "rope"},
         {"--no-position-embedding", "model.position", "none"},
         {"--position-embedding-type rope\n--no-position-embedding", "model.position", "rope"}});
  tests::check_refusals(
      {{"--position-embedding-type relative", "these positions are not modelled"}}, in_bf16);
}

TEST_CASE("activations, norms and biases of a Megatron-LM model are its switches'") {
  check({{"", "model.activation", "gelu"},
         {"--swiglu", "model.activation", "swiglu"},
         {"--squared-relu", "model.activation", "squared_relu"},
         {"--quick-geglu", "model.activation", "geglu"},
         {"", "model.norm", "layernorm"},
         {"--normalization RMSNorm", "model.norm", "rmsnorm"},
         {"--normalization LayerNorm", "model.norm", "layernorm"},
         {"", "model.query_key_norm", ""},
         {"--qk-layernorm", "model.query_key_norm", "true"},
         {"--qk-layernorm\n--multi-latent-attention", "model.query_key_norm", ""},
         {"", "model.biases", "true"},
         {"--disable-bias-linear", "model.biases", "false"},
         {"--disable-bias-linear\n--add-qkv-bias", "model.qkv_biases", "true"},
         {"--add-qkv-bias", "model.qkv_biases", ""},  // all have biases
         {"", "model.tied_embeddings", "true"},
         {"--untie-embeddings-and-output-weights", "model.tied_embeddings", "false"},
         {"--softmax-type learnable", "model.attention_sinks", "true"},
         {"--softmax-type vanilla", "model.attention_sinks", ""}});
  tests::check_refusals({{"--normalization GroupNorm", "expected LayerNorm or RMSNorm"}}, in_bf16);
}

// 8/3 of 512 are 1,365, and 21 x 64 = 1,344.
TEST_CASE("widths of a Megatron-LM model that it leaves out follow from the hidden size") {
  check({{"", "model.ffn", "2048"},
         {"--swiglu", "model.ffn", "1344"},
         {"--ffn-hidden-size 1000", "model.ffn", "1000"},
         {"--swiglu\n--ffn-hidden-size 1000", "model.ffn", "1000"},
         {"", "model.kv_heads", "8"},
         {"--group-query-attention\n--num-query-groups 2", "model.kv_heads", "2"},
         {"--group-query-attention", "model.kv_heads", "1"},
         {"--num-query-groups 2", "model.kv_heads", "8"},  // without the switch
         {"", "model.head_dim", ""},
         {"--kv-channels 96", "model.head_dim", "96"}});
}

TEST_CASE("latent attention of a Megatron-LM model has the ranks of its arguments or defaults") {
  const std::string latent = "--multi-latent-attention";
  check({{"", "model.attention.kind", ""},
         {latent, "model.attention.kind", "mla"},
         {latent, "model.attention.q_lora_rank", "0"},
         {latent + "\n--q-lora-rank 1536", "model.attention.q_lora_rank", "1536"},
         {latent, "model.attention.kv_lora_rank", "32"},
         {latent + "\n--kv-lora-rank 512", "model.attention.kv_lora_rank", "512"},
         {latent, "model.attention.qk_nope_head_dim", "128"},
         {latent + "\n--qk-head-dim 96", "model.attention.qk_nope_head_dim", "96"},
         {latent, "model.attention.qk_rope_head_dim", "64"},
         {latent + "\n--qk-pos-emb-head-dim 32", "model.attention.qk_rope_head_dim", "32"},
         {latent, "model.attention.v_head_dim", "128"},
         {latent + "\n--v-head-dim 64", "model.attention.v_head_dim", "64"}});
  tests::check_refusals({{latent + "\n--group-query-attention",
                          "--group-query-attention: it excludes --multi-latent-attention"}},
                        in_bf16);
}

TEST_CASE("dropout of a Megatron-LM model is the larger of both, and a tenth without any") {
  check({{"", "model.dropout", "0.1"},
         {"--hidden-dropout 0\n--attention-dropout 0", "model.dropout", "0"},
         {"--hidden-dropout 0", "model.dropout", "0.1"},
         {"--attention-dropout 0", "model.dropout", "0.1"},
         {"--hidden-dropout 0.2", "model.dropout", "0.2"},
         {"--hidden-dropout 0\n--attention-dropout 0.3", "model.dropout", "0.3"}});
}

TEST_CASE("rows of a Megatron-LM vocabulary are padded unless the job says how many there are") {
  const std::string multiple = "--make-vocab-size-divisible-by 64\n";
  check({{"--vocab-size 32000", "model.vocab", "32000"},
         {"--vocab-size 32000", "software.vocab_multiple", "128"},
         {multiple + "--vocab-size 32000", "software.vocab_multiple", "64"},
         {"--vocab-size 32000\n--tokenizer-type NullTokenizer", "model.vocab", "32001"},
         {"--padded-vocab-size 32256", "model.vocab", "32256"},
         {multiple + "--padded-vocab-size 32256", "software.vocab_multiple", "1"},
         {"--tokenizer-type GPT2BPETokenizer", "model.vocab", "50257"}});
}

TEST_CASE("precision of a Megatron-LM job is that of its switches") {
  const auto fp8 = [](const std::string& more) { return "--fp8-format hybrid\n" + more; };
  check({{"", "training.precision", "bf16"},
         {fp8(""), "training.precision", "fp8"},
         {fp8(""), "training.fp8_recipe", "delayed"},
         {fp8("--fp8-recipe tensorwise"), "training.fp8_recipe", "tensorwise"},
         {fp8("--fp8-recipe blockwise"), "training.fp8_recipe", "blockwise"},
         {fp8("--fp8-recipe mxfp8"), "training.precision", "mxfp8"},
         {fp8("--fp8-recipe mxfp8"), "training.fp8_recipe", ""},
         {fp8("--fp8-param-gather"), "software.narrow_weights", "true"},
         {"--fp4-format e2m1", "training.precision", "nvfp4"}});
  tests::check_values({{"", "training.precision", "fp32"},
                       {"--fp16", "training.precision", "fp16"},
                       {"--bf16", "training.precision", "bf16"}},
                      text);
  tests::check_refusals(
      {{fp8("--fp8-recipe custom"), "expected delayed, tensorwise, blockwise or mxfp8"},
       {fp8("--fp4-format e2m1"), "--fp4-format e2m1: it excludes --fp8-format"},
       {"--fp16", "--bf16 is given, too"}},
      in_bf16);
}

TEST_CASE("optimizers of a Megatron-LM job are adamw, sgd and muon") {
  check({{"", "training.optimizer", "adamw"},
         {"--optimizer adam\n--weight-decay 0", "training.optimizer", "adamw"},
         {"--optimizer sgd", "training.optimizer", "sgd"},
         {"--optimizer muon", "training.optimizer", "muon"},
         {"--optimizer dist_muon", "training.optimizer", "muon"},
         {"--optimizer muon", "plan.zero", "0"},
         {"--optimizer dist_muon", "plan.zero", "1"}});
  tests::check_refusals({{"--optimizer lion", "expected adam, sgd, muon or dist_muon"}}, in_bf16);
}

TEST_CASE("gradients and master weights of a Megatron-LM job are as wide as its switches say") {
  const std::string wide = "--accumulate-allreduce-grads-in-fp32";
  const std::string aware =
      "--use-distributed-optimizer\n--use-precision-aware-optimizer\n"
      "--main-params-dtype ";
  check({{"", "plan.gradient_precision", ""},
         {wide, "plan.gradient_precision", "fp32"},
         {"--grad-reduce-in-bf16", "plan.gradient_precision", "bf16"},
         {"--grad-reduce-in-bf16\n" + wide, "plan.gradient_precision", "bf16"},
         {aware + "fp16", "plan.master_weights", "fp16"},
         {aware + "fp32", "plan.master_weights", ""}});
}

// Buckets are in elements: four bytes each, or two where gradients are in 16 bit.
TEST_CASE("a bucket of a Megatron-LM job has the bytes of its gradients") {
  check({{"--ddp-bucket-size 1000", "plan.bucket", "4000"},
         {"--ddp-bucket-size 1000\n--grad-reduce-in-bf16", "plan.bucket", "2000"},
         {"--suggested-communication-unit-size 3000", "plan.bucket", "12000"}});
  tests::check_values({{"--fp16\n--ddp-bucket-size 1000", "plan.bucket", "2000"},
                       {"--fp16\n--ddp-bucket-size 1000\n--accumulate-allreduce-grads-in-fp32",
                        "plan.bucket", "4000"}},
                      text);
}

TEST_CASE("tokens of a Megatron-LM job reach experts by the dispatcher that it names") {
  const std::string flex = "--moe-token-dispatcher-type flex";
  tests::check_values(
      {{"", "software.moe_dispatcher", "all-gather"},
       {"--moe-token-dispatcher-type allgather", "software.moe_dispatcher", "all-gather"},
       {"--moe-token-dispatcher-type alltoall", "software.moe_dispatcher", "all-to-all"},
       {"--moe-token-dispatcher-type alltoall_seq", "software.moe_dispatcher", "all-to-all"},
       {flex, "software.moe_dispatcher", "deepep"},
       {flex + "\n--moe-flex-dispatcher-backend hybridep", "software.moe_dispatcher", "hybridep"},
       {"--moe-enable-deepep", "software.moe_dispatcher", "deepep"}},
      of_experts);
  tests::check_refusals(
      {{"--moe-token-dispatcher-type ring", "expected allgather, alltoall or flex"},
       {flex + "\n--moe-flex-dispatcher-backend mine", "expected deepep or hybridep"}},
      of_experts);
}

TEST_CASE("experts of a Megatron-LM job have the sizes of its arguments") {
  const std::string sent = "--moe-token-dispatcher-type alltoall\n";
  tests::check_values(
      {{"", "model.moe.experts", "8"},
       {"", "model.moe.top_k", "2"},
       {"--moe-router-topk 6", "model.moe.top_k", "6"},
       {"", "model.moe.expert_ffn", ""},
       {"--moe-ffn-hidden-size 96", "model.moe.expert_ffn", "96"},
       {"", "model.moe.expert_biases", "true"},
       {"--disable-bias-linear", "model.moe.expert_biases", ""},
       {"--moe-router-enable-expert-bias", "model.moe.router_bias", "true"},
       {sent + "--moe-expert-capacity-factor 1.25", "model.moe.capacity_factor", "1.25"},
       {"--moe-shared-expert-intermediate-size 64\n--moe-shared-expert-gate",
        "model.moe.shared_gate", "true"},
       {"--moe-shared-expert-gate", "model.moe.shared_gate", ""}},
      of_experts);
}

TEST_CASE("layers with experts of a Megatron-LM job follow a rule, or are refused") {
  const std::string freq = "--moe-layer-freq ";
  tests::check_values({{freq + "3", "model.moe.every", "3"},
                       {freq + "'[1]*12'", "model.moe.every", "1"},
                       {freq + "'[0]+[1]*11'", "model.moe.first_dense_layers", "1"},
                       {freq + "'[0]+([1]+[0]*2)*4'", "model.moe.every", "3"},
                       {freq + "'[0]+([1]+[0]*2)*4'", "model.moe.first_dense_layers", "1"},
                       {freq + "'[1]*12'", "model.moe.first_dense_layers", ""}},
                      of_experts);
  tests::check_refusals({{freq + "'[0]*12'", "follow no rule that can be forecast"},
                         {freq + "'[1]*2+[0]*10'", "follow no rule that can be forecast"},
                         {freq + "'[1]*8'", "it names 8 of 12 layers"}},
                        of_experts);
}

TEST_CASE("a batch of a Megatron-LM job is given, or ends the schedule of its steps") {
  auto bare = [](const std::string& more) {
    auto all = in_bf16(more);
    const std::string batch = "--global-batch-size 32\n";
    return all.erase(all.find(batch), batch.size());
  };
  check({{"--rampup-batch-size 8 8 1000", "training.global_batch", "32"}});
  tests::check_values(
      {{"--step-batch-size-schedule '0:384 200B:768 400B:1152'", "training.global_batch", "1152"},
       {"--step-batch-size-schedule 0:384", "training.global_batch", "384"},
       {"", "training.global_batch", ""}},
      bare);
  tests::check_refusals({{"--step-batch-size-schedule 384", "expected TOKENS:BATCH TOKENS:BATCH"},
                         {"--step-batch-size-schedule 0:", "expected TOKENS:BATCH TOKENS:BATCH"},
                         {"--step-batch-size-schedule 0:3x", "expected TOKENS:BATCH TOKENS:BATCH"}},
                        bare);
}

TEST_CASE("fusions that a Megatron-LM job switches off are off") {
  check({{"", "software.fused_softmax", ""},
         {"--no-masked-softmax-fusion", "software.fused_softmax", "false"},
         {"--no-bias-gelu-fusion", "software.fused_bias_activation", "false"},
         {"--no-bias-swiglu-fusion", "software.fused_bias_activation", ""},
         {"--swiglu\n--no-bias-swiglu-fusion", "software.fused_bias_activation", "false"},
         {"--swiglu\n--no-bias-gelu-fusion", "software.fused_bias_activation", ""},
         {"--no-bias-dropout-fusion", "software.fused_bias_dropout_add", "false"},
         {"--no-rope-fusion", "software.fused_rotary", "false"},
         {"--no-gradient-accumulation-fusion", "software.fused_gradient_accumulation", "false"},
         {"--cross-entropy-loss-fusion", "software.fused_cross_entropy", "true"}});
}

TEST_CASE("graphs of a Megatron-LM job hold whole passes, or the parts that it names") {
  const std::string graphs = "--cuda-graph-impl transformer_engine";
  const std::string scope = graphs + "\n--cuda-graph-scope ";
  check({{"", "software.cuda_graphs", ""},
         {"--cuda-graph-impl none", "software.cuda_graphs", ""},
         {graphs, "software.cuda_graphs", "true"},
         {"--enable-cuda-graph", "software.cuda_graphs", "true"},
         {"--external-cuda-graph", "software.cuda_graphs", "true"},
         {scope + "attn", "software.cuda_graphs", "attn"},
         {scope + "attn moe_router", "software.cuda_graphs", "attn moe_router"},
         {scope + "attn attn", "software.cuda_graphs", "attn"},
         {scope + "attn mlp", "software.cuda_graphs", "attn"}});
}

TEST_CASE("the attention kernel of a Megatron-LM job is the backend's, or its implementation's") {
  const std::string local = "--transformer-impl local";
  check({{"", "software.attention", "fused-from-hopper"},
         {"--attention-backend flash", "software.attention", "flash"},
         {"--attention-backend flash\n--flash-attention-version 3", "software.attention", "flash3"},
         {"--attention-backend fused", "software.attention", "fused"},
         {"--attention-backend unfused", "software.attention", "unfused"},
         {local, "software.attention", "unfused"},
         {local + "\n--use-flash-attn", "software.attention", "flash"},
         {"--attention-backend auto", "software.attention", "fused-from-hopper"}});
  tests::check_refusals(
      {{"--attention-backend mine", "expected flash, fused, unfused, local or auto"}}, in_bf16);
}

TEST_CASE("Transformer Engine's Adam keeps moments in the types that a job names") {
  const std::string aware = "--use-precision-aware-optimizer\n--use-distributed-optimizer\n";
  // 4 bytes of the master copy, and two moments, each read and written: 46 bytes with both of 4.
  check(
      {{aware, "software.optimizer_bytes", ""},
       {aware + "--exp-avg-dtype bf16", "software.optimizer_bytes", "10"},
       {aware + "--exp-avg-dtype bf16", "software.optimizer_traffic", "42"},
       {aware + "--exp-avg-dtype fp8\n--exp-avg-sq-dtype fp16", "software.optimizer_bytes", "7"},
       {aware + "--exp-avg-dtype fp8\n--exp-avg-sq-dtype fp16", "software.optimizer_traffic", "36"},
       {aware + "--exp-avg-dtype fp32", "software.optimizer_bytes", ""},
       {aware + "--main-grads-dtype bf16", "plan.gradient_precision", "bf16"},
       {aware + "--main-grads-dtype fp32", "plan.gradient_precision", ""},
       {aware + "--main-params-dtype fp16", "plan.master_weights", "fp16"}});
  tests::check_refusals({{aware + "--exp-avg-dtype fp4", "expected fp32, fp16, bf16 or fp8"}},
                        in_bf16);
}

TEST_CASE("a softmax of single kernels is in fp32 where a Megatron-LM job says it") {
  const std::string single = "--no-masked-softmax-fusion", wide = "--attention-softmax-in-fp32";
  check({{single, "software.softmax_in_fp32", ""},
         {single + "\n" + wide, "software.softmax_in_fp32", "true"},
         {wide, "software.softmax_in_fp32", ""}});
  CHECK(tests::effect_of(tests::job(in_bf16(wide)), wide) == scenarios::Effect::none);
}

TEST_CASE("YaRN's embedding is rotated kernel by kernel, but for latent attention") {
  check(
      {{"--position-embedding-type rope", "software.fused_rotary", ""},
       {"--position-embedding-type yarn", "software.fused_rotary", "false"},
       {"--position-embedding-type yarn\n--multi-latent-attention", "software.fused_rotary", ""}});
}

TEST_CASE("experts of a Megatron-LM job are padded to their capacity where it says it") {
  const std::string room =
      "--moe-token-dispatcher-type alltoall\n--moe-expert-capacity-factor 1.5\n";
  tests::check_values(
      {{room, "model.moe.pad_to_capacity", ""},
       {room + "--moe-pad-expert-input-to-capacity", "model.moe.pad_to_capacity", "true"}},
      of_experts);
}

TEST_CASE("no job recomputes more layers than its model has") {
  const std::string full = "--recompute-granularity full\n--recompute-method block\n";
  CHECK(tests::refused(in_bf16(full + "--recompute-num-layers x")) ==
        "job:10:1: --recompute-num-layers x: 'x' is not a whole number from 0 to 1099511627776");
  CHECK(tests::refused(in_bf16(full)).find("full needs --recompute-method") != std::string::npos);
  check({{full + "--recompute-num-layers 80", "plan.recompute.full_layers", "12"},
         {full + "--recompute-num-layers 5", "plan.recompute.full_layers", "5"}});
}

TEST_CASE("BigCode's fork has one head of keys and values by an argument of its own") {
  check({{"--attention-head-type multiquery", "model.kv_heads", "1"},
         {"--attention-head-type multihead", "model.kv_heads", "8"}});
}

TEST_CASE("weights in 8 bit alone have no effect where no product is in fp8") {
  const auto job = tests::job(in_bf16("--fp8-param-gather"));
  CHECK(tests::effect_of(job, "--fp8-param-gather") == scenarios::Effect::none);
}

}  // namespace megatron_values_spec
