// SPDX-License-Identifier: Apache-2.0
// Names of arguments: megatron/arguments.py of microsoft/Megatron-DeepSpeed, and its examples.
#include "report/launch/launch_fork.hpp"

#include <algorithm>
#include <array>

#include "report/launch/job_companions.hpp"

namespace report {
namespace {

using scenarios::JobScenario;

// Arguments of Megatron-LM that only its own releases have.
constexpr std::array<std::string_view, 22> of_megatron_alone{
    "--context-parallel-size",
    "--cp-comm-type",
    "--expert-model-parallel-size",
    "--expert-tensor-parallel-size",
    "--use-tp-pp-dp-mapping",
    "--use-distributed-optimizer",
    "--num-distributed-optimizer-instances",
    "--use-megatron-fsdp",
    "--data-parallel-sharding-strategy",
    "--ckpt-format",
    "--suggested-communication-unit-size",
    "--ddp-bucket-size",
    "--overlap-grad-reduce",
    "--overlap-param-gather",
    "--overlap-moe-expert-parallel-comm",
    "--pipeline-model-parallel-layout",
    "--num-virtual-stages-per-pipeline-rank",
    "--microbatch-group-size-per-virtual-pipeline-stage",
    "--optimizer-cpu-offload",
    "--use-precision-aware-optimizer",
    "--main-grads-dtype",
    "--main-params-dtype"};

constexpr std::array<std::string_view, 4> of_recomputation{
    "--recompute-granularity", "--recompute-method", "--recompute-num-layers",
    "--recompute-modules"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// A launch file: its lines, one argument each, without the backslashes that join them.
struct LaunchLines {
  std::vector<std::string> lines;

  explicit LaunchLines(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const auto end = std::min(text.find('\n', begin), text.size());
      auto line = text.substr(begin, end - begin);
      if (line.ends_with(" \\")) line.remove_suffix(2);
      lines.emplace_back(line);
      begin = end + 1;
    }
  }

  static std::string_view name_in(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return line.substr(0, line.find(' '));
  }

  // Returns the value of the argument; empty: it has none, or is not there.
  std::string value_of(std::string_view name) const {
    for (const auto& line : lines)
      if (name_in(line) == name)
        return line.rfind(' ') < line.find(name) ? std::string() : line.substr(line.rfind(' ') + 1);
    return {};
  }

  void add(const std::string& argument) { lines.push_back("  " + argument); }

  std::string text() const {
    std::string all;
    for (const auto& line : lines) {
      const bool joined = line.starts_with("  ");
      if (!all.empty()) all += joined ? " \\\n" : "\n";
      all += line;
    }
    return all + "\n";
  }
};

void add_recomputation(LaunchLines& launch, const LaunchLines& megatron) {
  const bool whole = megatron.value_of("--recompute-granularity") == "full" &&
                     megatron.value_of("--recompute-method") == "uniform";
  if (!whole) return;
  launch.add("--checkpoint-activations");
  if (const auto row = megatron.value_of("--recompute-num-layers"); !row.empty() && row != "1")
    launch.add("--checkpoint-num-layers " + row);
}

}  // namespace

std::string in_words_of_fork(std::string_view megatron, const forecast::Scenario& scenario,
                             const JobScenario& job) {
  const auto& plan = scenario.plan;
  const LaunchLines all(megatron);
  const bool newer = gives(job, "--recompute-granularity");
  auto launch = all;
  std::erase_if(launch.lines, [&](const std::string& line) {
    const auto name = LaunchLines::name_in(line);
    return is_one_of(of_megatron_alone, name) || (!newer && is_one_of(of_recomputation, name));
  });
  if (plan.context > 1 && plan.context_method == strategies::ContextMethod::ulysses)
    launch.add("--ds-sequence-parallel-size " + std::to_string(plan.context));
  if (scenario.model.moe) {
    launch.add("--moe-expert-parallel-size " + std::to_string(plan.expert));
    if (plan.tensor > 1 && strategies::expert_tensor(plan) == plan.tensor)
      launch.add("--enable-expert-tensor-parallelism");
  }
  if (!newer) add_recomputation(launch, all);
  const bool in_file = gives(job, "--deepspeed_config") && !gives(job, "--zero-stage");
  if (in_file)
    launch.add("--deepspeed_config ds_config.json");
  else
    launch.add("--zero-stage " + std::to_string(plan.zero));
  if (gives(job, "--deepspeed")) launch.add("--deepspeed");
  if (plan.offload.optimizer != strategies::Offload::Tier::none) launch.add("--cpu-optimizer");
  return launch.text();
}

void complete_fork_edits(std::vector<JobEdit>& edits, const forecast::Scenario& scenario,
                         const JobScenario& job) {
  const auto* own = "--deepspeed-activation-checkpointing";
  const auto found = std::ranges::find(edits, "--checkpoint-activations", &JobEdit::name);
  if (found != edits.end() && gives(job, "--deepspeed")) {
    const JobEdit beside{own, found->value};
    edits.push_back(beside);
  }
  if (scenario.plan.pipeline > 1 && gives(job, "--no-pipeline-parallel"))
    edits.push_back({"--no-pipeline-parallel", {}});
}

}  // namespace report
