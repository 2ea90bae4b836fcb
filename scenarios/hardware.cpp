// SPDX-License-Identifier: Apache-2.0
// Devices and nodes.
#include <xxhash.h>

#include <algorithm>
#include <any>
#include <cmath>
#include <utility>

#include "scenarios/documents/nearest.hpp"
#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"
#include "topology/measured.hpp"
#include "topology/rate_surface.hpp"
#include "topology/words.hpp"

namespace scenarios {
namespace {

using topology::NvLink;

struct DeviceDraft {
  topology::Device device;
  std::optional<units::Bytes> memory, usable_memory;

  // A card with more memory has the same share of it usable, unless the file says otherwise.
  void finish() {
    if (memory) {
      const double share = device.memory.value > 0 ? device.usable_memory / device.memory : 1.0;
      device.memory = *memory;
      device.usable_memory = share * *memory;
    }
    if (usable_memory) device.usable_memory = *usable_memory;
    memory.reset();
    usable_memory.reset();
  }
};

struct NodeDraft {
  topology::Node node;
  std::optional<int> gpus, nic_count;
  std::optional<units::Watts> power;
  std::optional<units::Money> price;

  // Part of a node, or of a rack, has its share of the NICs, of the power and of the price.
  void finish() {
    const bool part = gpus && node.device.memory.value > 0 && *gpus < node.gpus;
    if (part) node = partly_used(std::move(node), *gpus);
    if (gpus) node.gpus = *gpus;
    if (nic_count) node.nics.count = *nic_count;
    if (power) node.power = *power;
    if (price) node.price = *price;
    gpus.reset();
    nic_count.reset();
    power.reset();
    price.reset();
  }
};

// The names of mappings without base.
constexpr const char* unnamed_device = "device";
constexpr const char* unnamed_node = "node";

bool based(const topology::Device& device) { return has_base(device.name, unnamed_device); }
bool based_device(const DeviceDraft& draft) { return based(draft.device); }
bool based_node(const NodeDraft& draft) { return has_base(draft.node.name, unnamed_node); }

constexpr Range slow_ramp{0, 10, "0 is no ramp at all, 3 the slowest that was seen"};
// Limits wide enough for devices to come, in bytes and bytes/s; a smaller value lacks its unit.
constexpr Range device_memory{0x1p30, 0x1p44, "a bare number is in bytes; write e.g. '80 GiB'"};
constexpr Range memory_speed{1e10, 1e15, "a bare number is in bytes/s; write e.g. '3.35 TB/s'"};
constexpr Range node_power{0, 1e6, "no node or rack draws a megawatt"};

template <class Target, class Get>
Key<Target> price_key(std::string_view name, std::string_view description, Get get) {
  return quantity<Target>(Type::money, units::parse_money, name, "not known",
                          {0, 1e9, "no node costs a thousand million"}, description, get);
}

// Complains of a peak that lacks its unit.
template <class Target>
Key<Target> peak_key(Key<Target> key) {
  key.assign = [assign = key.assign](Target& target, const Cursor& at) {
    constexpr double least = 1e5;
    const auto rate = units::parse_flop_rate(at.value().text).value;
    if (rate > 0 && rate < least)
      return at.complain(at.value().text +
                         " is slower than any device; a bare number is in FLOP/s: write e.g. '989 "
                         "TFLOP/s'");
    assign(target, at);
  };
  return key;
}

Table<topology::Device> make_peak_table() {
  Table<topology::Device> table;
  for (const auto& [name, precision] : words_of(units::Precision{}))
    table.push_back(unless_zero(
        based, peak_key(quantity<topology::Device>(
                   Type::flop_rate, units::parse_flop_rate, name, "not supported",
                   {0, 1e18, "no device reaches an exaFLOP/s; a bare number is in FLOP/s"},
                   "Dense peak, without sparsity", [precision = precision](auto& device) -> auto& {
                     return device.peak[static_cast<std::size_t>(precision)];
                   }))));
  return table;
}

const Table<topology::Device>& peak_table() {
  static const auto table = make_peak_table();
  return table;
}

// --- kernels: a table of the catalog, or a file beside the scenario with measurements of a user's
// own device; {file, digest} in a resolved scenario says from which text of the file it was made

Form kernels_form() {
  return {.type = Type::either,
          .forms = {{.type = Type::text},
                    map_of({{"file", "The table", "", {.type = Type::text}},
                            {"digest",
                             "Of the file's text, as a resolved scenario has it",
                             "not compared",
                             {.type = Type::text}}})}};
}

std::string digest_of(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto hash = XXH3_64bits(text.data(), text.size());
  std::string words;
  for (int shift = 60; shift >= 0; shift -= 4) words += digits[(hash >> shift) & 15];
  return words;
}

struct SourcedKernels {
  topology::KernelSource source;
  topology::Measured measured;
};

// Throws Error for a file that cannot be read or is no such table.
SourcedKernels kernels_of(const std::string& name, Reading& reading) {
  const auto shipped = catalog_kernels(name);
  const auto csv = shipped ? std::string(*shipped) : reading.texts().of(reading.base() / name);
  Complaints complaints(name);
  auto table = topology::parse_measured(csv, [&](const topology::MeasuredMistake& mistake) {
    complaints.add({mistake.line, mistake.column}, mistake.text);
  });
  complaints.throw_if_any();
  return {{name, shipped ? std::string() : digest_of(csv)}, std::move(table)};
}

// Returns the kernels of the file; null after a complaint.
const SourcedKernels* kernels_at(const Cursor& file) {
  const auto& name = file.value().text;
  auto& known = file.reading().parsed();
  try {
    auto found = known.find(name);
    if (found == known.end()) found = known.emplace(name, kernels_of(name, file.reading())).first;
    return std::any_cast<SourcedKernels>(&found->second);
  } catch (const Error& wrong) {
    for (const auto& one : wrong.complaints) file.complain(one.place + ": " + one.text);
    return nullptr;
  }
}

void read_kernels(DeviceDraft& draft, const Cursor& at) {
  const bool mapped = at.value().kind == Value::Kind::map;
  if (mapped && !at.find("file"))
    return at.missing("file", "measured kernels need the file of their table");
  const auto* kernels = kernels_at(mapped ? *at.find("file") : at);
  if (kernels == nullptr) return;
  const auto& [source, measured] = *kernels;
  const auto digest = mapped ? at.find("digest") : std::nullopt;
  if (digest && digest->value().text != source.digest)
    digest->complain(source.file +
                     " is not the table that this scenario was made with: its digest is " +
                     (source.digest.empty() ? "none, as it is the catalog's" : source.digest) +
                     "; use the file of then, or leave digest out");
  draft.device.efficiency.products = measured.products;
  draft.device.efficiency.attention = measured.attention;
  draft.device.efficiency.kernels = source;
}

std::optional<Value> show_kernels(const DeviceDraft& draft) {
  const auto& [file, digest] = draft.device.efficiency.kernels;
  if (file.empty()) return {};
  if (digest.empty()) return shown_text(file);
  Value map;
  show_key(map, "file", shown_text(file));
  show_key(map, "digest", shown_text(digest));
  return map;
}

// Surfaces are constants of the program, known by name.
void read_rates(DeviceDraft& draft, const Cursor& at) {
  const auto& name = at.value().text;
  draft.device.rates = topology::measured_rates(name);
  if (draft.device.rates != nullptr) return;
  std::vector<std::string_view> names;
  for (const auto& device : topology::measured_rates()) names.push_back(device.name);
  at.complain("no rates were measured on '" + name + "'; expected one of " + listed(names) +
              suggestion(name, names));
}

std::optional<Value> show_rates(const DeviceDraft& draft) {
  if (draft.device.rates == nullptr) return {};
  return shown_text(draft.device.rates->name);
}

template <class T>
auto of_device(T topology::Device::*member) {
  return [member](auto& draft) -> auto& { return draft.device.*member; };
}

Table<DeviceDraft> make_device_table() {
  using topology::Device;
  Table<DeviceDraft> table{
      bytes<DeviceDraft>("memory", "", "Device memory as labelled", &DeviceDraft::memory,
                         device_memory),
      bytes<DeviceDraft>("usable_memory", "the same share of memory as before",
                         "What the driver lets a process see", &DeviceDraft::usable_memory,
                         device_memory),
      bandwidth<DeviceDraft>("memory_bandwidth", "", "Device memory bandwidth as specified",
                             of_device(&Device::memory_bandwidth), memory_speed),
      inner<DeviceDraft>(
          "peak", "Dense peak by precision", peak_table(),
          [](auto& draft) -> auto& { return draft.device; }),
      quantity<DeviceDraft>(
          Type::flop_rate, units::parse_flop_rate, "vector_peak", "the peak of fp32",
          {0, 1e18, "no device reaches an exaFLOP/s"},
          "fp32 arithmetic outside the matrix units; it prices element-wise kernels that are "
          "given flops, of which a step of training has none",
          of_device(&Device::vector_peak)),
      whole<DeviceDraft>(
          "sms", "not known", {0, 100'000, "a device has so many at most"},
          "Streaming multiprocessors or compute units, some of which collectives hold "
          "while they run",
          of_device(&Device::sms)),
      unless_zero(based_device, watts<DeviceDraft>("power", device_power, "Power limit",
                                                   of_device(&Device::power))),
      unless_zero(based_device,
                  price_key<DeviceDraft>("price", "Price of one", of_device(&Device::price))),
      inner<DeviceDraft>("efficiency", "How much of the data sheet kernels reach",
                         efficiency_table(), of_device(&Device::efficiency)),
      {{"kernels", "Table of measured kernels: one of the catalog's, or a CSV file", "none",
        kernels_form()},
       read_kernels,
       show_kernels},
      {{"rates",
        "Rates measured in inference frameworks, by the name of the device they were measured on",
        "none",
        {.type = Type::text}},
       read_rates,
       show_rates}};
  add_entry_keys(table);
  return table;
}

const Table<DeviceDraft>& device_table() {
  static const auto table = make_device_table();
  return table;
}

const Table<NvLink>& nvlink_table() {
  static const Table<NvLink> table{
      choice<NvLink>("kind", "nvswitch", "How the GPUs of a node are joined", &NvLink::kind),
      bandwidth<NvLink>("bandwidth", "", "Per GPU and direction, as specified", &NvLink::bandwidth),
      duration<NvLink>("latency", "1 us",
                       "One hop, GPU to GPU: with 1 us hops take as long as NCCL's table says, and "
                       "change by as much as this differs",
                       &NvLink::latency),
      number<NvLink>("efficiency", "0.8", {0.01, 1, "payload is part of what the wire carries"},
                     "Payload over specified bandwidth", &NvLink::efficiency),
      yes_no<NvLink>("multicast", "false", "Reduction inside the switch (NVLS)",
                     &NvLink::multicast),
      duration<NvLink>("launch", "as the generation of the GPU takes",
                       "What every collective costs beyond its hops", &NvLink::launch),
      number<NvLink>("ramp", "as the generation of the GPU does", slow_ramp,
                     "How slowly rings and trees gain speed with size", &NvLink::ramp)};
  return table;
}

const Table<topology::Pcie>& pcie_table() {
  using topology::Pcie;
  static const Table<Pcie> table{
      bandwidth<Pcie>("bandwidth", "25 GB/s", "Per GPU and direction, practical", &Pcie::bandwidth),
      duration<Pcie>("latency", "1 us", "One crossing", &Pcie::latency)};
  return table;
}

const Table<NodeDraft>& nics_table() {
  using topology::Nics;
  const auto nics = [](auto member) {
    return [member](auto& draft) -> auto& { return draft.node.nics.*member; };
  };
  static const Table<NodeDraft> table{
      whole<NodeDraft>("count", "", {0, 1024, "a node has so many slots at most"},
                       "Network interfaces of one node", &NodeDraft::nic_count),
      bandwidth<NodeDraft>("bandwidth", "", "Per NIC and direction", nics(&Nics::bandwidth)),
      duration<NodeDraft>("latency", "1 us", "From device memory to the wire",
                          nics(&Nics::latency))};
  return table;
}

const Table<topology::Host>& host_table() {
  using topology::Host;
  static const Table<Host> table{
      bytes<Host>("memory", "", "Memory of the host", &Host::memory),
      bandwidth<Host>("memory_bandwidth", "", "Bandwidth of the host's memory",
                      &Host::memory_bandwidth),
      number<Host>("call_time", "1", {0.1, 10, "hosts differ by less"},
                   "Time of the host for a call of a training framework, over that of the x86 "
                   "servers to which software profiles are fitted",
                   &Host::call_time)};
  return table;
}

const Table<topology::Nvme>& nvme_table() {
  using topology::Nvme;
  static const Table<Nvme> table{
      bytes<Nvme>("capacity", "", "Local storage of a node", &Nvme::capacity),
      bandwidth<Nvme>("read", "", "Reading from it", &Nvme::read),
      bandwidth<Nvme>("write", "", "Writing to it", &Nvme::write)};
  return table;
}

template <class T>
auto of_node(T topology::Node::*member) {
  return [member](auto& draft) -> auto& { return draft.node.*member; };
}

std::optional<Value> show_usual_fabric(const NodeDraft& draft) {
  const auto& fabric = draft.node.usual_fabric;
  return fabric.empty() && !based_node(draft) ? std::nullopt : std::optional(shown_text(fabric));
}

Table<NodeDraft> make_node_table() {
  using topology::Node;
  Table<NodeDraft> table{
      whole<NodeDraft>("gpus", "8", {1, 4096, "GPUs that share a node or a rack"},
                       "GPUs of one node; fewer than the base has: a node partly used",
                       &NodeDraft::gpus),
      shown_if(
          [](const NodeDraft& draft) { return draft.node.tray > 0; },
          whole<NodeDraft>("tray", "the node is one machine", {1, 4096, "GPUs of one compute tray"},
                           "GPUs of one compute tray, of which NVLink joins several to a node",
                           of_node(&Node::tray))),
      {{"device", "The accelerator: a catalog name or a mapping", "", name_or_map(device_fields())},
       [](NodeDraft& draft, const Cursor& at) { read_device(draft.node.device, at); },
       [](const NodeDraft& draft) { return std::optional(shown(draft.node.device)); }},
      inner<NodeDraft>("nvlink", "Links between the GPUs of a node", nvlink_table(),
                       of_node(&Node::nvlink)),
      inner<NodeDraft>("pcie", "Link between GPU and host", pcie_table(), of_node(&Node::pcie)),
      inner<NodeDraft>(
          "nics", "Network interfaces", nics_table(), [](auto& draft) -> auto& { return draft; }),
      inner<NodeDraft>("host", "The host", host_table(), of_node(&Node::host)),
      inner<NodeDraft>("nvme", "Local storage", nvme_table(), of_node(&Node::nvme)),
      unless_zero(based_node,
                  watts<NodeDraft>("power", node_power, "Power of a whole node under load",
                                   &NodeDraft::power)),
      unless_zero(based_node,
                  price_key<NodeDraft>("price", "Price of a whole node", &NodeDraft::price)),
      shown_as(show_usual_fabric,
               text<NodeDraft>("usual_fabric",
                               "Fabric that a cluster of such nodes has if none is named",
                               of_node(&Node::usual_fabric)))};
  add_entry_keys(table);
  return table;
}

const Table<NodeDraft>& node_table() {
  static const auto table = make_node_table();
  return table;
}

}  // namespace

std::vector<Field> device_fields() { return fields_of(device_table()); }
std::vector<Field> node_fields() { return fields_of(node_table()); }

namespace {

// Complains of a given power that so many GPUs with their share of a node do not draw.
void check_power(units::Watts power, int gpus, const Cursor& at) {
  const double each = power.value / gpus;
  const bool known = at.find("power") && !at.reading().doubtful(at.inner_path("power"));
  if (!known || each == 0 || (each >= least_watts && each <= most_watts)) return;
  const auto text = [&](double watts) { return units::short_text(units::Watts{watts * gpus}); };
  at.complain_at("power", text(each) + " is out of range; expected " + text(least_watts) + " to " +
                              text(most_watts) + " for " + std::to_string(gpus) +
                              (gpus > 1 ? " GPUs: the power of one node, such as '10.2 kW'"
                                        : " GPU, such as '700 W'"));
}

}  // namespace

void read_device(topology::Device& device, const Cursor& at) {
  DeviceDraft draft{.device = device};
  if (at.value().kind == Value::Kind::scalar) draft.device = {};
  const bool from_nothing = draft.device.memory.value == 0;
  const auto name = read_named(Kind::device, device_table(), draft, at);
  if (name)
    draft.device.name = *name;
  else if (from_nothing)
    require({"memory", "memory_bandwidth", "peak"},
            "a device without `base` needs memory, memory_bandwidth and peak", at);
  check_power(draft.device.power, 1, at);
  if (const auto& [all, usable] = std::pair(draft.device.memory, draft.device.usable_memory);
      usable > all)
    at.complain_at("usable_memory", units::short_text(usable) + " is more than the " +
                                        units::short_text(all) +
                                        " of memory; write what the driver lets a process see of "
                                        "it, or as much in memory");
  if (draft.device.name.empty()) draft.device.name = unnamed_device;
  if (draft.device.vector_peak.value == 0)
    draft.device.vector_peak = draft.device.peak_of(units::Precision::fp32);
  device = std::move(draft.device);
}

namespace {

// A link without bandwidth would be found out by the first message over it.
void check_bandwidths(const topology::Node& node, const Cursor& at) {
  const auto doubtful = [&](std::string_view key) {
    return at.reading().doubtful(at.inner_path(key));
  };
  if (node.nvlink.kind != NvLink::Kind::none && node.nvlink.bandwidth.value == 0 &&
      !doubtful("nvlink"))
    at.complain_at("nvlink",
                   "the GPUs are linked, but with no bandwidth; give bandwidth, per GPU "
                   "and direction, or write kind: none");
  if (node.nics.count > 0 && node.nics.bandwidth.value == 0 && !doubtful("nics"))
    at.complain_at("nics", std::to_string(node.nics.count) +
                               " NICs without bandwidth; give bandwidth, per NIC and direction");
}

}  // namespace

topology::Node partly_used(topology::Node node, int gpus) {
  const double share = static_cast<double>(gpus) / node.gpus;
  node.nics.count = static_cast<int>(std::ceil(share * node.nics.count));
  node.power = share * node.power;
  node.price = share * node.price;
  node.gpus = gpus;
  return node;
}

topology::Node read_node(const Cursor& at) {
  NodeDraft draft;
  draft.node.nvlink.kind = NvLink::Kind::none;
  const auto name = read_named(Kind::node, node_table(), draft, at);
  if (!name) require({"device"}, "a node without `base` needs at least its device", at);
  check_bandwidths(draft.node, at);
  check_power(draft.node.power, draft.node.gpus, at);
  draft.node.name = name.value_or(unnamed_node);
  return std::move(draft.node);
}

Value shown(const topology::Device& device) {
  const DeviceDraft draft{
      .device = device, .memory = device.memory, .usable_memory = device.usable_memory};
  return over_base(device.name, unnamed_device, show_map(device_table(), draft));
}

Value shown(const topology::Node& node) {
  const NodeDraft draft{.node = node,
                        .gpus = node.gpus,
                        .nic_count = node.nics.count,
                        .power = node.power,
                        .price = node.price};
  return over_base(node.name, unnamed_node, show_map(node_table(), draft));
}

}  // namespace scenarios
