// SPDX-License-Identifier: Apache-2.0
#include "scenarios/catalog.hpp"

#include <algorithm>
#include <array>

#include "scenarios/catalog_files.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

constexpr std::array<std::string_view, 5> kind_names{"model", "device", "node", "fabric",
                                                     "software"};
constexpr std::array<std::string_view, 5> folders{"models/", "devices/", "nodes/", "fabrics/",
                                                  "software/"};
constexpr std::string_view suffix = ".yaml";

std::string_view folder(Kind kind) { return folders[static_cast<std::size_t>(kind)]; }

std::optional<std::string_view> file_text(const std::string& path) {
  const auto files = catalog_files();
  const auto found = std::ranges::lower_bound(files, path, {}, &CatalogFile::path);
  if (found == files.end() || found->path != path) return {};
  return found->text;
}

Value name_scalar(std::string_view text) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = text;
  return value;
}

// Reads one entry as a scenario that names it would.
template <class Read>
auto entry(std::string_view name, Read read) {
  Reading reading("catalog", {});
  const Value value = name_scalar(name);
  auto result = read(Cursor(value, "", reading));
  reading.throw_if_any();
  return result;
}

}  // namespace

std::span<const std::string_view> catalog_kinds() { return kind_names; }

std::string_view to_text(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<Kind> parse_kind(std::string_view text) {
  const auto found = std::ranges::find(kind_names, text);
  if (found == kind_names.end()) return {};
  return static_cast<Kind>(found - kind_names.begin());
}

std::vector<std::string_view> catalog_names(Kind kind) {
  std::vector<std::string_view> names;
  for (const auto& file : catalog_files())
    if (file.path.starts_with(folder(kind)) && file.path.ends_with(suffix))
      names.push_back(file.path.substr(folder(kind).size(),
                                       file.path.size() - folder(kind).size() - suffix.size()));
  std::ranges::sort(names);  // by name: "a-b" sorts before "a.yaml" but after "a"
  return names;
}

std::optional<std::string_view> catalog_text(Kind kind, std::string_view name) {
  return file_text(catalog_path(kind, name));
}

std::string catalog_path(Kind kind, std::string_view name) {
  return std::string(folder(kind)) + std::string(name) + std::string(suffix);
}

std::optional<std::string_view> catalog_kernels(std::string_view name) {
  return file_text("kernels/" + std::string(name));
}

std::string unknown_name(Kind kind, std::string_view name) {
  const auto names = catalog_names(kind);
  const bool file = name.find('/') != name.npos || name.ends_with(".json");
  if (kind == Kind::model && file)
    return "unknown model '" + std::string(name) +
           "'; a model's config.json of Hugging Face is named by {huggingface: FILE}";
  return "unknown " + std::string(to_text(kind)) + " '" + std::string(name) +
         "'; expected one of " + listed(names) + equal_suggestions(name, names);
}

model::Transformer catalog_model(std::string_view name) { return entry(name, read_model); }
topology::Device catalog_device(std::string_view name) {
  return entry(name, [](const Cursor& at) {
    topology::Device device;
    read_device(device, at);
    return device;
  });
}
topology::Node catalog_node(std::string_view name) { return entry(name, read_node); }
topology::Fabric catalog_fabric(std::string_view name) {
  return entry(name, [](const Cursor& at) { return read_fabric(at).fabric; });
}
topology::Cluster catalog_cluster(std::string_view node, std::string_view fabric,
                                  std::int64_t nodes) {
  Value value;
  value.kind = Value::Kind::map;
  value.members = {{name_scalar("node"), name_scalar(node)},
                   {name_scalar("nodes"), name_scalar(std::to_string(nodes))},
                   {name_scalar("fabric"), name_scalar(fabric)}};
  Reading reading("catalog", {});
  auto cluster = read_cluster(Cursor(value, "", reading));
  reading.throw_if_any();
  return cluster;
}
strategies::Software catalog_software(std::string_view name) { return entry(name, read_software); }

namespace {

template <class Read>
auto described(std::string_view text, const std::string& name, Read read) {
  const auto document = parse_yaml(text, name);
  Reading reading(name, {});
  auto value = read(Cursor(document, "", reading));
  reading.throw_if_any();
  return value;
}

}  // namespace

topology::Cluster described_cluster(std::string_view text, const std::string& name) {
  return described(text, name, read_cluster);
}

topology::Device described_device(std::string_view text, const std::string& name) {
  return described(text, name, [](const Cursor& at) {
    topology::Device device;
    read_device(device, at);
    return device;
  });
}

}  // namespace scenarios
