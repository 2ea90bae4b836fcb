// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/titan_parts.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace scenarios {
namespace {

// Returns the number in "layers.N"; nothing for other names.
std::optional<std::int64_t> titan_layer(std::string_view name) {
  constexpr std::string_view before = "layers.";
  if (!name.starts_with(before)) return {};
  name.remove_prefix(before.size());
  std::int64_t number = 0;
  const auto* end = name.data() + name.size();
  const auto [stop, wrong] = std::from_chars(name.data(), end, number);
  if (wrong != std::errc() || stop != end || number < 0) return {};
  return number;
}

// Returns what is wrong with a name in this part; empty: nothing. Layers come in order from
// `next` on.
std::string wrong_in_part(const std::string& name, bool first, bool last, std::int64_t& next) {
  if (const auto layer = titan_layer(name)) {
    if (*layer != next)
      return "'" + name + "' stands where layers." + std::to_string(next) + " is expected";
    ++next;
    return {};
  }
  if (name == "tok_embeddings")
    return first ? "" : "the embedding is forecast in the first stage, and stands in another";
  if (name == "norm" || name == "output")
    return last ? "" : "the head is forecast in the last stage, and stands in another";
  return "'" + name + "' is no module; expected tok_embeddings, layers.N, norm or output";
}

// Returns what is wrong with a number of stages; empty: nothing.
std::string wrong_stages(std::int64_t stages, std::int64_t pipeline, std::int64_t chunks) {
  if (stages % pipeline == 0 && (chunks == 0 || stages == pipeline * chunks)) return {};
  return std::to_string(stages) + " stages do not fit " + std::to_string(pipeline) +
         " pipeline ranks under this schedule";
}

}  // namespace

std::vector<std::int64_t> titan_points(const Given& given, std::int64_t layers,
                                       std::int64_t pipeline, std::int64_t chunks) {
  const auto wrong = [&](const std::string& text) {
    given.complain(titan_points_name, text);
    return std::vector<std::int64_t>();
  };
  if (layers == 0) return {};
  std::vector<std::int64_t> counts;
  std::int64_t begun = 0;
  for (const auto& name : given.words(titan_points_name)) {
    const auto layer = titan_layer(name);
    if (!layer)
      return wrong("'" + name +
                   "' is no layer; expected names such as layers.8, at which a stage begins");
    if (*layer <= begun || *layer >= layers)
      return wrong("'" + name + "' is no later layer of " + std::to_string(layers) +
                   "; every stage has one at least");
    counts.push_back(*layer - begun);
    begun = *layer;
  }
  counts.push_back(layers - begun);
  const auto text = wrong_stages(static_cast<std::int64_t>(counts.size()), pipeline, chunks);
  return text.empty() ? counts : wrong(text);
}

std::vector<std::int64_t> titan_parts(const Given& given, std::int64_t layers,
                                      std::int64_t pipeline, std::int64_t chunks) {
  const auto& argument = *given.find(titan_parts_name);
  const auto wrong = [&](const std::string& text) {
    given.complain(titan_parts_name, text);
    return std::vector<std::int64_t>();
  };
  std::size_t listed = 0;
  for (const auto part : argument.parts) listed += part;
  if (argument.parts.empty() || listed != argument.values.size())
    return wrong("expected a list of names of modules for every stage");
  const auto stages = static_cast<std::int64_t>(argument.parts.size());
  if (const auto text = wrong_stages(stages, pipeline, chunks); !text.empty()) return wrong(text);
  std::vector<std::int64_t> counts;
  std::int64_t next = 0;
  auto name = argument.values.begin();
  for (const auto part : argument.parts) {
    const auto before = next;
    const bool first = counts.empty(),
               last = static_cast<std::int64_t>(counts.size()) + 1 == stages;
    for (std::size_t i = 0; i < part; ++i, ++name)
      if (const auto text = wrong_in_part(name->text, first, last, next); !text.empty())
        return wrong(text);
    counts.push_back(next - before);
  }
  if (layers > 0 && next != layers)
    return wrong("it has " + std::to_string(next) + " layers of " + std::to_string(layers));
  return counts;
}

}  // namespace scenarios
