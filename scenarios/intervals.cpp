// SPDX-License-Identifier: Apache-2.0
#include "scenarios/intervals.hpp"

#include "scenarios/documents/yaml.hpp"
#include "scenarios/keys.hpp"

namespace scenarios {
namespace {

using forecast::Intervals;
using forecast::MeasuredDevice;
using forecast::RegimeSpread;

constexpr Range counted{0, 1e9, "so many are not published"};
constexpr Range logarithm{-10, 10, "a logarithm of measured over predicted"};

// A key whose list of words goes into the member.
template <class Target>
Key<Target> words(std::string_view name, std::string_view description,
                  std::vector<std::string> Target::*member) {
  return {{name, description, "", {.type = Type::list, .forms = {{.type = Type::text}}}},
          [member](Target& target, const Cursor& at) {
            for (const auto& item : at.value().items) (target.*member).push_back(item.text);
          }};
}

// A key whose list of maps goes into the member.
template <class Element>
Key<Intervals> elements(std::string_view name, std::string_view description,
                        const Table<Element>& table, std::vector<Element> Intervals::*member) {
  return {{name, description, "", {.type = Type::list, .forms = {map_of(fields_of(table))}}},
          [&table, member](Intervals& intervals, const Cursor& at) {
            for (std::size_t i = 0; i < at.value().items.size(); ++i) {
              Element element;
              read_map(table, element, at.item(i));
              (intervals.*member).push_back(std::move(element));
            }
          }};
}

const Table<RegimeSpread>& regime_table() {
  using One = RegimeSpread;
  static const Table<One> table{
      words<One>("of", "The regime, the widest distinction first", &One::regime),
      whole<One>("rows", "", counted, "Measured runs", &One::rows),
      whole<One>("datasets", "", counted, "Data sets they are from", &One::datasets),
      number<One>("low", "", logarithm, "10th percentile", &One::low),
      number<One>("high", "", logarithm, "90th percentile", &One::high)};
  return table;
}

const Table<MeasuredDevice>& device_ranges_table() {
  using One = MeasuredDevice;
  static const Table<One> table{
      text<One>("name", "Family of devices", &One::device),
      whole<One>("gpus", "", counted, "Most GPUs of a run", &One::gpus),
      whole<One>("sequence", "", counted, "Longest sequence", &One::sequence),
      words<One>("traits", "What was measured", &One::traits)};
  return table;
}

const Table<Intervals>& intervals_table() {
  static const Table<Intervals> table{
      number<Intervals>("between", "", logarithm, "Standard deviation between data sets",
                        &Intervals::between),
      elements("regimes", "Quantiles of each regime", regime_table(), &Intervals::regimes),
      elements("devices", "What was measured on each", device_ranges_table(), &Intervals::devices)};
  return table;
}

}  // namespace

forecast::Intervals read_intervals(std::string_view text, const std::string& file) {
  const Value document = parse_yaml(text, file);
  Reading reading(file, {});
  Intervals intervals;
  const Cursor root(document, "", reading);
  read_map(intervals_table(), intervals, root);
  if (intervals.regimes.empty() || !intervals.regimes.front().regime.empty())
    root.complain_at("regimes", "the first regime must be that of all runs, {of: [], …}");
  reading.throw_if_any();
  return intervals;
}

}  // namespace scenarios
