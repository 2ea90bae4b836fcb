// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/launcher.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace scenarios {
namespace {

constexpr std::array<std::string_view, 6> processes{
    "--nproc_per_node", "--num_gpus", "--gpus_per_node", "--ntasks_per_node", "--gres", "--nproc"};
constexpr std::array<std::string_view, 4> machines{"--nnodes", "--num_nodes", "--nodes",
                                                   "--num_machines"};

std::optional<std::int64_t> number_in(std::string_view text) {
  if (const auto colon = text.rfind(':'); colon != text.npos && text.starts_with("gpu"))
    text.remove_prefix(colon + 1);  // --gres gpu:8
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data(), end, number);
  constexpr std::int64_t most = 10'000'000;
  if (wrong != std::errc() || stop != end || number < 1 || number > most) return {};
  return number;
}

// "--nproc_per_node" of "--nproc-per-node".
std::string normal(std::string name) {
  std::replace(std::find_if(name.begin(), name.end(), [](char c) { return c != '-'; }), name.end(),
               '-', '_');
  return name;
}

template <std::size_t N>
const JobArgument* find(std::span<const JobArgument> launcher,
                        const std::array<std::string_view, N>& names) {
  for (const auto name : names)
    for (const auto& argument : launcher) {
      const bool told = argument.values.size() == 1 && argument.values[0].trouble.empty();
      if (normal(argument.name) == name && told && number_in(argument.values[0].text))
        return &argument;
    }
  return nullptr;
}

template <std::size_t N>
bool names(std::span<const JobArgument> launcher, const std::array<std::string_view, N>& any) {
  return std::ranges::any_of(launcher, [&](const JobArgument& argument) {
    return std::ranges::find(any, normal(argument.name)) != any.end();
  });
}

}  // namespace

std::optional<LaunchedGpus> launched_gpus(std::span<const JobArgument> launcher) {
  constexpr std::array<std::string_view, 1> all{"--num_processes"};  // accelerate counts them all
  if (const auto* ranks = find(launcher, all))
    return LaunchedGpus{*number_in(ranks->values[0].text), written(*ranks), ranks->at};
  const auto* each = find(launcher, processes);
  const auto* nodes = find(launcher, machines);
  if (each == nullptr) return {};
  if (nodes == nullptr) {  // torchrun's default, where it runs the processes of a node
    const bool torchrun = each->name.find("nproc") != each->name.npos;
    if (!torchrun || names(launcher, machines)) return {};
    return LaunchedGpus{*number_in(each->values[0].text), written(*each) + " on one node",
                        each->at};
  }
  const auto gpus = *number_in(each->values[0].text) * *number_in(nodes->values[0].text);
  return LaunchedGpus{gpus, written(*each) + ", " + written(*nodes), each->at};
}

std::optional<std::int64_t> world_size_of(std::span<const std::string> env) {
  constexpr std::string_view name = "WORLD_SIZE=";
  for (const auto& one : env)
    if (one.starts_with(name)) return number_in(std::string_view(one).substr(name.size()));
  return {};
}

}  // namespace scenarios
