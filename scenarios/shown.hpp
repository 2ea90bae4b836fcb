// SPDX-License-Identifier: Apache-2.0
// Values as a scenario file has them, from which the reader would make the same values. A mapping
// is shown by the table of keys that reads it (keys.hpp), in the order of the table.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "forecast/alert_rule.hpp"
#include "model/transformer.hpp"
#include "plans/plan.hpp"
#include "plans/software.hpp"
#include "scenarios/documents/yaml.hpp"
#include "topology/cluster.hpp"

namespace scenarios {

Value shown(const model::Transformer& model);
// Devices, nodes and fabrics begin with the catalog entry `base` that they are named after.
Value shown(const topology::Device& device);
Value shown(const topology::Node& node);
Value shown(const topology::Fabric& fabric);
Value shown(const topology::Cluster& cluster);
// Shows all keys, and the catalog entry `base` that the profile is named after.
Value shown(const strategies::Software& software);
// Keys that a plan leaves to its software are not shown.
Value shown(const strategies::Plan& plan);
Value shown(const strategies::Training& training);
// Shows a condition, or a list of them, for each figure that has a rule.
Value shown(const std::vector<forecast::AlertRule>& rules);

Value shown_yes_no(bool value);
Value shown_whole(std::int64_t value);
// Shows the number with a fraction, be it zero: 2 is "2.0". Throws std::domain_error if it is
// infinite or no number.
Value shown_number(double value);
// Shows bytes, tokens or operations, without a fraction if there is none. Throws as shown_number().
Value shown_count(double value);
Value shown_text(std::string_view text);

// Adds a key to the value and makes it a mapping.
void show_key(Value& map, std::string_view key, Value value);

}  // namespace scenarios
