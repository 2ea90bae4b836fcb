// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/form.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "scenarios/documents/nearest.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

std::optional<double> as_number(const std::string& text) {
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data(), end, number);
  if (stop != end) return {};
  if (wrong == std::errc::result_out_of_range) return HUGE_VAL;
  if (wrong != std::errc() || std::isnan(number)) return {};
  return number;
}

std::optional<bool> as_yes_no(const std::string& text) {
  for (const auto* word : {"true", "True", "TRUE", "yes", "on"})
    if (text == word) return true;
  for (const auto* word : {"false", "False", "FALSE", "no", "off"})
    if (text == word) return false;
  return {};
}

// Whether durations of this form are counted in days.
bool is_long(const Form& form) {
  constexpr double year = 365 * 86'400;
  return form.type == Type::duration && form.range.most > year;
}

std::string_view example_in(const Form& form) {
  return is_long(form) ? "60 days" : example_of(form.type);
}

bool is_quantity(Type type) { return type >= Type::bytes && type <= Type::money; }

double read_quantity(const Form& form, const std::string& text) {
  switch (form.type) {
    case Type::bytes:
      return units::parse_bytes(text).value;
    case Type::bandwidth:
      return units::parse_bandwidth(text).value;
    case Type::flop_rate:
      return units::parse_flop_rate(text).value;
    case Type::duration:
      return units::parse_duration_like(text, example_in(form)).value;
    case Type::power:
      return units::parse_power(text).value;
    case Type::tokens:
      return units::parse_tokens(text);
    case Type::money:
      return units::parse_money(text).value;
    default:
      return 0.0;
  }
}

// The bounds of a quantity in the words of its unit.
std::string bound(Type type, double value) {
  switch (type) {
    case Type::bytes:
      return units::short_text(units::Bytes{value});
    case Type::bandwidth:
      return units::short_text(units::BytesPerSecond{value});
    case Type::flop_rate:
      return units::short_text(units::FlopsPerSecond{value});
    case Type::duration:
      return units::short_text(units::Seconds{value});
    case Type::power:
      return units::short_text(units::Watts{value});
    default:
      return plain(value);
  }
}

bool check_range(const Form& form, double value, const Cursor& at, const std::string& written) {
  const auto& [least, most, reason] = form.range;
  if (value >= least && value <= most) return true;
  at.complain(written + " is out of range; expected " + bound(form.type, least) + " to " +
              bound(form.type, most) + (reason.empty() ? "" : ": " + std::string(reason)));
  return false;
}

// Returns "; write 8192, or 8000" for "8k".
std::string thousands(const std::string& text) {
  if (text.size() < 2 || text.size() > 7) return {};
  const bool millions = text.back() == 'm' || text.back() == 'M';
  if (!millions && text.back() != 'k' && text.back() != 'K') return {};
  const auto number = as_number(text.substr(0, text.size() - 1));
  if (!number || *number <= 0 || *number >= 1e9) return {};
  const auto written = [&](double thousand) {
    return units::fixed(*number * thousand * (millions ? thousand : 1.0), 0);
  };
  return "; write " + written(1024) + ", or " + written(1000);
}

// "; write 0.08" for "8 %": numbers that are shares are written as such.
std::string of_percent(std::string_view text) {
  if (!text.ends_with('%')) return {};
  const auto number = as_number(std::string(units::trimmed(text.substr(0, text.size() - 1))));
  return number ? "; write " + plain(*number / 100) : "";
}

bool check_number(const Form& form, const Cursor& at) {
  const auto& value = at.value();
  const auto number = value.quoted ? std::nullopt : as_number(value.text);
  const bool whole = form.type == Type::whole;
  if (!number || (whole && std::isfinite(*number) && *number != std::floor(*number))) {
    at.complain("'" + value.text + "' is not " + in_words(form) +
                (value.quoted && as_number(value.text)
                     ? "; remove the quotes"
                     : thousands(value.text) + of_percent(value.text)));
    return false;
  }
  return check_range(form, *number, at, value.text);
}

// Complains of money in another currency than the file's. The catalog is in its own, and whoever
// uses its prices knows.
bool check_currency(const Cursor& at) {
  const auto& text = at.value().text;
  const auto& [currency, why] = at.reading().money();
  const auto other = units::currency_of(text);
  if (at.in_entry() || other.empty() || other == currency) return true;
  at.complain("'" + text + "' is in " + std::string(other) + ", and " + why +
              ": money is not mixed; write it in " + currency);
  return false;
}

// Complains of three digits behind a point, which are thousands in many countries: "300.000 EUR".
// Below ten they are taken for a price of an hour.
bool check_thousands(const Cursor& at, double value) {
  const std::string_view written = at.value().text;
  const auto point = written.find('.');
  const auto digits = [&](std::size_t from) {
    const auto end = std::min(written.find_first_not_of("0123456789", from), written.size());
    return end - from;
  };
  const bool doubtful = point != written.npos && value >= 10 && digits(0) == point &&
                        digits(point + 1) == 3 &&
                        value == as_number(std::string(written.substr(0, point + 4)));
  if (!doubtful) return true;
  const auto currency = " " + std::string(units::currency_of(written));
  const auto small = value == std::floor(value) ? std::to_string(std::llround(value))
                                                : std::string(written.substr(0, point + 4)) + "0";
  at.complain("'" + at.value().text + "' may be " + plain(value) + " or " + plain(1000 * value) +
              "; write " + small + currency + " or " + std::to_string(std::llround(1000 * value)) +
              currency);
  return false;
}

bool check_quantity(const Form& form, const Cursor& at) {
  const auto& text = at.value().text;
  try {
    const auto value = read_quantity(form, text);
    return check_range(form, value, at, text) &&
           (form.type != Type::money || (check_thousands(at, value) && check_currency(at)));
  } catch (const std::invalid_argument& wrong) {
    std::string said = wrong.what();
    const auto usd = said.rfind(" USD'");
    if (form.type == Type::money && usd != said.npos)
      said.replace(usd + 1, 3, at.reading().money().currency);
    at.complain(said);
    return false;
  }
}

bool check_choice(const Form& form, const Cursor& at) {
  const auto& text = at.value().text;
  if (std::ranges::find(form.choices, text) != form.choices.end()) return true;
  at.complain("unknown value '" + text + "'; expected " + in_words(form) +
              suggestion(text, form.choices));
  return false;
}

bool check_list(const Form& form, const Cursor& at, bool whole) {
  const auto length = static_cast<double>(at.value().items.size());
  if (form.range.most > 0 && (length < form.range.least || length > form.range.most)) {
    at.complain("a list of " + plain(length) + " values; expected " + plain(form.range.least) +
                " to " + plain(form.range.most));
    return false;
  }
  bool right = true;
  for (std::size_t i = 0; whole && i < at.value().items.size(); ++i)
    right = check(form.forms.front(), at.item(i)) && right;
  return right;
}

bool check_map(const Form& form, const Cursor& at, bool whole) {
  if (!whole || form.keys.empty()) return true;
  std::vector<std::string_view> names;
  for (const auto& key : form.keys) names.push_back(key.name);
  bool right = true;
  for (const auto& member : at.value().members) {
    if (!check_key(member, at, names)) {
      right = false;
      continue;
    }
    const auto key = std::ranges::find(names, member.key.text) - names.begin();
    right = check(form.forms[static_cast<std::size_t>(key)], at.member(member)) && right;
  }
  return right;
}

const char* kind_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::null:
      return "nothing";
    case Value::Kind::scalar:
      return "a single value";
    case Value::Kind::list:
      return "a list";
    case Value::Kind::map:
      return "a map";
  }
  return "";
}

Value::Kind kind_of(const Form& form) {
  if (form.type == Type::list) return Value::Kind::list;
  return form.type == Type::map ? Value::Kind::map : Value::Kind::scalar;
}

bool fits_scalar(const Form& form, const Value& value) {
  switch (form.type) {
    case Type::text:
      return true;
    case Type::choice:
      return std::ranges::find(form.choices, value.text) != form.choices.end();
    case Type::yes_no:
      return !value.quoted && as_yes_no(value.text);
    default:
      return as_number(value.text).has_value();
  }
}

// Returns the alternative that the writer had in mind, judged by the kind of value, then by the
// look of a scalar.
const Form* meant(const Form& form, const Value& value) {
  const Form* found = nullptr;
  for (const auto& one : form.forms) {
    if (kind_of(one) != value.kind) continue;
    if (value.kind != Value::Kind::scalar || fits_scalar(one, value)) return &one;
    found = &one;
  }
  return found;
}

// Returns "; its keys are data, tensor", for a map.
std::string keys_in_words(const Form& form) {
  std::string names;
  for (const auto& key : form.keys) (names += names.empty() ? "" : ", ") += key.name;
  return names.empty() ? names
                       : (form.keys.size() > 1 ? "; its keys are " : "; its key is ") + names;
}

// Whether the form takes scalars of several sorts, or one word beside a map, and the value has the
// look of none.
bool fits_no_scalar(const Form& form, const Value& value) {
  if (value.kind != Value::Kind::scalar) return false;
  std::size_t scalars = 0;
  bool words = false;
  for (const auto& one : form.forms) {
    if (kind_of(one) != Value::Kind::scalar) continue;
    if (fits_scalar(one, value)) return false;
    words = words || (one.type == Type::choice && one.choices.size() == 1);
    ++scalars;
  }
  return scalars > 1 || (words && form.forms.size() > scalars);
}

bool check_either(const Form& form, const Cursor& at, bool whole) {
  if (fits_no_scalar(form, at.value())) {
    const auto& text = at.value().text;
    std::string keys, similar;
    for (const auto& one : form.forms) {
      if (one.type == Type::map) keys += keys_in_words(one);
      similar += suggestion(text, one.choices);
    }
    at.complain("unknown value '" + text + "'; expected " + in_words(form) + keys + similar);
    return false;
  }
  if (const auto* one = meant(form, at.value())) return check(*one, at, whole);
  at.complain(std::string(kind_name(at.value().kind)) + " where " + in_words(form) + " belongs");
  return false;
}

}  // namespace

Form map_of(const std::vector<Field>& fields) {
  Form form{.type = Type::map};
  for (const auto& field : fields) {
    form.keys.push_back({field.name, field.description, field.fallback});
    form.forms.push_back(field.form);
  }
  return form;
}

bool check(const Form& form, const Cursor& at, bool whole) {
  const auto& value = at.value();
  if (value.kind == Value::Kind::null) {
    at.complain("has no value; expected " + in_words(form));
    return false;
  }
  if (form.type == Type::either) return check_either(form, at, whole);
  if (value.kind != kind_of(form)) {
    at.complain(std::string(kind_name(value.kind)) + " where " + in_words(form) + " belongs" +
                keys_in_words(form));
    return false;
  }
  if (is_quantity(form.type)) return check_quantity(form, at);
  switch (form.type) {
    case Type::whole:
    case Type::number:
      return check_number(form, at);
    case Type::choice:
      return check_choice(form, at);
    case Type::list:
      return check_list(form, at, whole);
    case Type::map:
      return check_map(form, at, whole);
    case Type::yes_no:
      if (!value.quoted && as_yes_no(value.text)) return true;
      at.complain("'" + value.text + "' is not " + in_words(form));
      return false;
    default:
      return true;
  }
}

namespace {

// Returns the paths under which the document's other sections have this key. A mapping that is
// neither a section nor the document has none.
std::vector<std::string> homes_of(const std::string& name, const Cursor& map) {
  const auto& path = map.path();
  const auto dot = path.rfind('.');
  const auto outer = dot == path.npos ? "" : path.substr(0, dot + 1);
  const auto here = std::string_view(path).substr(outer.size());
  const auto sections = map.reading().sections();
  if (!path.empty() && std::ranges::find(sections, here, &Section::name) == sections.end())
    return {};
  std::vector<std::string> homes;
  for (const auto& section : sections)
    if (section.name != here && std::ranges::find(section.keys, name) != section.keys.end() &&
        (!section.last_resort || homes.empty()))
      homes.push_back(outer + std::string(section.name) + '.' + name);
  return homes;
}

// Complains of a key that other sections have: "write a, b or c". Returns whether any has it.
bool complain_of_homes(const Value& key, const Cursor& map) {
  const auto homes = homes_of(key.text, map);
  if (homes.empty()) return false;
  std::string text;
  for (std::size_t i = 0; i < homes.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < homes.size() ? ", " : " or ") + homes[i];
    map.reading().doubt(homes[i]);
  }
  map.complain_of(key, "unknown key; write " + text, {});
  return true;
}

}  // namespace

bool check_key(const Member& member, const Cursor& map,
               const std::vector<std::string_view>& known) {
  if (member.key.kind != Value::Kind::scalar) {
    map.complain("a key must be text, not " + std::string(kind_name(member.key.kind)));
    return false;
  }
  const auto& name = member.key.text;
  if (std::ranges::find(known, name) == known.end()) {
    if (complain_of_homes(member.key, map)) return false;
    auto left = known;  // one that is not given yet is meant rather than one that is
    std::erase_if(left, [&](auto key) { return map.value().find(key) != nullptr; });
    const auto& meant = nearest(name, left).empty() ? known : left;
    map.complain_of(member.key,
                    "unknown key; expected one of " + listed(known) + suggestion(name, meant),
                    nearest(name, meant));
    return false;
  }
  return check_once(member, map);
}

bool check_once(const Member& member, const Cursor& map) {
  const auto& name = member.key.text;
  const auto& first = *map.value().find(name);
  if (&first == &member.value) return true;
  map.complain_of(member.key,
                  "given twice, first on line " + std::to_string(first.line) + "; keep one of them",
                  name);
  return false;
}

std::int64_t to_whole(const Value& value) {
  std::int64_t exact = 0;
  const auto* end = value.text.data() + value.text.size();
  if (std::from_chars(value.text.data(), end, exact).ptr == end) return exact;
  return static_cast<std::int64_t>(to_number(value));  // 1e6
}

double to_number(const Value& value) { return as_number(value.text).value_or(0.0); }

bool to_yes_no(const Value& value) { return as_yes_no(value.text).value_or(false); }

std::string_view example_of(Type type) {
  switch (type) {
    case Type::bytes:
      return "80 GiB";
    case Type::bandwidth:
      return "25 GB/s";
    case Type::flop_rate:
      return "312 TFLOP/s";
    case Type::duration:
      return "5 us";
    case Type::power:
      return "700 W";
    case Type::tokens:
      return "2 T tokens";
    case Type::money:
      return "300e3 USD";
    default:
      return {};
  }
}

std::string in_words(const Form& form) {
  switch (form.type) {
    case Type::text:
      return "text";
    case Type::whole:
      return "a whole number";
    case Type::number:
      return "a number";
    case Type::yes_no:
      return "true or false";
    case Type::choice:
      return form.choices.size() == 1 ? "'" + std::string(form.choices.front()) + "'"
                                      : "one of " + listed(form.choices);
    case Type::bytes:
      return "a size such as '" + std::string(example_of(form.type)) + "'";
    case Type::bandwidth:
      return "a bandwidth such as '" + std::string(example_of(form.type)) + "'";
    case Type::flop_rate:
      return "a rate such as '" + std::string(example_of(form.type)) + "'";
    case Type::duration:
      return "a time such as '" + std::string(example_in(form)) + "'";
    case Type::power:
      return "a power such as '" + std::string(example_of(form.type)) + "'";
    case Type::tokens:
      return "a number of tokens such as '" + std::string(example_of(form.type)) + "'";
    case Type::money:
      return "an amount such as '" + std::string(example_of(form.type)) + "'";
    case Type::list:
      return "a list";
    case Type::map:
      return "a map";
    case Type::either:
      break;
  }
  std::string text;
  for (const auto& one : form.forms) text += (text.empty() ? "" : " or ") + in_words(one);
  return text;
}

}  // namespace scenarios
