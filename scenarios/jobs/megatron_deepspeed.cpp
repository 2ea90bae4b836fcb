// SPDX-License-Identifier: Apache-2.0
// DeepSpeed's engine under Megatron-DeepSpeed. By its derived defaults (deepspeed @edaa7221)
// gradients of bf16 accumulate in fp32 under the stages 0 and 1, and in bf16 under 2 and 3, unless
// data_types.grad_accum_dtype says otherwise; that a stage 1 which offloads is another optimizer's
// is from memory.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/megatron.hpp"

namespace scenarios {
namespace {

constexpr const char *stage_flag = "--zero-stage", *file_flag = "--deepspeed_config",
                     *stage_key = "zero_optimization.stage", *old_stage_key = "zero_optimization",
                     *sums_key = "data_types.grad_accum_dtype",
                     *offload_key = "zero_optimization.offload_optimizer.device",
                     *old_offload_key = "zero_optimization.cpu_offload";

// Whether the arguments hold the keys of DeepSpeed's file, too.
bool has_file(const Given& given) { return given.table().find(stage_key) != nullptr; }

bool says_stage(const Given& given) {
  return has_file(given) && (given.has(stage_key) || given.has(old_stage_key));
}

// Returns the stage of --set plan.zero=N, which stands for that of a file that is not there.
std::optional<std::int64_t> stage_over(const Draft& draft) {
  const auto found = draft.over().values.find("plan.zero");
  if (found == draft.over().values.end()) return {};
  const auto& text = found->second;
  std::int64_t stage = 0;
  const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), stage);
  return wrong == std::errc() && stop == text.data() + text.size() ? std::optional(stage)
                                                                   : std::nullopt;
}

// Complains of a number of DeepSpeed's file that the flag contradicts, unless `key` lies over both,
// or the job is being changed.
void check_number(const MegatronJob& job, const char* name, const char* flag, const char* key) {
  const auto& given = job.given;
  const auto& over = job.draft.over();
  if (!given.has(name) || !given.has(flag) || over.changes || over.values.contains(key)) return;
  if (given.word_or(name, "") == "auto") return;
  const auto of_file = given.number(name);
  const auto of_flag = given.whole(flag);
  if (of_file && of_flag && *of_file != static_cast<double>(*of_flag))
    given.complain(name, std::string(flag) + " is " + std::to_string(*of_flag) +
                             ", by which the script loads data, and DeepSpeed counts by its file; "
                             "write the same");
}

void check_precision(const MegatronJob& job, const char* name, const char* flag) {
  const auto& given = job.given;
  if (!given.has(name) || given.word_or(name, "") == "auto") return;
  if (given.yes(name) && given.has(flag) && !job.draft.over().values.contains("training.precision"))
    given.complain(name, std::string(flag) + " asks for another precision; write the same");
}

}  // namespace

std::optional<std::int64_t> megatron_engine_stage(const MegatronJob& job) {
  const auto& given = job.given;
  if (says_stage(given)) return deepspeed_stage(given);
  if (given.has(stage_flag)) return std::min<std::int64_t>(3, given.whole_or(stage_flag, 0));
  if (given.has(file_flag) && !has_file(given)) return stage_over(job.draft);
  return 0;
}

bool takes_bf16_optimizer(const MegatronJob& job) {
  const auto& given = job.given;
  if (!job.fork || !given.has("--bf16")) return false;
  const auto stage = job.engine_stage.value_or(0);
  if (stage != 1 || !has_file(given)) return stage <= 1;
  const bool offloads = given.word_or(offload_key, "none") != "none" || given.yes(old_offload_key);
  return given.word_or(sums_key, "fp32") == "fp32" && !offloads;
}

int read_megatron_engine_zero(MegatronJob& job) {
  auto& draft = job.draft;
  if (!job.engine_stage) {
    draft.want("plan.zero", "the ZeRO stage stands in DeepSpeed's file; add --set plan.zero=N",
               {file_flag});
    return 0;
  }
  const auto stage = *job.engine_stage;
  const bool divides = stage == 0 && job.given.has("--deepspeed") && takes_bf16_optimizer(job);
  const auto* says = !says_stage(job.given)         ? stage_flag
                     : job.given.has(old_stage_key) ? old_stage_key
                                                    : stage_key;
  if (divides)
    draft.whole("plan.zero", 1, {"--bf16", says},
                "DeepSpeed's optimizer of bf16 divides its states over replicas");
  else
    draft.whole("plan.zero", stage, {says});
  return divides ? 1 : static_cast<int>(stage);
}

void read_megatron_engine_defaults(MegatronJob& job) {
  if (!job.fork || has_file(job.given)) return;
  if (job.given.has(file_flag))
    job.draft.partly(
        file_flag,
        "the file is not there; the forecast has DeepSpeed's defaults where it may say "
        "more: overlap, buckets and offloading");
  if (job.engine_stage != 3) return;
  for (const auto* key : {"plan.overlap.data", "plan.overlap.parameters"})
    job.draft.yes_no(key, true, {stage_flag, file_flag}, "DeepSpeed's default with stage 3");
}

void read_megatron_engine_file(MegatronJob& job) {
  if (has_file(job.given)) {
    check_number(job, "train_micro_batch_size_per_gpu", "--micro-batch-size", "plan.micro_batch");
    check_number(job, "train_batch_size", "--global-batch-size", "training.global_batch");
    check_precision(job, "fp16.enabled", "--bf16");
    check_precision(job, "bf16.enabled", "--fp16");
  }
  if (says_stage(job.given))
    read_zero_optimization(job.given, job.draft, job.engine_stage.value_or(0));
  read_gradient_type(job.given, job.draft);
}

}  // namespace scenarios
