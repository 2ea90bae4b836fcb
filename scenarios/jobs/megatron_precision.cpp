// SPDX-License-Identifier: Apache-2.0
// The precision of a Megatron-LM job's products.
#include <algorithm>
#include <array>

#include "scenarios/jobs/megatron.hpp"

namespace scenarios {

namespace {

constexpr const char *ends_name = "--first-last-layers-bf16",
                     *start_name = "--num-layers-at-start-in-bf16",
                     *end_name = "--num-layers-at-end-in-bf16", *gradient_name = "--no-fp8-wgrad";

// Formats of fp8. Releases of 2023 have a switch for each (from memory).
constexpr std::array<const char*, 3> formats{"--fp8-format", "--fp8-hybrid", "--fp8-e4m3"};

}  // namespace

void read_megatron_bf16(MegatronJob& job, bool delayed, std::int64_t usual, Draft::Names from) {
  const auto& given = job.given;
  auto& draft = job.draft;
  if (delayed && given.has(gradient_name))
    draft.set("training.in_bf16.gradients", job_words({"weights"}), {gradient_name});
  if (!delayed)
    draft.unused(gradient_name, "Transformer Engine takes it with the delayed recipe alone");
  if (delayed && given.has(ends_name)) {
    given.complain(ends_name,
                   "Megatron-Core refuses it with the delayed recipe of fp8; take another, or "
                   "leave this out");
    return;
  }
  const bool said = given.mentioned(ends_name) != nullptr;
  if (said ? !given.has(ends_name) : usual == 0) {
    for (const auto* name : {start_name, end_name})
      draft.unused(name, std::string(ends_name) + (said ? " is off" : " is not given"));
    return;
  }
  constexpr std::int64_t most = 1 << 20;
  const auto all = job.layers > 0 ? job.layers : most;
  const auto layers = [&](const char* name) {
    return std::clamp<std::int64_t>(given.whole(name).value_or(said ? 1 : usual), 0, all);
  };
  const auto first = layers(start_name), last = std::min(layers(end_name), all - first);
  const auto set = [&](std::string_view path, std::int64_t number, const char* name) {
    const auto note = given.whole(name).value_or(number) > number
                          ? "of " + std::to_string(all) + " layers"
                          : std::string();
    if (said)
      draft.whole(path, number, {name, ends_name}, note);
    else if (given.has(name))
      draft.whole(path, number, {name}, note);
    else
      draft.whole(path, number, from, "as the recipe has it");
  };
  set("training.in_bf16.first_layers", first, start_name);
  set("training.in_bf16.last_layers", last, end_name);
}

void read_megatron_precision(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  if (given.has("--bf16") && given.has("--fp16"))
    given.complain("--fp16", "--bf16 is given, too, and Megatron-LM takes one of them");
  const auto format =
      std::ranges::find_if(formats, [&](const char* name) { return given.has(name); });
  if (given.has("--fp4-format")) {
    if (format != formats.end())
      given.complain("--fp4-format",
                     "it excludes " + std::string(*format) + "; leave one of them out");
    draft.text("training.precision", "nvfp4", {"--fp4-format"});
    read_megatron_bf16(job, false, 0);
    return;
  }
  if (format == formats.end()) {
    draft.unused("--fp8-param-gather", "products are not in fp8");
    const char* word = given.has("--bf16") ? "bf16" : given.has("--fp16") ? "fp16" : "fp32";
    draft.text("training.precision", word, {"--bf16", "--fp16"});
    return;
  }
  const auto recipe = given.word_or("--fp8-recipe", "delayed");
  read_megatron_bf16(job, recipe == "delayed", 0);
  if (const auto* kept = "--fp8-param-gather"; given.has(kept))
    draft.yes_no("software.narrow_weights", true, {kept});
  if (recipe == "mxfp8") {
    draft.text("training.precision", "mxfp8", {*format, "--fp8-recipe"});
    return;
  }
  draft.text("training.precision", "fp8", {*format});
  if (recipe == "delayed" || recipe == "tensorwise" || recipe == "blockwise")
    draft.text("training.fp8_recipe", recipe, {"--fp8-recipe"});
  else
    given.refuse("--fp8-recipe", "expected delayed, tensorwise, blockwise or mxfp8");
}

}  // namespace scenarios
