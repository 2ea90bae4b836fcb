// SPDX-License-Identifier: Apache-2.0
// The LM head and its loss, part by part of the tokens.
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"

namespace loss_parts_spec {

using namespace model;
using namespace small_models;
using units::Kernel;

namespace {

// Llama's head over a vocabulary of 100, 64 wide, of 16 tokens.
Operators in_parts(std::int64_t parts, Kernels kernels = {}) {
  kernels.loss_chunks = parts;
  return head(llama(), whole(llama(), 1, 16), kernels, bf16);
}

double flops(const Operators& operators) {
  double sum = 0;
  for (const auto& op : operators)
    for (const auto* pass : {&op.forward, &op.input_gradient, &op.weight_gradient})
      for (const auto& kernel : *pass) sum += kernel.flops.value;
  return sum;
}

LossParts parts_of(std::int64_t tokens, std::int64_t chunks) {
  return loss_parts(llama(), whole(llama(), 1, tokens), {.loss_chunks = chunks});
}

}  // namespace

TEST_CASE("head and loss over parts of the tokens compute as much, in as many products of each") {
  const auto whole_head = in_parts(1), four = in_parts(4);
  CHECK(flops(four) == flops(whole_head));
  const auto& product = named(four, "LM head");
  CHECK(product.forward.size() == 4);
  CHECK(product.forward.front().m == 4);
  CHECK(product.parameters == named(whole_head, "LM head").parameters);
  CHECK(product.exchanged == named(whole_head, "LM head").exchanged);
  // Each part adds to the whole gradient of the weights, 4 bytes read and written.
  const auto sums = [](const Operators& ops) {
    double bytes = 0;
    for (const auto& kernel : named(ops, "LM head").weight_gradient) bytes += kernel.traffic.value;
    return bytes;
  };
  CHECK(sums(four) == sums(whole_head) + 3 * 8 * (64 * 100));
}

// Fused, a loss has its logits once in 16 bit, or their gradient.
TEST_CASE("of head and loss in parts the input is kept, and no logits") {
  const auto whole_head = in_parts(1, {.fused_cross_entropy = true}),
             four = in_parts(4, {.fused_cross_entropy = true});
  CHECK(kept(whole_head) - kept(four) == 2 * 16 * 100);
  const auto& loss = named(four, "cross entropy");
  CHECK(loss.kept.empty());
  CHECK((loss.largest + loss.read).value ==
        2 * (2 * 4 * 100));  // logits of four tokens, and their gradient
  CHECK(total(gradient_tensors(loss)) == 2 * (2 * 4 * 100));
  // The gradient of the input grows part by part beside the gradient of a part's logits.
  CHECK(total(gradient_tensors(named(four, "LM head"))) == 2 * 16 * 64 + 2 * 4 * 100);
}

TEST_CASE("parts are equal but for the last, and no more than there are tokens") {
  CHECK(parts_of(16, 4).tokens == 4);
  CHECK(parts_of(16, 4).count == 4);
  CHECK(parts_of(10, 4).tokens == 3);  // 3, 3, 3 and 1
  CHECK(parts_of(10, 4).count == 4);
  CHECK(parts_of(9, 4).count == 3);  // 3 each
  CHECK(parts_of(3, 8).count == 3);
  CHECK(parts_of(16, 1).count == 1);
  const auto ten = head(llama(), whole(llama(), 1, 10), {.loss_chunks = 4}, bf16);
  CHECK(named(ten, "LM head").forward.back().m == 1);
  CHECK(flops(ten) == flops(head(llama(), whole(llama(), 1, 10), {}, bf16)));
}

TEST_CASE("Liger has as many parts as the vocabulary is wider than the model") {
  CHECK(parts_of(16, Kernels::by_width).count == 2);  // 100 over 64
  auto t = llama();
  t.vocab = 64;
  CHECK(loss_parts(t, whole(t, 1, 16), {.loss_chunks = Kernels::by_width}).count == 1);
}

}  // namespace loss_parts_spec
