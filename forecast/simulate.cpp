// SPDX-License-Identifier: Apache-2.0
// Scenario → lowered program → trace → measures → forecast.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "forecast/causes.hpp"
#include "forecast/costs.hpp"
#include "forecast/expert_ranks.hpp"
#include "forecast/forecast.hpp"
#include "forecast/gpu_times.hpp"
#include "forecast/link_samples.hpp"
#include "forecast/memory.hpp"
#include "forecast/path_basis.hpp"
#include "forecast/spent_parts.hpp"
#include "forecast/warnings.hpp"
#include "plans/expert_loads.hpp"
#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/refusal.hpp"
#include "sim/contention.hpp"
#include "sim/engine.hpp"
#include "sim/measures.hpp"
#include "strategies/activity.hpp"
#include "strategies/checkpoints.hpp"
#include "strategies/flops.hpp"
#include "strategies/lowering/lower.hpp"
#include "topology/collective.hpp"

namespace forecast {

using units::Seconds;

namespace {

// A step as it was played.
struct PlayedStep {
  strategies::Lowered lowered;
  sim::Trace trace;
  sim::Measures measures;                     // of the whole step
  std::optional<sim::Recurrence> recurrence;  // of what the program leaves out

  const sim::Recurrence* left_out() const { return recurrence ? &*recurrence : nullptr; }
};

Seconds seconds_of(sim::Picoseconds ticks) { return {static_cast<double>(ticks) * 1e-12}; }

// Returns the peak rate of the average GPU.
units::FlopsPerSecond peak_of(const topology::Cluster& cluster, units::Precision precision) {
  if (cluster.others.empty()) return cluster.node.device.peak_of(precision);
  units::FlopsPerSecond sum;
  for (std::int64_t gpu = 0; gpu < cluster.gpus; ++gpu)
    sum += cluster.node_of(gpu).device.peak_of(precision);
  return sum / static_cast<double>(cluster.gpus);
}

Step step_of(const Scenario& scenario, const strategies::Lowered& lowered,
             const sim::Measures& measures) {
  const auto& training = scenario.training;
  const auto gpus = static_cast<double>(scenario.cluster.gpus);
  Step step;
  step.time = step.time_low = step.time_high = seconds_of(measures.length);
  step.tokens = training.step_tokens();
  step.useful_tokens = training.useful_tokens();
  step.tokens_per_second = step.tokens / step.time.value;
  step.tokens_per_second_per_gpu = step.tokens_per_second / gpus;
  step.model_flops = model::model_flops(scenario.model, static_cast<double>(training.global_batch),
                                        training.sequence_length);
  if (scenario.model.moe) {
    step.dropped = strategies::dropped_copies(*scenario.model.moe, training.routing);
    step.model_flops -=
        step.dropped * model::routed_flops(scenario.model,
                                           static_cast<double>(training.global_batch),
                                           training.sequence_length);
  }
  step.flops_per_gpu = step.model_flops / step.time / gpus;
  step.mfu = step.flops_per_gpu / peak_of(scenario.cluster, training.precision);
  step.microbatches = lowered.microbatches;
  return step;
}

// Returns the flops of all recomputation in the whole step.
units::Flops recomputed_flops(const Scenario& scenario) {
  const auto& plan = scenario.plan;
  const strategies::Share share{scenario.model, plan, scenario.training, scenario.software};
  double of_rank = 0, one = 0;
  strategies::Block known;  // `one` is of this
  for (const auto& blocks : strategies::blocks_of(scenario.model, scenario.training, plan,
                                                  scenario.software.keep_sent_outputs)) {
    const auto runs = strategies::runs_again(blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto& block = blocks[i];
      if (block.drop.kind == strategies::Drop::nothing) continue;
      if (block != known) one = strategies::flops_again(share, known = block);
      of_rank += static_cast<double>(runs[i]) * one;
    }
  }
  const auto microbatches = scenario.training.global_batch / plan.micro_batch;  // of all replicas
  return {static_cast<double>(plan.tensor * plan.context * microbatches) * of_rank};
}

// Returns the number of times that each actor runs each template: [actor][template].
std::vector<std::vector<std::int64_t>> runs_of(const PlayedStep& played) {
  const auto& program = played.lowered.program;
  std::vector<std::vector<std::int64_t>> runs(
      program.actors(), std::vector<std::int64_t>(program.templates().size(), 0));
  for (std::uint32_t index = 0; index < program.ops().size(); ++index) {
    const auto& op = program.ops()[index];
    if (op.kind != sim::Op::Kind::pass) continue;
    for (std::uint32_t i = 0; i < op.count; ++i)
      runs[static_cast<std::uint32_t>(program.participants()[op.first + i].actor)]
          [static_cast<std::uint32_t>(program.body_of(op, i))] +=
          sim::times_of(index, played.left_out());
  }
  return runs;
}

// Time that each actor waited for exchanges of its layers; what hides under computation is left
// out.
std::vector<sim::Spent> exchanges_of(const sim::Program& program, const sim::Measures& measures) {
  std::array<bool, sim::activities> exchanged{};
  for (const auto& op : program.ops())
    if (op.kind == sim::Op::Kind::collective && op.lane == sim::Lane::exchange)
      exchanged[op.activity] = true;
  std::vector<sim::Spent> spent(program.actors());
  for (std::size_t actor = 0; actor < spent.size(); ++actor)
    for (std::size_t i = 0; i < exchanged.size(); ++i)
      if (exchanged[i]) spent[actor].on[i] = measures.of_actor[actor].on[i];
  return spent;
}

// Pass times of a stage from the passes it really ran, chunks summed, per microbatch.
void add_pass_times(StageTimes& stage, const strategies::Lowered& lowered,
                    const std::vector<std::int64_t>& runs, const sim::Spent& exchanges) {
  auto sum = exchanges;
  sim::Picoseconds forward = 0;
  for (auto activity : {strategies::forward_tensor_comm, strategies::forward_context_comm,
                        strategies::forward_expert_comm})
    forward += std::exchange(sum.on[activity], 0);
  for (std::size_t body = 0; body < runs.size(); ++body) {
    if (runs[body] == 0) continue;
    const auto once = sim::spent_alone(lowered.program.templates()[body]);
    const auto updates = [](const sim::Step& step) {  // or packs gradients
      return step.activity == strategies::optimizer_compute ||
             step.activity == strategies::data_comm;
    };
    if (std::ranges::any_of(lowered.program.templates()[body].steps, updates)) continue;
    const bool is_forward = once.on[strategies::input_gradient_compute] == 0 &&
                            once.on[strategies::weight_gradient_compute] == 0 &&
                            once.on[strategies::recompute_compute] == 0;
    if (is_forward)
      forward += runs[body] * once.total();
    else
      sum.add(once, runs[body]);
  }
  const auto per_microbatch = [&](sim::Picoseconds total) {
    return seconds_of(total) / static_cast<double>(lowered.microbatches);
  };
  const auto again =
      sum.on[strategies::recompute_compute] + sum.on[strategies::recompute_tensor_comm] +
      sum.on[strategies::recompute_context_comm] + sum.on[strategies::recompute_expert_comm];
  stage.forward = per_microbatch(forward);
  stage.recompute = per_microbatch(again);
  stage.backward_weight = per_microbatch(sum.on[strategies::weight_gradient_compute]);
  stage.backward_input =
      per_microbatch(sum.total() - again - sum.on[strategies::weight_gradient_compute]);
}

Pipeline pipeline_of(const Scenario& scenario, const PlayedStep& played) {
  const auto& [lowered, trace, measures, recurrence] = played;
  Pipeline pipeline;
  const auto runs = runs_of(played);
  const auto exchanges = exchanges_of(lowered.program, measures);
  const auto layout = strategies::layout_of(scenario.plan);
  double idle = 0;
  for (int s = 0; s < static_cast<int>(scenario.plan.pipeline); ++s) {
    const auto found = std::ranges::find(lowered.actors, s, &strategies::ActorFacts::stage);
    const auto actor = static_cast<std::uint32_t>(found - lowered.actors.begin());
    StageTimes stage{.stage = s, .layers = found->layers};
    const auto waiting = measures.of_actor[actor].on[strategies::expert_waiting];
    stage.busy = seconds_of(measures.busy[actor] - waiting);
    stage.bubble = seconds_of(measures.of_actor[actor].idle + waiting);
    stage.peak_in_flight =
        strategies::peak_in_flight(lowered.order[static_cast<std::size_t>(s)], layout.parts());
    add_pass_times(stage, lowered, runs[actor], exchanges[actor]);
    idle += static_cast<double>(measures.of_actor[actor].idle + waiting);
    pipeline.stages.push_back(stage);
  }
  pipeline.bubble_fraction = idle / static_cast<double>(scenario.plan.pipeline) /
                             static_cast<double>(std::max<sim::Picoseconds>(1, measures.length));
  return pipeline;
}

// Returns the last of the layers that are most usual: with experts if the model has any, and not
// one of those that stay in 16 bit at its ends.
strategies::Block middle_layer(const Scenario& scenario) {
  const auto usual = [](const strategies::Block& block) {
    return std::pair(block.experts, !block.wide);
  };
  strategies::Block middle{.wide = true};
  for (const auto& blocks : strategies::blocks_of(scenario.model, scenario.training, scenario.plan,
                                                  scenario.software.keep_sent_outputs))
    for (const auto& block : blocks)
      if (block.kind == strategies::Block::Kind::layer && usual(block) >= usual(middle))
        middle = block;
  return middle;
}

LayerTimes layer_of(const strategies::Block& middle, const strategies::PassWriter& writer) {
  const auto time = [](const strategies::Pieces& pieces) {
    return seconds_of(strategies::spent_alone(pieces).total());
  };
  LayerTimes layer;
  layer.attention_forward = time(writer.forward_part(middle, model::Part::attention));
  layer.mlp_forward = time(writer.forward_part(middle, model::Part::mlp));
  layer.attention_backward = time(writer.backward_part(middle, model::Part::attention));
  layer.mlp_backward = time(writer.backward_part(middle, model::Part::mlp));
  layer.forward = time(writer.forward({middle}));
  layer.backward = time(writer.backward({middle}, strategies::Pass::backward));
  layer.kept = {static_cast<double>(writer.cost(middle).kept)};
  return layer;
}

// Returns the parts of the critical path. Waits of the mean rank of an expert-parallel group count
// as computation, because the fullest rank, which it waits for, computes meanwhile.
std::vector<PartTime> path_of(sim::Spent path) {
  path.on[strategies::forward_compute] += std::exchange(path.on[strategies::expert_waiting], 0);
  const auto parts = parts_of(path);
  std::vector<PartTime> out;
  for (const auto& facts : step_parts)
    if (parts[facts.part].value > 0) out.push_back({facts.part, parts[facts.part]});
  return out;
}

// Adds the links and the ranks that they slow; returns the links, the busiest first.
std::vector<sim::LinkId> add_network(Forecast& forecast, const PlayedStep& played) {
  const auto& lowered = played.lowered;
  const auto used = link_loads(lowered, played.trace, played.left_out());
  std::vector<sim::LinkId> links;
  for (std::uint32_t l = 0; l < used.size(); ++l)
    if (used[l] > 0) links.push_back(sim::LinkId{l});
  const auto use_of = [&](sim::LinkId link) { return used[static_cast<std::size_t>(link)]; };
  std::ranges::stable_sort(links, std::greater<>(), use_of);
  for (const auto link : links) {
    const auto& facts = lowered.links[static_cast<std::size_t>(link)];
    forecast.links.push_back({lowered.link_names[static_cast<std::size_t>(link)],
                              std::string(topology::to_text(facts.port.kind)), facts.alike,
                              use_of(link)});
  }
  for (const auto& [of, by, where, lost] :
       sim::slowed(lowered.program, played.trace, played.left_out()))
    forecast.slowed.push_back({strategies::to_text(static_cast<strategies::LabelKind>(of)),
                               strategies::to_text(static_cast<strategies::LabelKind>(by)),
                               lowered.link_names[static_cast<std::size_t>(where)],
                               seconds_of(lost)});
  return links;
}

constexpr std::size_t most_sampled_links = 8, most_sampled_of_a_kind = 4;

// Adds the load of the busiest links over time to the timeline. `links`: in the order of
// forecast.links.
void add_link_samples(Forecast& forecast, const std::vector<sim::LinkId>& links,
                      const PlayedStep& step) {
  std::vector<sim::LinkId> sampled;
  std::map<std::string_view, std::size_t> of_kind;
  for (std::size_t l = 0; l < links.size() && sampled.size() < most_sampled_links; ++l) {
    if (of_kind[forecast.links[l].kind]++ >= most_sampled_of_a_kind) continue;
    sampled.push_back(links[l]);
    forecast.timeline.link_names.push_back(forecast.links[l].name);
  }
  forecast.timeline.links = link_samples(step.lowered, step.trace, sampled);
}

// Adds the causes of idle time and, with `questions`, the timeline. `questions`: those that priced
// the program; null: no timeline is drawn.
void add_waits(Forecast& forecast, const Scenario& scenario, const PlayedStep& step,
               const sim::Waits& waits, sim::Period period,
               const strategies::CostQueries* questions) {
  const auto& lowered = step.lowered;
  const auto& trace = step.trace;
  Drawn drawn;
  if (questions != nullptr)
    drawn = timeline_of(scenario, lowered, trace, waits, forecast.memory, *questions);
  const Played played{.program = lowered.program,
                      .actors = lowered.actors,
                      .trace = trace,
                      .waits = waits,
                      .period = period,
                      .stages = forecast.pipeline.stages.size(),
                      .chunks = scenario.plan.virtual_stages > 1,
                      .slice_of = questions != nullptr ? &drawn.slice_of : nullptr};
  auto idle = idle_of(played);
  for (auto& stage : forecast.pipeline.stages) stage.bubble_by_cause.emplace();
  for (const auto& interval : idle) {
    auto& stage = forecast.pipeline.stages[static_cast<std::size_t>(interval.stage)];
    for (std::size_t c = 0; c < idle_causes; ++c)
      (*stage.bubble_by_cause)[c] += interval.by_cause[c];
  }
  if (questions == nullptr) return;
  drawn.timeline.idle = std::move(idle);
  drawn.timeline.critical_path = critical_path_of(played);
  forecast.timeline = std::move(drawn.timeline);
}

// Plays the step; leaves out periods that recur if nobody looks at single events.
PlayedStep play(strategies::Lowering& lowering, const Options& options, sim::Period period,
                sim::Waits* waits) {
  const auto detail = options.templates ? sim::Detail::templates : sim::Detail::every_step;
  constexpr std::int64_t most_enlarged = 4;
  for (std::int64_t enlarged = 1; options.jump && !waits && enlarged <= most_enlarged;
       enlarged *= 2) {
    auto shortened = lowering.shortened(enlarged);
    if (!shortened) break;
    auto trace = sim::run(shortened->program, detail);
    auto recurrence = sim::find_recurrence(shortened->program, trace);
    if (!recurrence) continue;
    if (const auto measures = sim::measure(shortened->program, trace, *recurrence, period))
      return {std::move(*shortened), std::move(trace), *measures, std::move(recurrence)};
  }
  auto whole = lowering.whole();
  auto trace = sim::run(whole.program, detail);
  auto measures = sim::measure(whole.program, trace, period, waits);
  return {std::move(whole), std::move(trace), std::move(measures), {}};
}

}  // namespace

Forecast simulate(const Scenario& scenario, const Options& options) {
  const Prices prices(scenario.cluster);
  const auto costs =
      options.basis || options.timeline ? prices.costs_with_questions() : prices.costs();
  strategies::Lowering lowering(
      {scenario.model, scenario.training, scenario.plan, scenario.software, scenario.cluster,
       options.timeline},
      costs, options.full ? strategies::Ranks::full : strategies::Ranks::folded, options.orders);
  const auto period = strategies::post_validates(scenario.plan, scenario.software)
                          ? sim::Period::spans
                          : sim::Period::makespan;
  const bool explains = options.causes || options.timeline;
  sim::Waits waits;
  const bool sees_events = explains || options.basis || !options.pictured.empty();
  const auto played = play(lowering, options, period, sees_events ? &waits : nullptr);
  const auto& lowered = played.lowered;
  const auto& measures = played.measures;
  strategies::check_ticks(static_cast<double>(measures.length));

  Forecast forecast;
  forecast.step = step_of(scenario, lowered, measures);
  const auto executed = forecast.step.model_flops + recomputed_flops(scenario);
  forecast.step.hfu = forecast.step.mfu * (executed / forecast.step.model_flops);
  forecast.time = parts_of(measures.of_actor[static_cast<std::uint32_t>(measures.last)]);
  forecast.gpus = gpu_times_of(lowered.actors, measures);
  forecast.pipeline = pipeline_of(scenario, played);
  const auto middle = middle_layer(scenario);
  forecast.layer = layer_of(middle, *lowered.writer);
  std::optional<strategies::Lowered> whole;
  const auto whole_step = [&]() -> const strategies::Lowered* {
    if (!played.recurrence) return &played.lowered;
    try {
      return &whole.emplace(lowering.whole());
    } catch (const strategies::Refusal&) {
      if (options.allocator) throw;
      return nullptr;
    }
  };
  forecast.memory = memory_of(scenario, lowered, whole_step, options.allocator);
  forecast.critical_path = path_of(measures.critical_path);
  forecast.simulation.events = played.trace.steps;
  forecast.simulation.microbatches_played = lowered.written;
  forecast.simulation.ranks = scenario.cluster.gpus;
  forecast.simulation.ranks_simulated = static_cast<std::int64_t>(lowered.actors.size());
  std::vector<sim::LinkId> links;
  if (options.network) links = add_network(forecast, played);
  forecast.warnings = warnings_of(scenario, forecast);
  if (options.basis)
    forecast.basis = basis_of(lowered.program, waits, *costs.questions,
                              [&](const auto& question) { return prices.evidence(question); });
  if (explains)
    add_waits(forecast, scenario, played, waits, period,
              options.timeline ? costs.questions.get() : nullptr);
  if (options.timeline) add_link_samples(forecast, links, played);
  if (!options.pictured.empty() && !options.timeline)
    forecast.timeline = picture_of(lowered, played.trace, waits, options.pictured);
  forecast.experts = expert_ranks(scenario, lowered, middle, costs);
  add_expert_waits(forecast, lowered, measures);
  return forecast;
}

}  // namespace forecast
