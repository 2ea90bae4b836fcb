// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_companions.hpp"

#include <algorithm>
#include <array>
#include <locale>
#include <sstream>
#include <utility>

#include "report/launch/launch_megatron.hpp"
#include "report/launch/script_edit.hpp"
#include "report/launch/text_lines.hpp"
#include "strategies/job.hpp"

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

// An argument, and the plans with which Megatron-LM starts where it is given. Conditions are those
// of validate_args in megatron/training/arguments.py and of TransformerConfig; from memory:
// those of the distributed optimizer's own options.
struct Condition {
  std::string_view name;
  bool (*holds)(const strategies::Plan& plan);
};

bool recomputes_layers(const strategies::Plan& plan) {
  using enum strategies::Recompute::Kind;
  const auto kind = plan.recompute.kind;
  return kind == full || kind == full_layers || kind == per_op;
}

bool divides_states(const strategies::Plan& plan) { return plan.zero > 0; }

bool scatters_sums(const strategies::Plan& plan) {
  return plan.tensor > 1 && plan.sequence_parallel;
}

bool spreads_inputs(const strategies::Plan& plan) {
  return recomputes_layers(plan) && plan.tensor > 1 && !plan.sequence_parallel;
}

bool exchanges_beside(const strategies::Plan& plan) {
  return !recomputes_layers(plan) && (plan.pipeline == 1 || plan.virtual_stages > 1);
}

bool offloads_layers(const strategies::Plan& plan) {
  return plan.pipeline == 1 && plan.recompute.kind == strategies::Recompute::Kind::none;
}

constexpr std::array<Condition, 16> conditions{
    {{"--tp-comm-overlap", scatters_sums},
     {"--distribute-saved-activations", spreads_inputs},
     {"--distribute-checkpointed-activations", spreads_inputs},
     {"--overlap-moe-expert-parallel-comm", exchanges_beside},
     {"--cpu-offloading-num-layers", offloads_layers},
     {"--overlap-param-gather", divides_states},
     {"--overlap-param-gather-with-optimizer-step", divides_states},
     {"--num-distributed-optimizer-instances", divides_states},
     {"--fp8-param-gather", divides_states},
     {"--reuse-grad-buf-for-mxfp8-param-ag", divides_states},
     {"--optimizer-cpu-offload", divides_states},
     {"--use-precision-aware-optimizer", divides_states},
     {"--main-grads-dtype", divides_states},
     {"--main-params-dtype", divides_states},
     {"--exp-avg-dtype", divides_states},
     {"--exp-avg-sq-dtype", divides_states}}};

// Groups of microbatches on several chunks of a rank are no fewer than the pipeline's ranks.
void fit_groups(const strategies::Plan& plan, const SpelledArgument& given,
                const SpelledArgument& wanted, std::vector<JobEdit>& edits) {
  const std::string name = "--microbatch-group-size-per-virtual-pipeline-stage";
  const auto there = given(name), better = wanted(name);
  if (better && there != better) edits.push_back({name, better});
  if (better || !there || plan.virtual_stages == 1) return;
  const bool number = is_number(*there);
  if (number && there->size() < 10 && std::stoll(*there) < plan.pipeline)
    edits.push_back({name, {}});
}

// The product of the sizes of groups that exchange heads and pass keys on is the context degree.
void fit_context_groups(const strategies::Plan& plan, const SpelledArgument& given,
                        const SpelledArgument& wanted, std::vector<JobEdit>& edits) {
  const std::string name = "--hierarchical-context-parallel-sizes", method = "--cp-comm-type";
  const auto sizes = given(name);
  if (!sizes) return;
  std::int64_t product = 1, size = 0;
  std::istringstream in(*sizes);
  in.imbue(std::locale::classic());
  while (in >> size) product *= size;
  if (product == plan.context) return;
  edits.push_back({name, {}});
  if (given(method) == "a2a+p2p") edits.push_back({method, wanted(method)});
}

megatron::Queues queues_of(const JobScenario& job) {
  const auto divided = [&](const char* key) {
    const auto* plan = job.document.find("plan");
    const auto* degree = plan == nullptr ? nullptr : plan->find(key);
    return degree != nullptr && degree->text != "1";
  };
  const bool eased =
      gives(job, "--use-torch-fsdp2") || gives(job, "--overlap-moe-expert-parallel-comm");
  return megatron::queues_for(divided("tensor") || divided("context"), has_megatron_fsdp(job),
                              eased);
}

// Returns the number, or the one that holds where a variable has no value, "${NAME:-1}"; empty:
// neither is one.
std::string_view number_or_default(std::string_view value) {
  const auto dash = value.find('-');
  if (value.starts_with("${") && value.ends_with('}') && dash != value.npos)
    value = value.substr(dash + 1, value.size() - dash - 2);
  return is_number(value) ? value : std::string_view();
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

std::vector<JobEdit> fitting_edits(const JobScenario& job, const strategies::Plan& plan,
                                   const SpelledArgument& given, const SpelledArgument& wanted) {
  std::vector<JobEdit> edits;
  for (const auto& one : conditions)
    if (gives(job, one.name) && !one.holds(plan)) edits.push_back({std::string(one.name), {}});
  fit_groups(plan, given, wanted, edits);
  fit_context_groups(plan, given, wanted, edits);
  const std::string on_host = "--optimizer-cpu-offload", aware = "--use-precision-aware-optimizer";
  if (wanted(on_host) && !gives(job, on_host) && !gives(job, aware)) edits.push_back({aware, ""});
  return edits;
}

std::vector<JobEdit> deepspeed_batch_edits(const forecast::Scenario& scenario,
                                           const SpelledArgument& given) {
  const auto& plan = scenario.plan;
  const std::array<std::pair<const char*, std::int64_t>, 3> sizes{
      {{"train_batch_size", scenario.training.global_batch},
       {"train_micro_batch_size_per_gpu", plan.micro_batch},
       {"gradient_accumulation_steps", strategies::microbatches_of(plan, scenario.training)}}};
  std::vector<JobEdit> edits;
  for (const auto& [name, size] : sizes) {
    const auto there = given(name);
    const auto value = std::to_string(size);
    if (there && is_number(*there) && there != value) edits.push_back({name, value});
  }
  return edits;
}

std::string change_queues(std::string& text, const std::set<std::string>& beside,
                          const JobStep& step) {
  using megatron::Queues;
  const auto queues = queues_of(step.now);
  if (queues == Queues::any || queues == queues_of(step.was)) return {};
  const bool one = queues == Queues::one;
  bool set = false, told = true;
  const auto judge = [&](std::string_view value) {
    const auto number = number_or_default(value);
    set = true;
    told = told && !number.empty() && (number == "1") == one;
  };
  constexpr const char* name = "CUDA_DEVICE_MAX_CONNECTIONS";
  for (const auto& at : assignments_of(text, name)) {
    const auto value = text.substr(at.begin, at.end - at.begin);
    const auto fits = one ? "1" : "8";
    const bool changes = is_number(value) && (value == "1") != one;
    if (changes) text.replace(at.begin, at.end - at.begin, fits);
    judge(changes ? fits : value);
  }
  for (const auto& other : beside)
    for (const auto& at : assignments_of(other, name))
      judge(std::string_view(other).substr(at.begin, at.end - at.begin));
  if (told && (set || !one)) return {};
  return one ? "CUDA_DEVICE_MAX_CONNECTIONS: before Blackwell Megatron-LM starts with tensor or "
               "context parallelism only where it is 1"
             : "CUDA_DEVICE_MAX_CONNECTIONS: Megatron-FSDP does not start where it is 1";
}

}  // namespace report
