// SPDX-License-Identifier: Apache-2.0
// A device entry from a table of measured kernels.
#include <filesystem>
#include <ostream>

#include "app/command.hpp"
#include "forecast/accuracy/kernel_fit.hpp"
#include "report/calibration.hpp"
#include "scenarios/calibration.hpp"
#include "scenarios/documents/edit.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/measured/kernel_table.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

std::string figure(const forecast::FittedParameter& parameter) {
  scenarios::FittedKey key{.unit = parameter.unit};
  return scenarios::exact_text(key, parameter.value);
}

// The entry and, unless it lies there already, its table; names both.
std::vector<std::string> write_device(const CalibrationRequest& request, const std::string& yaml,
                                      const std::string& csv, const Common& common) {
  const fs::path folder = request.catalog.empty() ? "." : request.catalog;
  std::error_code wrong;
  fs::create_directories(folder, wrong);  // writing says what is wrong
  const auto entry = folder / (request.name + ".yaml"), table = folder / (request.name + ".csv");
  const bool lies_there = identity_of(table) == identity_of(request.kernels);
  const Outputs outputs(common, {{"--name", entry.string()},
                                 {"--name", lies_there ? std::string() : table.string()}});
  outputs.spare({request.kernels});
  write_file(entry.string(), yaml);
  if (!lies_there) write_file(table.string(), csv);
  return {entry.lexically_normal().string(), table.lexically_normal().string()};
}

}  // namespace

int calibrate_kernels(const CalibrationRequest& request, const Common& common, Streams streams) {
  if (request.name.empty() || request.name.find_first_of("/\\ \t'\":{}[]#,") != std::string::npos)
    throw Mistake("--kernels needs --name NAME, the name of the device, such as my-gpu");
  if (!common.sets.empty())
    throw Mistake("--set changes the file of --parameters, which --kernels does not read");
  Outputs(common).spare({request.kernels});
  const auto text = scenarios::read_file(request.kernels, scenarios::table_limits);
  const auto table = scenarios::read_kernel_table(text, request.kernels);
  const auto device = scenarios::device_of(table, request.base);
  auto summary = forecast::fit_kernels(table.measured, device);
  const auto csv = request.name + ".csv";
  auto yaml = scenarios::device_yaml(table, request.base, csv);
  std::vector<std::string> keys;
  for (auto& parameter : summary.parameters) {
    parameter.file = request.name + ".yaml";
    yaml = scenarios::with_value(yaml, parameter.file, parameter.key, figure(parameter));
    keys.push_back(parameter.key);
  }
  if (!request.only_print)
    summary.files = write_device(request, scenarios::with_origin(yaml, keys), text, common);
  deliver(common.json ? report::calibrate_json(summary)
                      : report::calibrate_text(summary, text_options(streams)),
          common, streams);
  return success;
}

}  // namespace app
