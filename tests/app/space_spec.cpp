// SPDX-License-Identifier: Apache-2.0
// The table of docs/search.md, The space, beside the keys that scenarios have, the plans that a
// search enumerates and those that `simulate` takes.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "plans/partition.hpp"
#include "plans/words.hpp"
#include "report/document.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/plan_keys.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/search_file.hpp"
#include "scenarios/search_keys.hpp"
#include "scenarios/tables.hpp"
#include "search/cuts.hpp"
#include "search/given_plan.hpp"
#include "tests/catch.hpp"

namespace space_spec {

namespace {

using Words = std::vector<std::string>;

Words quoted(const std::string& cell) {
  static const std::regex word("`([^`]*)`");
  Words all;
  for (std::sregex_iterator one(cell.begin(), cell.end(), word), end; one != end; ++one)
    all.push_back((*one)[1]);
  return all;
}

struct DocumentedKey {
  std::string how;
  Words limits;
  std::string values;
};

// The rows of the table by key, which stands there once.
const std::map<std::string, DocumentedKey>& table() {
  static const auto made = [] {
    const auto text = scenarios::read_file(STEPCAST_SOURCE_DIR "/docs/search.md");
    static const std::regex line(R"(\| `([a-z_.]+)` \| (\w+) \| ([^|]*)\| ([^|]*)\|)");
    std::map<std::string, DocumentedKey> rows;
    for (std::sregex_iterator one(text.begin(), text.end(), line), end; one != end; ++one) {
      const auto& cell = *one;
      REQUIRE(rows.try_emplace(cell[1], DocumentedKey{cell[2], quoted(cell[3]), cell[4]}).second);
    }
    return rows;
  }();
  return made;
}

std::set<std::string> names(const std::vector<scenarios::Field>& fields) {
  std::set<std::string> all;
  for (const auto& field : fields) all.emplace(field.name);
  return all;
}

const scenarios::Field& field_of(const std::vector<scenarios::Field>& fields,
                                 std::string_view name) {
  return *std::ranges::find(fields, name, &scenarios::Field::name);
}

// A scenario of six layers on 16 GPUs, and a plan whose kept or listed keys are not at their
// defaults.
constexpr auto base = R"(
model: {layers: 6, hidden: 512, heads: 8, vocab: 1000, ffn: 2048}
cluster: {node: dgx-a100-80gb, nodes: 2}
training: {sequence_length: 512, global_batch: 16}
)";
constexpr auto kept_plan =
    R"({"plan": {"context_method": "ulysses", "rank_order": "tp-cp-ep-pp-dp",)"
    R"( "bucket": 1e7, "overlap": {"data": false}, "gradient_precision": "bf16"}})";

std::string key_value(const std::string& key, const report::Document& value) {
  return "plan." + key + "=" + value.dump();
}

// The scenario of the base with this plan; nothing if `simulate` does not take it.
std::optional<forecast::Scenario> taken(const report::Document& plan) {
  std::vector<std::string> sets;
  for (const auto& [key, value] : plan.items()) sets.push_back(key_value(key, value));
  try {
    return scenarios::read_scenario(base, "f.yaml", sets, {});
  } catch (const scenarios::Error&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("the table of the space has a row for each key of a plan, and for none else") {
  auto keys = names(scenarios::plan_fields());
  keys.insert("training.precision");
  std::set<std::string> rows;
  for (const auto& [key, row] : table()) rows.insert(key);
  CHECK(rows == keys);
}

TEST_CASE("each key of a search limits a row, or says how to search") {
  std::set<std::string> limits{"gap",       "time_limit", "memory_headroom",
                               "objective", "rate",       "nodes"};
  for (const auto& [key, row] : table()) {
    CAPTURE(key);
    CHECK(row.limits.empty() == (row.how == "kept"));
    for (const auto& limit : row.limits) CHECK(limits.insert(limit).second);
  }
  CHECK(limits == names(scenarios::search_fields()));
}

TEST_CASE("the values of the table are the values that scenarios may have") {
  const auto fields = scenarios::plan_fields();
  const auto& schedules = field_of(fields, "schedule").form.choices;
  CHECK(quoted(table().at("schedule").values) == Words(schedules.begin(), schedules.end()));
  const auto& zero = field_of(fields, "zero").form.range;
  Words stages;
  for (auto stage = static_cast<int>(zero.least); stage <= static_cast<int>(zero.most); ++stage)
    stages.push_back(std::to_string(stage));
  CHECK(quoted(table().at("zero").values) == stages);
}

TEST_CASE(
    "no plan of the space changes a key that the table keeps; several change one that it "
    "searches") {
  std::vector<std::string> sets;
  const auto given = report::Document::parse(kept_plan)["plan"];
  for (const auto& [key, value] : given.items()) sets.push_back(key_value(key, value));
  const auto question = scenarios::read_question(base, "f.yaml", sets, {});
  const auto word = [](const report::Document& plan, const std::string& key) {
    return plan.contains(key) ? plan[key].dump() : "";
  };
  const auto before = report::short_plan_document(question.scenario.plan);
  std::map<std::string, std::set<std::string>> seen;
  std::size_t plans = 0;
  search::for_each_plan(question.scenario, question.space, [&](const strategies::Plan& plan) {
    const auto document = report::short_plan_document(plan);
    for (const auto& [key, row] : table()) seen[key].insert(word(document, key));
    if (++plans % 50 != 0) return;
    // `simulate` takes an enumerated plan, with the stages written out.
    auto whole = plan;
    whole.layers_per_stage =
        strategies::layers_per_virtual_stage(plan, question.scenario.model.layers);
    CAPTURE(report::short_plan_document(whole).dump());
    CHECK(taken(report::short_plan_document(whole)));
  });
  for (const auto& [key, values] : seen) {
    CAPTURE(key);
    const auto& how = table().at(key).how;
    if (how != "searched") CHECK(values == std::set{word(before, key)});
    const bool inside = key == "recompute" || key == "layers" || key == "layers_per_stage";
    // Without experts their degrees do not vary.
    if (how == "searched" && !inside && !key.starts_with("expert")) CHECK(values.size() > 1);
  }
  for (const auto& schedule : quoted(table().at("schedule").values))
    CHECK(seen["schedule"].contains('"' + schedule + '"'));
  CHECK(seen["zero"].size() == quoted(table().at("zero").values).size());
}

// Where the table says "any cut", the space has every cut whose inner stages hold a layer; where it
// says "even", one. uneven_spec.cpp tells all of those in between.
TEST_CASE("a plan that simulate takes is in the space if the table says so") {
  std::mt19937 random(11);
  const auto one_of = [&](const auto& list) { return list[random() % list.size()]; };
  const auto question = scenarios::read_question(base, "f.yaml", {}, {});
  const auto& cuts = table().at("layers_per_stage").values;
  const auto any = quoted(cuts.substr(0, cuts.find('.')));
  const auto framework = quoted(cuts.substr(cuts.find('.')));
  CHECK(any == Words{"gpipe", "1f1b"});
  CHECK(framework == Words{"interleaved"});
  const std::vector<int> degrees{1, 2, 4, 8};
  std::map<std::string, int> inside, outside;
  for (int i = 0; i < 6000; ++i) {
    const auto schedule =
        std::string(one_of(strategies::words_of(strategies::ScheduleKind{})).name);
    const int tensor = one_of(degrees), pipeline = one_of(degrees), context = one_of(degrees);
    const int chunks =
        schedule == "interleaved" ? 2 + static_cast<int>(random() % 2)
        : schedule == "zb-v" || schedule.starts_with("v-") || schedule == "dualpipe-v" ? 2
                                                                                       : 1;
    std::vector<int> layers(static_cast<std::size_t>(pipeline * chunks), 0);
    const bool given = random() % 2 == 0;
    for (int layer = 0; layer < 6; ++layer) ++layers[random() % layers.size()];
    auto plan = report::Document{{"tensor", tensor},     {"pipeline", pipeline},
                                 {"context", context},   {"micro_batch", one_of(degrees)},
                                 {"zero", random() % 4}, {"sequence_parallel", random() % 2 == 0},
                                 {"schedule", schedule}, {"virtual_stages", chunks}};
    if (given) plan["layers_per_stage"] = layers;
    const auto scenario = taken(plan);
    if (!scenario) continue;
    const auto wrong = search::outside(question, scenario->plan);
    CAPTURE(plan.dump());
    if (std::ranges::find(any, schedule) != any.end()) {
      const bool empty = given && pipeline > 2 &&
                         std::find(layers.begin() + 1, layers.end() - 1, 0) != layers.end() - 1;
      CHECK(wrong.empty() == !empty);
    } else if (!given) {
      CHECK(wrong.empty());
    }
    // Such a plan has more stages than the schedule has layers for, or another cut.
    for (const auto key : wrong)
      if (layers.size() <= 6) CHECK(key == "layers_per_stage");
    ++(wrong.empty() ? inside : outside)[schedule];
  }
  for (const auto& word : quoted(table().at("schedule").values)) {
    CAPTURE(word);
    CHECK(inside[word] > 10);
    CHECK(outside[word] > 0);
  }
}

}  // namespace space_spec
