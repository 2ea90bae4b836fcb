// SPDX-License-Identifier: Apache-2.0
#include "scenarios/published.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include "scenarios/document.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/keys.hpp"

namespace scenarios {
namespace {

constexpr Limits dataset_limits{.bytes = std::uintmax_t{64} << 20, .nodes = 5'000'000, .depth = 64};
constexpr Range seconds{0, 1e7, "a step ends within months"};
constexpr Range tera_rate{0, 1e6, "no device does an exaflop per second"};
constexpr Range memory_range{0, 1e15, "memory of one device"};

void read_pass_times(PublishedRow& row, const Cursor& at) {
  for (const auto& member : at.value().members)
    if (check({.type = Type::number, .range = seconds}, at.member(member)))
      row.pass_times_s.emplace_back(member.key.text, to_number(member.value));
}

const Table<PublishedRow>& measured_step_table() {
  using Row = PublishedRow;
  static const Table<Row> table{
      number<Row>("step_time_s", "none", seconds, "Measured time of one step",
                  &Row::measured_step_time_s),
      text<Row>("from", "How the time was derived", &Row::time_from),
      yes_no<Row>("time_counts", "false", "Fit for judging times", &Row::time_counts),
      number<Row>("tflops_per_gpu", "none", tera_rate,
                  "Measured rate by the source's own count, TFLOP/s per GPU",
                  &Row::measured_tflops),
      yes_no<Row>("relative_only", "false", "Compared with other rows of its set only",
                  &Row::relative_only),
      number<Row>("memory_bytes", "none", memory_range, "Measured memory", &Row::measured_bytes),
      choice<Row>("memory_kind", "",
                  std::vector<Named<std::string>>{{"allocated", "allocated"},
                                                  {"reserved", "reserved"},
                                                  {"device", "device"},
                                                  {"unstated", "unstated"}},
                  "What the memory counts", &Row::memory_kind),
      yes_no<Row>("memory_approximate", "false", "Rounded by the source", &Row::memory_approximate),
      yes_no<Row>("out_of_memory", "false", "The run did not fit", &Row::out_of_memory),
      {{"pass_times_s", "Measured passes", "none", {.type = Type::map}}, read_pass_times}};
  return table;
}

const Table<PublishedRow>& group_table() {
  using Row = PublishedRow;
  static const Table<Row> table{
      text<Row>("device", "Device", &Row::device),
      text<Row>("precision", "Precision", &Row::precision),
      text<Row>("model", "Dense or mixture of experts", &Row::model),
      text<Row>("scale", "Number of GPUs", &Row::scale),
      text<Row>("parallelism", "The widest kind of parallelism", &Row::parallelism)};
  return table;
}

void read_assumed(PublishedRow& row, const Cursor& at) {
  for (const auto& item : at.value().items) row.assumed.push_back(item.text);
}

const Table<PublishedRow>& row_table() {
  using Row = PublishedRow;
  const auto itself = [](Row& row) -> Row& { return row; };
  static const Table<Row> table{
      text<Row>("id", "Name of the row", &Row::id),
      unread<Row>("scenario", {.type = Type::map}, "The run"),
      inner<Row>("measured", "What was measured", measured_step_table(), itself),
      inner<Row>("group", "Where the row counts", group_table(), itself),
      {{"assumed",
        "What the source does not state",
        "",
        {.type = Type::list, .forms = {{.type = Type::text}}}},
       read_assumed},
      text<Row>("reason", "Why no scenario describes the row", &Row::unsupported_reason)};
  return table;
}

// Returns the complaints as one sentence: their texts without places.
std::string reason_of(const Error& error) {
  std::string text;
  for (const auto& one : error.complaints) text += (text.empty() ? "" : "; ") + one.text;
  return text;
}

void read_run(PublishedRow& row, const Value& run, Reading& reading) {
  try {
    auto scenario = read_document(run, reading);
    reading.throw_if_any();
    row.scenario = std::move(scenario);
  } catch (const Error& error) {
    row.unsupported_reason = reason_of(error);
  }
}

using Document = std::shared_ptr<const Value>;

PublishedRow read_row(const Value& value, const Document& document, const std::string& file,
                      Reading& reading) {
  constexpr auto none = std::numeric_limits<double>::quiet_NaN();
  PublishedRow row{};
  row.measured_step_time_s = row.measured_bytes = row.measured_tflops = none;
  reading.start_over(file);
  read_map(row_table(), row, Cursor(value, "", reading));
  reading.throw_if_any();
  if (const auto* run = value.find("scenario")) {
    reading.start_over(file);
    read_run(row, *run, reading);
    row.run = Document(document, run);  // a part that keeps the whole
  }
  return row;
}

bool is_month(std::string_view text) {
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  return text.size() == 7 && text[4] == '-' && digit(0) && digit(1) && digit(2) && digit(3) &&
         digit(5) && digit(6);
}

void read_added(Dataset& dataset, const Value& document, Complaints& complaints) {
  const auto* added = document.find("added");
  if (added == nullptr) return;
  if (!is_month(added->text))
    complaints.add({added->line, added->column}, "added is a month such as 2026-11");
  dataset.added = added->text;
}

// Reads the data set's facts about itself.
void read_head(Dataset& dataset, MemoryStage& measured_in, const Value& document,
               Complaints& complaints) {
  if (const auto* title = document.find("dataset")) dataset.name = title->text;
  if (const auto* source = document.find("source")) dataset.source = source->text;
  const auto place = [](const Value& value) { return Place{value.line, value.column}; };
  if (const auto* tuned = document.find("tuned")) {
    if (tuned->text != "true" && tuned->text != "false")
      complaints.add(place(*tuned), "tuned is true or false");
    dataset.tuned = tuned->text == "true";
  }
  read_added(dataset, document, complaints);
  const auto* stage = document.find("memory_stage");
  if (stage != nullptr && stage->text != "first" && stage->text != "last")
    complaints.add(place(*stage),
                   "memory_stage is 'first' or 'last' where that pipeline stage was measured; "
                   "leave it out for the fullest device");
  if (stage != nullptr)
    measured_in = stage->text == "first" ? MemoryStage::first : MemoryStage::last;
}

Dataset read_dataset(std::string_view text, const std::string& name, Reading& reading) {
  const auto document = std::make_shared<const Value>(parse_yaml(text, name, dataset_limits));
  Complaints complaints(name);
  const auto* rows = document->find("rows");
  if (rows == nullptr || rows->kind != Value::Kind::list)
    complaints.add({}, "expected a data set: a map with dataset, source and rows");
  complaints.throw_if_any();
  Dataset dataset;
  auto measured_in = MemoryStage::fullest;
  read_head(dataset, measured_in, *document, complaints);
  if (dataset.name.empty()) dataset.name = std::filesystem::path(name).stem().string();
  for (const auto* list : {rows, document->find("not_expressible")}) {
    if (list == nullptr) continue;
    for (const auto& row : list->items) try {
        dataset.rows.push_back(read_row(row, document, name, reading));
        dataset.rows.back().memory_stage = measured_in;
      } catch (const Error& wrong) {
        for (const auto& one : wrong.complaints) complaints.add({row.line, row.column}, one);
      }
  }
  complaints.throw_if_any();
  return dataset;
}

}  // namespace

forecast::Scenario read_again(const PublishedRow& row, const Entries& entries,
                              std::set<std::string>* named) {
  Reading reading(row.id, {}, entries);
  auto scenario = read_document(*row.run, reading);
  reading.throw_if_any();
  if (named != nullptr) *named = reading.named();
  return scenario;
}

Dataset read_dataset(std::string_view text, const std::string& file_name,
                     const std::filesystem::path& folder) {
  Reading reading(file_name, folder);
  return read_dataset(text, file_name, reading);
}

Dataset load_dataset(const std::filesystem::path& file) {
  return read_dataset(read_file(file, dataset_limits), file.string(), file.parent_path());
}

std::vector<std::string> dataset_names(const std::filesystem::path& folder) {
  std::error_code wrong;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, wrong))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  if (wrong) throw Error({{folder.string(), "cannot be read: " + wrong.message()}});
  std::ranges::sort(names);
  return names;
}

std::vector<Dataset> load_datasets(const std::filesystem::path& folder,
                                   std::vector<std::string> names, Files* read) {
  const auto all = dataset_names(folder);
  if (names.empty()) names = all;
  const std::vector<std::string_view> known(all.begin(), all.end());
  Reading reading("", folder);
  std::vector<Dataset> datasets;
  for (const auto& name : names) {
    if (std::ranges::find(all, name) == all.end())
      throw Error({{folder.string(), "unknown data set '" + name + "'; expected one of " +
                                         listed(known) + equal_suggestions(name, known)}});
    const auto file = folder / (name + ".yaml");
    datasets.push_back(
        read_dataset(reading.texts().of(file, dataset_limits), file.string(), reading));
  }
  reading.texts().tell(read);
  return datasets;
}

}  // namespace scenarios
