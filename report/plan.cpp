// SPDX-License-Identifier: Apache-2.0
// Plans and trainings, in the words of scenario files.
#include "report/document.hpp"
#include "report/words.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using strategies::Offload;
using strategies::Plan;
using strategies::Recompute;
using strategies::Software;

Document modules_document(const std::vector<strategies::Module>& modules) {
  Document words = Document::array();
  for (const auto module : modules) words.push_back(word(module));
  return words;
}

Document rows_document(const std::vector<std::int64_t>& every) {
  if (every.size() == 1) return every.front();
  Document rows = Document::array();
  for (const auto layers : every) rows.push_back(layers);
  return rows;
}

Document recompute_document(const Recompute& recompute) {
  const auto& every = recompute.every;
  switch (recompute.kind) {
    case Recompute::Kind::none:
      return "none";
    case Recompute::Kind::selective:
      return "selective";
    case Recompute::Kind::full:
      if (every.empty()) return "full";
      return Object().put("checkpoint_every", rows_document(every)).take();
    case Recompute::Kind::full_layers: {
      Object object;
      object.put("full_layers", recompute.layers);
      if (!every.empty()) object.put("checkpoint_every", rows_document(every));
      return object.take();
    }
    case Recompute::Kind::per_op:
      return "per-op";
    case Recompute::Kind::modules:
      return Object().put("selective", modules_document(recompute.modules)).take();
  }
  return nullptr;
}

Document recompute_document(const Plan& plan) {
  if (plan.recompute_of_stage.empty()) return recompute_document(plan.recompute);
  Document stages = Document::array();
  for (const auto& stage : plan.recompute_of_stage) stages.push_back(recompute_document(stage));
  return stages;
}

Document layers_document(const Plan& plan) {
  Document ranges = Document::array();
  for (const auto& [from, to, recompute, tensor, data, zero] : plan.layers) {
    Object range;
    range.put("from", from).put("to", to);
    if (recompute) range.put("recompute", recompute_document(*recompute));
    if (tensor) range.put("tensor", *tensor);
    if (data) range.put("data", *data);
    if (zero) range.put("zero", *zero);
    ranges.push_back(range.take());
  }
  return ranges;
}

Document activations_document(const Offload& offload) {
  if (!offload.activation_layers && offload.activation_modules.empty()) return "cpu";
  Object object;
  object.put("to", "cpu");
  if (offload.activation_layers) object.put("layers", *offload.activation_layers);
  if (!offload.activation_modules.empty())
    object.put("modules", modules_document(offload.activation_modules));
  return object.take();
}

Document offload_document(const Offload& offload) {
  if (offload == Offload{}) return "none";
  using enum Offload::Tier;
  Object object;
  if (offload.optimizer != none) object.put("optimizer", word(offload.optimizer));
  if (offload.gradients) object.put("gradients", "cpu");
  if (offload.parameters != none) object.put("parameters", word(offload.parameters));
  if (offload.activations) object.put("activations", activations_document(offload));
  return object.take();
}

Document wrap_document(const strategies::Wrap& wrap) {
  if (wrap.layers == 0) return "model";
  if (wrap.layers == 1) return "layer";
  return Object().put("layers", wrap.layers).take();
}

Document overlap_document(const Plan& plan, const Software& software) {
  const auto& overlap = plan.overlap;
  // ZeRO-3 gathers ahead unless it is told not to.
  const bool gathers_ahead = plan.zero == 3 || software.overlap_parameters;
  return Object()
      .put("data", overlap.data.value_or(software.overlap_data))
      .put("tensor", overlap.tensor.value_or(software.overlap_tensor))
      .put("pipeline", overlap.pipeline.value_or(software.overlap_pipeline))
      .put("parameters", overlap.parameters.value_or(gathers_ahead))
      .put("expert", overlap.expert.value_or(software.overlap_expert))
      .take();
}

void put_degrees(Object& object, const Plan& plan) {
  object.put("tensor", plan.tensor)
      .put("pipeline", plan.pipeline)
      .put("context", plan.context)
      .put("expert", plan.expert)
      .put("expert_tensor", plan.expert_tensor.value_or(plan.tensor))
      .put("data", plan.data)
      .put("sequence_parallel", plan.sequence_parallel)
      .put("context_method", word(plan.context_method))
      .put("micro_batch", plan.micro_batch)
      .put("schedule", word(plan.schedule))
      .put("virtual_stages", plan.virtual_stages);
  if (!plan.layers_per_stage.empty()) object.put("layers_per_stage", plan.layers_per_stage);
}

void put_gradients(Object& object, const Plan& plan, const Software& software) {
  // A profile may reduce in fp16, a plan has no word for it.
  const auto reduction = plan.gradient_precision.value_or(software.gradient_precision);
  if (reduction != units::Precision::fp16)
    object.put("gradient_precision", units::to_text(reduction));
  if (plan.master_weights != Plan{}.master_weights)
    object.put("master_weights", units::to_text(plan.master_weights));
  object.put("gradient_compression", word(plan.gradient_compression));
  const auto bucket = plan.bucket.value_or(software.bucket);
  if (plan.gather_bucket)
    object.put(
        "bucket",
        Object().unless_zero("reduce", bucket).quantity("gather", *plan.gather_bucket).take());
  else
    object.unless_zero("bucket", bucket);
}

// What is given, and nothing that the software profile decides.
void put_given_overlap(Object& object, const strategies::Overlap& overlap) {
  Object given;
  for (const auto& [key, beside] : {std::pair{"data", overlap.data},
                                    {"tensor", overlap.tensor},
                                    {"pipeline", overlap.pipeline},
                                    {"parameters", overlap.parameters},
                                    {"expert", overlap.expert}})
    if (beside) given.put(key, *beside);
  if (auto document = given.take(); !document.empty()) object.put("overlap", std::move(document));
}

void put_given_bucket(Object& object, const Plan& plan) {
  if (!plan.gather_bucket) {
    if (plan.bucket) object.quantity("bucket", *plan.bucket);
    return;
  }
  Object both;
  if (plan.bucket) both.quantity("reduce", *plan.bucket);
  object.put("bucket", both.quantity("gather", *plan.gather_bucket).take());
}

}  // namespace

// What the plan leaves to the software profile is written out as it holds.
Document plan_document(const Plan& plan, const Software& software) {
  Object object;
  put_degrees(object, plan);
  object.put("zero", plan.zero)
      .put("reshard_after_forward", plan.reshard_after_forward)
      .put("shard_group", plan.shard_group == strategies::ShardGroup::all ? "all" : "node")
      .put("wrap", wrap_document(plan.wrap))
      .put("recompute", recompute_document(plan));
  if (!plan.layers.empty()) object.put("layers", layers_document(plan));
  object.put("offload", offload_document(plan.offload))
      .put("activation_compression", word(plan.activation_compression))
      .put("overlap", overlap_document(plan, software));
  put_gradients(object, plan, software);
  return object.put("rank_order", word(plan.rank_order)).take();
}

Document short_plan_document(const Plan& plan) {
  const Plan usual;
  Object object;
  const auto unless_usual = [&](const char* key, const auto& value, const auto& left_out,
                                Document document) {
    if (!(value == left_out)) object.put(key, std::move(document));
  };
  object.put("tensor", plan.tensor);
  if (plan.sequence_parallel) object.put("sequence_parallel", true);
  unless_usual("context", plan.context, usual.context, plan.context);
  unless_usual("context_method", plan.context_method, usual.context_method,
               word(plan.context_method));
  unless_usual("expert", plan.expert, usual.expert, plan.expert);
  if (plan.expert_tensor) object.put("expert_tensor", *plan.expert_tensor);
  object.put("pipeline", plan.pipeline);
  if (plan.pipeline > 1 || plan.schedule != usual.schedule)
    object.put("schedule", word(plan.schedule));
  unless_usual("virtual_stages", plan.virtual_stages, usual.virtual_stages, plan.virtual_stages);
  if (!plan.layers_per_stage.empty()) object.put("layers_per_stage", plan.layers_per_stage);
  object.put("data", plan.data).put("micro_batch", plan.micro_batch).put("zero", plan.zero);
  if (!plan.reshard_after_forward) object.put("reshard_after_forward", false);
  if (plan.shard_group == strategies::ShardGroup::node) object.put("shard_group", "node");
  unless_usual("wrap", plan.wrap, usual.wrap, wrap_document(plan.wrap));
  if (!plan.recompute_of_stage.empty() || plan.recompute != usual.recompute)
    object.put("recompute", recompute_document(plan));
  if (!plan.layers.empty()) object.put("layers", layers_document(plan));
  unless_usual("offload", plan.offload, usual.offload, offload_document(plan.offload));
  unless_usual("activation_compression", plan.activation_compression, usual.activation_compression,
               word(plan.activation_compression));
  put_given_overlap(object, plan.overlap);
  if (plan.gradient_precision)
    object.put("gradient_precision", units::to_text(*plan.gradient_precision));
  unless_usual("master_weights", plan.master_weights, usual.master_weights,
               units::to_text(plan.master_weights));
  unless_usual("gradient_compression", plan.gradient_compression, usual.gradient_compression,
               word(plan.gradient_compression));
  put_given_bucket(object, plan);
  unless_usual("rank_order", plan.rank_order, usual.rank_order, word(plan.rank_order));
  return object.take();
}

Document training_document(const strategies::Training& training) {
  Object object;
  object.put("sequence_length", training.sequence_length)
      .put("global_batch", training.global_batch)
      .put("precision", units::to_text(training.precision));
  if (training.precision == units::Precision::fp8)
    object.put("fp8_recipe", word(training.fp8_recipe));
  return object.put("optimizer", word(training.optimizer))
      .number("padding", training.padding)
      .take();
}

}  // namespace report
