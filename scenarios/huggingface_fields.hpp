// SPDX-License-Identifier: Apache-2.0
// The fields of a config.json, known under several names.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/error.hpp"

namespace scenarios {

// Reads fields under any of their names and keeps account of what was missing or wrong.
class Fields {
 public:
  using Names = std::initializer_list<const char*>;
  Fields(const nlohmann::json& object, const std::string& file, std::vector<std::string>* defaulted)
      : object_(object), file_(file), defaulted_(defaulted) {}

  bool has(Names names) const { return find(names).first != nullptr; }

  std::optional<std::int64_t> whole(Names names, std::int64_t least = 1) {
    const auto [value, name] = find(names);
    if (value == nullptr) return {};
    constexpr double most = 1e9;  // no size of a published model comes near
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (number >= static_cast<double>(least) && number <= most && number == std::floor(number))
      return static_cast<std::int64_t>(number);
    complain(std::string(name) + ": " +
             value->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 60) +
             " where a whole number from " + std::to_string(least) + " to 1,000,000,000 belongs");
    return {};
  }
  // How many of something that need not be there.
  std::int64_t count(Names names) { return whole(names, 0).value_or(0); }
  std::int64_t needed(Names names) {
    if (!has(names)) complain("missing key '" + std::string(*names.begin()) + "'");
    return whole(names).value_or(1);
  }
  std::int64_t whole_or(Names names, std::int64_t otherwise, const std::string& field,
                        const std::string& why) {
    if (has(names)) return whole(names).value_or(otherwise);
    note(field + " = " + std::to_string(otherwise) + ": " + why);
    return otherwise;
  }
  bool yes_no(const char* name, bool otherwise, const char* field) {
    const auto* value = find({name}).first;
    if (value != nullptr && value->is_boolean()) return value->get<bool>();
    if (value != nullptr)
      complain(std::string(name) + ": expected true or false");
    else if (field != nullptr)
      note(std::string(field) + " = " + (otherwise ? "true" : "false") + ": '" + name +
           "' is absent; the family's default");
    return otherwise;
  }
  double share(Names names, double otherwise) {
    const auto [value, name] = find(names);
    if (value == nullptr) return otherwise;
    if (value->is_number() && value->get<double>() >= 0 && value->get<double>() < 1)
      return value->get<double>();
    complain(std::string(name) + ": expected a number from 0 to below 1");
    return otherwise;
  }
  std::string word(Names names) {
    const auto [value, name] = find(names);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    complain(std::string(name) + ": expected text");
    return {};
  }
  std::vector<std::int64_t> list(const char* name) {
    const auto* value = find({name}).first;
    if (value == nullptr) return {};
    const auto is_whole = [](const nlohmann::json& item) { return item.is_number_integer(); };
    if (value->is_array() && std::ranges::all_of(*value, is_whole))
      return value->get<std::vector<std::int64_t>>();
    complain(std::string(name) + ": expected a list of whole numbers");
    return {};
  }
  void note(const std::string& text) {
    if (defaulted_ != nullptr) defaulted_->push_back(text);
  }
  void complain(const std::string& text) { complaints_.push_back({file_, text, false}); }
  void throw_if_any() {
    if (!complaints_.empty()) throw Error(complaints_);
  }

 private:
  std::pair<const nlohmann::json*, const char*> find(Names names) const {
    for (const auto* name : names)
      if (const auto found = object_.find(name); found != object_.end() && !found->is_null())
        return {&*found, name};
    return {nullptr, ""};
  }

  const nlohmann::json& object_;
  const std::string& file_;
  std::vector<std::string>* defaulted_;
  std::vector<Complaint> complaints_;
};

}  // namespace scenarios
