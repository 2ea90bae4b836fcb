// SPDX-License-Identifier: Apache-2.0
// The keys that a table shows are read as what they were.
#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/documents/value_json.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/shown.hpp"
#include "scenarios/tables.hpp"
#include "tests/catch.hpp"

namespace shown_spec {
namespace {

using namespace scenarios;

// Draws values of any form, from the form alone.
class Draw {
 public:
  // No whole number is above `most`.
  Draw(unsigned seed, double most) : random_(seed), most_(most) {}

  Value of(const Form& form) {
    switch (form.type) {
      case Type::text:
        return shown_text(order_of_ranks());
      case Type::yes_no:
        return shown_yes_no(upto(1) == 1);
      case Type::choice:
        return shown_text(form.choices[index(form.choices.size())]);
      case Type::whole:
        return shown_whole(whole_in(form.range));
      case Type::list:
        return list_of(form);
      case Type::map:
        return map_of_some(form);
      case Type::either:
        return of(form.forms[index(form.forms.size())]);
      default:
        return shown_number(number_in(form.range));
    }
  }

 private:
  std::int64_t upto(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random_);
  }
  std::size_t index(std::size_t size) {
    return static_cast<std::size_t>(upto(static_cast<std::int64_t>(size) - 1));
  }
  // Draws small numbers often: limits far away say little.
  std::int64_t whole_in(const Range& range) {
    const auto least = static_cast<std::int64_t>(range.least);
    const auto most = static_cast<std::int64_t>(std::min(range.most, most_));
    return least + upto(upto(1) == 1 ? most - least : std::min<std::int64_t>(9, most - least));
  }
  double number_in(const Range& range) {
    if (upto(3) == 0) return range.least;
    return range.least +
           (range.most - range.least) * static_cast<double>(upto(1 << 20)) / (1 << 20);
  }
  // The only text in these tables that is no name.
  std::string order_of_ranks() {
    std::vector<std::string> all{"tp", "cp", "ep", "dp", "pp"};
    std::ranges::shuffle(all, random_);
    std::string text;
    for (const auto& one : all) text += (text.empty() ? "" : "-") + one;
    return text;
  }
  Value list_of(const Form& form) {
    Value list;
    list.kind = Value::Kind::list;
    const auto most = std::min(form.range.most, 3.0);
    const auto size = whole_in({.least = std::min(form.range.least, most), .most = most});
    for (std::int64_t i = 0; i < size; ++i) list.items.push_back(of(form.forms.front()));
    return list;
  }
  Value map_of_some(const Form& form) {
    Value map;
    map.kind = Value::Kind::map;
    for (std::size_t i = 0; i < form.keys.size(); ++i)
      if (upto(2) > 0) show_key(map, form.keys[i].name, of(form.forms[i]));
    return map;
  }

  std::mt19937 random_;
  double most_;
};

// The target that is read from these keys; nothing if they are refused.
template <class Read>
auto read_of(const Value& keys, Read read) {
  Reading reading("shown.yaml", {});
  auto target = read(Cursor(keys, "shown", reading));
  return reading.complains() ? std::nullopt : std::optional(std::move(target));
}

// Keys that every entry of the catalog may carry and no reader reads.
constexpr std::array<std::string_view, 4> of_catalog{"base", "source", "from_memory", "note"};

// Shows and reads each key, beside the keys of `before`.
template <class Read>
void read_what_is_shown(const std::vector<Field>& fields, const Value& before, Read read,
                        double most = 1e12) {
  Draw draw(20, most);
  const auto usual = read_of(before, read);
  REQUIRE(usual);
  for (const auto& field : fields) {
    if (std::ranges::count(of_catalog, field.name) > 0) continue;
    int differ = 0;
    for (int i = 0; i < 60; ++i) {
      auto keys = before;
      std::erase_if(keys.members, [&](const Member& one) { return one.key.text == field.name; });
      show_key(keys, field.name, draw.of(field.form));
      const auto target = read_of(keys, read);
      if (!target) continue;
      const auto text = shown(*target);
      CAPTURE(json_of(keys), json_of(text));
      differ += *target != *usual;
      CHECK(read_of(text, read) == target);
    }
    CAPTURE(field.name);
    CHECK(differ > 0);
  }
}

Value before_training() {
  Value map;  // keys without a fallback, and the precision that fp8_recipe needs
  show_key(map, "sequence_length", shown_whole(4096));
  show_key(map, "global_batch", shown_whole(256));
  show_key(map, "precision", shown_text("fp8"));
  return map;
}

Value only(std::string_view key, Value value) {
  Value map;
  show_key(map, key, std::move(value));
  return map;
}

TEST_CASE("every key of a software that is shown reads as the same value") {
  read_what_is_shown(software_fields(), only("base", shown_text("megatron-core")), read_software);
}

TEST_CASE("every key of a plan that is shown reads as the same value") {
  read_what_is_shown(plan_fields(), only("tensor", shown_whole(3)), [](const Cursor& at) {
    strategies::Plan plan;
    read_plan(plan, at);
    return plan;
  });
}

std::vector<Field> without(std::vector<Field> fields, std::set<std::string_view> names) {
  std::erase_if(fields, [&](const Field& one) { return names.contains(one.name); });
  return fields;
}

// The sizes of a model without a base, so that every key is taken; they divide each other.
Value before_model() {
  Value map;
  for (const auto& [key, size] : {std::pair{"layers", 24},
                                  {"hidden", 1024},
                                  {"heads", 16},
                                  {"kv_heads", 16},
                                  {"head_dim", 64},
                                  {"ffn", 4096},
                                  {"vocab", 50'000},
                                  {"max_sequence", 2048}})
    show_key(map, key, shown_whole(size));
  return map;
}

TEST_CASE("every key of a model that is shown reads as the same value") {
  constexpr double most = 30'000;  // heads of latent attention have two such parts, and are limited
  const auto fields = without(model_fields(), {"huggingface"});
  read_what_is_shown(fields, before_model(), read_model, most);
}

// There is no base: a zero that stands for an unknown figure does not overrule a base that knows
// it.
TEST_CASE("every key of a node that is shown reads as the same value") {
  read_what_is_shown(without(node_fields(), {"device"}),
                     only("device", shown_text("h100-80gb-sxm")), read_node);
}

TEST_CASE("every key of a device that is shown reads as the same value") {
  Value before;
  show_key(before, "memory", shown_count(8e10));
  show_key(before, "memory_bandwidth", shown_count(3e12));
  show_key(before, "peak", only("bf16", shown_count(1e15)));
  read_what_is_shown(without(device_fields(), {"kernels", "rates"}), before, [](const Cursor& at) {
    topology::Device device;
    read_device(device, at);
    return device;
  });
}

TEST_CASE("every key of a fabric that is shown reads as the same value") {
  // Left out are a key of the node, and tables of times, which are more than their form says.
  const auto fields = without(fabric_fields(), {"nics_per_node", "measured"});
  Value before;
  show_key(before, "kind", shown_text("fat-tree"));
  show_key(before, "link_bandwidth", shown_count(5e10));
  read_what_is_shown(fields, before, [](const Cursor& at) { return read_fabric(at).fabric; });
}

TEST_CASE("every key of a training that is shown reads as the same value") {
  read_what_is_shown(training_fields(), before_training(), [](const Cursor& at) {
    strategies::Training training;
    read_training(training, at);
    return training;
  });
}

TEST_CASE("a software shows all its keys in the order of the table, and first its base") {
  Reading reading("shown.yaml", {});
  const auto map = shown(read_software({shown_text("megatron-core"), "software", reading}));
  // Without source, from_memory and note, and interference, which it does not state.
  const auto fields = without(software_fields(), {"interference"});
  REQUIRE(map.members.size() == fields.size() - 3);
  CHECK(map.members.front().key.text == "base");
  for (std::size_t i = 1; i < map.members.size(); ++i)
    CHECK(map.members[i].key.text == fields[i - 1].name);
}

TEST_CASE("whole numbers are shown without a fraction, numbers with one, counts if they have one") {
  CHECK(shown_whole(-3).text == "-3");
  CHECK(shown_number(2).text == "2.0");
  CHECK(shown_number(0.1).text == "0.1");
  CHECK(shown_number(1e300).text == "1e+300");
  CHECK(shown_count(2).text == "2");
  CHECK(shown_count(2.5).text == "2.5");
  CHECK(shown_count(0x1p60).text == "1152921504606846976.0");
  CHECK_THROWS_AS(shown_number(1.0 / 0.0), std::domain_error);
}

}  // namespace
}  // namespace shown_spec
