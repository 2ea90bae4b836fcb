// SPDX-License-Identifier: Apache-2.0
#include "report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/alerts.hpp"
#include "report/document.hpp"
#include "report/json.hpp"
#include "report/question_text.hpp"
#include "report/terminal.hpp"
#include "scenarios/documents/form_at.hpp"
#include "scenarios/tables.hpp"
#include "units/text.hpp"

namespace report {

using units::Bytes, units::Seconds;

namespace {

// Leaves by path, in the document's order; lists count as leaves.
using Leaves = std::vector<std::pair<std::string, std::string>>;

void collect(const Document& of, const std::string& path, Leaves& leaves) {
  if (!of.is_object() || of.empty()) {
    leaves.emplace_back(path, of.dump(-1, ' ', false, Document::error_handler_t::replace));
    return;
  }
  for (const auto& [key, value] : of.items())
    collect(value, path.empty() ? key : path + "." + key, leaves);
}

// A dense model has no experts to divide: that degree follows from the others.
Document document_of(const forecast::Scenario& scenario) {
  auto document = scenario_document(scenario);
  if (!scenario.model.moe && document.contains("plan")) document["plan"].erase("expert_tensor");
  return document;
}

Leaves leaves_of(const forecast::Scenario& scenario) {
  auto document = document_of(scenario);
  document.erase("name");
  document.erase("alerts");  // which change no forecast
  Leaves leaves;
  collect(document, "", leaves);
  return leaves;
}

// The keys of a path, at most two where parts are tried by key.
std::string part_of(const std::string& path) {
  const auto first = path.find('.');
  if (first == path.npos) return path;
  const auto section = path.substr(0, first);
  if (section != "plan" && section != "training" && section != "cluster") return section;
  return path.substr(0, path.find('.', first + 1));
}

Document* find(Document& in, const std::string& part) {
  Document* at = &in;
  for (std::size_t begin = 0; begin <= part.size();) {
    const auto end = std::min(part.find('.', begin), part.size());
    const auto key = part.substr(begin, end - begin);
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &(*at)[key];
    begin = end + 1;
  }
  return at;
}

// --- Text ----------------------------------------------------------------------------------------

std::string cut(const std::string& text, const TextOptions& options) {
  return fitted(printable(text, options.unicode), 28);
}

// Returns both values of a change in the unit that its key is read in; values without a unit are
// as they were.
std::pair<std::string, std::string> with_units(const Change& change, const scenarios::Form& form) {
  const auto* of = scenarios::form_at(form, change.path);
  const auto unit = of == nullptr ? std::string_view() : scenarios::unit_of(*of);
  const auto text = [&](const std::string& json, auto write) {
    const auto value = json.empty() ? Document() : Document::parse(json);
    if (!value.is_number()) return json;
    const auto number = value.get<double>();
    if (unit == "s") return write(Seconds{number});
    if (unit == "B") return write(Bytes{number});
    if (unit == "B/s") return write(units::BytesPerSecond{number});
    if (unit == "FLOP/s") return write(units::FlopsPerSecond{number});
    if (unit == "W") return write(units::Watts{number});
    return json;
  };
  const auto both = [&](auto write) {
    return std::pair(text(change.from, write), text(change.to, write));
  };
  const auto brief = both([](auto quantity) { return units::short_text(quantity); });
  if (brief.first != brief.second) return brief;
  return both([](auto quantity) { return units::exact_text(quantity); });
}

std::string changed_text(const std::vector<Change>& changes, const TextOptions& options) {
  constexpr std::size_t most = 16;
  std::string text = heading("What changed", options);
  if (changes.empty()) return text + "  nothing\n";
  const auto form = scenarios::map_of(scenarios::scenario_fields());
  int width = 0;
  for (const auto& change : changes) width = std::max(width, columns(change.path));
  for (std::size_t i = 0; i < std::min(most, changes.size()); ++i) {
    const auto [from, to] = with_units(changes[i], form);
    const auto shown = [&](const std::string& value) {  // "none" is a value of some keys
      return value.empty() ? "left out" : cut(value, options);
    };
    text += fmt::format("  {}  {} {} {}\n", left(changes[i].path, width), right(shown(from), 14),
                        options.unicode ? "→" : "->", shown(to));
  }
  if (changes.size() > most) text += fmt::format("  and {} more\n", changes.size() - most);
  return text;
}

std::string difference(Seconds by) {
  return by.value == 0
             ? "0 s"
             : (by.value > 0 ? "+" : "-") + units::short_text(Seconds{std::abs(by.value)});
}
std::string difference(Bytes by) {
  return by.value == 0 ? "0 B"
                       : (by.value > 0 ? "+" : "-") + units::short_text(Bytes{std::abs(by.value)});
}

std::string effects_text(const Compared& from, const Compared& to,
                         const std::vector<Effect>& effects, const TextOptions& options) {
  if (effects.size() < 2) return {};  // one change is the whole difference
  std::string text = heading("What each change does alone, to step time and peak memory", options);
  int width = 8;
  for (const auto& effect : effects) width = std::max(width, columns(effect.of));
  const auto line = [&](const std::string& of, Seconds time, Bytes peak) {
    text += fmt::format(
        "  {}  {}  {}  {}\n", left(of, width),
        right(difference(time - from.forecast.step.time), 12),
        right(signed_percent((time - from.forecast.step.time) / from.forecast.step.time), 9),
        right(difference(peak - from.forecast.memory.peak), 12));
  };
  for (const auto& effect : effects)
    if (effect.step_time)
      line(effect.of, *effect.step_time, *effect.peak);
    else
      text += fmt::format("  {}  not alone: {}\n", left(effect.of, width),
                          fitted(printable(effect.why_not, options.unicode),
                                 std::max(20, width_of(options) - width - 15)));
  line("together", to.forecast.step.time, to.forecast.memory.peak);
  return text;
}

template <class Quantity>
struct ComparedRow {
  std::string name;
  Quantity from, to;
};

// Three columns: against, with, and the difference.
template <class Quantity>
std::string compared_table(const std::string& title, const std::vector<ComparedRow<Quantity>>& rows,
                           const TextOptions& options) {
  std::string lines;
  for (const auto& [name, from, to] : rows)
    if (from.value != 0 || to.value != 0)
      lines += fmt::format("  {}  {}  {}  {}\n", left(name, 14), right(units::short_text(from), 12),
                           right(units::short_text(to), 12), right(difference(to - from), 12));
  return lines.empty() ? lines : heading(title, options) + lines;
}

std::vector<ComparedRow<Seconds>> time_rows(const forecast::TimeParts& a,
                                            const forecast::TimeParts& b) {
  std::vector<ComparedRow<Seconds>> rows;
  for (const auto& facts : forecast::step_parts)
    rows.push_back({facts.words, a[facts.part], b[facts.part]});
  return rows;
}

Seconds mean_idle(const forecast::Pipeline& pipeline, std::size_t cause) {
  double sum = 0;
  for (const auto& stage : pipeline.stages)
    if (stage.bubble_by_cause) sum += static_cast<double>((*stage.bubble_by_cause)[cause]) * 1e-12;
  return {sum / static_cast<double>(std::max<std::size_t>(1, pipeline.stages.size()))};
}

std::vector<ComparedRow<Seconds>> idle_rows(const forecast::Pipeline& a,
                                            const forecast::Pipeline& b) {
  std::vector<ComparedRow<Seconds>> rows;
  for (std::size_t c = 0; c < forecast::idle_causes; ++c)
    rows.push_back({std::string(to_text(static_cast<forecast::IdleCause>(c))), mean_idle(a, c),
                    mean_idle(b, c)});
  return rows;
}

forecast::StageMemory fullest(const forecast::Memory& memory) {
  const auto stage = static_cast<std::size_t>(std::max(0, memory.peak_stage));
  return stage < memory.stages.size() ? memory.stages[stage] : forecast::StageMemory{};
}

std::vector<ComparedRow<Bytes>> memory_rows(const forecast::Memory& memory_a,
                                            const forecast::Memory& memory_b) {
  const auto a = fullest(memory_a), b = fullest(memory_b);
  return {
      {"weights", a.weights, b.weights},       {"gradients", a.gradients, b.gradients},
      {"optimizer", a.optimizer, b.optimizer}, {"activations", a.activations, b.activations},
      {"temporary", a.temporary, b.temporary}, {"communication", a.communication, b.communication},
      {"framework", a.framework, b.framework}, {"peak", a.peak, b.peak}};
}

std::vector<ComparedRow<Seconds>> path_rows(const std::vector<forecast::PartTime>& a,
                                            const std::vector<forecast::PartTime>& b) {
  std::vector<ComparedRow<Seconds>> rows;
  for (const auto* path : {&a, &b})
    for (const auto& part : *path) {
      const std::string name = facts_of(part.part).words;
      auto row = std::ranges::find(rows, name, &ComparedRow<Seconds>::name);
      if (row == rows.end()) row = rows.insert(rows.end(), {name, {}, {}});
      (path == &a ? row->from : row->to) = part.time;
    }
  return rows;
}

// "19,897 against 18,010 tokens/s per GPU (+10.5 %)".
std::string rates_words(const forecast::Step& from, const forecast::Step& to) {
  const double before = from.tokens_per_second_per_gpu, after = to.tokens_per_second_per_gpu;
  return fmt::format("{} against {} tokens/s per GPU ({})", grouped_count(std::llround(after)),
                     grouped_count(std::llround(before)), signed_percent(after / before - 1));
}

// "llama3-8b (8.03 billion parameters)", against another where that differs.
std::string models_words(const model::Transformer& from, const model::Transformer& to) {
  const auto words = model_words(to), before = model_words(from);
  return before == words ? words : words + " against " + before;
}

std::string verdict(const Compared& from, const Compared& to, const TextOptions& options) {
  const auto before = from.forecast.step.time, after = to.forecast.step.time;
  return fmt::format(
      "{}\n  against {}\n\n  model       {}\n  step time   {} against {}: {} ({})\n"
      "  throughput  {}\n  memory      {} against {}\n",
      toned(printable(to.scenario.name, options.unicode), Tone::strong, options),
      printable(from.scenario.name, options.unicode),
      printable(models_words(from.scenario.model, to.scenario.model), options.unicode),
      units::short_text(after), units::short_text(before), difference(after - before),
      signed_percent((after - before) / before), rates_words(from.forecast.step, to.forecast.step),
      units::short_text(to.forecast.memory.peak), units::short_text(from.forecast.memory.peak));
}

}  // namespace

std::vector<Change> changes_between(const forecast::Scenario& from, const forecast::Scenario& to) {
  const auto before = leaves_of(from), after = leaves_of(to);
  const std::map<std::string, std::string> known(after.begin(), after.end());
  std::vector<Change> changes;
  std::set<std::string> seen;
  for (const auto& [path, value] : before) {
    seen.insert(path);
    const auto other = known.find(path);
    if (other == known.end() || other->second != value)
      changes.push_back({path, value, other == known.end() ? "" : other->second});
  }
  for (const auto& [path, value] : after)
    if (!seen.contains(path)) changes.push_back({path, "", value});
  return changes;
}

std::vector<std::string> parts_of(const std::vector<Change>& changes) {
  std::vector<std::string> parts;
  for (const auto& change : changes)
    if (const auto part = part_of(change.path);
        part != "plan.data" && std::ranges::find(parts, part) == parts.end())
      parts.push_back(part);
  return parts;
}

std::string with_part(const forecast::Scenario& from, const forecast::Scenario& to,
                      const std::string& part) {
  auto document = document_of(from);
  auto other = document_of(to);
  const auto dot = part.find('.');
  auto& section = dot == part.npos ? document : document[part.substr(0, dot)];
  const auto key = dot == part.npos ? part : part.substr(dot + 1);
  if (const auto* value = find(other, part))
    section[key] = *value;
  else
    section.erase(key);
  if (document.contains("plan")) document["plan"].erase("data");
  return dump(document);
}

std::string compare_text(const Compared& from, const Compared& to,
                         const std::vector<Effect>& effects, const TextOptions& options) {
  return verdict(from, to, options) +
         compared_alerts_text(from.scenario, from.forecast, to.scenario, to.forecast, options) +
         changed_text(changes_between(from.scenario, to.scenario), options) +
         effects_text(from, to, effects, options) +
         compared_table(
             "Where the time went (exposed, on the rank that ends last, which may be another; "
             "against, "
             "now, difference)",
             time_rows(from.forecast.time, to.forecast.time), options) +
         compared_table("Idle time of the average stage by cause",
                        idle_rows(from.forecast.pipeline, to.forecast.pipeline), options) +
         compared_table("Memory of the fullest stage",
                        memory_rows(from.forecast.memory, to.forecast.memory), options) +
         compared_table("Critical path",
                        path_rows(from.forecast.critical_path, to.forecast.critical_path), options);
}

std::string compared_json(const forecast::Scenario& from, const forecast::Scenario& to,
                          const std::vector<Effect>& effects) {
  const auto form = scenarios::map_of(scenarios::scenario_fields());
  Document changes = Document::array(), alone = Document::array();
  const auto value_of = [](const std::string& text) {
    return text.empty() ? Document() : Document::parse(text);
  };
  for (const auto& change : changes_between(from, to)) {
    const auto* of = scenarios::form_at(form, change.path);
    Object object;
    object.put("path", change.path)
        .put("from", value_of(change.from))
        .put("to", value_of(change.to))
        .unless_empty("unit", of == nullptr ? "" : std::string(scenarios::unit_of(*of)));
    changes.push_back(object.take());
  }
  for (const auto& effect : effects)
    alone.push_back(
        Object()
            .put("of", effect.of)
            .optional("step_time_s", effect.step_time)
            .optional("peak_bytes", effect.peak)
            .put("reason", effect.why_not.empty() ? Document() : Document(effect.why_not))
            .take());
  return dump(Object().put("changes", std::move(changes)).put("effects", std::move(alone)).take());
}

std::string compare_json(const Compared& from, const Compared& to,
                         const std::vector<Effect>& effects, std::string_view version) {
  auto document = Document::parse(simulate_json(to.scenario, to.forecast, version));
  auto against = Document::parse(simulate_json(from.scenario, from.forecast, version));
  against.erase("stepcast");
  against.update(Document::parse(compared_json(from.scenario, to.scenario, effects)));
  document["against"] = std::move(against);
  return dump(document);
}

}  // namespace report
