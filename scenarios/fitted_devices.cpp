// SPDX-License-Identifier: Apache-2.0
#include "scenarios/fitted_devices.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "scenarios/catalog.hpp"
#include "scenarios/documents/yaml.hpp"

namespace scenarios {

bool fits_device(const Calibration& calibration, std::string_view device) {
  const auto fits = [&](const std::string& file) {
    return std::ranges::find(calibration.keys, file, &FittedKey::file) != calibration.keys.end();
  };
  const auto is_device = [](const FittedKey& key) { return key.file.starts_with("devices/"); };
  if (std::ranges::none_of(calibration.keys, is_device)) return true;
  for (std::string name(device); !name.empty();) {
    if (fits(catalog_path(Kind::device, name))) return true;
    const auto text = catalog_text(Kind::device, name);
    const auto entry = text ? parse_yaml(*text, name) : Value{};
    const auto* base = entry.find("base");
    name = base == nullptr ? "" : base->text;
  }
  return false;
}

void mark_fitted(std::vector<Dataset>& datasets, const Calibration& calibration) {
  std::map<std::string, bool> known;
  const auto fits = [&](const std::string& device) {
    const auto [at, fresh] = known.emplace(device, false);
    if (fresh) at->second = fits_device(calibration, device);
    return at->second;
  };
  for (auto& dataset : datasets)
    for (auto& row : dataset.rows) {
      if (!row.scenario) continue;
      const auto& cluster = row.scenario->cluster;
      row.fitted = true;
      for (std::size_t kind = 0; kind < cluster.kinds(); ++kind)
        row.fitted = row.fitted && fits(cluster.kind(kind).device.name);
    }
}

}  // namespace scenarios
