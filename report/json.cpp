// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include "report/alerts.hpp"
#include "report/basis.hpp"
#include "report/correction_parts.hpp"
#include "report/document.hpp"
#include "report/job.hpp"
#include "report/racks.hpp"
#include "report/run.hpp"

namespace report {
namespace {

Document step_document(const forecast::Step& step) {
  return Object()
      .quantity("time_s", step.time)
      .quantity("time_low_s", step.time_low)
      .quantity("time_high_s", step.time_high)
      .count("tokens", step.tokens)
      .number("tokens_per_s", step.tokens_per_second)
      .number("tokens_per_s_per_gpu", step.tokens_per_second_per_gpu)
      .number("useful_tokens_per_s", step.useful_tokens_per_second())
      .number("dropped", step.dropped)
      .quantity("model_flops", step.model_flops)
      .number("tflops_per_gpu", step.flops_per_gpu.value / 1e12)
      .number("mfu", step.mfu)
      .number("hfu", step.hfu)
      .put("microbatches", step.microbatches)
      .take();
}

// Returns the seconds of each cause, which sum to the stage's bubble.
Document causes_document(const std::optional<forecast::IdleByCause>& causes) {
  if (!causes) return {};
  const auto seconds = [&](forecast::IdleCause cause) {
    return units::Seconds{static_cast<double>((*causes)[static_cast<std::size_t>(cause)]) * 1e-12};
  };
  using enum forecast::IdleCause;
  Object object;
  object.quantity("warm_up_s", seconds(warm_up))
      .quantity("drain_s", seconds(drain))
      .quantity("imbalance_s", seconds(imbalance))
      .quantity("straggler_s", seconds(straggler))
      .quantity("communication_s", seconds(communication))
      .quantity("host_s", seconds(host));
  if (seconds(expert_imbalance).value > 0)
    object.quantity("expert_imbalance_s", seconds(expert_imbalance));
  return object.take();
}

Document experts_document(const forecast::ExpertRanks& experts) {
  Document layers = Document::array();
  for (const auto& layer : experts.layers)
    layers.push_back(Object()
                         .number("quantile", layer.quantile)
                         .number("load", layer.load)
                         .quantity("mlp_forward_s", layer.mlp_forward)
                         .quantity("mlp_backward_s", layer.mlp_backward)
                         .quantity("kept_bytes", layer.kept)
                         .take());
  return Object()
      .number("ranks_reached", experts.ranks_reached)
      .number("nodes_reached", experts.nodes_reached)
      .number("own_load", experts.own_load)
      .number("fullest_load", experts.fullest_load)
      .number("dropped", experts.dropped)
      .optional("given_load", experts.given_load)
      .optional("least_load", experts.least_load)
      .quantity("waiting_s", experts.waiting)
      .put("layers", std::move(layers))
      .take();
}

Document stage_document(const forecast::StageTimes& stage) {
  return Object()
      .put("stage", stage.stage)
      .put("layers", stage.layers)
      .quantity("busy_s", stage.busy)
      .quantity("bubble_s", stage.bubble)
      .number("peak_in_flight", stage.peak_in_flight)
      .quantity("forward_s", stage.forward)
      .quantity("backward_input_s", stage.backward_input)
      .quantity("backward_weight_s", stage.backward_weight)
      .quantity("recompute_s", stage.recompute)
      .put("bubble_by_cause", causes_document(stage.bubble_by_cause))
      .take();
}

Document pipeline_document(const forecast::Pipeline& pipeline) {
  Document stages = Document::array();
  for (const auto& stage : pipeline.stages) stages.push_back(stage_document(stage));
  return Object()
      .number("bubble_fraction", pipeline.bubble_fraction)
      .put("stages", std::move(stages))
      .take();
}

Document layer_document(const forecast::LayerTimes& layer) {
  return Object()
      .quantity("forward_s", layer.forward)
      .quantity("backward_s", layer.backward)
      .quantity("attention_forward_s", layer.attention_forward)
      .quantity("attention_backward_s", layer.attention_backward)
      .quantity("mlp_forward_s", layer.mlp_forward)
      .quantity("mlp_backward_s", layer.mlp_backward)
      .quantity("kept_bytes", layer.kept)
      .take();
}

Document stage_memory_document(const forecast::StageMemory& stage) {
  return Object()
      .quantity("weights", stage.weights)
      .quantity("gradients", stage.gradients)
      .quantity("optimizer", stage.optimizer)
      .quantity("activations", stage.activations)
      .quantity("temporary", stage.temporary)
      .quantity("communication", stage.communication)
      .quantity("framework", stage.framework)
      .quantity("peak", stage.peak)
      .quantity("peak_allocated", stage.peak_allocated)
      .quantity("peak_reserved", stage.peak_reserved)
      .take();
}

Document peaks_document(const forecast::AllocatorPeaks& peaks) {
  return Object()
      .quantity("allocated_bytes", peaks.allocated)
      .quantity("reserved_bytes", peaks.reserved)
      .quantity("device_bytes", peaks.device)
      .take();
}

Document failure_document(const forecast::AllocatorFailure& failure) {
  return Object()
      .put("cause", failure.by_fragments ? "fragments" : "tensors")
      .put("step", failure.step)
      .put("tensor", failure.tensor)
      .quantity("requested_bytes", failure.requested)
      .quantity("allocated_bytes", failure.allocated)
      .quantity("reserved_bytes", failure.reserved)
      .quantity("largest_free_bytes", failure.largest_free)
      .quantity("limit_bytes", failure.limit)
      .take();
}

Document allocator_document(const forecast::AllocatorUse& use) {
  Document largest = Document::array();
  for (const auto& held : use.largest)
    largest.push_back(Object()
                          .put("layer", held.block)
                          .put("operator", held.op)
                          .put("tensor", held.what)
                          .put("category", held.category)
                          .put("count", held.count)
                          .quantity("bytes", held.bytes)
                          .take());
  return Object()
      .put("stage", use.stage)
      .put("first_step", peaks_document(use.first))
      .put("steady", peaks_document(use.steady))
      .quantity("unused_at_peak_bytes", use.unused_at_peak)
      .put("period_steps", use.period)
      .put("played_steps", use.played)
      .put("retries", use.retries)
      .put("failure", use.failure ? failure_document(*use.failure) : Document())
      .quantity("least_room_bytes", use.least_room)
      .put("largest", std::move(largest))
      .take();
}

Document memory_document(const forecast::Memory& memory) {
  Document stages = Document::array();
  for (const auto& stage : memory.stages) stages.push_back(stage_memory_document(stage));
  Object document;
  document.put("fits", memory.fits)
      .put("host_fits", memory.host_fits)
      .quantity("capacity_bytes", memory.capacity)
      .quantity("peak_bytes", memory.peak)
      .quantity("peak_allocated_bytes", memory.peak_allocated)
      .quantity("peak_reserved_bytes", memory.peak_reserved)
      .put("peak_stage", memory.peak_stage)
      .quantity("host_bytes", memory.host)
      .quantity("host_capacity_bytes", memory.host_capacity)
      .quantity("nvme_bytes", memory.nvme)
      .quantity("nvme_capacity_bytes", memory.nvme_capacity)
      .put("stages", std::move(stages));
  if (memory.fit_chance) document.number("fit_chance", *memory.fit_chance);
  if (memory.allocator) document.put("allocator", allocator_document(*memory.allocator));
  return document.take();
}

Document network_document(const forecast::Forecast& forecast) {
  Document links = Document::array(), slowed = Document::array();
  for (const auto& load : forecast.links)
    links.push_back(Object()
                        .put("name", load.name)
                        .put("kind", load.kind)
                        .put("alike", load.alike)
                        .number("utilisation", load.utilisation)
                        .take());
  for (const auto& loss : forecast.slowed)
    slowed.push_back(Object()
                         .put("what", loss.what)
                         .put("by", loss.by)
                         .put("link", loss.link)
                         .number("lost_s", loss.lost.value)
                         .take());
  return Object().put("links", std::move(links)).put("slowed", std::move(slowed)).take();
}

Document validated_document(const std::optional<forecast::Validated>& validated) {
  if (!validated) return {};
  return Object()
      .put("regime", validated->regime)
      .put("rows", validated->rows)
      .put("datasets", validated->datasets)
      .put("outside", validated->outside)
      .take();
}

Document simulation_document(const forecast::SimulationFacts& facts) {
  return Object()
      .put("events", facts.events)
      .put("ranks", facts.ranks)
      .put("ranks_simulated", facts.ranks_simulated)
      .put("microbatches_played", facts.microbatches_played)
      .quantity("wall_s", facts.wall)
      .take();
}

}  // namespace

Document parameters_document(const model::Transformer& model) {
  return Object()
      .put("parameters", model::parameters(model))
      .put("active_parameters", model::active_parameters(model))
      .put("prediction_parameters", model::prediction_parameters(model))
      .take();
}

Document racks_document(const topology::Cluster& cluster) {
  const auto counted = counted_in_racks(cluster);
  if (!counted) return nullptr;
  return Object()
      .put("racks", counted->racks)
      .put("trays", counted->trays)
      .put("tray_gpus", counted->tray_gpus)
      .put("rack_gpus", counted->rack_gpus)
      .put("last_rack_gpus", counted->last_rack_gpus)
      .put("empty_trays", counted->empty_trays)
      .take();
}

std::string simulate_json(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          std::string_view version, const Beside& beside) {
  Object object;
  object.put("stepcast", std::string(version))
      .put("scenario", scenario_document(scenario))
      .put("model", parameters_document(scenario.model));
  if (auto racks = racks_document(scenario.cluster); !racks.is_null())
    object.put("racks", std::move(racks));
  object.put("step", step_document(forecast.step));
  if (beside.run) object.put("run", run_document(*beside.run));
  if (const auto& how = beside.searched)
    object.put("searched", Object()
                               .put("enumerated", how->enumerated)
                               .number("gap", how->gap)
                               .put("interrupted", how->interrupted)
                               .number("memory_headroom", how->memory_headroom)
                               .put("words", searched_words(*how))
                               .take());
  if (beside.correction) object.put("correction", correction_document(*beside.correction));
  if (beside.measured) object.put("measured", measured_document(*beside.measured, forecast));
  if (!beside.model_notes.empty()) object.put("model_notes", beside.model_notes);
  if (beside.job) object.put("job", job_document(*beside.job));
  object.put("time", time_document(forecast.time))
      .put("pipeline", pipeline_document(forecast.pipeline))
      .put("layer", layer_document(forecast.layer));
  if (forecast.experts) object.put("experts", experts_document(*forecast.experts));
  object.put("memory", memory_document(forecast.memory))
      .put("critical_path", parts_document(forecast.critical_path));
  if (forecast.basis) object.put("evidence", basis_document(*forecast.basis));
  object.put("network", network_document(forecast))
      .put("validated", validated_document(forecast.validated));
  if (!beside.launch.empty()) object.put("emitted", beside.launch);
  if (!scenario.alerts.empty()) object.put("alerts", alerts_document(scenario, forecast));
  return dump(object.put("simulation", simulation_document(forecast.simulation)).take());
}

}  // namespace report
