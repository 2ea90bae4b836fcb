// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/bodies.hpp"

#include <algorithm>

#include "strategies/activity.hpp"

namespace strategies {

Pieces written(const Cast& cast, std::size_t writer, const Segment& segment, Pass pass,
               const PassVariant& how) {
  auto pieces = pass == Pass::forward ? cast.writers[writer]->forward(segment, how.slowdown)
                                      : cast.writers[writer]->backward(segment, pass, how.slowdown);
  auto& first = pieces.front().body;
  first.drains = !how.second_of_pair && cast.stages() > 1 && cast.job.software.pipeline_sync;
  if (how.memory) {
    first.held = how.memory->held;
    first.peak = how.memory->peak;
  }
  return pieces;
}

Bodies::Bodies(const Cast& cast, sim::Program& program)
    : cast_(cast), program_(program), whole_(cast.writers.size() * cast.blocks.size()) {}

const WrittenPass& Bodies::pass(std::size_t writer, const Segment& segment, Pass pass,
                                const PassVariant& how) {
  const auto& blocks = cast_.blocks;
  if (how != PassVariant{} || &segment < blocks.data() || &segment >= blocks.data() + blocks.size())
    return any_pass(writer, segment, pass, how);
  const auto v = static_cast<std::size_t>(&segment - blocks.data());
  auto& found = whole_[writer * blocks.size() + v][static_cast<std::size_t>(pass)];
  if (found == nullptr) found = &any_pass(writer, segment, pass, how);
  return *found;
}

const WrittenPass& Bodies::any_pass(std::size_t writer, const Segment& segment, Pass pass,
                                    const PassVariant& how) {
  auto [found, fresh] = passes_.try_emplace({writer, segment, pass, how});
  if (!fresh) return found->second;
  for (auto& piece : written(cast_, writer, segment, pass, how))
    found->second.push_back(
        {program_.add_template(std::move(piece.body)), piece.waits_for, piece.then});
  return found->second;
}

PassMemory Bodies::pair_memory(std::size_t writer, const Segment& ahead, const Segment& back) {
  auto [found, fresh] = pairs_.try_emplace({writer, &ahead, &back});
  if (fresh) found->second = cast_.writers[writer]->pair_memory(ahead, back);
  return found->second;
}

sim::TemplateId Bodies::packing(double bytes, bool forward, const Gpu& gpu) {
  auto [body, fresh] = packing_.try_emplace({bytes, forward, gpu});
  if (fresh) {
    const auto& software = cast_.job.software;
    const units::Kernel kernel{.kind = units::Kernel::Kind::stream, .traffic = {bytes}};
    body->second = program_.add_template(
        {.steps = {{.activity = data_comm,
                    .issue = to_ticks(cast_.costs.by_host(forward ? software.launch_forward
                                                                  : software.launch_backward)),
                    .duration = to_ticks(cast_.costs.kernel(kernel, gpu))}}});
  }
  return body->second;
}

}  // namespace strategies
