// SPDX-License-Identifier: Apache-2.0
// Random scenarios as text, drawn from the tables of keys that the reader and the JSON Schema are
// made from: a key that is added to a table is drawn from then on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/form.hpp"

namespace drawn {

// Random numbers by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), the same with every compiler.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

 private:
  std::uint64_t state_;
};

// A value of the form as YAML in one line; nothing where the form does not say which values are
// valid.
std::optional<std::string> value_of(const scenarios::Form& form, Dice& dice);

// The sections whose keys are all drawn: "plan", "training", "software".
struct Section {
  std::string_view name;
  std::vector<scenarios::Field> fields;
};
const std::vector<Section>& sections();

// A value of a key of such a section, by its form, or by hand where valid values depend on other
// keys or on names; nothing where there is no way to draw one.
std::optional<std::string> value_of(const Section& section, const scenarios::Field& field,
                                    Dice& dice);

// A scenario of a small model on a small cluster and a few of the keys of each section, one key a
// line. The reader may refuse it.
std::string scenario(std::uint64_t seed);

// A scenario of a model, a node and a fabric of the catalog, a few keys written over each, with
// values of usual sizes or at the ends of their ranges. The reader may refuse it.
std::string over_bases(std::uint64_t seed);

// The keys of a section that stand in such a text, as "plan.tensor".
std::vector<std::string> keys_in(const std::string& scenario);

}  // namespace drawn
