// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "report/question_text.hpp"
#include "report/search/search_parts.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using forecast::PartTime;
using search::Resource;
using search::Why;
using units::Seconds;

constexpr std::size_t most_parts = 5;
constexpr double least_share = 0.0005;  // less is shown as 0.0 %

std::string signed_text(Seconds time) {
  return (time.value < 0 ? "-" : "+") + units::short_text(Seconds{std::abs(time.value)});
}

// The largest parts of a step, as shares of it.
std::string shares_words(const std::vector<PartTime>& parts, Seconds step) {
  std::string text;
  std::size_t shown = 0;
  double rest = 1;
  for (const auto& [part, time] : parts) {
    const double share = time / step;
    if (shown == most_parts || share < least_share) break;
    text += fmt::format("{}{} {}", shown++ > 0 ? ", " : "", facts_of(part).words, percent(share));
    rest -= share;
  }
  return text + (rest >= least_share ? fmt::format(", the rest {}", percent(rest)) : "");
}

std::string runner_words(const search::Answer& answer, const Why& why) {
  if (!why.runner) return "there is no plan of other degrees to compare with";
  const auto& [rank, slower, losses] = *why.runner;
  const auto step = answer.plans.front().forecast.step.time;
  std::string text =
      (rank < answer.plans.size() ? fmt::format("plan {}", rank + 1) : "the next plan") +
      fmt::format(" is {} slower", units::short_text(slower));
  std::size_t shown = 0;
  Seconds rest = slower;
  for (const auto& [part, time] : losses) {
    if (shown == most_parts || std::abs(time / step) < least_share) break;
    text +=
        fmt::format("{} {} {}", shown++ > 0 ? "," : ":", facts_of(part).words, signed_text(time));
    rest -= time;
  }
  if (shown > 0 && std::abs(rest / step) >= least_share) text += ", the rest " + signed_text(rest);
  return text;
}

std::string_view resource_name(Resource resource, bool nvlink) {
  switch (resource) {
    case Resource::flops:
      return "flops";
    case Resource::memory_bandwidth:
      return "memory bandwidth";
    case Resource::node_links:
      return nvlink ? "NVLink" : "PCIe";
    case Resource::network:
      return "network";
  }
  return {};
}

// "6.1 % faster", "0.2 % slower", "no change".
std::string change_words(double faster) {
  if (std::abs(faster) < least_share) return "no change";
  return percent(std::abs(faster)) + (faster > 0 ? " faster" : " slower");
}

std::string helps_words(const search::Question& question, const Why& why) {
  const bool nvlink = question.scenario.cluster.node.nvlink.kind != topology::NvLink::Kind::none;
  std::string text;
  for (const auto& [resource, gain, share] : why.helps)
    text += fmt::format("{}{}: {}{}", text.empty() ? "10 % more " : ", ",
                        resource_name(resource, nvlink), change_words(share),
                        std::abs(share) < least_share ? "" : " (" + signed_text(-1 * gain) + ")");
  return text;
}

std::string memory_words(const search::MemoryChange& one, Seconds step) {
  return one.time ? change_words((step - *one.time) / step) : "nothing fits";
}

// Neighbouring tenths that gain the same are shown as one.
std::string rooms_words(const search::Answer& answer, const Why& why) {
  if (why.memory_changes.empty()) return "not looked at, as the search was stopped";
  const auto step = answer.plans.front().forecast.step.time;
  const auto& memory_changes = why.memory_changes;
  std::string text = "among plans near these, ";
  const auto prefix = text.size();
  for (std::size_t first = 0, last = 0; first < memory_changes.size(); first = last) {
    const bool more = memory_changes[first].change > 0;
    const auto said = memory_words(memory_changes[first], step);
    while (last < memory_changes.size() && (memory_changes[last].change > 0) == more &&
           memory_words(memory_changes[last], step) == said)
      ++last;
    const auto tenths = [&](std::size_t i) {
      return std::lround(std::abs(memory_changes[i].change) * 100);
    };
    const auto low = std::min(tenths(first), tenths(last - 1));
    const auto high = std::max(tenths(first), tenths(last - 1));
    text += text.size() == prefix ? "" : ", ";
    text += low == high ? fmt::format("{} %", low) : fmt::format("{} to {} %", low, high);
    text += fmt::format(" {}: {}", more ? "more" : "less", said);
  }
  return text;
}

}  // namespace

std::vector<WhyEntry> why_entries(const search::Question& question, const search::Answer& answer,
                                  const Why& why) {
  const auto step = answer.plans.front().forecast.step.time;
  return {{"bounded by", "on the critical path " + shares_words(why.path, step)},
          {"spent on", "by the rank that ends last " + shares_words(why.exposed, step)},
          {"next best", runner_words(answer, why)},
          {"helps most", helps_words(question, why)},
          {"memory", rooms_words(answer, why)}};
}

std::string why_text(const search::Question& question, const search::Answer& answer, const Why& why,
                     const TextOptions& options) {
  auto text = heading("Why", options);
  for (const auto& [name, words] : why_entries(question, answer, why))
    text += item(name, words, options);
  return text;
}

Document why_document(const Why& why) {
  Document runner = nullptr, helps = Document::array(), memory_changes = Document::array();
  if (why.runner)
    runner = Object()
                 .put("rank", why.runner->rank + 1)
                 .quantity("slower_s", why.runner->slower)
                 .put("losses", parts_document(why.runner->losses))
                 .take();
  static constexpr std::pair<Resource, const char*> names[] = {
      {Resource::flops, "flops"},
      {Resource::memory_bandwidth, "memory_bandwidth"},
      {Resource::node_links, "node_links"},
      {Resource::network, "network"}};
  for (const auto& help : why.helps)
    helps.push_back(Object()
                        .put("resource", std::ranges::find(names, help.resource,
                                                           &std::pair<Resource, const char*>::first)
                                             ->second)
                        .number("more", 0.1)
                        .quantity("gain_s", help.gain)
                        .number("gain", help.share)
                        .take());
  for (const auto& one : why.memory_changes)
    memory_changes.push_back(
        Object().number("more", one.change).optional("step_time_s", one.time).take());
  return Object()
      .put("critical_path", parts_document(why.path))
      .put("time", parts_document(why.exposed))
      .put("next_best", std::move(runner))
      .put("resources", std::move(helps))
      .put("memory", std::move(memory_changes))
      .take();
}

}  // namespace report
