// SPDX-License-Identifier: Apache-2.0
// A sweep written out as one document that stands for it.
#include <nlohmann/json.hpp>
#include <set>

#include "scenarios/catalog.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "scenarios/sweeps/sweep_keys.hpp"

namespace scenarios {
namespace {

using Json = nlohmann::ordered_json;

Json lists_of(const Axis& axis) {
  Json map = Json::object();
  for (std::size_t path = 0; path < axis.paths.size(); ++path) {
    Json list = Json::array();
    for (const auto& values : axis.values) list.push_back(Json::parse(json_of(values[path])));
    map[axis.paths[path]] = std::move(list);
  }
  return map;
}

Json followers_of(const Grid& grid) {
  Json map = Json::object();
  for (const auto& [path, axes, values] : grid.followers) {
    Json of = Json::array(), list = Json::array();
    for (const auto axis : axes) of.push_back(grid.axes[axis].paths.front());
    for (const auto& value : values) list.push_back(Json::parse(json_of(value)));
    map[path] = {{"of", std::move(of)}, {"values", std::move(list)}};
  }
  return map;
}

// Adds the file that a key such as `kernels` names: NAME, or {file: NAME}.
void add_file(std::string_view key, const Value& value, std::set<std::string>& files) {
  if (key != "huggingface" && key != "kernels") return;
  const auto* name = value.kind == Value::Kind::map ? value.find("file") : &value;
  if (name != nullptr && name->kind == Value::Kind::scalar) files.insert(name->text);
}

// Adds the names of files anywhere in the value.
void add_files(const Value& value, std::set<std::string>& files) {
  for (const auto& item : value.items) add_files(item, files);
  for (const auto& member : value.members) {
    add_file(member.key.text, member.value, files);
    add_files(member.value, files);
  }
}

std::set<std::string> names_beside(const Grid& grid) {
  std::set<std::string> files;
  add_files(grid.base, files);
  const auto add = [&](const std::string& path, const Value& value) {
    add_files(value, files);
    add_file(path.substr(path.rfind('.') + 1), value, files);
  };
  for (const auto& axis : grid.axes)
    for (const auto& values : axis.values)
      for (std::size_t path = 0; path < values.size(); ++path) add(axis.paths[path], values[path]);
  for (const auto& follower : grid.followers)
    for (const auto& value : follower.values) add(follower.path, value);
  std::erase_if(files, [](const std::string& file) { return catalog_kernels(file).has_value(); });
  return files;
}

}  // namespace

std::string definition(const Grid& grid) {
  Json document{{"name", grid.name},
                {"base", Json::parse(json_of(grid.base))},
                {"mode", grid.mode == Grid::Mode::search ? "search" : "simulate"}};
  Json vary = Json::object(), together = Json::array();
  for (const auto& axis : grid.axes)
    if (axis.paths.size() == 1 && together.empty())
      vary.update(lists_of(axis));
    else
      together.push_back(lists_of(axis));
  if (!vary.empty()) document["vary"] = std::move(vary);
  if (!together.empty()) document["together"] = std::move(together);
  if (!grid.followers.empty()) document["follow"] = followers_of(grid);
  if (!grid.only_if.empty()) document["only_if"] = grid.only_if;
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void read_beside(Grid& grid) {
  for (const auto& file : names_beside(grid)) try {
      grid.texts.of(grid.folder / file);
    } catch (const Error&) {  // points that name it will say so
    }
}

std::string files_beside(const Grid& grid) {
  std::string all;
  for (const auto& file : names_beside(grid))
    if (const auto* text = grid.texts.find(grid.folder / file)) all += file + '\n' + *text;
  return all;
}

}  // namespace scenarios
