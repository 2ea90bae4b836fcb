// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_companions.hpp"

#include <algorithm>
#include <array>

#include "report/launch/launch_megatron.hpp"
#include "report/launch/script_edit.hpp"

namespace report {
namespace {

using scenarios::JobScenario;

// --- Megatron-LM

// Arguments that mean nothing, or are refused, without Megatron-FSDP.
constexpr std::array<std::string_view, 11> of_fsdp_alone{
    "--outer-dp-sharding-strategy",
    "--init-model-with-meta-device",
    "--fsdp-double-buffer",
    "--fsdp-db-use-persist-buf-on-alloc-fail",
    "--fsdp-manual-registration",
    "--keep-fp8-transpose-cache-when-using-custom-fsdp",
    "--megatron-fsdp-enable-fine-grained-param-gather",
    "--megatron-fsdp-grad-comm-dtype",
    "--megatron-fsdp-main-grads-dtype",
    "--megatron-fsdp-main-params-dtype",
    "--megatron-fsdp-max-pool-double-buffer"};

bool has_megatron_fsdp(const JobScenario& job) {
  return gives(job, "--use-megatron-fsdp") || gives(job, "--use-custom-fsdp");
}

std::vector<JobEdit> megatron_companions(const JobStep& step, const SpelledArgument& given,
                                         const SpelledArgument& wanted) {
  std::vector<JobEdit> edits;
  const bool fsdp = has_megatron_fsdp(step.now);
  if (fsdp == has_megatron_fsdp(step.was)) return edits;
  constexpr const char* format = "--ckpt-format";
  if (fsdp) {
    edits.push_back({"--use-megatron-fsdp", ""});  // beside which a new one comes
    edits.push_back({format, wanted(format)});
    return edits;
  }
  if (given(format).value_or("") == "fsdp_dtensor") edits.push_back({format, {}});
  for (const auto name : of_fsdp_alone)
    if (gives(step.now, name)) edits.push_back({std::string(name), {}});
  return edits;
}

megatron::Queues queues_of(const JobScenario& job) {
  const auto divided = [&](const char* key) {
    const auto* plan = job.document.find("plan");
    const auto* degree = plan == nullptr ? nullptr : plan->find(key);
    return degree != nullptr && degree->text != "1";
  };
  return megatron::queues_for(divided("tensor") || divided("context"), has_megatron_fsdp(job));
}

// --- torchtitan

// The local batch of a pipeline is its microbatches of a step, whatever the micro-batch is.
std::vector<JobEdit> titan_companions(const JobStep& step, const SpelledArgument& given,
                                      const SpelledArgument& wanted) {
  constexpr const char *local = "training.local_batch_size", *older = "training.batch_size";
  constexpr const char* usual = "8";
  if (step.scenario.plan.pipeline == 1) return {};
  const auto batch = wanted(local);
  const auto said = given(older) ? given(older) : given(local);
  if (said.value_or(usual) == batch) return {};
  return {{local, batch}, {older, {}}};
}

// --- nanotron

// Communication under products is refused where sums are not scattered.
std::vector<JobEdit> nanotron_companions(const SpelledArgument& given,
                                         const SpelledArgument& wanted) {
  constexpr const char* under = "parallelism.tp_linear_async_communication";
  if (given(under).value_or("false") == "false" ||
      given("parallelism.tp_mode").value_or("ALL_REDUCE") != "ALL_REDUCE")
    return {};
  return {{under, wanted(under)}};
}

}  // namespace

bool gives(const JobScenario& job, std::string_view name) {
  return std::ranges::any_of(job.account.arguments, [&](const auto& one) {
    return std::string_view(one.text).substr(0, one.text.find(' ')) == name;
  });
}

std::vector<JobEdit> companion_edits(const JobStep& step, Framework framework,
                                     const SpelledArgument& given, const SpelledArgument& wanted) {
  switch (framework) {
    case Framework::megatron:
      return megatron_companions(step, given, wanted);
    case Framework::torchtitan:
      return titan_companions(step, given, wanted);
    case Framework::nanotron:
      return nanotron_companions(given, wanted);
    case Framework::deepspeed:
      break;
  }
  return {};
}

std::string change_queues(std::string& text, const JobStep& step) {
  using megatron::Queues;
  const auto queues = queues_of(step.now);
  if (queues == Queues::any || queues == queues_of(step.was)) return {};
  const bool one = queues == Queues::one;
  bool set = false, told = true;
  for (const auto& at : assignments_of(text, "CUDA_DEVICE_MAX_CONNECTIONS")) {
    const auto value = text.substr(at.begin, at.end - at.begin);
    const bool number = !value.empty() && value.find_first_not_of("0123456789") == value.npos;
    set = true;
    told = told && number;
    if (number && (value == "1") != one) text.replace(at.begin, at.end - at.begin, one ? "1" : "8");
  }
  if (told && (set || !one)) return {};
  return one ? "CUDA_DEVICE_MAX_CONNECTIONS: before Blackwell Megatron-LM starts with tensor or "
               "context parallelism only where it is 1"
             : "CUDA_DEVICE_MAX_CONNECTIONS: Megatron-FSDP does not start where it is 1";
}

}  // namespace report
