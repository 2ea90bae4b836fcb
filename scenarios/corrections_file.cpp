// SPDX-License-Identifier: Apache-2.0
#include "scenarios/corrections_file.hpp"

#include <optional>
#include <utility>

#include "forecast/accuracy/correction.hpp"
#include "scenarios/document.hpp"
#include "scenarios/documents/schema.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/job_document.hpp"
#include "scenarios/named.hpp"

namespace scenarios {
namespace {

struct StepDraft {
  MeasuredEntry entry;
  std::optional<Cursor> scenario, set;
};

const Table<StepDraft>& step_table() {
  static const Table<StepDraft> made{
      {{"scenario",
        "What ran: a scenario file, or the scenario itself",
        "",
        {.type = Type::either, .forms = {{.type = Type::text}, {.type = Type::map}}}},
       [](StepDraft& d, const Cursor& at) { d.scenario = at; }},
      {{"set", "Values changed in it: paths and what stands there", "none", {.type = Type::map}},
       [](StepDraft& d, const Cursor& at) { d.set = at; }},
      quantity<StepDraft>(Type::duration, units::parse_duration, "measured", "",
                          {1e-6, 1e6, "a step takes a while, and ends within days"},
                          "Measured time of one step",
                          [](StepDraft& d) -> units::Seconds& { return d.entry.measured; }),
      number<StepDraft>(
          "noise", "0.015",
          {0.001, 0.5, "no measurement is the same again, nor of use if it is far off"},
          "How far the same step is off when it is measured again: a share, one standard "
          "deviation",
          [](StepDraft& d) -> double& { return d.entry.noise; }),
      text<StepDraft>("name", "A name for reports",
                      [](StepDraft& d) -> std::string& { return d.entry.name; }),
      unread<StepDraft>("source", {.type = Type::text}, "Where and how it was measured")};
  return made;
}

// The document that describes a run, and the file that has it.
struct RunSource {
  Value document;
  std::string file;
  std::filesystem::path folder;
  bool named = false;  // in a file of its own
};

// Turns complaints about another document into complaints of this one, at the value that led there.
// With `keep_places` they keep their places in the other file.
void pass_on(const Error& wrong, const Cursor& at, bool keep_places, const std::string& prefix) {
  for (auto complaint : wrong.complaints) {
    if (!keep_places) complaint.place.clear();
    complaint.text = prefix + complaint.text;
    at.reading().complain(at.value(), std::move(complaint));
  }
}

std::optional<RunSource> source_of(const Cursor& at, const std::string& file) {
  const auto& base = at.reading().base();
  if (at.value().kind == Value::Kind::map) return RunSource{at.value(), file, base};
  const auto path = base / at.value().text;
  try {
    return RunSource{open_base(path, at.reading()), path.string(), path.parent_path(), true};
  } catch (const Error& wrong) {
    // A missing file is a mistake of this list; a mistake inside the file keeps its own place.
    const bool placed = wrong.complaints.front().place != path.string();
    pass_on(wrong, at, placed,
            placed ? "" : at.path() + ": '" + path.string() + "' cannot be read: ");
    return {};
  }
}

// Returns a value on one line.
std::string words_of(const Value& value) {
  return value.kind == Value::Kind::scalar ? value.text : json_of(value);
}

std::string usual_name(const StepDraft& draft) {
  const auto& at = draft.scenario->value();
  std::string name = at.kind == Value::Kind::scalar ? at.text : draft.entry.scenario.name;
  if (draft.set)
    for (const auto& [path, value] : draft.set->value().members)
      name += ", " + path.text + " " + words_of(value);
  return name;
}

forecast::Scenario read_source(const RunSource& source, const Reading& list) {
  Reading reading(source.file, source.folder, list);
  auto scenario = read_document(source.document, reading);
  reading.throw_if_any();
  return scenario;
}

void read_step_scenario(StepDraft& draft, const std::string& file) {
  const auto& at = *draft.scenario;
  auto source = source_of(at, file);
  if (!source) return;
  try {
    draft.entry.scenario = read_source(*source, at.reading());
  } catch (const Error& wrong) {
    return pass_on(wrong, at, true, source->named ? "" : at.path() + ": ");
  }
  if (!draft.set) return;
  // The scenario is sound without `set`, so any mistake from here on is one of `set`.
  try {
    Reading reading(source->file, source->folder);
    for (const auto& [path, value] : draft.set->value().members)
      set_value(source->document, path.text, value, reading);
    reading.throw_if_any();
    draft.entry.scenario = read_source(*source, at.reading());
  } catch (const Error& wrong) {
    pass_on(wrong, *draft.set, false, draft.set->path() + ": ");
  }
}

std::optional<MeasuredEntry> read_entry(const Cursor& at, const std::string& file) {
  if (!check({.type = Type::map}, at, false)) return {};
  StepDraft draft;
  draft.entry.noise = forecast::usual_noise;
  draft.entry.place = at.reading().place_of(at.value());
  draft.entry.path = at.path();
  read_map(step_table(), draft, at);
  require({"scenario", "measured"}, "a measured step is a scenario and the time that it took", at);
  if (!draft.scenario) return {};
  read_step_scenario(draft, file);
  if (draft.entry.name.empty()) draft.entry.name = usual_name(draft);
  return std::move(draft.entry);
}

}  // namespace

std::string corrections_schema() {
  auto schema =
      headed_schema("stepcast corrections",
                    "Measured steps, which correct the forecasts of scenarios like theirs",
                    {.type = Type::list,
                     .range = {1, static_cast<double>(most_measured), ""},
                     .forms = {map_of(fields_of(step_table()))}});
  schema["items"]["required"] = nlohmann::ordered_json::array({"scenario", "measured"});
  return schema_text(schema);
}

std::vector<MeasuredEntry> read_corrections(std::string_view text, const std::string& file_name,
                                            const std::filesystem::path& folder, Files* read) {
  const Value document = parse_yaml(text, file_name);
  Reading reading(file_name, folder);
  const Cursor root(document, "", reading);
  std::vector<MeasuredEntry> entries;
  if (document.kind != Value::Kind::list || document.items.empty())
    root.complain("expected a list of measured steps: '- {scenario: FILE, measured: 12.3 s}'");
  if (document.items.size() > most_measured)
    root.complain(std::to_string(document.items.size()) + " measured steps; at most " +
                  std::to_string(most_measured) + ": keep those nearest to what is asked");
  for (std::size_t i = 0; i < document.items.size() && i < most_measured; ++i)
    if (auto entry = read_entry(root.item(i), file_name)) entries.push_back(std::move(*entry));
  reading.throw_if_any();
  reading.texts().tell(read);
  return entries;
}

std::vector<MeasuredEntry> load_corrections(const std::filesystem::path& file, Files* read) {
  if (read != nullptr) read->push_back(file);
  return read_corrections(read_file(file), file.string(), file.parent_path(), read);
}

}  // namespace scenarios
