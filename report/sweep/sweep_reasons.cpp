// SPDX-License-Identifier: Apache-2.0
// The reasons why no point of a sweep is fine, and what would help.
#include <fmt/format.h>

#include <algorithm>

#include "report/sweep/sweep.hpp"
#include "report/terminal.hpp"

namespace report {
namespace {

constexpr std::size_t most_reasons = 4;

// Returns the reason with each number replaced by '#', so that reasons that differ in numbers alone
// become equal.
std::string less_digits(const std::string& reason) {
  std::string text;
  for (const char c : reason)
    if (c < '0' || c > '9')
      text += c;
    else if (!text.ends_with('#'))
      text += '#';
  return text;
}

std::string help_words(const NothingOk& why) {
  const auto& status = why.reasons.front().status;
  if (status == "does-not-fit" && !why.has_plan)
    return "a plan that is left out divides nothing but the batch, keeps all states on every GPU "
           "(ZeRO 0) and recomputes nothing: write mode: search, which finds a plan for every "
           "point, or give base.plan, such as {tensor: 8, zero: 1, recompute: full}";
  if (status == "does-not-fit")
    return "write mode: search, which finds plans that fit; or vary plan.zero, plan.recompute, "
           "plan.tensor or cluster.nodes further";
  if (status == "no-plan")
    return "loosen search:, or vary cluster.nodes or training.global_batch further";
  if (why.reasons.size() == 1)
    return "all points have this mistake, so mend the base (--set base.KEY=VALUE, or its file) or "
           "the axis that brings it into all of them";
  return "mend the base where a mistake is in all points, and leave impossible combinations out "
         "with only_if";
}

}  // namespace

void ReasonCounts::add(const std::string& status, const std::string& reason) {
  auto& one =
      counts_.try_emplace({status, less_digits(reason)}, NothingOk::Reason{status, reason, 0})
          .first->second;
  ++one.points;
}

std::vector<NothingOk::Reason> ReasonCounts::most_first() const {
  std::vector<NothingOk::Reason> all;
  for (const auto& [key, reason] : counts_) all.push_back(reason);
  std::ranges::stable_sort(all, std::ranges::greater{}, &NothingOk::Reason::points);
  return all;
}

std::vector<std::string> nothing_ok_words(const NothingOk& why,
                                          const std::vector<std::string>& axis_names) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < why.reasons.size() && i < most_reasons; ++i) {
    const auto& [status, example, points] = why.reasons[i];
    lines.push_back(fmt::format("{} {}{}", grouped_count(points), status,
                                example.empty() ? "" : ", such as: " + example));
  }
  if (why.reasons.size() > most_reasons)
    lines.push_back(fmt::format("and {} other reasons", why.reasons.size() - most_reasons));
  if (why.closest && !why.closest->axes.empty())
    lines.push_back(fmt::format("the closest is {}: {}", place_words(axis_names, why.closest->axes),
                                why.closest->reason));
  lines.push_back("what would help: " + help_words(why));
  return lines;
}

}  // namespace report
