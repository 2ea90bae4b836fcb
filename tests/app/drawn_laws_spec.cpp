// SPDX-License-Identifier: Apache-2.0
// Laws for every scenario that is accepted, tried on random ones of all keys.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

#include "forecast/accuracy/intervals.hpp"
#include "forecast/forecast.hpp"
#include "plans/schedules/refusal.hpp"
#include "report/document.hpp"
#include "report/json.hpp"
#include "scenarios/checks/checks.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/search_file.hpp"
#include "scenarios/search_keys.hpp"
#include "search/branch_and_bound.hpp"
#include "search/evaluator.hpp"
#include "search/given_plan.hpp"
#include "tests/app/drawn_scenario.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"

namespace drawn_laws_spec {

namespace {

using forecast::Scenario;
using search::Question;

struct Drawn {
  std::uint64_t seed = 0;
  std::string text;
};

// Whether a scenario is read and not refused; a fault of the simulation breaks the laws instead.
bool is_accepted(const std::string& text) {
  try {
    forecast::simulate(scenarios::read_scenario(text, "drawn.yaml"));
  } catch (const scenarios::Error&) {
    return false;
  } catch (const strategies::Refusal&) {
    return false;
  } catch (const std::exception&) {
  }
  return true;
}

std::optional<Scenario> read_if_accepted(const std::string& text) {
  try {
    return scenarios::read_scenario(text, "drawn.yaml");
  } catch (const scenarios::Error&) {
    return std::nullopt;
  }
}

bool is_long() {
  const char* asked = std::getenv("STEPCAST_LONG");
  return asked != nullptr && *asked != '\0' && std::string_view(asked) != "0";
}

// Scenarios that broke a law once.
const std::vector<std::string>& once_wrong() {
  static const std::vector<std::string> all{
      // The bytes of gradients of the software were printed as if the plan gave them.
      R"(
model: {layers: 4, hidden: 256, heads: 8, vocab: 1000}
cluster: {node: dgx-h100, nodes: 1}
training: {sequence_length: 128, global_batch: 32}
software: {gradient_bytes: 2}
)",
      // States of Muon were bounded by those of Adam.
      R"(
model: {layers: 4, hidden: 512, heads: 8, vocab: 1000}
cluster: {node: dgx-h100, nodes: 1}
training: {sequence_length: 384, global_batch: 32, optimizer: muon}
)",
      // Layers whose recomputation is given were bounded as if they kept everything.
      R"(
model: {layers: 8, hidden: 512, heads: 8, vocab: 1000}
cluster: {node: dgx-a100-80gb, nodes: 1}
plan: {pipeline: 4, recompute: {full_layers: 2, checkpoint_every: 2}, activation_compression: fp8}
training: {sequence_length: 256, global_batch: 48}
)",
      R"(
model: {layers: 4, hidden: 256, heads: 8, vocab: 1000}
cluster: {node: dgx-b200, nodes: 1}
plan: {pipeline: 2, layers: [{from: 0, to: 0, recompute: selective}]}
training: {sequence_length: 128, global_batch: 48}
)",
      // Prediction modules were bounded as if they kept everything.
      R"(
model: {layers: 4, hidden: 256, heads: 8, vocab: 1000, multi_token_prediction: 2}
cluster: {node: dgx-h100, nodes: 1}
plan: {recompute: {selective: [mlp]}, activation_compression: int8}
training: {sequence_length: 256, global_batch: 16}
)",
      // The first launch was counted into steps that begin behind it.
      R"(
model: {layers: 2, hidden: 256, heads: 8, vocab: 1000}
cluster: {node: {base: dgx-b200, gpus: 2}, nodes: 1}
plan: {tensor: 2, schedule: zb-h1}
training: {sequence_length: 256, global_batch: 64}
software: {post_validation: true, step_overhead: 0 s}
)",
      // Without a pipeline, ranks were never priced in the order that the plan gives them.
      R"(
model:
  {layers: 2, hidden: 256, heads: 8, vocab: 1000,
   moe: {experts: 8, top_k: 2, expert_ffn: 256, every: 2, imbalance: 1.5}}
cluster: {node: {base: dgx-b200, gpus: 4}, nodes: 2}
plan: {tensor: 4, expert_tensor: 8, sequence_parallel: true, rank_order: pp-dp-ep-cp-tp}
training: {sequence_length: 128, global_batch: 32}
)"};
  return all;
}

// The accepted scenarios, the same in every run.
const std::vector<Drawn>& accepted() {
  static const auto all = [] {
    const std::uint64_t wanted = (is_long() ? 3000 : 200) / tests::fewer;
    std::vector<Drawn> found;
    for (const auto& text : once_wrong()) found.push_back({0, text});
    for (std::uint64_t seed = 1; found.size() < wanted && seed < 40 * wanted; ++seed)
      if (auto text = drawn::scenario(seed); is_accepted(text))
        found.push_back({seed, std::move(text)});
    return found;
  }();
  return all;
}

// A law returns its breach by a scenario; empty: it holds.
using Law = std::function<std::string(const Scenario&)>;

std::string broken(const Law& law, const std::string& text) {
  try {
    return law(scenarios::read_scenario(text, "drawn.yaml"));
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

// The text without the line that begins there, nor its section if that is then empty; nothing for
// the first line of a section.
std::optional<std::string> without_line(std::string text, std::size_t begin) {
  const auto is_key = [&](std::size_t at) { return text.compare(at, 2, "  ") == 0; };
  if (!is_key(begin)) return {};
  text.erase(begin, text.find('\n', begin) + 1 - begin);
  const auto before = text.rfind('\n', begin - 2) + 1;
  if (!is_key(before) && !is_key(begin)) text.erase(before, begin - before);
  return text;
}

// The text without the keys that the law's breach does not need.
std::string smallest(const Law& law, std::string text) {
  const auto is_still_broken = [&](const std::string& shorter) {
    return is_accepted(shorter) && !broken(law, shorter).empty();
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const auto shorter = without_line(text, begin);
    if (!shorter || !is_still_broken(*shorter)) {
      begin = text.find('\n', begin) + 1;
      continue;
    }
    text = *shorter;
    begin = std::min(begin, text.size());
    while (begin > 0 && text[begin - 1] != '\n') --begin;
  }
  return text;
}

// Tries a law on every scenario, or on one in `every` if it is slow.
void holds_for_all(const Law& law, std::uint64_t every = 1) {
  for (const auto& [seed, text] : accepted()) {
    if (seed % every != 0) continue;
    const auto wrong = broken(law, text);
    if (wrong.empty()) continue;
    const auto small = smallest(law, text);
    FAIL_CHECK("seed " << seed << ": " << wrong << "\n" << small << broken(law, small));
  }
}

// --- The laws.

std::string answer(const Scenario& scenario) {
  auto forecast = forecast::simulate(scenario, {.causes = true});
  static const auto intervals = scenarios::catalog_intervals();
  forecast::add_interval(forecast, scenario, intervals);
  forecast.warnings = scenarios::warnings(scenario);
  return report::simulate_json(scenario, forecast, "");
}

// The first line in which two documents differ.
std::string difference(const std::string& a, const std::string& b) {
  if (a == b) return {};
  const auto at = std::ranges::mismatch(a, b).in1 - a.begin();
  const auto begin = a.rfind('\n', static_cast<std::size_t>(at)) + 1;
  return a.substr(begin, a.find('\n', begin) - begin) + " | " +
         b.substr(begin, b.find('\n', begin) - begin);
}

Scenario resolved(const Scenario& scenario) {
  return scenarios::read_scenario(report::scenario_document(scenario).dump(2), "resolved.json");
}

std::string resolved_is_given(const Scenario& scenario) {
  return difference(answer(scenario), answer(resolved(scenario)));
}

// The first link in which they differ: the folded ones list one link for all that are alike.
std::string difference_of_links(const std::vector<forecast::LinkLoad>& folded,
                                const std::vector<forecast::LinkLoad>& full) {
  std::int64_t all = 0;
  for (const auto& link : folded) {
    all += link.alike;
    const auto same = std::ranges::find(full, link.name, &forecast::LinkLoad::name);
    if (same == full.end() || same->utilisation != link.utilisation) return link.name;
  }
  return all == std::ssize(full) ? "" : "links that carried anything";
}

std::string folded_is_full(const Scenario& scenario) {
  auto folded = forecast::simulate(scenario, {.causes = true});
  auto full = forecast::simulate(scenario, {.full = true, .causes = true});
  if (auto links =
          difference_of_links(std::exchange(folded.links, {}), std::exchange(full.links, {}));
      !links.empty())
    return links;
  folded.simulation = full.simulation = {};  // numbers of ranks that were played
  return difference(report::simulate_json(scenario, folded, ""),
                    report::simulate_json(scenario, full, ""));
}

bool recomputes_per_op(const strategies::Plan& plan) {
  using Kind = strategies::Recompute::Kind;
  return plan.recompute.kind == Kind::per_op ||
         std::ranges::any_of(plan.layers, [](const auto& some) {
           return some.recompute && some.recompute->kind == Kind::per_op;
         });
}

// A plan with all keys, and the question whose space holds it alone. If layers are regrouped, the
// search always chooses which, and their recomputation as well.
struct Asked {
  Scenario scenario;
  Question question;
  bool inside = false;
};
Asked asked_of(const Scenario& given) {
  Asked asked{resolved(given), {}};
  auto open = asked.scenario;
  const auto tensor = std::exchange(open.plan.layer_tensor, {});
  if (tensor) open.plan.layers.clear();
  asked.question =
      scenarios::read_question(report::scenario_document(open).dump(2), "resolved.json");
  asked.question.memory_headroom = 0;
  auto& space = asked.question.space;
  if (tensor) space.layer_tensor = {.listed = {*tensor}};
  if (tensor) space.recompute = true;
  if (tensor && recomputes_per_op(asked.scenario.plan))
    space.further_ways.push_back({strategies::Recompute::Kind::per_op});
  asked.inside = search::outside(asked.question, asked.scenario.plan).empty();
  return asked;
}

double milliseconds(units::Seconds time) { return time.value * 1e3; }

std::string in_words(const search::Answer& answer, const forecast::Forecast& given) {
  return "given " + std::to_string(milliseconds(given.step.time)) + " ms, found " +
         (answer.plans.empty()
              ? "nothing"
              : std::to_string(milliseconds(answer.plans.front().forecast.step.time))) +
         ", bound " + std::to_string(milliseconds(answer.lower_bound));
}

std::string a_plan_is_inside(const Scenario& given) {
  const auto asked = asked_of(given);
  std::string all;
  for (const auto key : search::outside(asked.question, asked.scenario.plan))
    all += "outside by " + std::string(key) + ' ';
  return all;
}

// The search of devices that have just the memory that the plan needs.
std::string what_just_fits_is_found(const Scenario& given) {
  auto [scenario, question, inside] = asked_of(given);
  const auto forecast = forecast::simulate(scenario);
  if (!forecast.memory.host_fits || !inside) return {};
  double needed = 0;
  for (const auto& stage : forecast.memory.stages) needed = std::max(needed, stage.needed().value);
  auto& fraction = question.scenario.cluster.memory_fraction;
  fraction *= needed * (1 + 1e-12) / forecast.memory.capacity.value;
  const auto answer = search::search_alone(question, {});
  const bool found =
      !answer.plans.empty() && answer.plans.front().forecast.step.time <= forecast.step.time;
  return found ? "" : in_words(answer, forecast);
}

// The search that knows of a plan slower by a picosecond.
std::string no_bound_is_above(const Scenario& given) {
  const auto [scenario, question, inside] = asked_of(given);
  const auto forecast = forecast::simulate(scenario);
  if (search::missing(question, forecast) > 0 || !inside) return {};
  const auto answer = search::search_alone(question, {}, search::ticks(forecast.step.time) + 1);
  const bool found = !answer.plans.empty() && answer.lower_bound <= forecast.step.time &&
                     answer.plans.front().forecast.step.time <= forecast.step.time;
  return found ? "" : in_words(answer, forecast);
}

// The search that may change stages, recomputation, microbatches and sharding as well.
std::string the_best_is_no_slower(const Scenario& given) {
  auto [scenario, question, inside] = asked_of(given);
  auto& space = question.space;
  auto& plan = question.scenario.plan;
  plan.layers_per_stage.clear();
  plan.recompute = {};
  plan.recompute_of_stage.clear();
  plan.layers.clear();
  space.recompute = space.partition = true;
  space.zero = space.micro_batch = {};
  const auto forecast = forecast::simulate(scenario);
  if (search::missing(question, forecast) > 0 || !search::outside(question, scenario.plan).empty())
    return {};
  const auto answer = search::search_alone(question, {});
  const bool found = !answer.plans.empty() && answer.lower_bound <= forecast.step.time &&
                     answer.plans.front().forecast.step.time <= forecast.step.time;
  return found ? "" : in_words(answer, forecast);
}

}  // namespace

TEST_CASE("every key of a plan, of training and of software can be drawn", "[drawn]") {
  for (const auto& section : drawn::sections())
    for (const auto& field : section.fields) {
      drawn::Dice dice(1);
      INFO(section.name << "." << field.name);
      CHECK(drawn::value_of(section, field, dice));
    }
}

TEST_CASE("every key of a plan, of training and of software stands in accepted scenarios",
          "[drawn]") {
  CHECK(accepted().size() >= (is_long() ? 3000 : 200) / tests::fewer);
  if (tests::fewer > 1) return;
  std::set<std::string> missing;
  for (const auto& section : drawn::sections())
    for (const auto& field : section.fields)
      missing.insert(std::string(section.name) + "." + std::string(field.name));
  // A rare key may stand in none of those, so later scenarios are tried too.
  constexpr std::uint64_t most = 20'000;
  for (std::uint64_t seed = 1; !missing.empty() && seed < most; ++seed) {
    const auto text = drawn::scenario(seed);
    const auto keys = drawn::keys_in(text);
    const auto is_missing = [&](const auto& key) { return missing.contains(key); };
    if (std::ranges::any_of(keys, is_missing) && is_accepted(text))
      for (const auto& key : keys) missing.erase(key);
  }
  for (const auto& key : missing) FAIL_CHECK(key << " stands in no accepted scenario");
}

// Scenarios may have any size, as nothing is simulated.
TEST_CASE("a scenario over entries of the catalog that is accepted is accepted as resolved",
          "[drawn]") {
  const std::uint64_t wanted = (is_long() ? 20'000 : 1000) / tests::fewer;
  std::uint64_t accepted = 0;
  for (std::uint64_t seed = 1; accepted < wanted && seed < 40 * wanted; ++seed) {
    const auto text = drawn::over_bases(seed);
    const auto given = read_if_accepted(text);
    if (!given) continue;
    ++accepted;
    const auto shown = report::scenario_document(*given).dump(2);
    const auto law = [&](const Scenario& scenario) {
      return difference(shown, report::scenario_document(resolved(scenario)).dump(2));
    };
    const auto wrong = broken(law, text);
    if (!wrong.empty()) FAIL_CHECK("seed " << seed << ": " << wrong << "\n" << text);
  }
  CHECK(accepted == wanted);
}

TEST_CASE("a resolved scenario, read again, gives the same bytes", "[drawn]") {
  holds_for_all(resolved_is_given);
}

TEST_CASE("folded ranks give the bytes that all ranks give", "[drawn]") {
  holds_for_all(folded_is_full);
}

TEST_CASE("every accepted plan is one that a search can be asked for", "[drawn]") {
  holds_for_all(a_plan_is_inside);
}

TEST_CASE("a search finds the plan that is given and just fits", "[drawn]") {
  holds_for_all(what_just_fits_is_found);
}

TEST_CASE("no bound of a search is above the step of the plan that is given", "[drawn]") {
  holds_for_all(no_bound_is_above);
}

TEST_CASE("the best of many plans is no slower than any plan among them that is given", "[drawn]") {
  holds_for_all(the_best_is_no_slower, 5);
}

}  // namespace drawn_laws_spec
