// SPDX-License-Identifier: Apache-2.0
// Private to the room: how JSON documents are put together.
#pragma once
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "forecast/scenario.hpp"
#include "forecast/step_parts.hpp"
#include "topology/fabric_plan.hpp"
#include "units/quantity.hpp"

namespace report {

using Document = nlohmann::ordered_json;  // keys stay in the order they were added

// An object under construction. Every number passes here, so that none is infinite or no number.
class Object {
 public:
  Object& number(const char* key, double value) {
    if (!std::isfinite(value)) throw std::domain_error(std::string(key) + " is not finite");
    document_[key] = value;
    return *this;
  }
  // Bytes, tokens, operations: written without a fraction where they have none.
  Object& count(const char* key, double value) {
    if (std::trunc(value) != value || std::abs(value) >= 0x1p53) return number(key, value);
    document_[key] = static_cast<std::int64_t>(value);
    return *this;
  }
  template <int T, int B, int F, int E, int M>
  Object& quantity(const char* key, units::Quantity<T, B, F, E, M> value) {
    if constexpr (T == 1) return number(key, value.value);  // seconds
    return count(key, value.value);
  }
  Object& unless_empty(const char* key, const std::string& value) {
    return value.empty() ? *this : put(key, value);
  }
  // An absent quantity is null.
  template <class Quantity>
  Object& optional(const char* key, std::optional<Quantity> value) {
    if constexpr (std::is_same_v<Quantity, double>) {
      if (value) return number(key, *value);
    } else {
      if (value) return quantity(key, *value);
    }
    document_[key] = nullptr;
    return *this;
  }
  Object& put(const char* key, Document value) {
    document_[key] = std::move(value);
    return *this;
  }
  Document take() { return std::move(document_); }

 private:
  Document document_ = Document::object();
};

// `text` as a JSON string, quotes included.
inline std::string json_string(std::string_view text) {
  return Document(std::string(text)).dump(-1, ' ', false, Document::error_handler_t::replace);
}

inline std::string dump(const Document& document) {
  return document.dump(2, ' ', false, Document::error_handler_t::replace) + '\n';
}

inline Document time_document(const forecast::TimeParts& time) {
  Object object;
  for (const auto& facts : forecast::step_parts) object.quantity(facts.key, time[facts.part]);
  return object.take();
}

// [{ "kind": "tensor_comm", "seconds": 0.5 }, …]
inline Document parts_document(std::span<const forecast::PartTime> parts) {
  Document list = Document::array();
  for (const auto& [part, time] : parts)
    list.push_back(Object()
                       .put("kind", std::string(forecast::facts_of(part).name()))
                       .quantity("seconds", time)
                       .take());
  return list;
}

// Returns parts of a scenario in the form of scenario files, with the values of all keys that were
// left out.
Document scenario_document(const forecast::Scenario& scenario);
Document training_document(const strategies::Training& training);
Document plan_document(const strategies::Plan& plan, const strategies::Software& software);

// {"parameters", "active_parameters", "prediction_parameters"}: as catalog show has them.
Document parameters_document(const model::Transformer& model);

// {"racks", "trays", "tray_gpus", "rack_gpus", "last_rack_gpus", "empty_trays"}; null of clusters
// whose nodes are not made of trays.
Document racks_document(const topology::Cluster& cluster);

// Returns the keys that differ from the default plan, and the degrees that every plan shows.
Document short_plan_document(const strategies::Plan& plan);

// The switches and cables of a fabric (fabric.hpp).
Document fabric_plan_document(const topology::FabricPlan& plan, const topology::Cluster& cluster);

}  // namespace report
