// SPDX-License-Identifier: Apache-2.0
// The bytes that each choice of kernels changes, for 2-byte elements, s tokens and b sequences.
#include <utility>

#include "model/layer.hpp"
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"

namespace kernel_flags_spec {

using namespace model;
using units::Precision;

namespace {

constexpr double s = 32, b = 2;

Transformer gpt() {
  return {.layers = 1,
          .hidden = 64,
          .heads = 4,
          .kv_heads = 4,
          .head_dim = 16,
          .ffn = 256,
          .vocab = 512,
          .max_sequence = 32};
}
Transformer llama() {
  auto t = gpt();
  t.kv_heads = 2;
  t.activation = Activation::swiglu;
  t.norm = Norm::rmsnorm;
  t.position = Position::rope;
  t.biases = t.qkv_biases = t.tied_embeddings = false;
  t.dropout = 0;
  return t;
}

struct Traffic {
  double forward = 0, backward = 0;
  int kernels = 0;
};

Traffic traffic(const Operators& ops) {
  Traffic sum;
  const auto add = [&](const std::vector<units::Kernel>& kernels, double& to) {
    for (const auto& kernel : kernels) to += kernel.traffic.value;
    sum.kernels += static_cast<int>(kernels.size());
  };
  for (const auto& op : ops) {
    add(op.forward, sum.forward);
    add(op.input_gradient, sum.backward);
    add(op.weight_gradient, sum.backward);
  }
  return sum;
}

// The traffic of one layer that is added without the flag.
Traffic more(const Transformer& t, bool Kernels::*flag) {
  Kernels with{.attention = AttentionKernel::unfused}, without = with;
  with.*flag = true;
  without.*flag = false;
  const auto one = traffic(layer(t, whole(t, 2, 32), without, Precision::bf16));
  const auto other = traffic(layer(t, whole(t, 2, 32), with, Precision::bf16));
  return {one.forward - other.forward, one.backward - other.backward, one.kernels - other.kernels};
}

void check(const Traffic& found, double forward, double backward, int kernels) {
  CHECK(found.forward == forward);
  CHECK(found.backward == backward);
  CHECK(found.kernels == kernels);
}

}  // namespace

TEST_CASE("bias and activation apart pass over the MLP's middle once more each way") {
  check(more(gpt(), &Kernels::fused_bias_activation), s * b * 256 * 4, s * b * 256 * 4, 2);
  check(more(llama(), &Kernels::fused_bias_activation), s * b * 256 * 6, s * b * 256 * 6, 2);
}

TEST_CASE("without biases an MLP that has no gate is fused as it is") {
  auto t = gpt();
  t.biases = false;
  check(more(t, &Kernels::fused_bias_activation), 0, 0, 0);
}

TEST_CASE("a layer norm in steps passes three times more over the tensor, read and written") {
  check(more(gpt(), &Kernels::fused_norm), 2 * 3 * 4 * s * b * 64, 2 * 3 * 6 * s * b * 64, 12);
}

// Forward, the steps move 2 + 4, 4 + 4, 4, 4 + 4, 4 + 2 and 2 + 2 bytes a value, where one kernel
// moves 2 + 2. Backward they move 2 + 2, 2 + 4, 4 + 4, 4 + 4 + 4, 4 + 4, 4 + 4 + 4 and 4 + 2, where
// one moves 6, and for the weight 2 + 2 + 2 and 2, where one moves 4. A layer has two norms.
TEST_CASE("an RMS norm in steps computes in fp32, kernel by kernel") {
  check(more(llama(), &Kernels::fused_norm), 2 * (36 - 4) * s * b * 64,
        2 * (56 - 6 + 8 - 4) * s * b * 64, 2 * (6 - 1 + 7 - 1 + 2 - 1));
}

TEST_CASE("a rotation in steps passes three times more over queries and keys") {
  check(more(gpt(), &Kernels::fused_rotary), 0, 0, 0);  // has learned positions
  check(more(llama(), &Kernels::fused_rotary), 3 * 4 * s * b * (64 + 32), 3 * 4 * s * b * (64 + 32),
        6);
}

// Each further product reads the common input forward and for its weight's gradient, and writes an
// input gradient, which is added to the others: 2 bytes read, 2 written, 2 + 2 read and 2 written,
// 2 read. Queries, keys and values are two products more, the second half of a gated MLP is one.
TEST_CASE("projections apart read their input each, and sum up its gradients") {
  check(more(gpt(), &Kernels::joined_projections), 2 * 2 * s * b * 64, 2 * 10 * s * b * 64, 2 * 4);
  check(more(llama(), &Kernels::joined_projections), 3 * 2 * s * b * 64, 3 * 10 * s * b * 64,
        3 * 4);
}

// Two of four heads have keys and values of 32 values a token each; repeated they have 64. A copy
// of each reads 2 · 32 and writes 2 · 64 bytes; backward sums move as many. Unfused attention
// writes and reads gradients of 64 + 64 values where it had 32 + 32.
TEST_CASE("keys and values repeated for every query head are copied, and kept as copies") {
  check(more(gpt(), &Kernels::repeats_kv), 0, 0, 0);  // every head of queries has its own
  const double copies = 2 * 2 * (32 + 64) * s * b;
  check(more(llama(), &Kernels::repeats_kv), -copies, -copies - 2 * 2 * 64 * s * b, -2 * 2);
  const auto kept = [&](bool repeats) {
    double bytes = 0;
    const auto t = llama();
    for (const auto& op : layer(t, whole(t, 2, 32), {.repeats_kv = repeats}, Precision::bf16))
      for (const auto& tensor : op.kept) bytes += tensor.size.value;
    return bytes;
  };
  CHECK(kept(true) - kept(false) == 2 * (64 + 64 - 32 - 32) * s * b);
}

TEST_CASE("bias and dropout apart from the residual sum pass over it once more each") {
  // Bias moves 2 + 2 bytes, dropout 2 + 2 + mask 1, and the sum 2 + 2 + 2; together they move 6 +
  // mask 1.
  check(more(gpt(), &Kernels::fused_bias_dropout_add), 2 * (15 - 7) * s * b * 64, 0, 4);
  check(more(llama(), &Kernels::fused_bias_dropout_add), 0, 0, 0);  // has only the sum
}

TEST_CASE("scale and mask apart from the softmax pass over the scores") {
  // Each of three passes reads and writes 2as²b elements; one kernel reads half of them, the causal
  // ones.
  const double scores = 4 * s * s * b;
  check(more(gpt(), &Kernels::fused_softmax), (12 - 3) * scores, 8 * scores, 4);
}

TEST_CASE("a softmax of its own kernel computes in fp32 where it is told to, and keeps that") {
  // Scale and mask pass over two bytes a score each way; casts read 2 and write 4, or the other way
  // round; the softmax reads and writes 4. Backward the casts are the same, the softmax reads 4 + 4
  // and writes 4, the scale passes over 2 + 2. In 16 bit alone it is 4 each, and 6, 4 and 4.
  const auto t = gpt();
  const Kernels single{.attention = AttentionKernel::unfused, .fused_softmax = false};
  auto wide = single, fused = single;
  wide.softmax_in_fp32 = fused.softmax_in_fp32 = fused.fused_softmax = true;
  const auto cost = [&](const Kernels& kernels, Precision precision) {
    return traffic(layer(t, whole(t, 2, 32), kernels, precision));
  };
  const double scores = 4 * s * s * b;
  const auto one = cost(single, Precision::bf16), other = cost(wide, Precision::bf16);
  CHECK(other.forward - one.forward == (28 - 12) * scores);
  CHECK(other.backward - one.backward == (28 - 14) * scores);
  CHECK(other.kernels == one.kernels + 3);
  CHECK(cost(wide, Precision::fp32).forward == cost(single, Precision::fp32).forward);
  fused.softmax_in_fp32 = false;
  auto told = fused;
  told.softmax_in_fp32 = true;
  CHECK(cost(told, Precision::bf16).forward == cost(fused, Precision::bf16).forward);
  const auto kept = [&](const Kernels& kernels) {
    double bytes = 0;
    for (const auto& op : layer(t, whole(t, 2, 32), kernels, Precision::bf16))
      for (const auto& tensor : op.kept) bytes += tensor.size.value;
    return bytes;
  };
  CHECK(kept(wide) - kept(single) == 4 * scores);
  const auto gradients = [&](const Kernels& kernels) {
    double bytes = 0;
    for (const auto& op : layer(t, whole(t, 2, 32), kernels, Precision::bf16))
      if (op.name == "softmax")
        for (const auto& gradient : op.gradients) bytes += gradient.value;
    return bytes;
  };
  CHECK(gradients(single) == 2 * scores);
  CHECK(gradients(wide) == 6 * scores);
}

TEST_CASE("gradients accumulated apart are written, and read again with the fp32 sum") {
  // Inside the product fp32 is read and written; apart from it 2 bytes are written, then 2 + 4 read
  // and 4 written.
  const double weights = 4 * 64 * 64 + 2 * 64 * 256;
  check(more(gpt(), &Kernels::fused_gradient_accumulation), 0, (2 + 10 - 8) * weights, 4);
}

TEST_CASE("gradients summed up in 16 bit first are summed, cast, added and zeroed, one by one") {
  // The four matrices take 2 + 2 + 2, 2 + 4, 4 + 4 + 4 and 2 bytes a value instead of 2 + 4 + 4.
  Kernels apart{.fused_gradient_accumulation = false}, staged = apart;
  staged.staged_gradient_accumulation = true;
  const auto t = gpt();
  const auto one = traffic(layer(t, whole(t, 2, 32), apart, Precision::bf16));
  const auto other = traffic(layer(t, whole(t, 2, 32), staged, Precision::bf16));
  const double weights = 4 * 64 * 64 + 2 * 64 * 256;
  CHECK(other.forward == one.forward);
  CHECK(other.backward - one.backward == (26 - 10) * weights);
  CHECK(other.kernels - one.kernels == 3 * 4);
}

TEST_CASE("sums of gradients in 16 bit are read and written in half the bytes of fp32") {
  const auto t = gpt();
  Kernels wide, narrow;
  wide.fused_gradient_accumulation = narrow.fused_gradient_accumulation = GENERATE(true, false);
  narrow.gradient_bytes = 2;
  const auto moved = [&](const Kernels& kernels) {
    return traffic(layer(t, whole(t, 2, 32), kernels, Precision::bf16)).backward;
  };
  const double weights = 4 * 64 * 64 + 2 * 64 * 256;
  CHECK(moved(wide) - moved(narrow) == 2 * 2 * weights);
}

TEST_CASE("cross entropy in one kernel reads and writes logits once each way, in 16 bit") {
  const auto t = gpt();
  Kernels fused, steps;
  fused.fused_cross_entropy = true;
  const auto extent = whole(t, 2, 32);
  const auto one = traffic(head(t, extent, fused, Precision::bf16));
  const auto many = traffic(head(t, extent, steps, Precision::bf16));
  const double logits = s * b * 512;
  CHECK(many.forward - one.forward == (6 + 4 + 8 + 8 + 4 + 8 - 4) * logits);
  CHECK(many.backward - one.backward == (8 + 6 - 4) * logits);
  CHECK(kept_bytes(head(t, extent, steps, Precision::bf16)).value -
            kept_bytes(head(t, extent, fused, Precision::bf16)).value ==
        2 * logits);
}

TEST_CASE("in place, cross entropy holds no copy of its fp32 logits beside those that are kept") {
  Kernels beside, in_place;
  in_place.cross_entropy_in_place = true;
  const auto loss = [&](const Kernels& kernels) {
    return head(gpt(), whole(gpt(), 2, 32), kernels, Precision::bf16).back();
  };
  const double logits = s * b * 512;
  CHECK((loss(in_place).largest + loss(in_place).read).value == 2 * logits);
  CHECK((loss(beside).largest + loss(beside).read).value == (2 + 4) * logits);
  CHECK(loss(in_place).kept.front().size == loss(beside).kept.front().size);
  CHECK(loss(in_place).forward == loss(beside).forward);
}

TEST_CASE("compiled, cross entropy holds the 16-bit logits, and then their gradients: 4 bytes") {
  Kernels steps, compiled;
  compiled.compiled_cross_entropy = true;
  const auto loss = [&](const Kernels& kernels) {
    return head(gpt(), whole(gpt(), 2, 32), kernels, Precision::bf16).back();
  };
  const double logits = s * b * 512;
  CHECK(loss(compiled).largest.value == 0);
  CHECK(loss(compiled).kept.front().size.value == 2 * logits);
  CHECK(small_models::total(loss(compiled).gradients) == 2 * logits);
  CHECK(loss(steps).kept.front().size.value + small_models::total(loss(steps).gradients) ==
        12 * logits);
  CHECK(loss(compiled).forward == loss(steps).forward);
}

TEST_CASE("a compiled step in place writes gradients of logits over the logits: 2 bytes in all") {
  Kernels kernels{.compiled_cross_entropy = true, .gradients_in_place = true};
  const auto ops = head(gpt(), whole(gpt(), 2, 32), kernels, Precision::bf16);
  const double logits = s * b * 512, input = s * b * 64;
  CHECK(ops.back().kept.front().size.value == 2 * logits);
  CHECK(small_models::total(ops.back().gradients) == 0);
  CHECK(small_models::total(ops[1].gradients) == 2 * logits + 2 * input);
  kernels.compiled_cross_entropy = false;  // steps of their own do not know each other's tensors
  CHECK(small_models::total(
            head(gpt(), whole(gpt(), 2, 32), kernels, Precision::bf16).back().gradients) ==
        8 * logits);
}

TEST_CASE("gradients of a gated activation take 6 bytes a value, in place 4, of another 4 and 2") {
  const auto [gated, in_place, bytes] = GENERATE(table<bool, bool, double>(
      {{true, false, 6}, {true, true, 4}, {false, false, 4}, {false, true, 2}}));
  const auto transformer = gated ? llama() : gpt();
  const Kernels kernels{.gradients_in_place = in_place};
  const auto ops = layer(transformer, whole(transformer, 2, 32), kernels, Precision::bf16);
  const auto activation = std::ranges::find(ops, std::string_view("activation"), &Operator::name);
  REQUIRE(activation != ops.end());
  CHECK(small_models::total(activation->gradients) ==
        bytes * s * b * static_cast<double>(transformer.ffn));
}

TEST_CASE(
    "cross entropy holds 6 bytes a logit each way in place, else 10 forward and 12 backward") {
  const auto alive = [&](bool in_place) {
    const Kernels kernels{.cross_entropy_in_place = in_place};
    const auto loss = head(gpt(), whole(gpt(), 2, 32), kernels, Precision::bf16).back();
    const auto kept = loss.kept.front().size;
    return std::pair{(kept + loss.largest + loss.read).value,
                     kept.value + small_models::total(gradient_tensors(loss))};
  };
  const double logits = s * b * 512;
  CHECK(alive(true) == std::pair{6 * logits, 6 * logits});
  CHECK(alive(false) == std::pair{10 * logits, 12 * logits});
}

TEST_CASE("kernel by kernel a gated activation keeps the activated half too, 2 bytes a value") {
  const Kernels one{.fused_bias_activation = true}, many{.fused_bias_activation = false};
  const auto kept = [&](const Transformer& t, const Kernels& kernels) {
    return kept_bytes(layer(t, whole(t, 2, 32), kernels, Precision::bf16)).value;
  };
  CHECK(kept(llama(), many) - kept(llama(), one) == 2 * s * b * 256);
  CHECK(kept(gpt(), many) == kept(gpt(), one));
}

TEST_CASE("fused kernels of attention keep and move the same, whichever they are") {
  const auto t = llama();
  const auto made = [&](AttentionKernel kernel) {
    return layer(t, whole(t, 2, 32), {.attention = kernel}, Precision::bf16);
  };
  const auto flash2 = made(AttentionKernel::flash);
  for (const auto kernel :
       {AttentionKernel::flash_1, AttentionKernel::flash_3, AttentionKernel::memory_efficient}) {
    const auto other = made(kernel);
    CHECK(kept_bytes(other).value == kept_bytes(flash2).value);
    CHECK(traffic(other).forward == traffic(flash2).forward);
    CHECK(traffic(other).backward == traffic(flash2).backward);
  }
}

TEST_CASE("fewer key and value heads move and keep fewer bytes: MHA, GQA, MQA") {
  const auto with = [&](std::int64_t kv_heads) {
    auto t = llama();
    t.kv_heads = kv_heads;
    return layer(t, whole(t, 2, 32), {}, Precision::bf16);
  };
  const auto mha = with(4), gqa = with(2), mqa = with(1);
  const double head = s * b * 16 * 2;  // bytes of keys or values of one head
  CHECK(kept_bytes(mha).value - kept_bytes(gqa).value == 2 * 2 * head);
  CHECK(kept_bytes(gqa).value - kept_bytes(mqa).value == 2 * head);
  CHECK(parameters(mha) - parameters(mqa) == 2 * 3 * 64 * 16);
  CHECK(traffic(mha).forward > traffic(gqa).forward);
  CHECK(traffic(gqa).forward > traffic(mqa).forward);
}

namespace {

// The bytes that `kernels` add to a layer's traffic, and to the bytes that it keeps.
struct Added {
  Traffic moved;
  double kept;
};
Added added(const Transformer& t, const Kernels& to, const Kernels& kernels,
            Precision precision = Precision::bf16) {
  const auto without = layer(t, whole(t, 2, 32), to, precision);
  const auto with = layer(t, whole(t, 2, 32), kernels, precision);
  const auto one = traffic(with), other = traffic(without);
  return {{one.forward - other.forward, one.backward - other.backward, one.kernels - other.kernels},
          kept_bytes(with).value - kept_bytes(without).value};
}

constexpr double values = s * b * 64, weights = 4 * 64 * 64 + 2 * 64 * 256;

}  // namespace

TEST_CASE("autocast keeps norms and sums in fp32 and casts what products read") {
  Kernels plain, casts;
  casts.autocast = true;
  const auto more = added(gpt(), plain, casts);
  // Forward: two norms 4 + 4 instead of 2 + 2; casts of two inputs and of four matrices, 4 + 2; two
  // sums 2 + 4 + 4 instead of 2 + 2 + 2. Backward: norms 4 + 4 + 4 for 2 + 2 + 2, the same for the
  // residual's gradient, 4 + 4 for 2 + 2 for the weight; casts of two gradients to fp32 and of two
  // branches' to 16 bit; gradients of matrices written in 16 bit, cast, and added in fp32, which is
  // 2 + 6 + 12 for 4 + 4 in the product.
  check(more.moved, (2 * 4 + 2 * 6 + 2 * 4) * values + 6 * weights,
        (2 * (6 + 6 + 4) + 2 * 6 + 2 * 6) * values + (20 - 8) * weights, 6 + 2 + 2 + 2 * 4);
  CHECK(more.kept == 2 * 2 * values);  // the inputs of both norms
  // In fp32 there is nothing to cast.
  check(added(gpt(), plain, casts, Precision::fp32).moved, 0, 0, 0);
}

TEST_CASE("a compiler joins autocast's casts of values to norms and sums") {
  Kernels plain, joined;
  joined.autocast = joined.joins_casts = true;
  const auto more = added(gpt(), plain, joined);
  // Norms write 16 bit, and read gradients in 16 bit. Matrices are cast all the same.
  check(more.moved, (2 * 2 + 2 * 4) * values + 6 * weights,
        2 * (4 + 6 + 2) * values + (20 - 8) * weights, 4 + 2 * 4);
}

TEST_CASE("under autocast each of several products casts its input anew, and keeps that") {
  Kernels one, apart;
  one.autocast = apart.autocast = true;
  apart.joined_projections = false;
  const auto more = added(gpt(), one, apart);
  // Queries, keys and values: two products more, each with a cast each way, 2 more bytes read
  // forward; backward 2 + 2 of the products, and 4 + 4 + 4 for the sum of gradients. Three
  // products, a sum and two casts each.
  check(more.moved, 2 * (6 + 2) * values, 2 * (6 + 4 + 12) * values, 2 * 6);
  CHECK(more.kept == 2 * 2 * values);
}

TEST_CASE("autocast computes a softmax of its own kernel in fp32") {
  Kernels wide{.attention = AttentionKernel::unfused, .fused_softmax = false};
  wide.softmax_in_fp32 = true;
  auto casts = wide;
  casts.autocast = true;
  auto told = casts;
  told.softmax_in_fp32 = false;
  check(added(gpt(), casts, told).moved, 0, 0, 0);
}

TEST_CASE("GELU in steps takes eight kernels forward and eleven backward") {
  Kernels plain, steps;
  steps.gelu_in_steps = true;
  const double middle = s * b * 256;
  const auto more = added(gpt(), plain, steps);
  // Six of the eight read and write 2 bytes, and two read two operands; one kernel moves 2 + 2.
  // Five of the eleven move 2 + 2 bytes and six 2 + 2 + 2, where one kernel moves 2 + 2 + 2.
  check(more.moved, (6 * 4 + 2 * 6 - 4) * middle, (5 * 4 + 6 * 6 - 6) * middle, 7 + 10);
  CHECK(more.kept == 3 * 2 * middle);
  check(added(llama(), plain, steps).moved, 0, 0, 0);  // has no GELU
}

}  // namespace kernel_flags_spec
