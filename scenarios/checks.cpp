// SPDX-License-Identifier: Apache-2.0
// Whether the parts of a scenario fit together.
#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string>

#include "scenarios/document.hpp"
#include "scenarios/scenario_file.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;
using strategies::ScheduleKind;

std::string digits(std::int64_t number) { return std::to_string(number); }

// One check's way to complain of a key, or of the mapping that lacks it.
class Judge {
 public:
  Judge(const Value& document, Reading& reading) : document_(document), reading_(reading) {}

  void complain(const std::string& section, const std::string& key, const std::string& text) const {
    const Value* place = &document_;
    std::string path;
    for (const auto& step : {section, key}) {
      const auto* next = place->find(step);
      path += (path.empty() ? "" : ".") + step;
      if (next == nullptr) break;
      place = next;
    }
    reading_.complain(*place, {{}, section + "." + key + ": " + text});
  }
  // Whether all that a check looks at could be read.
  bool knows(std::initializer_list<std::string_view> paths) const {
    return std::ranges::none_of(paths, [&](auto path) { return reading_.doubtful(path); });
  }
  bool given(const std::string& section, const std::string& key) const {
    const auto* outer = document_.find(section);
    return outer != nullptr && outer->find(key) != nullptr;
  }

 private:
  const Value& document_;
  Reading& reading_;
};

// The divisors of both numbers nearest to `wanted`, in words.
std::string divisors_near(std::int64_t wanted, std::int64_t of) {
  std::int64_t below = 1, above = of;
  for (std::int64_t d = 1; d <= std::min<std::int64_t>(of, 65'536); ++d) {
    if (of % d != 0) continue;
    if (d < wanted) below = d;
    if (d > wanted && d < above) above = d;
  }
  return below == above ? digits(below) : digits(below) + " or " + digits(above);
}

void check_tensor(const Scenario& s, const Judge& judge) {
  const auto t = s.plan.tensor;
  if (!judge.knows({"plan.tensor", "model.heads", "model.kv_heads"})) return;
  if (s.model.heads % t != 0)
    judge.complain("plan", "tensor",
                   digits(t) + " does not divide " + digits(s.model.heads) +
                       " heads: each rank computes whole heads; write a divisor, such as " +
                       divisors_near(t, s.model.heads));
  else if (s.model.kv_heads % t != 0 && t % s.model.kv_heads != 0)
    judge.complain("plan", "tensor",
                   digits(t) + " and " + digits(s.model.kv_heads) +
                       " kv_heads do not divide each other: key and value heads are split or "
                       "copied whole; write a divisor or a multiple");
  if (judge.knows({"model.ffn", "model.hidden", "model.activation"}) && s.model.ffn % t != 0)
    judge.complain("plan", "tensor",
                   digits(t) + " does not divide ffn " + digits(s.model.ffn) +
                       ": each rank computes an equal share of the MLP");
  if (judge.knows({"training.sequence_length"}) && s.plan.sequence_parallel && t > 1 &&
      s.training.sequence_length % t != 0)
    judge.complain("plan", "sequence_parallel",
                   "tensor " + digits(t) + " does not divide sequence_length " +
                       digits(s.training.sequence_length) +
                       ": each rank keeps an equal share of the sequence");
}

// The degrees make up the cluster; false if what follows would be nonsense.
bool check_degrees(const Scenario& s, bool data_given, const Judge& judge) {
  const auto& plan = s.plan;
  if (!judge.knows({"plan.tensor", "plan.pipeline", "plan.data", "plan.context", "cluster"}))
    return false;
  const auto gpus = s.cluster.gpus, held = plan.tensor * plan.pipeline;
  const std::string blamed = judge.given("plan", "pipeline") ? "pipeline" : "tensor";
  const auto product = "tensor " + digits(plan.tensor) + " x pipeline " + digits(plan.pipeline);
  if (gpus % held != 0) {
    judge.complain("plan", blamed,
                   product + " = " + digits(held) + " does not divide " + digits(gpus) +
                       " GPUs: every replica takes that many");
    return false;
  }
  if (data_given && held * plan.data != gpus) {
    judge.complain("plan", "data",
                   product + " x data " + digits(plan.data) + " = " + digits(held * plan.data) +
                       ", but the cluster has " + digits(gpus) +
                       " GPUs; write data: " + digits(gpus / held) + " or leave it out");
    return false;
  }
  return true;
}

void check_batch(const Scenario& s, const Judge& judge) {
  if (!judge.knows({"plan.micro_batch", "training.global_batch"})) return;
  const auto step = s.plan.micro_batch * s.plan.data;
  const auto batch = s.training.global_batch;
  const auto product = "micro_batch " + digits(s.plan.micro_batch) + " x data " +
                       digits(s.plan.data) + " = " + digits(step);
  if (batch % step != 0) {
    const auto lower = batch / step * step;
    judge.complain("training", "global_batch",
                   digits(batch) + " is not divisible by " + product +
                       ": every replica runs whole microbatches; write " +
                       (lower > 0 ? digits(lower) + " or " : "") + digits(lower + step));
    return;
  }
  constexpr std::int64_t most = 1'000'000;
  if (batch / step > most)
    judge.complain("training", "global_batch",
                   digits(batch) + " over " + product + " makes " + digits(batch / step) +
                       " microbatches; expected at most " + digits(most));
}

void check_stages(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  if (!judge.knows({"plan.pipeline", "plan.virtual_stages", "plan.schedule"})) return;
  const auto chunks = plan.pipeline * plan.virtual_stages;
  if (plan.virtual_stages > 1 && plan.schedule != ScheduleKind::interleaved)
    judge.complain("plan", "virtual_stages",
                   digits(plan.virtual_stages) +
                       " needs schedule: interleaved, the only one that "
                       "runs several chunks per rank; write 1 or change the schedule");
  if (!judge.knows({"plan.layers_per_stage", "model.layers"})) return;
  const auto& given = plan.layers_per_stage;
  if (given.empty()) {
    if (s.model.layers < chunks)
      judge.complain("plan", judge.given("plan", "pipeline") ? "pipeline" : "virtual_stages",
                     digits(plan.pipeline) + " ranks x " + digits(plan.virtual_stages) +
                         " virtual stages = " + digits(chunks) + " stages for " +
                         digits(s.model.layers) +
                         " layers: each needs one; empty stages are written in layers_per_stage");
    return;
  }
  const auto sum = std::accumulate(given.begin(), given.end(), std::int64_t{0});
  if (static_cast<std::int64_t>(given.size()) != chunks)
    judge.complain("plan", "layers_per_stage",
                   digits(static_cast<std::int64_t>(given.size())) +
                       " entries; expected one per virtual stage: pipeline " +
                       digits(plan.pipeline) + " x virtual_stages " + digits(plan.virtual_stages) +
                       " = " + digits(chunks));
  else if (sum != s.model.layers)
    judge.complain("plan", "layers_per_stage",
                   "the entries sum to " + digits(sum) + ", but the model has " +
                       digits(s.model.layers) + " layers");
}

void check_recompute(const Scenario& s, const Judge& judge) {
  if (s.plan.recompute.kind != strategies::Recompute::Kind::full_layers) return;
  if (!judge.knows({"plan.recompute", "model.layers"})) return;
  if (s.plan.recompute.layers > s.model.layers)
    judge.complain("plan", "recompute",
                   "full_layers " + digits(s.plan.recompute.layers) + " is more than the " +
                       digits(s.model.layers) + " layers of the model");
}

void check_device(const Scenario& s, const Judge& judge) {
  if (!judge.knows({"cluster.node", "training.precision"})) return;
  for (std::size_t kind = 0; kind < s.cluster.kinds(); ++kind) {
    const auto& device = s.cluster.kind(kind).device;
    if (device.peak_of(s.training.precision).value > 0) continue;
    std::string able;
    for (std::size_t i = 0; i < device.peak.size(); ++i)
      if (device.peak[i].value > 0)
        (able += able.empty() ? "" : ", ") += units::to_text(static_cast<units::Precision>(i));
    judge.complain("training", "precision",
                   device.name + " has no rate for " +
                       std::string(units::to_text(s.training.precision)) + "; it has " + able);
  }
}

}  // namespace

void check_scenario(const Scenario& scenario, bool data_given, const Value& document,
                    Reading& reading) {
  const Judge judge(document, reading);
  check_tensor(scenario, judge);
  if (check_degrees(scenario, data_given, judge)) check_batch(scenario, judge);
  check_stages(scenario, judge);
  check_recompute(scenario, judge);
  check_device(scenario, judge);
}

std::vector<std::string> warnings(const Scenario& s) {
  std::vector<std::string> all;
  if (s.training.sequence_length > s.model.max_sequence)
    all.push_back(
        "training.sequence_length " + digits(s.training.sequence_length) +
        " is beyond the model's max_sequence " + digits(s.model.max_sequence) +
        (s.model.position == model::Position::learned ? "; learned positions are extended" : ""));
  if (s.plan.sequence_parallel && s.plan.tensor == 1)
    all.push_back("plan.sequence_parallel has no effect with tensor 1");
  return all;
}

}  // namespace scenarios
