// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/form_at.hpp"

namespace scenarios {

const Form* form_at(const Form& form, std::string_view path) {
  if (path.empty()) return &form;
  if (form.type == Type::either) {
    for (const auto& alternative : form.forms)
      if (const auto* found = form_at(alternative, path)) return found;
    return nullptr;
  }
  if (form.type != Type::map) return nullptr;
  const auto dot = path.find('.');
  const auto key = path.substr(0, dot);
  const auto rest = dot == path.npos ? std::string_view() : path.substr(dot + 1);
  for (std::size_t i = 0; i < form.keys.size(); ++i)
    if (form.keys[i].name == key) return form_at(form.forms[i], rest);
  return nullptr;
}

std::string_view unit_of(const Form& form) {
  switch (form.type) {
    case Type::either:
      for (const auto& alternative : form.forms)
        if (const auto unit = unit_of(alternative); !unit.empty()) return unit;
      return {};
    case Type::duration:
      return "s";
    case Type::bytes:
      return "B";
    case Type::bandwidth:
      return "B/s";
    case Type::flop_rate:
      return "FLOP/s";
    case Type::power:
      return "W";
    case Type::money:
      return "USD";
    default:
      return {};
  }
}

}  // namespace scenarios
