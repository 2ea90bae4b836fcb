// SPDX-License-Identifier: Apache-2.0
// Keys of training: the batch of a step, the formats of numbers, and the experts that tokens choose
// (`routing`).
#include "plans/words.hpp"
#include "scenarios/keys.hpp"
#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using strategies::ExpertPlacement;
using strategies::InBf16;
using strategies::Locality;
using strategies::Routing;
using strategies::Skew;
using strategies::Training;

constexpr Range group_counts{1, 65'536, "groups of experts"};

bool in_groups(const Routing& r) { return r.locality == Locality::group_limited; }
bool by_law(const Routing& r) { return r.skew == Skew::power_law; }
bool is_skewed(const Routing& r) { return r.skew != Skew::balanced; }

Key<Routing> shares_key() {
  const Form form{
      .type = Type::list,
      .range = {1, 65'536, "one for each expert"},
      .forms = {{.type = Type::number,
                 .range = {1e-9, 1e9, "every expert gets some tokens; a small share is one"}}}};
  return {{"shares", "With skew histogram: tokens of each expert, in any unit", "", form},
          [form](Routing& routing, const Cursor& at) {
            if (!check(form, at)) return;
            routing.shares.clear();
            for (const auto& item : at.value().items) routing.shares.push_back(to_number(item));
          },
          [](const Routing& routing) -> std::optional<Value> {
            if (routing.skew != Skew::histogram) return {};
            return shown_list(routing.shares, shown_number);
          }};
}

const Table<Routing>& routing_table() {
  static const Table<Routing> table{
      choice<Routing>("locality", "random", "Where the experts of one token lie",
                      &Routing::locality),
      shown_if(in_groups, whole<Routing>("groups", "", group_counts,
                                         "With locality group_limited: equal groups of experts",
                                         &Routing::groups)),
      shown_if(in_groups, whole<Routing>("top_groups", "", group_counts,
                                         "With locality group_limited: groups that a token chooses "
                                         "its experts of",
                                         &Routing::top_groups)),
      choice<Routing>("skew", "balanced", "How popular experts are beside each other",
                      &Routing::skew),
      shown_if(by_law, number<Routing>("exponent", "1.2", {0, 2, "an exponent of popularity"},
                                       "With skew power_law: how fast the density falls",
                                       &Routing::exponent)),
      shown_if(by_law,
               number<Routing>("spread", "10000", {1, 1e9, "a ratio of numbers of tokens"},
                               "With skew power_law: the most popular expert over the least",
                               &Routing::spread)),
      shares_key(),
      shown_if(is_skewed, choice<Routing>("placement", "given",
                                          "Which experts a rank holds: consecutive ones, or those "
                                          "that even out the ranks",
                                          &Routing::placement))};
  return table;
}

// Complains of a key that has no meaning without another one.
void check_use(const Cursor& at, std::string_view key, bool used, const std::string& with) {
  if (const auto given = at.find(key); given && !used)
    given->complain("is for " + with + "; leave it out, or write that");
}

void check_keys(const Routing& routing, const Cursor& at) {
  if (at.reading().doubtful(at.path())) return;
  for (const auto* key : {"groups", "top_groups"})
    check_use(at, key, in_groups(routing), "locality: group_limited");
  for (const auto* key : {"exponent", "spread"})
    check_use(at, key, by_law(routing), "skew: power_law");
  check_use(at, "shares", routing.skew == Skew::histogram, "skew: histogram");
  check_use(at, "placement", is_skewed(routing) || routing.placement == ExpertPlacement::given,
            "skew: power_law or histogram");
  if (in_groups(routing))
    require({"groups", "top_groups"}, "group_limited needs both, such as 8 and 4", at);
  if (routing.skew == Skew::histogram)
    require({"shares"}, "a histogram needs a number for each expert", at);
  if (routing.locality == Locality::neighbours && is_skewed(routing))
    at.find("skew")->complain(
        "a gate of neighbours sends every expert as many tokens; write balanced, or another "
        "locality");
}

Key<Training> routing_key() {
  return {{"routing", "Which experts tokens choose", "any of them, all alike",
           map_of(fields_of(routing_table()))},
          [](Training& training, const Cursor& at) {
            read_map(routing_table(), training.routing, at);
            check_keys(training.routing, at);
          },
          [](const Training& training) -> std::optional<Value> {
            if (training.routing == Routing{}) return {};
            return show_map(routing_table(), training.routing);
          }};
}

template <class E>
Key<InBf16> words_key(std::string_view name, std::string_view description,
                      std::vector<E> InBf16::*member) {
  const auto form = words_form(all_words<E>());
  return {{name, description, "none", form},
          [form, member](InBf16& in_bf16, const Cursor& at) {
            if (check(form, at)) in_bf16.*member = values_named(all_words<E>(), at);
          },
          [member](const InBf16& in_bf16) -> std::optional<Value> {
            if ((in_bf16.*member).empty()) return {};
            return shown_words(in_bf16.*member);
          }};
}

const Table<InBf16>& in_bf16_table() {
  constexpr Range layers{0, 65'536, "layers of the model"};
  static const Table<InBf16> table{
      unless_zero([](const InBf16&) { return false; },
                  whole<InBf16>("first_layers", "0", layers, "Layers from the first one on",
                                &InBf16::first_layers)),
      unless_zero([](const InBf16&) { return false; },
                  whole<InBf16>("last_layers", "0", layers, "Layers up to the last one",
                                &InBf16::last_layers)),
      words_key<model::LinearPart>("modules", "Linear layers of these parts of every layer",
                                   &InBf16::parts),
      words_key<model::LinearGradient>(
          "gradients", "Products of these gradients, of every linear layer", &InBf16::gradients)};
  return table;
}

Key<Training> in_bf16_key() {
  return {
      {"in_bf16", "With a precision of 8 or 4 bit: linear layers that stay in bf16", "none",
       map_of(fields_of(in_bf16_table()))},
      [](Training& training, const Cursor& at) { read_map(in_bf16_table(), training.in_bf16, at); },
      [](const Training& training) -> std::optional<Value> {
        if (training.in_bf16 == InBf16{}) return {};
        return show_map(in_bf16_table(), training.in_bf16);
      }};
}

const Table<Training>& training_table() {
  static const Table<Training> made{
      whole<Training>("sequence_length", "", {1, 134'217'728, "tokens of one sequence"},
                      "Tokens of a whole sequence", &Training::sequence_length),
      whole<Training>("global_batch", "", {1, 16'777'216, "sequences of one step"},
                      "Sequences per optimizer step", &Training::global_batch),
      choice<Training>("precision", "bf16", "Precision of matrix products", &Training::precision),
      shown_if([](const Training& t) { return t.precision == units::Precision::fp8; },
               choice<Training>("fp8_recipe", "delayed", "With precision fp8: how it is scaled",
                                &Training::fp8_recipe)),
      in_bf16_key(),
      choice<Training>("optimizer", "adamw", "Optimizer", &Training::optimizer),
      number<Training>("padding", "0", {0, 0.99, "the share of tokens that are padding"},
                       "Share of tokens that are padding", &Training::padding),
      tokens_key<Training>("tokens", "nothing is said of a whole training",
                           "Tokens of the whole training: then days, GPU hours, money and energy "
                           "are reported too",
                           &Training::tokens),
      routing_key()};
  return made;
}

}  // namespace

std::vector<Field> training_fields() { return fields_of(training_table()); }

void read_training(Training& training, const Cursor& at) {
  read_map(training_table(), training, at);
}

Value shown(const Training& training) { return show_map(training_table(), training); }

}  // namespace scenarios
