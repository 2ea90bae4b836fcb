// SPDX-License-Identifier: Apache-2.0
#include "scenarios/checks/checks.hpp"

#include <algorithm>
#include <utility>

#include "model/layer.hpp"
#include "model/words.hpp"
#include "plans/holdings.hpp"
#include "plans/precision.hpp"
#include "scenarios/checks/checker.hpp"
#include "scenarios/documents/form.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;

void check_device(const Scenario& s, const Checker& checker) {
  if (!checker.knows({"cluster.node", "training.precision"})) return;
  for (std::size_t kind = 0; kind < s.cluster.kinds(); ++kind) {
    const auto& device = s.cluster.kind(kind).device;
    if (device.peak_of(s.training.precision).value > 0) continue;
    std::string able;
    for (std::size_t i = 0; i < device.peak.size(); ++i)
      if (device.peak[i].value > 0)
        (able += able.empty() ? "" : ", ") += units::to_text(static_cast<units::Precision>(i));
    checker.complain("training", "precision",
                     device.name + " has no rate for " +
                         std::string(units::to_text(s.training.precision)) + "; it has " + able);
  }
}

void check_tokens(const Scenario& s, const Checker& checker) {
  if (!s.training.tokens ||
      !checker.knows({"training.tokens", "training.sequence_length", "training.global_batch"}))
    return;
  if (const auto wrong = less_than_a_step(*s.training.tokens, s.training); !wrong.empty())
    checker.complain("training", "tokens", wrong);
}

void check_recipe(const Scenario& s, const Checker& checker) {
  if (!checker.given("training", "fp8_recipe") || !checker.knows({"training.precision"})) return;
  if (s.training.precision != units::Precision::fp8)
    checker.complain("training", "fp8_recipe",
                     "is for precision: fp8, not " +
                         std::string(units::to_text(s.training.precision)) +
                         "; leave it out (--set training.fp8_recipe=null) or change the precision");
}

// Returns the mistake in what stays in 16 bit; empty if there is none.
std::string misfit(const strategies::InBf16& in_bf16, const Scenario& s) {
  const auto precision = s.training.precision;
  if (!model::is_narrow(precision))
    return "is for a precision of 8 or 4 bit (fp8, mxfp8, nvfp4), not " +
           std::string(units::to_text(precision)) +
           "; leave it out (--set training.in_bf16=null) or change the "
           "precision";
  if (in_bf16.first_layers + in_bf16.last_layers > s.model.layers)
    return "first_layers " + digits(in_bf16.first_layers) + " and last_layers " +
           digits(in_bf16.last_layers) + " are more than the " + digits(s.model.layers) +
           " layers of the model; write no more than there are";
  return {};
}

void check_in_bf16(const Scenario& s, const Checker& checker) {
  if (!checker.given("training", "in_bf16") ||
      !checker.knows({"training.precision", "training.in_bf16", "model"}))
    return;
  if (const auto wrong = misfit(s.training.in_bf16, s); !wrong.empty())
    checker.complain("training", "in_bf16", wrong);
}

// Returns the mistake in the routing; empty if there is none.
std::string misfit(const strategies::Routing& routing, const model::Moe& moe) {
  const auto groups = routing.groups, chosen = routing.top_groups;
  if (routing.locality == strategies::Locality::group_limited) {
    if (moe.experts % groups != 0)
      return "groups " + digits(groups) + " does not divide " + digits(moe.experts) +
             " experts: groups are equal; write a divisor";
    if (chosen > groups)
      return "top_groups " + digits(chosen) + " of " + digits(groups) +
             " groups; write no more than there are";
    if (chosen * (moe.experts / groups) < moe.top_k)
      return digits(chosen) + " groups of " + digits(moe.experts / groups) +
             " experts are fewer experts than top_k " + digits(moe.top_k) +
             "; write more top_groups";
  }
  const auto shares = static_cast<std::int64_t>(routing.shares.size());
  if (routing.skew == strategies::Skew::histogram && shares != moe.experts)
    return "shares has " + digits(shares) + " numbers for " + digits(moe.experts) +
           " experts; write one for each";
  if (routing.skew != strategies::Skew::balanced && moe.imbalance != 1)
    return "model.moe.imbalance says already how full the fullest rank is; leave it or skew out";
  return {};
}

void check_routing(const Scenario& s, const Checker& checker) {
  if (!checker.given("training", "routing") || !checker.knows({"training.routing", "model"}))
    return;
  if (!s.model.moe)
    checker.complain("training", "routing", "the model has no experts; leave it out");
  else if (const auto wrong = misfit(s.training.routing, *s.model.moe); !wrong.empty())
    checker.complain("training", "routing", wrong);
}

// Complains of an attention kernel for one generation of devices on devices where it was not
// measured.
void check_attention(const Scenario& s, const Checker& checker) {
  if (!checker.knows({"cluster.node", "software.attention"})) return;
  if (s.software.kernels.attention != model::AttentionKernel::flash_3) return;
  for (std::size_t kind = 0; kind < s.cluster.kinds(); ++kind) {
    const auto& device = s.cluster.kind(kind).device;
    const bool measured = std::ranges::any_of(device.efficiency.attention, [](const auto& row) {
      return row.fused == units::FusedAttention::flash_3;
    });
    if (measured) continue;
    checker.complain("software", "attention",
                     "flash3 is written for Hopper GPUs and was not measured on " + device.name +
                         "; write flash");
    return;
  }
}

// Returns warnings about keys of a plan that have no effect with the rest of it; each counts if its
// bool is true.
std::vector<std::pair<bool, const char*>> without_effect(const strategies::Plan& plan) {
  return {
      {plan.sequence_parallel && plan.tensor == 1, "sequence_parallel has no effect with tensor 1"},
      {plan.context_method != strategies::ContextMethod::ring && plan.context == 1,
       "context_method has no effect with context 1"},
      {!plan.reshard_after_forward && plan.zero < 3,
       "reshard_after_forward has no effect without zero: 3, which gathers parameters"},
      {plan.gradient_sync && plan.zero < 2,
       "gradient_sync has no effect without zero: 2 or 3, which reduce gradients by microbatch"},
      {plan.shard_group != strategies::ShardGroup::all && plan.zero == 0,
       "shard_group has no effect with zero: 0, which shards nothing"},
      {plan.gradient_compression != strategies::GradientCompression::none &&
           !strategies::sums_gradients(plan),
       "gradient_compression has no effect with data 1 and context 1: nothing is reduced"},
      {plan.activation_compression != strategies::ActivationCompression::none &&
           plan.recompute_of_stage.empty() && plan.layers.empty() &&
           plan.recompute.kind == strategies::Recompute::Kind::full,
       "activation_compression does next to nothing with recompute: full, which keeps the layers' "
       "inputs only"},
  };
}

// Returns a warning that a rate of the network has no effect where the file gives both that of
// links and that of NICs, and they are far apart; else empty.
std::string slower_decides(const topology::Cluster& cluster, const Value& document) {
  constexpr double apart = 1.5;
  const auto given = [&](std::initializer_list<const char*> keys) {
    const auto* value = &document;
    for (const auto* key : keys)
      if (value != nullptr) value = value->find(key);
    return value != nullptr;
  };
  if (!given({"cluster", "fabric", "link_bandwidth"}) ||
      !given({"cluster", "node", "nics", "bandwidth"}))
    return {};
  const auto links = cluster.fabric.link_bandwidth, nics = cluster.node.nics.bandwidth;
  if (std::max(links, nics) <= apart * std::min(links, nics)) return {};
  const bool nics_decide = nics < links;
  const std::string link_key = "fabric.link_bandwidth", nic_key = "node.nics.bandwidth";
  return "cluster." + (nics_decide ? link_key : nic_key) + ' ' +
         units::short_text(std::max(links, nics)) + " makes no message faster than cluster." +
         (nics_decide ? nic_key : link_key) + ' ' + units::short_text(std::min(links, nics)) +
         ": the lower of both holds";
}

}  // namespace

std::string less_than_a_step(double tokens, const strategies::Training& training) {
  const double step =
      static_cast<double>(training.sequence_length) * static_cast<double>(training.global_batch);
  if (tokens >= step) return {};
  return plain(tokens) + " tokens are less than one step of " + plain(step) +
         "; write those of the whole training, such as '2 T tokens'";
}

void check_scenario(const Scenario& scenario, bool data_given, const Value& document,
                    Reading& reading) {
  const Checker checker(document, reading);
  check_degrees(scenario, data_given, checker);
  check_pipeline(scenario, checker);
  check_memory(scenario, checker);
  check_layers(scenario, checker);
  check_device(scenario, checker);
  check_tokens(scenario, checker);
  check_recipe(scenario, checker);
  check_in_bf16(scenario, checker);
  check_attention(scenario, checker);
  check_routing(scenario, checker);
}

std::vector<std::string> warnings(const Scenario& s) {
  std::vector<std::string> all;
  if (s.training.sequence_length > s.model.max_sequence)
    all.push_back(
        "training.sequence_length " + digits(s.training.sequence_length) +
        " is beyond the model's max_sequence " + digits(s.model.max_sequence) +
        (s.model.position == model::Position::learned ? "; learned positions are extended" : ""));
  for (const auto& [given, what] : without_effect(s.plan))
    if (given) all.push_back(std::string("plan.") + what);
  for (const auto part : s.training.in_bf16.parts)
    if (!model::has_part(s.model, part))
      all.push_back("training.in_bf16.modules names " + std::string(units::word(part)) +
                    ", which the model has not: no effect");
  return all;
}

std::vector<std::string> warnings(const Scenario& s, const Value& document) {
  auto all = warnings(s);
  if (auto text = slower_decides(s.cluster, document); !text.empty()) all.push_back(text);
  return all;
}

}  // namespace scenarios
