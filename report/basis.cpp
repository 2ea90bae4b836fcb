// SPDX-License-Identifier: Apache-2.0
#include "report/basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "report/terminal.hpp"
#include "report/words.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using strategies::CostQuery;
using topology::Evidence;
using units::Kernel;

constexpr std::size_t most_shown = 3;
constexpr int share_width = 10;  // columns before a command

std::string pass_of(const Kernel& kernel) {
  if (kernel.layout == Kernel::Layout::forward) return "forward";
  if (kernel.kind == Kernel::Kind::attention) return "backward";
  return kernel.layout == Kernel::Layout::input_gradient ? "input_gradient" : "weight_gradient";
}

std::string with_spaces(std::string word) {
  std::ranges::replace(word, '_', ' ');
  return word;
}

std::string attention_words(const Kernel& kernel) {
  const auto tokens = kernel.m == kernel.n ? fmt::format("{}", kernel.m)
                                           : fmt::format("{} x {}", kernel.m, kernel.n);
  return fmt::format("{} {}attention over {} tokens, heads of {}", pass_of(kernel),
                     kernel.causal ? "causal " : "", tokens, kernel.k);
}

std::string product_words(const Kernel& kernel) {
  const auto copies = kernel.batch == 1 ? std::string()
                      : kernel.grouped  ? fmt::format("{} experts of ", kernel.batch)
                                        : fmt::format("{} times ", kernel.batch);
  return fmt::format("{} product, {}{} x {} x {}, in {}", with_spaces(pass_of(kernel)), copies,
                     kernel.m, kernel.n, kernel.k, units::to_text(kernel.precision));
}

std::string product_command(const Kernel& kernel) {
  const bool narrow = units::element_bytes(kernel.precision) < 2;
  const bool fp8 = kernel.precision == units::Precision::fp8;
  const bool forward = kernel.layout == Kernel::Layout::forward && kernel.batch == 1;
  if (narrow && !(fp8 && forward)) return {};
  return fmt::format("tools/measure_kernels.py --product {},{},{},{},{}{}", pass_of(kernel),
                     kernel.batch, kernel.m, kernel.n, kernel.k, fp8 ? ",fp8" : "");
}

std::string attention_command(const Kernel& kernel) {
  if (kernel.m != kernel.n) return {};
  return fmt::format("tools/measure_kernels.py --attention {},{},{},{}", pass_of(kernel), kernel.m,
                     kernel.k, kernel.causal ? 1 : 0);
}

std::string collective_command(const CostQuery& question) {
  if (question.stands_in) return {};  // a dispatcher's kernels are none of NCCL's
  const auto& group = question.group;
  const auto name = question.collective == topology::Collective::all_to_all
                        ? std::string("alltoall")
                        : std::string(topology::to_text(question.collective));
  const auto bytes = static_cast<std::int64_t>(std::llround(question.size.value));
  return fmt::format("mpirun -np {} -N {} {}_perf -b {} -e {}", group.ranks, group.most_per_node,
                     name, bytes, bytes);
}

units::Seconds seconds_of(std::int64_t picoseconds) {
  return {static_cast<double>(picoseconds) * 1e-12};
}

constexpr std::array<const char*, topology::evidences> evidence_keys{"measured_s", "interpolated_s",
                                                                     "scaled_s", "physics_s"};

Object& add_evidence(Object& object, const forecast::ByEvidence& of) {
  for (std::size_t i = 0; i < of.size(); ++i) object.quantity(evidence_keys[i], seconds_of(of[i]));
  return object;
}

std::string share_text(std::int64_t picoseconds, const forecast::Forecast& forecast) {
  return percent(seconds_of(picoseconds) / forecast.step.time);
}

}  // namespace

std::string what_of(const CostQuery& question) {
  if (question.kernel)
    return question.kernel->kind == Kernel::Kind::attention ? attention_words(*question.kernel)
                                                            : product_words(*question.kernel);
  return fmt::format("{} of {} among {} GPUs on {} node{}",
                     with_spaces(std::string(topology::to_text(question.collective))),
                     units::short_text(question.size), question.group.ranks, question.group.nodes,
                     question.group.nodes == 1 ? "" : "s");
}

std::string command_of(const forecast::Wanted& wanted) {
  const auto& question = wanted.question;
  if (!question.kernel) return collective_command(question);
  return question.kernel->kind == Kernel::Kind::attention ? attention_command(*question.kernel)
                                                          : product_command(*question.kernel);
}

std::string basis_line(const forecast::Forecast& forecast, const TextOptions& options) {
  if (!forecast.basis || !(forecast.step.time.value > 0)) return {};
  const auto total = forecast.basis->total();
  std::string text;
  for (std::size_t i = 0; i < total.size(); ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", share_text(total[i], forecast),
                        word(static_cast<Evidence>(i)));
  return item("rests on", text, options);
}

std::string measurements_text(const forecast::Forecast& forecast, const TextOptions& options) {
  if (!forecast.basis || forecast.basis->wanted.empty()) return {};
  std::string text =
      heading("Measurements that would narrow the forecast most (share of the step)", options);
  const auto& wanted = forecast.basis->wanted;
  for (std::size_t i = 0; i < std::min(most_shown, wanted.size()); ++i) {
    const auto command = command_of(wanted[i]);
    const auto what =
        command.empty() ? what_of(wanted[i].question) + ": no tool here measures it" : command;
    const int width = width_of(options);
    const bool fits = command.empty() || share_width + columns(what) <= width;
    auto lines = wrapped(what, share_width, fits ? width : width - 2);
    // A command for a shell continues over line ends with backslashes.
    for (auto at = lines.find('\n'); !fits && at + 1 < lines.size(); at = lines.find('\n', at + 3))
      lines.replace(at, 1, " \\\n");
    text += "  " + right(share_text(wanted[i].time_ps, forecast), share_width - 4) + "  " +
            lines.substr(share_width);
  }
  return text;
}

Document basis_document(const forecast::Basis& basis) {
  Document kinds = Document::array(), measurements = Document::array();
  for (std::size_t kind = 0; kind < basis.of.size(); ++kind) {
    const auto& of = basis.of[kind];
    if (std::ranges::all_of(of, [](auto time) { return time == 0; })) continue;
    Object object;
    object.put("kind", std::string(forecast::to_text(static_cast<forecast::Priced>(kind))));
    kinds.push_back(add_evidence(object, of).take());
  }
  for (const auto& one : basis.wanted) {
    const auto command = command_of(one);
    measurements.push_back(Object()
                               .put("kind", std::string(forecast::to_text(one.kind)))
                               .put("evidence", std::string(word(one.evidence)))
                               .quantity("seconds", seconds_of(one.time_ps))
                               .put("what", what_of(one.question))
                               .put("command", command.empty() ? Document() : Document(command))
                               .take());
  }
  Object object;
  return add_evidence(object, basis.total())
      .put("kinds", std::move(kinds))
      .put("measurements", std::move(measurements))
      .take();
}

}  // namespace report
