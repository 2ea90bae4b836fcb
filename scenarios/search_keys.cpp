// SPDX-License-Identifier: Apache-2.0
#include "scenarios/search_keys.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "plans/words.hpp"
#include "scenarios/plan_keys.hpp"
#include "scenarios/search_alternatives.hpp"
#include "scenarios/tables.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

using search::Question;
using search::Space;
using search::Values;

const Field& plan_field(std::string_view name) {
  static const auto fields = plan_fields();
  return *std::ranges::find(fields, name, &Field::name);
}

// --- Degrees: a number, a list of numbers, or bounds

std::optional<std::int64_t> number_in(std::string_view text) {
  text = units::trimmed(text);
  std::int64_t number = 0;
  const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || wrong != std::errc() || stop != text.data() + text.size()) return {};
  return number;
}

bool is_number(const std::string& text) {
  double number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ptr ==
         text.data() + text.size();
}

// Tightens the values by "<= 64", ">= 8" or "4 .. 64"; false if the text is none of them.
bool tighten(Values& values, std::string_view text) {
  text = units::trimmed(text);
  std::optional<std::int64_t> least, most;
  if (const auto dots = text.find(".."); dots != std::string_view::npos) {
    least = number_in(text.substr(0, dots));
    most = number_in(text.substr(dots + 2));
    if (!least || !most) return false;
  } else if (text.starts_with("<=")) {
    if (!(most = number_in(text.substr(2)))) return false;
  } else if (!text.starts_with(">=") || !(least = number_in(text.substr(2)))) {
    return false;
  }
  values.least = std::max(values.least, least.value_or(values.least));
  values.most = std::min(values.most, most.value_or(values.most));
  return true;
}

Values read_bounds(const Range& range, const Cursor& at) {
  Values values;
  std::string_view rest = at.value().text;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    if (!tighten(values, rest.substr(0, comma))) {
      at.complain("'" + at.value().text +
                  "' is no bound; expected '<= 64', '>= 8', '4 .. 64' or '>= 2, <= 16', or one "
                  "number, or a list of them");
      return {};
    }
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  if (values.least > values.most || values.least > static_cast<std::int64_t>(range.most) ||
      values.most < static_cast<std::int64_t>(range.least)) {
    at.complain("'" + at.value().text + "' leaves no value; expected some of " +
                plain(range.least) + " to " + plain(range.most));
    return {};
  }
  return values;
}

Form values_form(const Range& range) {
  const Form one{.type = Type::whole, .range = range};
  return {.type = Type::either,
          .forms = {one,
                    {.type = Type::list, .range = {1, 10'000, ""}, .forms = {one}},
                    {.type = Type::text}}};
}

Values read_choices(const Form& form, const Cursor& at) {
  const auto& value = at.value();
  Values values;
  if (!check(form, at)) return values;
  if (value.kind == Value::Kind::list) {
    for (const auto& item : value.items) values.listed.push_back(to_whole(item));
    std::ranges::sort(values.listed);
    const auto end = std::unique(values.listed.begin(), values.listed.end());
    values.listed.erase(end, values.listed.end());
  } else if (is_number(value.text)) {
    values.listed = {to_whole(value)};
  } else {
    values = read_bounds(form.forms.front().range, at);
  }
  return values;
}

Key<Question> degree_key(const SearchedDegree& degree) {
  const auto& field = plan_field(degree.name);
  const auto form = values_form(field.form.range);
  return {{field.name, field.description, "all that fit", form},
          [form, values = degree.values](Question& question, const Cursor& at) {
            question.space.*values = read_choices(form, at);
          }};
}

// --- Words

Form one_or_list(const Form& one, double most) {
  return {.type = Type::either,
          .forms = {one, {.type = Type::list, .range = {1, most, ""}, .forms = {one}}}};
}

Key<Question> sequence_key() {
  const auto form = one_or_list({.type = Type::yes_no}, 2);
  return {{"sequence_parallel", plan_field("sequence_parallel").description, "both", form},
          [form](Question& question, const Cursor& at) {
            if (!check(form, at)) return;
            const auto& value = at.value();
            const bool first =
                to_yes_no(value.kind == Value::Kind::list ? value.items.front() : value);
            question.space.sequence_parallel = first;
            for (const auto& item : value.items)
              if (to_yes_no(item) != first) question.space.sequence_parallel.reset();
          }};
}

Key<Question> schedule_key() {
  const auto known = all_words<strategies::ScheduleKind>();
  const Form one{.type = Type::choice, .choices = names_of(known)};
  const auto form = one_or_list(one, static_cast<double>(known.size()));
  return {{"schedule", plan_field("schedule").description, "all", form},
          [form, known](Question& question, const Cursor& at) {
            if (!check(form, at)) return;
            question.space.schedules = at.value().kind == Value::Kind::list
                                           ? values_named(known, at)
                                           : std::vector{meaning(known, at.value())};
          }};
}

Key<Question> recompute_ways_key() {
  const auto form = recompute_ways_form();
  return {{"recompute", "Ways in which a layer may run, each layer in one of them",
           "optimal: all but per-op", form},
          [form](Question& question, const Cursor& at) {
            if (!check(form, at)) return;
            auto [listed, further] = read_recompute_ways(at);
            question.space.recompute_ways = std::move(listed);
            question.space.further_ways = std::move(further);
          }};
}

Key<Question> partition_key() {
  const std::vector<std::string_view> words{"optimal", "even", "chunks"};
  return {{"partition",
           "Layers of each stage; chunks: optimal, and of interleaved pipelines too",
           "optimal",
           {.type = Type::choice, .choices = words}},
          [](Question& question, const Cursor& at) {
            question.space.partition = at.value().text != "even";
            question.space.chunks = at.value().text == "chunks";
          }};
}

// --- layers: {tensor: values}

Key<Question> layers_key_of_search() {
  const auto form = values_form(plan_field("tensor").form.range);
  const auto map = map_of(
      {{"tensor", "Smaller tensor degrees that single layers may have", "that of the plan", form}});
  return {{"layers", "Degrees of single layers, where they differ from the plan's",
           "all layers are alike", map},
          [form, map](Question& question, const Cursor& at) {
            if (!check(map, at)) return;
            if (const auto tensor = at.find("tensor"))
              question.space.layer_tensor = read_choices(form, *tensor);
          }};
}

Key<Question> time_limit_key() {
  return {{"time_limit",
           "The search ends after so long, with what it has",
           "none",
           {.type = Type::duration, .range = {0.001, 3e7, "a millisecond to a year"}}},
          [](Question& question, const Cursor& at) {
            question.time_limit = units::parse_duration(at.value().text);
          }};
}

// --- What the search is for

Key<Question> objective_key() {
  using enum search::Objective::Kind;
  return choice<Question>(
      "objective", "step_time",
      std::vector<Named<search::Objective::Kind>>{{"step_time", step_time},
                                                  {"smallest_cluster", smallest_cluster},
                                                  {"cost", cost},
                                                  {"largest_batch", largest_batch},
                                                  {"largest_sequence", largest_sequence}},
      "What is minimised, or maximised",
      [](Question& q) -> search::Objective::Kind& { return q.objective.kind; });
}

Key<Question> rate_key() {
  const Form number{.type = Type::number, .range = {1e-3, 1e15, "tokens per second"}};
  const Form form{.type = Type::either, .forms = {number, {.type = Type::text}}};
  return {
      {"rate", "Tokens per second that a cluster must reach", "any", form},
      [number](Question& question, const Cursor& at) {
        constexpr std::string_view unit = "tokens/s";
        auto value = at.value();
        if (value.text.ends_with(unit)) {
          value.text.resize(value.text.size() - unit.size());
          value.text = units::trimmed(value.text);
        }
        if (!is_number(value.text))
          return at.complain("'" + at.value().text + "' is no rate; write e.g. '500e3 tokens/s'");
        if (check(number, at.instead(value, at.value())))
          question.objective.rate = to_number(value);
      }};
}

Key<Question> nodes_key() {
  const auto form = values_form({1, 10'000'000, "no cluster is that large"});
  return {{"nodes", "Numbers of nodes to try", "1 to cluster.nodes", form},
          [form](Question& question, const Cursor& at) {
            question.objective.nodes = read_choices(form, at);
          }};
}

Table<Question> make_search_table() {
  Table<Question> table;
  for (const auto& degree : searched_degrees()) table.push_back(degree_key(degree));
  const Table<Question> rest{
      sequence_key(),
      schedule_key(),
      recompute_ways_key(),
      partition_key(),
      number<Question>("gap", "0", {0, 1, "a share of the step time"},
                       "The search ends when no plan can be faster by more than this share",
                       &Question::gap),
      time_limit_key(),
      number<Question>("memory_headroom", "0.06", {0, 0.99, "a share of device memory"},
                       "Share of device memory that stays free of what the allocator reserves; "
                       "0: tensors may fill it",
                       &Question::memory_headroom),
      objective_key(),
      rate_key(),
      nodes_key(),
      layers_key_of_search()};
  table.insert(table.end(), rest.begin(), rest.end());
  for (auto& key : alternative_keys()) table.push_back(std::move(key));
  return table;
}

const Table<Question>& search_table() {
  static const auto made = make_search_table();
  return made;
}

}  // namespace

const std::vector<SearchedDegree>& searched_degrees() {
  using strategies::Plan;
  static const std::vector<SearchedDegree> degrees{
      {"tensor", &Space::tensor, [](const Plan& p) { return p.tensor; }},
      {"context", &Space::context, [](const Plan& p) { return p.context; }},
      {"expert", &Space::expert, [](const Plan& p) { return p.expert; }},
      {"expert_tensor", &Space::expert_tensor,
       [](const Plan& p) { return strategies::expert_tensor(p); }},
      {"pipeline", &Space::pipeline, [](const Plan& p) { return p.pipeline; }},
      {"virtual_stages", &Space::virtual_stages, [](const Plan& p) { return p.virtual_stages; }},
      {"data", &Space::data, [](const Plan& p) { return p.data; }},
      {"zero", &Space::zero, [](const Plan& p) { return std::int64_t{p.zero}; }},
      {"micro_batch", &Space::micro_batch, [](const Plan& p) { return p.micro_batch; }}};
  return degrees;
}

void read_search(Question& question, const Cursor& at) { read_map(search_table(), question, at); }

std::vector<Field> search_fields() { return fields_of(search_table()); }

}  // namespace scenarios
