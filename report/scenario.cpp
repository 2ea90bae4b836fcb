// SPDX-License-Identifier: Apache-2.0
#include "report/alerts.hpp"
#include "report/document.hpp"
#include "report/words.hpp"
#include "scenarios/shown.hpp"
#include "scenarios/value_json.hpp"
#include "topology/collective.hpp"
#include "units/text.hpp"

namespace report {
namespace {

Document attention_document(const model::LatentAttention& latent) {
  return Object()
      .put("kind", "mla")
      .put("q_lora_rank", latent.q_lora_rank)
      .put("kv_lora_rank", latent.kv_lora_rank)
      .put("qk_nope_head_dim", latent.qk_nope_head_dim)
      .put("qk_rope_head_dim", latent.qk_rope_head_dim)
      .put("v_head_dim", latent.v_head_dim)
      .take();
}

Document moe_document(const model::Moe& moe) {
  Object object;
  object.put("experts", moe.experts)
      .put("top_k", moe.top_k)
      .put("expert_ffn", moe.expert_ffn)
      .put("shared_experts", moe.shared_experts)
      .put("shared_ffn", moe.shared_ffn)
      .put("first_dense_layers", moe.first_dense_layers)
      .put("every", moe.every);
  if (moe.capacity_factor) object.number("capacity_factor", *moe.capacity_factor);
  return object.number("imbalance", moe.imbalance)
      .put("router_bias", moe.router_bias)
      .put("expert_biases", moe.expert_biases)
      .put("shared_gate", moe.shared_gate)
      .take();
}

Document model_document(const model::Transformer& model) {
  Object object;
  object.unless_empty("name", model.name)
      .put("layers", model.layers)
      .put("hidden", model.hidden)
      .put("heads", model.heads)
      .put("kv_heads", model.kv_heads)
      .put("head_dim", model.head_dim)
      .put("ffn", model.ffn)
      .put("vocab", model.vocab)
      .put("max_sequence", model.max_sequence)
      .put("activation", word(model.activation))
      .put("norm", word(model.norm))
      .put("position", word(model.position))
      .put("tied_embeddings", model.tied_embeddings)
      .put("biases", model.biases)
      .put("qkv_biases", model.qkv_biases)
      .put("output_bias", model.output_bias)
      .put("parallel_block", model.parallel_block)
      .put("norms_per_layer", model.norms_per_layer)
      .put("query_key_norm", model.query_key_norm)
      .put("attention_sinks", model.attention_sinks)
      .number("dropout", model.dropout)
      .put("causal", model.causal);
  if (model.window)
    object.put("attention_window",
               Object().put("size", model.window->size).put("every", model.window->every).take());
  if (model.latent) object.put("attention", attention_document(*model.latent));
  if (model.moe) object.put("moe", moe_document(*model.moe));
  return object.put("multi_token_prediction", model.multi_token_prediction).take();
}

Document peak_document(const topology::Device& device) {
  using units::Precision;
  Object peak;
  for (const auto precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                               Precision::fp8, Precision::mxfp8, Precision::nvfp4})
    if (device.peak_of(precision).value > 0)
      peak.quantity(std::string(units::to_text(precision)).c_str(), device.peak_of(precision));
  return peak.take();
}

Document efficiency_document(const topology::Efficiency& efficiency) {
  return Object()
      .number("product_plateau", efficiency.product_plateau)
      .number("product_half_depth", efficiency.product_half_depth)
      .number("attention_plateau", efficiency.attention_plateau)
      .number("memory", efficiency.memory)
      .number("sustained_clock", efficiency.sustained_clock)
      .quantity("measured_power", efficiency.measured_power)
      .quantity("kernel_gap", efficiency.kernel_gap)
      .take();
}

// The entry that a mapping started from stays its base: the keys after it change nothing then, but
// a device keeps its tables of measured kernels. `unnamed` is what the reader calls a mapping
// without base.
Object over_base(const std::string& name, const char* unnamed) {
  Object object;
  if (name != unnamed) object.unless_empty("base", name);
  return object;
}

Document device_document(const topology::Device& device) {
  return over_base(device.name, "device")
      .quantity("memory", device.memory)
      .quantity("usable_memory", device.usable_memory)
      .unless_zero("memory_bandwidth", device.memory_bandwidth)
      .put("peak", peak_document(device))
      .quantity("vector_peak", device.vector_peak)
      .put("sms", device.sms)
      .unless_zero("power", device.power)
      .unless_zero("price", device.price)
      .put("efficiency", efficiency_document(device.efficiency))
      .take();
}

Document nvlink_document(const topology::NvLink& nvlink) {
  Object object;
  object.put("kind", word(nvlink.kind))
      .unless_zero("bandwidth", nvlink.bandwidth)
      .quantity("latency", nvlink.latency)
      .number("efficiency", nvlink.efficiency)
      .put("multicast", nvlink.multicast);
  if (nvlink.launch) object.quantity("launch", *nvlink.launch);
  if (nvlink.ramp) object.number("ramp", *nvlink.ramp);
  return object.take();
}

Document pcie_document(const topology::Pcie& pcie) {
  return Object().unless_zero("bandwidth", pcie.bandwidth).quantity("latency", pcie.latency).take();
}

Document nics_document(const topology::Nics& nics) {
  return Object()
      .put("count", nics.count)
      .unless_zero("bandwidth", nics.bandwidth)
      .quantity("latency", nics.latency)
      .take();
}

Document host_document(const topology::Host& host) {
  return Object()
      .quantity("memory", host.memory)
      .unless_zero("memory_bandwidth", host.memory_bandwidth)
      .take();
}

Document nvme_document(const topology::Nvme& nvme) {
  return Object()
      .quantity("capacity", nvme.capacity)
      .unless_zero("read", nvme.read)
      .unless_zero("write", nvme.write)
      .take();
}

Document node_document(const topology::Node& node) {
  return over_base(node.name, "node")
      .put("gpus", node.gpus)
      .put("device", device_document(node.device))
      .put("nvlink", nvlink_document(node.nvlink))
      .put("pcie", pcie_document(node.pcie))
      .put("nics", nics_document(node.nics))
      .put("host", host_document(node.host))
      .put("nvme", nvme_document(node.nvme))
      .unless_zero("power", node.power)
      .unless_zero("price", node.price)
      .unless_empty("usual_fabric", node.usual_fabric)
      .take();
}

Document measured_collective_document(const topology::MeasuredCollective& measured) {
  Document points = Document::array();
  for (const auto& [size, time] : measured.points) points.push_back({size.value, time.value});
  return Object()
      .put("collective", std::string(to_text(measured.collective)))
      .put("ranks", measured.ranks)
      .put("nodes", measured.nodes)
      .put("points", std::move(points))
      .take();
}

Document fabric_document(const topology::Fabric& fabric) {
  Object object = over_base(fabric.name, "fabric");
  object.put("kind", word(fabric.kind))
      .unless_zero("link_bandwidth", fabric.link_bandwidth)
      .quantity("latency", fabric.latency);
  if (fabric.tiers) object.put("tiers", *fabric.tiers);
  object.put("radix", fabric.radix);
  if (!fabric.oversubscription.empty()) object.put("oversubscription", fabric.oversubscription);
  object.number("efficiency", fabric.efficiency)
      .put("collectives_in_network", fabric.collectives_in_network)
      .unless_zero("launch", fabric.launch);
  if (fabric.ramp) object.number("ramp", *fabric.ramp);
  object.unless_zero("switch_power", fabric.switch_power)
      .unless_zero("switch_price", fabric.switch_price);
  if (fabric.measured.empty()) return object.take();
  Document measured = Document::array();
  for (const auto& table : fabric.measured) measured.push_back(measured_collective_document(table));
  return object.put("measured", std::move(measured)).take();
}

// One kind of node as itself, several as a list with their numbers.
Document nodes_document(const topology::Cluster& cluster) {
  if (cluster.others.empty()) return node_document(cluster.node);
  auto first = cluster.nodes();
  for (const auto& part : cluster.others) first -= part.nodes;
  const auto entry = [](const topology::Node& node, std::int64_t nodes) {
    return Object().put("node", node_document(node)).put("nodes", nodes).take();
  };
  Document list = Document::array({entry(cluster.node, first)});
  for (const auto& part : cluster.others) list.push_back(entry(part.node, part.nodes));
  return list;
}

Document cluster_document(const topology::Cluster& cluster) {
  Object object;
  object.put("node", nodes_document(cluster))
      .put("gpus", cluster.gpus)
      .put("fabric", fabric_document(cluster.fabric))
      .number("memory_fraction", cluster.memory_fraction);
  Document stragglers = Document::array(), links = Document::array();
  for (const auto& [gpus, slowdown] : cluster.stragglers)
    stragglers.push_back(Object().put("gpus", gpus).number("slowdown", slowdown).take());
  for (const auto& [link, factor] : cluster.degraded_links)
    links.push_back(Object().put("link", link).number("factor", factor).take());
  if (!stragglers.empty()) object.put("stragglers", std::move(stragglers));
  if (!links.empty()) object.put("degraded_links", std::move(links));
  return object.take();
}

}  // namespace

Document scenario_document(const forecast::Scenario& scenario) {
  Object object;
  object.unless_empty("name", scenario.name)
      .put("model", model_document(scenario.model))
      .put("cluster", cluster_document(scenario.cluster))
      .put("training", training_document(scenario.training))
      .put("plan", plan_document(scenario.plan, scenario.software))
      .put("software", scenarios::json_document(scenarios::shown(scenario.software)));
  if (!scenario.alerts.empty()) object.put("alerts", rules_document(scenario.alerts));
  return object.take();
}

}  // namespace report
