// SPDX-License-Identifier: Apache-2.0
#include "report/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/document.hpp"
#include "report/json.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {

namespace {

units::Bytes in_bytes(std::int64_t bytes) { return {static_cast<double>(bytes)}; }

// Returns the device with which a forecast of the fullest device is compared.
const forecast::SnapshotDevice* fullest_device(const forecast::MemorySnapshot& snapshot) {
  const auto most =
      std::ranges::max_element(snapshot.devices, {}, &forecast::SnapshotDevice::most_reserved);
  return most == snapshot.devices.end() ? nullptr : &*most;
}

std::string device_text(const forecast::SnapshotDevice& device) {
  std::string text;
  const auto line = [&](std::string_view name, std::int64_t at_end, std::int64_t most) {
    text += fmt::format("  {}  {}  {}\n", left(std::string(name), 12),
                        right(units::short_text(in_bytes(at_end)), 12),
                        right(units::short_text(in_bytes(most)), 12));
  };
  text +=
      fmt::format("  {}  {}  {}\n", left("", 12), right("at its end", 12), right("at most", 12));
  line("asked for", device.requested, device.most_requested);
  line("reserved", device.reserved, device.most_reserved);
  text += fmt::format("  {} events", device.events);
  if (device.out_of_memory > 0) text += fmt::format(", out of memory: {}", device.out_of_memory);
  text += '\n';
  if (device.refused > 0)
    text += fmt::format(
        "  it ends out of memory: {} more were asked for and refused, {} with all before\n",
        units::short_text(in_bytes(device.refused)), units::short_text(in_bytes(device.wanted)));
  return text;
}

std::string beside_device_text(const forecast::SnapshotDevice& device,
                               const forecast::Memory& memory, const TextOptions& options) {
  const bool died = device.refused > 0;
  std::string text = heading("The fullest device beside the forecast", options);
  if (died)
    text += wrapped(
        "The run ended out of memory, before the peak of its step: it needs at least what it asked "
        "for. A forecast above that does not contradict it; a forecast below it is too low.",
        2, width_of(options));
  text += fmt::format("  {}  {}  {}  {}\n", left("", 12), right("real", 12), right("forecast", 12),
                      right("off by", 9));
  const std::pair<std::string, std::pair<std::int64_t, units::Bytes>> rows[] = {
      {"asked for", {std::max(device.most_requested, device.wanted), memory.peak_allocated}},
      {"reserved", {device.most_reserved, memory.peak_reserved}}};
  for (const auto& [name, values] : rows) {
    const auto real = in_bytes(values.first);
    const bool compared = real.value > 0 && (!died || values.second < real);
    text += fmt::format("  {}  {}  {}  {}\n", left(name, 12),
                        right((died ? ">= " : "") + units::short_text(real), 12),
                        right(units::short_text(values.second), 12),
                        right(compared ? signed_percent((values.second - real) / real) : "", 9));
  }
  return text;
}

Document devices_document(const forecast::MemorySnapshot& snapshot) {
  Document devices = Document::array();
  for (const auto& device : snapshot.devices)
    devices.push_back(Object()
                          .put("reserved_bytes", device.reserved)
                          .put("allocated_bytes", device.allocated)
                          .put("requested_bytes", device.requested)
                          .put("most_reserved_bytes", device.most_reserved)
                          .put("most_requested_bytes", device.most_requested)
                          .put("events", device.events)
                          .put("out_of_memory", device.out_of_memory)
                          .put("refused_bytes", device.refused)
                          .put("wanted_bytes", device.wanted)
                          .take());
  return devices;
}

}  // namespace

std::string snapshot_text(const SnapshotReport& report, const TextOptions& options) {
  std::string text = toned(printable(report.file, options.unicode), Tone::strong, options) + '\n';
  text += fmt::format("  {} segments{}{}\n", report.snapshot.segments.size(),
                      report.snapshot.settings.empty() ? "" : ", PYTORCH_CUDA_ALLOC_CONF=",
                      printable(report.snapshot.settings, options.unicode));
  for (std::size_t i = 0; i < report.snapshot.devices.size(); ++i)
    text += heading(fmt::format("Device {}", i), options) + device_text(report.snapshot.devices[i]);
  const auto* device = fullest_device(report.snapshot);
  if (device != nullptr && report.forecast != nullptr)
    text += beside_device_text(*device, report.forecast->memory, options);
  return text;
}

std::string snapshot_json(const SnapshotReport& report, std::string_view version) {
  return dump(Object()
                  .put("stepcast", std::string(version))
                  .put("file", report.file)
                  .put("settings", report.snapshot.settings)
                  .put("segments", report.snapshot.segments.size())
                  .put("devices", devices_document(report.snapshot))
                  .put("against", report.forecast
                                      ? Document::parse(simulate_json(*report.scenario,
                                                                      *report.forecast, version))
                                      : Document())
                  .take());
}

}  // namespace report
