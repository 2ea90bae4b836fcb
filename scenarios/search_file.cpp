// SPDX-License-Identifier: Apache-2.0
#include "scenarios/search_file.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "plans/admissible.hpp"
#include "plans/schedules/schedule_needs.hpp"
#include "plans/words.hpp"
#include "scenarios/checks/checker.hpp"
#include "scenarios/checks/checks.hpp"
#include "scenarios/document.hpp"
#include "scenarios/job_document.hpp"
#include "scenarios/plan_keys.hpp"
#include "scenarios/read_placed.hpp"
#include "scenarios/search_alternatives.hpp"
#include "scenarios/search_keys.hpp"
#include "search/cuts.hpp"

namespace scenarios {
namespace {

using search::Question;
using strategies::ScheduleKind;

// Removes recomputation that is `optimal`, which leaves the choice to the search.
void leave_optimal(Value& document) {
  auto* plan = document.find("plan");
  if (plan == nullptr) return;
  std::erase_if(plan->members, [](const Member& member) {
    return member.key.text == "recompute" && member.value.text == "optimal";
  });
}

// Fixes the keys that the plan gives in the space of the search.
class Fixing {
 public:
  Fixing(Question& question, const Value& document, Reading& reading)
      : question_(question), document_(document), reading_(reading) {}

  void run() {
    for (const auto& degree : searched_degrees()) fix_degree(degree);
    fix_sequence();
    fix_schedule();
    refuse_regrouping();
    fix_recompute();
    fix_partition();
    narrow_zero();
  }

 private:
  const Value* find(std::string_view section, std::string_view key) const {
    const auto* outer = document_.find(section);
    return outer == nullptr ? nullptr : outer->find(key);
  }
  // Whether the plan gives the key and it was read without complaint.
  bool fixes(const std::string& key) const {
    return find("plan", key) != nullptr && !reading_.doubtful("plan." + key);
  }
  void disagree(const std::string& key, const std::string& value) {
    if (reading_.doubtful("search." + key)) return;
    complain("search", key,
             "does not allow " + value + ", which " + place("plan", key) +
                 " fixes; write it here too, or leave one of them out");
  }
  // "plan.tensor (line 7)"
  std::string place(const std::string& section, const std::string& key) const {
    const auto& value = *find(section, key);
    return section + "." + key +
           (value.set > 0 ? " (--set " + digits(value.set) + ")"
                          : " (line " + digits(value.line) + ")");
  }
  void complain(const std::string& section, const std::string& key, const std::string& text) {
    Checker(document_, reading_).complain(section, key, text);
  }

  void fix_degree(const SearchedDegree& degree) {
    const std::string key(degree.name);
    if (!fixes(key)) return;
    const auto value = degree.of(question_.scenario.plan);
    auto& values = question_.space.*degree.values;
    if (!values.allow(value)) disagree(key, digits(value));
    values = {.listed = {value}};
  }

  void fix_sequence() {
    if (!fixes("sequence_parallel")) return;
    const bool value = question_.scenario.plan.sequence_parallel;
    auto& asked = question_.space.sequence_parallel;
    if (asked.value_or(value) != value) disagree("sequence_parallel", value ? "true" : "false");
    asked = value;
  }

  void fix_schedule() {
    if (!fixes("schedule")) return;
    const auto value = question_.scenario.plan.schedule;
    auto& asked = question_.space.schedules;
    if (!asked.empty() && std::ranges::find(asked, value) == asked.end())
      disagree("schedule", std::string(units::word(value)));
    asked = {value};
  }

  void refuse_regrouping() {
    const auto& tensor = question_.scenario.plan.layer_tensor;
    if (fixes("layers") && tensor)
      complain(
          "plan", "layers",
          "a search chooses which layers have another tensor degree; leave that out, and write "
          "search: {layers: {tensor: [" +
              digits(*tensor) + "]}}");
  }

  // Fixes recomputation: if layers have their own choice, there is none left for all layers alike.
  void fix_recompute() {
    const auto& plan = question_.scenario.plan;
    auto& space = question_.space;
    if (!fixes("recompute") && !fixes("layers")) return;
    const auto& ways = space.recompute_ways;
    const auto allowed = [&](const strategies::Recompute& one) {
      return ways.empty() || std::ranges::find(ways, one) != ways.end();
    };
    const bool by_stage = !plan.recompute_of_stage.empty();
    if (fixes("recompute") && !(by_stage ? std::ranges::all_of(plan.recompute_of_stage, allowed)
                                         : allowed(plan.recompute)))
      disagree("recompute", "what is recomputed");
    if (find("search", "recompute") != nullptr && fixes("layers"))
      complain("search", "recompute",
               "nothing is left to choose: " + place("plan", "layers") +
                   " fixes what single layers recompute; leave one of them out");
    space.recompute = false;
    space.recompute_ways.clear();
  }

  void fix_partition() {
    if (fixes("layers_per_stage")) {
      if (find("search", "partition") != nullptr)
        complain("search", "partition",
                 "nothing is left to choose: " + place("plan", "layers_per_stage") +
                     " fixes the layers of each stage; leave one of them out");
      question_.space.partition = false;
      needs_stages("layers_per_stage");
    }
    if (fixes("recompute") && !question_.scenario.plan.recompute_of_stage.empty())
      needs_stages("recompute");
  }

  // Complains of a list with an entry for each virtual stage if the number of virtual stages is not
  // fixed.
  void needs_stages(const std::string& key) {
    const bool chunks = question_.scenario.plan.schedule == ScheduleKind::interleaved;
    for (const std::string other : {"pipeline", "schedule", "virtual_stages"})
      if (find("plan", other) == nullptr && (chunks || other != "virtual_stages"))
        return complain("plan", key,
                        "has an entry for each virtual stage, but their number is left to the "
                        "search; give plan." +
                            other + " too, or leave this out");
  }

  bool may_have_zero(std::int64_t zero) const {
    const auto& asked = question_.scenario;
    auto plan = asked.plan;
    plan.zero = static_cast<int>(zero);
    return strategies::all_hold(strategies::on_states(),
                                {asked.model, asked.training, plan, asked.cluster});
  }
  // Complains if each stage of ZeRO violates some condition, of the first that the last one
  // violates.
  bool refuse_every_zero(std::int64_t last) {
    for (std::int64_t zero = 0; zero <= last; ++zero)
      if (may_have_zero(zero)) return false;
    const auto& asked = question_.scenario;
    auto plan = asked.plan;
    plan.zero = static_cast<int>(last);
    const strategies::Case of{asked.model, asked.training, plan, asked.cluster};
    for (const auto& one : strategies::on_states())
      if (!one.holds(of) && std::ranges::find(one.asks, "plan.zero") != one.asks.end()) {
        const auto& key = one.keys.back();
        const auto dot = key.find('.');
        complain(std::string(key.substr(0, dot)), std::string(key.substr(dot + 1)),
                 "no stage of ZeRO goes with all of the given keys; with zero: 3, " + one.why(of));
        return true;
      }
    return false;
  }
  // Limits ZeRO's stages to those that the given keys allow.
  void narrow_zero() {
    auto& zero = question_.space.zero;
    if (find("plan", "zero") != nullptr) return;
    // Without sharding the plan is the same for any group, so only stages from 1 on differ.
    if (const auto* groups = find("search", "shard_group"); groups != nullptr)
      if (groups->items.size() > 1 &&
          question_.scenario.plan.shard_group != strategies::ShardGroup::all)
        zero.least = std::max<std::int64_t>(zero.least, 1);
    constexpr std::int64_t last = 3;
    if (refuse_every_zero(last)) return;
    while (zero.least < last && !may_have_zero(zero.least)) ++zero.least;
    auto most = last;
    while (most > zero.least && !may_have_zero(most)) --most;
    if (most < last) zero.most = std::min(zero.most, most);
  }

  Question& question_;
  const Value& document_;
  Reading& reading_;
};

// Returns the most virtual stages of all schedules that are searched.
std::int64_t most_stages(const Question& question) {
  const auto& plan = question.scenario.plan;
  const auto layers = question.scenario.model.layers;
  const auto& asked = question.space.schedules;
  std::int64_t most = 0;
  for (const auto& [name, schedule] : words_of(ScheduleKind{}))
    if (asked.empty() || std::ranges::find(asked, schedule) != asked.end())
      most = std::max(most, search::most_virtual_stages(plan, question.space, schedule, layers));
  return most;
}

// Marks the keys that the search decides as not known, so that checks leave them out.
void doubt_what_is_open(Question& question, const Checker& checker, Reading& reading) {
  auto& plan = question.scenario.plan;
  const auto open = [&](const char* key) { return !checker.given("plan", key); };
  const bool one_cut = !open("schedule") && plan.schedule != ScheduleKind::interleaved;
  if (open("virtual_stages") && one_cut && strategies::has_two_chunks(plan.schedule))
    plan.virtual_stages = 2;
  const bool derived = !open("tensor") && !open("context") && !open("pipeline");
  if (open("data") && derived)
    plan.data = std::max<std::int64_t>(
        1, question.scenario.cluster.gpus / (plan.tensor * plan.context * plan.pipeline));
  for (const auto* key : {"tensor", "context", "expert", "expert_tensor", "pipeline", "zero",
                          "micro_batch", "sequence_parallel", "schedule"})
    if (open(key)) reading.doubt(std::string("plan.") + key);
  if (open("virtual_stages") && !one_cut) reading.doubt("plan.virtual_stages");
  const auto stages = plan.pipeline * plan.virtual_stages;
  if (stages > question.scenario.model.layers && stages <= most_stages(question))
    reading.doubt("plan.layers_per_stage");  // written for the best plan
  if (open("data") && !derived) reading.doubt("plan.data");
}

// --- What is given and can never work, whatever the search decides

// Complains if the given ones of these degrees do not multiply to a divisor of `whole`: of the
// first degree at which the product is none, as the product of all may overflow.
void check_product(std::initializer_list<std::pair<const char*, std::int64_t>> degrees,
                   std::int64_t whole, const std::string& why, const Checker& checker) {
  std::string words;
  std::int64_t product = 1;
  for (const auto& [key, degree] : degrees) {
    if (!checker.given("plan", key) || !checker.knows({std::string("plan.") + key})) continue;
    const bool first = words.empty();
    words += (first ? "" : " x ") + std::string(key) + " " + digits(degree);
    product *= degree;
    if (whole % product == 0) continue;
    return checker.complain(
        "plan", key, words + (first ? "" : " = " + digits(product)) + " does not divide " + why);
  }
}

void check_given_degrees(const forecast::Scenario& s, const Checker& checker) {
  const auto& plan = s.plan;
  if (!checker.knows({"cluster"}) ||
      checker.knows({"plan.tensor", "plan.context", "plan.pipeline"}))
    return;  // then the whole product is judged
  check_product({{"tensor", plan.tensor},
                 {"context", plan.context},
                 {"data", plan.data},
                 {"pipeline", plan.pipeline}},
                s.cluster.gpus,
                digits(s.cluster.gpus) + " GPUs: the degrees of a plan multiply to them", checker);
}

void check_given_batch(const forecast::Scenario& s, const Checker& checker) {
  if (!checker.knows({"training.global_batch"}) ||
      checker.knows(
          {"plan.tensor", "plan.context", "plan.pipeline", "plan.data", "plan.micro_batch"}))
    return;  // then microbatches are judged
  const auto batch = s.training.global_batch;
  check_product({{"micro_batch", s.plan.micro_batch}, {"data", s.plan.data}}, batch,
                "global_batch " + digits(batch) + ": every replica runs whole microbatches",
                checker);
}

void check_given_stages(const Question& question, const Checker& checker) {
  const auto& s = question.scenario;
  if (!checker.knows({"plan.pipeline", "model.layers"}) ||
      checker.knows({"plan.virtual_stages", "plan.schedule"}))
    return;
  if (s.plan.pipeline > most_stages(question))
    checker.complain(
        "plan", "pipeline",
        digits(s.plan.pipeline) + " ranks for " + digits(s.model.layers) +
            " layers: each needs one" +
            (most_stages(question) > s.model.layers ? ", but for the first and the last" : ""));
}

// Checks the objective: sizes of clusters can only be compared if all nodes are alike.
void check_objective(const Question& question, const Checker& checker) {
  using enum search::Objective::Kind;
  const auto kind = question.objective.kind;
  const bool of_clusters = kind == smallest_cluster || kind == cost;
  if (!checker.knows({"search.objective"})) return;
  for (const auto* key : {"rate", "nodes"})
    if (checker.given("search", key) && !of_clusters)
      checker.complain("search", key,
                       "limits clusters, and the objective compares none; write objective: "
                       "smallest_cluster or cost, or leave this out");
  if (!of_clusters || !checker.knows({"cluster"})) return;
  const auto& cluster = question.scenario.cluster;
  const auto wrong = [&](const std::string& what) {
    checker.complain(
        "search", "objective",
        checker.written("search", "objective") + " tries other numbers of nodes, but " + what);
  };
  if (!cluster.others.empty()) wrong("cluster.node lists several kinds; write one kind of node");
  if (!cluster.stragglers.empty() || !cluster.degraded_links.empty())
    wrong("cluster names single GPUs or links; leave stragglers and degraded_links out");
}

Question read_alternative(Value& document, Reading& reading) {
  leave_optimal(document);
  auto question = read_sections(document, reading);
  Fixing(question, document, reading).run();
  const Checker checker(document, reading);
  doubt_what_is_open(question, checker, reading);
  const auto& scenario = question.scenario;
  check_given_degrees(scenario, checker);
  check_given_batch(scenario, checker);
  check_given_stages(question, checker);
  check_objective(question, checker);
  check_ways(question.space.recompute_ways, scenario, checker);
  check_scenario(scenario, checker.given("plan", "data"), document, reading);
  return question;
}

}  // namespace

// Each alternative is a scenario of its own; a mistake in the first is one in all, and is told
// once.
Question read_question(const Value& document, Reading& reading) {
  if (document.kind != Value::Kind::map) return read_sections(document, reading);
  auto alternatives = alternatives_of(document, reading);
  auto question = read_alternative(alternatives.front(), reading);
  for (std::size_t i = 1; i < alternatives.size() && !reading.complains(); ++i) {
    auto other = read_alternative(alternatives[i], reading);
    question.others.push_back({std::move(other.scenario), std::move(other.space)});
  }
  return question;
}

void open_plan(Value& document) {
  auto* plan = document.find("plan");
  if (plan == nullptr) return;
  std::erase_if(plan->members, [](const Member& member) {
    const auto& key = member.key.text;
    constexpr std::array chosen{"sequence_parallel", "schedule", "layers_per_stage",
                                "recompute",         "layers",   "wrap"};
    return std::ranges::find(chosen, key) != chosen.end() ||
           std::ranges::find(searched_degrees(), key, &SearchedDegree::name) !=
               searched_degrees().end();
  });
  auto* overlap = plan->find("overlap");
  if (overlap == nullptr) return;
  std::erase_if(overlap->members,  // it follows from the schedule
                [](const Member& one) { return one.key.text == "pipeline"; });
  if (overlap->kind == Value::Kind::map && overlap->members.empty())
    std::erase_if(plan->members, [](const Member& one) { return one.key.text == "overlap"; });
}

namespace {

Question question_of(const Value& document, Reading& reading) {
  return read_question(document, reading);
}

}  // namespace

Question read_question(std::string_view text, const std::string& file_name,
                       std::span<const std::string> sets, const std::filesystem::path& base) {
  return read_placed(text, file_name, sets, base, question_of).value;
}

Question load_question(const std::filesystem::path& file, std::span<const std::string> sets) {
  return load_placed_question(file, sets).value;
}

Placed<Question> load_placed_question(const Source& source, std::span<const std::string> sets,
                                      const JobHints& hints) {
  return load_scenario_file(source, sets, hints, question_of, open_plan);
}

Question reopened(const PublishedRow& row, std::span<const std::string> sets) {
  auto run = *row.run;
  open_plan(run);
  Reading reading(row.id, {});
  apply_sets(run, sets, reading);
  auto question = read_question(run, reading);
  reading.throw_if_any();
  // The run had no headroom unless its file gives one.
  const auto* asked = run.find("search");
  if (asked == nullptr || asked->find("memory_headroom") == nullptr) question.memory_headroom = 0;
  // The run's framework can recompute per operator, so the search may, too.
  const auto given = row.scenario->plan.recompute.kind;
  if (given == strategies::Recompute::Kind::per_op && question.space.further_ways.empty())
    question.space.further_ways.push_back({given});
  return question;
}

}  // namespace scenarios
