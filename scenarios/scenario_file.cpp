// SPDX-License-Identifier: Apache-2.0
#include "scenarios/scenario_file.hpp"

#include <algorithm>
#include <utility>

#include "plans/attention_choice.hpp"
#include "plans/schedules/schedule_needs.hpp"
#include "scenarios/alerts.hpp"
#include "scenarios/checks/checker.hpp"
#include "scenarios/checks/checks.hpp"
#include "scenarios/document.hpp"
#include "scenarios/job_document.hpp"
#include "scenarios/named.hpp"
#include "scenarios/read_placed.hpp"
#include "scenarios/search_keys.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;
using search::Question;

const std::vector<Field>& published_fields() {
  static const std::vector<Field> fields{
      {"step_time",
       "Measured time of one step",
       "",
       {.type = Type::duration, .range = {0, 1e6, "a step ends within days"}}},
      {"source", "Where it was published", "", {.type = Type::text}},
      {"note", "How the figure was derived", "", {.type = Type::text}}};
  return fields;
}

Form job_form() {
  const Form text{.type = Type::text};
  return {.type = Type::either,
          .forms = {text, map_of({{"file", "The job's file", "", text},
                                  {"as", "Its framework", "recognised by content", text},
                                  {"env", "Variables of the file", "", {.type = Type::map}}})}};
}

Table<Question> make_scenario_table() {
  return {text<Question>("name", "A name for reports",
                         [](Question& q) -> std::string& { return q.scenario.name; }),
          {{"model", "The model: a catalog name or a mapping", "", name_or_map(model_fields())},
           [](Question& q, const Cursor& at) { q.scenario.model = read_model(at); }},
          {{"cluster", "The machine", "", map_of(cluster_fields())},
           [](Question& q, const Cursor& at) { q.scenario.cluster = read_cluster(at); }},
          {{"training", "What one step trains on", "", map_of(training_fields())},
           [](Question& q, const Cursor& at) {
             read_training(q.scenario.training, at);
             require({"sequence_length", "global_batch"},
                     "a step needs sequence_length and global_batch", at);
           }},
          {{"plan", "Who does what", "one GPU does everything", map_of(plan_fields())},
           [](Question& q, const Cursor& at) { read_plan(q.scenario.plan, at); }},
          {{"software", "The framework: a catalog name or a mapping", "megatron-core",
            name_or_map(software_fields())},
           [](Question& q, const Cursor& at) { q.scenario.software = read_software(at); }},
          {{"search", "Limits of a search; nothing for one plan", "", map_of(search_fields())},
           [](Question& q, const Cursor& at) { read_search(q, at); }},
          {{"alerts", "Rules of operators, which every forecast is judged by", "none",
            map_of(alert_fields())},
           [](Question& q, const Cursor& at) { q.scenario.alerts = read_alerts(at); }},
          {{"job",
            "A job of a training framework that this scenario is laid over: a file, or {file, as, "
            "env}",
            "", job_form()},
           [](Question&, const Cursor& at) {
             at.complain("a job is named by a scenario of its own file only");
           }},
          unread<Question>("published", map_of(published_fields()),
                           "What such a run was measured to take")};
}

const Table<Question>& scenario_table() {
  static const auto made = make_scenario_table();
  return made;
}

// The sections that are mappings, with their keys.
const std::vector<Section>& sections() {
  static const auto made = [] {
    std::vector<Section> all;
    const auto add = [&](std::string_view name, const std::vector<Field>& fields) {
      auto& section = all.emplace_back(Section{name, {}, false});
      for (const auto& field : fields) section.keys.push_back(field.name);
      std::erase(section.keys, "name");  // that of the document is meant
    };
    add("model", model_fields());
    add("cluster", cluster_fields());
    add("training", training_fields());
    add("plan", plan_fields());
    add("software", software_fields());
    add("search", search_fields());
    all.back().last_resort = true;
    return all;
  }();
  return made;
}

const Value* path(const Value& document, std::string_view first, std::string_view second) {
  const auto* outer = document.find(first);
  return outer == nullptr ? nullptr : outer->find(second);
}

// Fills in the keys of the plan that were left out and follow from the others.
void complete(Scenario& scenario, bool data_given, bool chunks_given) {
  auto& plan = scenario.plan;
  if (!data_given)
    plan.data = std::max<std::int64_t>(
        1, scenario.cluster.gpus / (plan.tensor * plan.context * plan.pipeline));
  if (!chunks_given && strategies::has_two_chunks(plan.schedule)) plan.virtual_stages = 2;
}

void complete_names(Scenario& scenario) {
  auto& model = scenario.model;
  if (model.max_sequence == 0) model.max_sequence = scenario.training.sequence_length;
  if (!scenario.name.empty()) return;
  const auto& cluster = scenario.cluster;
  scenario.name = model.name + " on " + std::to_string(cluster.gpus) + " GPUs of ";
  for (std::size_t i = 0; i < cluster.kinds(); ++i)
    scenario.name += (i == 0 ? "" : " and ") + cluster.kind(i).name;
}

}  // namespace

std::vector<Field> scenario_fields() { return fields_of(scenario_table()); }

Question read_sections(const Value& document, Reading& reading) {
  const Cursor root(document, "", reading);
  Question question;
  question.memory_headroom = search::usual_headroom;
  if (document.kind != Value::Kind::map) {
    root.complain("expected a map with model, cluster, training and plan");
    return question;
  }
  reading.set_sections(sections());
  read_map(scenario_table(), question, root);
  require({"model", "cluster", "training"}, "a scenario needs model, cluster and training", root);
  if (document.find("software") == nullptr) question.scenario.software = usual_software(root);
  auto& attention = question.scenario.software.kernels.attention;
  attention = strategies::attention_on(question.scenario.cluster, attention);
  complete_names(question.scenario);
  return question;
}

Scenario read_document(const Value& document, Reading& reading) {
  auto scenario = read_sections(document, reading).scenario;
  if (document.kind != Value::Kind::map) return scenario;
  const bool data_given = path(document, "plan", "data") != nullptr;
  complete(scenario, data_given, path(document, "plan", "virtual_stages") != nullptr);
  const Cursor root(document, "", reading);
  Value nothing;
  nothing.kind = Value::Kind::map;
  check_plan(scenario.plan, root.find("plan").value_or(root.in_the_end("plan", nothing)));
  check_scenario(scenario, data_given, document, reading);
  return scenario;
}

Scenario read_scenario(std::string_view text, const std::string& file_name,
                       std::span<const std::string> sets, const std::filesystem::path& base) {
  return read_placed(text, file_name, sets, base, read_document).value;
}

Scenario load_scenario(const std::filesystem::path& file, std::span<const std::string> sets) {
  return load_placed_scenario(file, sets).value;
}

Placed<Scenario> load_placed_scenario(const Source& source, std::span<const std::string> sets,
                                      const JobHints& hints) {
  return load_scenario_file(source, sets, hints, read_document);
}

std::optional<Published> published_in(const Origin& origin) {
  const auto* published = origin.document.find("published");
  if (published == nullptr) return {};
  Reading reading(origin.file, {});
  check(map_of(published_fields()), Cursor(*published, "published", reading));
  reading.throw_if_any();
  const auto word = [&](std::string_view key) {
    const auto* value = published->find(key);
    return value == nullptr ? std::string() : value->text;
  };
  Published result{{}, word("source"), word("note")};
  if (const auto time = word("step_time"); !time.empty())
    result.step_time = units::parse_duration(time);
  return result;
}

}  // namespace scenarios
