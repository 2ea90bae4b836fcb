// SPDX-License-Identifier: Apache-2.0
#include "scenarios/calibration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "scenarios/document.hpp"
#include "scenarios/documents/edit.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

constexpr Range any{-1e30, 1e30, "a figure of the catalog"};
constexpr Range positive{1e-12, 1e30, "a width is positive"};

const Table<FittedKey>& key_table() {
  using Key = FittedKey;
  static const Table<Key> table{
      text<Key>("file", "File of the catalog", &Key::file),
      text<Key>("key", "Its key", &Key::key),
      text<Key>("unit", "Unit that the file writes it in", &Key::unit),
      text<Key>("meaning", "What it says", &Key::meaning),
      number<Key>("start", "", any, "What was known before", &Key::start),
      number<Key>("low", "", any, "Least value", &Key::low),
      number<Key>("high", "", any, "Largest value", &Key::high),
      number<Key>("width", "", positive, "How well it was known: one sigma", &Key::width),
      choice<Key, bool Key::*, bool>("scale", "logarithm", {{"logarithm", true}, {"unit", false}},
                                     "What the width is a difference of", &Key::logarithmic)};
  return table;
}

const Table<CalibrationSet>& set_table() {
  using Set = CalibrationSet;
  static const Table<Set> table{
      text<Set>("name", "The data set", &Set::name),
      whole<Set>("every", "1", {1, 1'000'000, "1: every row"}, "Rows that count: every so many",
                 &Set::every),
      choice<Set, Set::Measure Set::*, Set::Measure>("measure", "time",
                                                     {{"time", Set::Measure::time},
                                                      {"memory", Set::Measure::memory},
                                                      {"passes", Set::Measure::passes},
                                                      {"collectives", Set::Measure::collectives}},
                                                     "What is compared", &Set::measure)};
  return table;
}

// --- one parameter

struct Entry {
  Kind kind;
  std::string_view name;
};

std::optional<Entry> find_entry(std::string_view file) {
  for (const auto word : catalog_kinds()) {
    const auto kind = *parse_kind(word);
    for (const auto name : catalog_names(kind))
      if (catalog_path(kind, name) == file) return Entry{kind, name};
  }
  return {};
}

std::vector<std::string> all_files() {
  std::vector<std::string> files;
  for (const auto word : catalog_kinds())
    for (const auto name : catalog_names(*parse_kind(word)))
      files.push_back(catalog_path(*parse_kind(word), name));
  return files;
}

void check_file(const FittedKey& key, const Cursor& at) {
  if (key.file.empty() || find_entry(key.file)) return;
  const auto files = all_files();
  const std::vector<std::string_view> names(files.begin(), files.end());
  at.complain_at("file", "the catalog has no '" + key.file +
                             "'; expected a path such as 'software/nemo.yaml'" +
                             suggestion(key.file, names));
}

// Reads an entry as the reader of a scenario that names it would.
void read_fitted(Kind kind, const Cursor& at) {
  switch (kind) {
    case Kind::model:
      read_model(at);
      return;
    case Kind::device: {
      topology::Device device;
      read_device(device, at);
      return;
    }
    case Kind::node:
      read_node(at);
      return;
    case Kind::fabric:
      read_fabric(at);
      return;
    case Kind::software:
      read_software(at);
  }
}

// Returns the complaint of the catalog's own reader about one value of the key; empty if it accepts
// the value.
std::string verdict(const Entry& entry, const FittedKey& key, double value) {
  const auto name = std::string(to_text(entry.kind)) + "/" + std::string(entry.name);
  try {
    const auto changed = with_value(*catalog_text(entry.kind, entry.name), key.file, key.key,
                                    exact_text(key, value));
    const auto document = parse_yaml(changed, key.file);
    Reading reading(key.file, {});
    read_fitted(entry.kind, Cursor(document, "", reading));
    reading.throw_if_any();
  } catch (const Error& wrong) {
    return wrong.complaints.front().text;
  }
  return {};
}

void check_values(const FittedKey& key, const Cursor& at) {
  const auto entry = find_entry(key.file);
  if (!entry) return;
  for (const auto& [name, value] :
       {std::pair{"start", key.start}, {"low", key.low}, {"high", key.high}})
    if (const auto wrong = verdict(*entry, key, value); !wrong.empty()) {
      const bool unknown = wrong.find(": unknown key; ") != std::string::npos;
      return at.complain_at(unknown ? "key" : name, "the catalog does not take it: " + wrong);
    }
}

void check_bounds(const FittedKey& key, const Cursor& at) {
  if (!(key.low < key.high))
    at.complain_at("low", "the least value must be below the largest, " + plain(key.high));
  else if (key.start < key.low || key.start > key.high)
    at.complain_at("start",
                   "must lie between low and high, " + plain(key.low) + " and " + plain(key.high));
  else if (key.logarithmic && !(key.low > 0))
    at.complain_at("low", "a logarithm needs values above zero; raise low, or write scale: unit");
}

FittedKey read_key(const Cursor& at) {
  FittedKey key;
  if (!check({.type = Type::map}, at, false)) return key;
  read_map(key_table(), key, at);
  require({"file", "key", "start", "low", "high", "width"},
          "a parameter needs file, key, start, low, high and width", at);
  const auto knows = [&](std::string_view name) {
    return !at.reading().doubtful(at.inner_path(name));
  };
  if (knows("file")) check_file(key, at);
  if (!knows("start") || !knows("low") || !knows("high")) return key;
  check_bounds(key, at);
  if (knows("file") && knows("key") && knows("low") && knows("start")) check_values(key, at);
  return key;
}

CalibrationSet read_set(const Cursor& at) {
  CalibrationSet set;
  const Form form{.type = Type::either,
                  .forms = {{.type = Type::text}, map_of(fields_of(set_table()))}};
  if (!check(form, at)) return set;
  if (at.value().kind == Value::Kind::scalar) {
    set.name = at.value().text;
  } else {
    read_map(set_table(), set, at);
    require({"name"}, "a data set has a name", at);
  }
  return set;
}

Form list_of_maps() { return {.type = Type::list, .range = {1, 10'000, "something is fitted"}}; }

void read_keys(Calibration& calibration, const Cursor& at) {
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    auto key = read_key(at.item(i));
    for (const auto& earlier : calibration.keys)
      if (!key.key.empty() && earlier.file == key.file && earlier.key == key.key)
        at.item(i).complain("'" + key.key + "' of " + key.file + " is listed twice; keep one");
    calibration.keys.push_back(std::move(key));
  }
}

void read_sets(Calibration& calibration, const Cursor& at) {
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    auto set = read_set(at.item(i));
    for (const auto& earlier : calibration.sets)
      if (!set.name.empty() && earlier.name == set.name && earlier.measure == set.measure)
        at.item(i).complain("'" + set.name + "' is listed twice; keep one, or it counts double");
    calibration.sets.push_back(std::move(set));
  }
}

const Table<Calibration>& calibration_table() {
  static const Table<Calibration> made{
      number<Calibration>("noise", "0.08", {1e-4, 10, "an error of some percent"},
                          "Error that nobody would wonder at", &Calibration::noise),
      {{"datasets", "What is fitted to", "", list_of_maps()}, read_sets},
      {{"parameters", "What is fitted", "", list_of_maps()}, read_keys}};
  return made;
}

}  // namespace

Calibration read_calibration(std::string_view text, const std::string& file_name,
                             std::span<const std::string> sets) {
  auto document = parse_yaml(text, file_name);
  Reading reading(file_name, {});
  apply_sets(document, sets, reading);
  const Cursor root(document, "", reading);
  Calibration calibration;
  read_map(calibration_table(), calibration, root);
  require({"datasets", "parameters"}, "a calibration needs datasets and parameters", root);
  reading.throw_if_any();
  return calibration;
}

Calibration load_calibration(const std::filesystem::path& file, std::span<const std::string> sets) {
  return read_calibration(read_file(file), file.string(), sets);
}

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int digits = 2 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  // A power of ten below one is no binary number: divide by its inverse instead.
  const double scale = std::pow(10.0, std::abs(digits));
  return digits >= 0 ? std::round(value * scale) / scale : std::round(value / scale) * scale;
}

std::string exact_text(const FittedKey& key, double value) {
  std::array<char, 400> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr;
  return std::string(text.data(), end) + (key.unit.empty() ? "" : " " + key.unit);
}

std::string entry_of(std::string_view file) {
  const auto entry = find_entry(file);
  return entry ? std::string(to_text(entry->kind)) + "/" + std::string(entry->name) : std::string();
}

FittedCatalog::FittedCatalog(Calibration calibration, const std::filesystem::path& folder)
    : calibration_(std::move(calibration)) {
  for (const auto& path : all_files()) {
    const auto entry = *find_entry(path);
    File file{path, std::string(*catalog_text(entry.kind, entry.name)), {}, {}};
    for (std::size_t i = 0; i < calibration_.keys.size(); ++i)
      if (calibration_.keys[i].file == path) file.keys.push_back(i);
    std::error_code wrong;
    if (!file.keys.empty() && std::filesystem::is_regular_file(folder / path, wrong))
      file.text = read_file(folder / path);
    entries_[entry_of(path)] = std::make_shared<const Value>(parse_yaml(file.text, path));
    if (!file.keys.empty()) files_.push_back(std::move(file));
  }
}

std::string FittedCatalog::changed(const File& file, const std::vector<double>& values) const {
  auto text = file.text;
  for (std::size_t i = 0; i < file.keys.size(); ++i) {
    const auto& key = calibration_.keys[file.keys[i]];
    text = with_value(text, file.path, key.key, exact_text(key, values[i]));
  }
  return text;
}

Entries FittedCatalog::entries(const std::vector<double>& values) {
  auto entries = entries_;
  for (auto& file : files_) {
    std::vector<double> own;
    for (const auto key : file.keys) own.push_back(values[key]);
    auto& known = file.known[own];
    if (!known) known = std::make_shared<const Value>(parse_yaml(changed(file, own), file.path));
    entries[entry_of(file.path)] = known;
  }
  return entries;
}

std::map<std::string, std::string> FittedCatalog::texts(const std::vector<double>& values) const {
  std::map<std::string, std::string> texts;
  for (const auto& file : files_) {
    std::vector<double> own;
    std::vector<std::string> names;
    for (const auto key : file.keys) {
      own.push_back(rounded(values[key]));
      names.push_back(calibration_.keys[key].key);
    }
    texts[file.path] = with_origin(changed(file, own), names);
  }
  return texts;
}

}  // namespace scenarios
