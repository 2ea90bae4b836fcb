// SPDX-License-Identifier: Apache-2.0
// Every number of a machine or of software does something.
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/tables.hpp"
#include "tests/catch.hpp"

namespace live_keys_spec {

namespace {

using scenarios::Form;
using scenarios::Type;

// Keys that no forecast of a step depends on, with the reason.
const std::map<std::string, std::string>& exceptions() {
  const std::string bill = "energy and money of a run, which is no part of its step";
  static const std::map<std::string, std::string> all{
      {"cluster.node.power", bill},
      {"cluster.node.price", bill},
      {"cluster.node.device.price", bill},
      {"cluster.fabric.switch_power", bill},
      {"cluster.fabric.switch_price", bill},
      {"cluster.node.device.vector_peak",
       "prices kernels that are given flops, of which a step of training has none"},
      {"software.allocator.garbage_collection_threshold",
       "gives back what is cached near the limit: tests/allocator"}};
  return all;
}

// Values to try for a key; those that the key does not allow are refused and count as nothing.
std::vector<std::string> values_of(Type type) {
  switch (type) {
    case Type::whole:
      return {"1", "2", "3", "5", "8", "32", "64"};
    case Type::number:
      return {"0.3", "1.7", "0", "200"};
    case Type::bytes:
      return {"3 GiB", "70 GiB", "20 MiB", "1 TiB"};
    case Type::bandwidth:
      return {"7 GB/s", "2 TB/s"};
    case Type::flop_rate:
      return {"100 TFLOP/s"};
    case Type::duration:
      return {"70 us", "0.1 s"};
    case Type::power:
      return {"300 W", "2 kW"};
    case Type::money:
      return {"5"};
    default:
      return {};
  }
}

using Numbers = std::map<std::string, Type>;

void add_numbers(const std::string& path, const Form& form, Numbers& numbers) {
  if (!values_of(form.type).empty()) numbers.emplace(path, form.type);
  if (form.type == Type::map)
    for (std::size_t i = 0; i < form.keys.size(); ++i)
      add_numbers(path + '.' + std::string(form.keys[i].name), form.forms[i], numbers);
  if (form.type == Type::either)
    for (const auto& one : form.forms) add_numbers(path, one, numbers);
}

Numbers numbers_of_machines() {
  Numbers numbers;
  add_numbers("cluster", scenarios::map_of(scenarios::cluster_fields()), numbers);
  add_numbers("software", scenarios::map_of(scenarios::software_fields()), numbers);
  return numbers;
}

std::string job(const std::string& model, const std::string& cluster, const std::string& plan,
                const std::string& training = "") {
  return "model: {base: " + model + ", layers: 4}\ncluster: {" + cluster + "}\nplan: {" + plan +
         "}\ntraining: {sequence_length: 4096, " +
         (training.empty() ? "global_batch: 32" : training) + "}\n";
}

const std::vector<std::string>& jobs() {
  static const std::string few = "node: dgx-h100, gpus: 16, fabric: ndr-rail-fat-tree",
                           many =
                               "node: dgx-h100, nodes: 64, fabric: {base: ndr-rail-fat-tree, "
                               "radix: 8}";
  static const std::vector<std::string> all{
      job("llama3-8b", few, "tensor: 2, zero: 1"),
      job("llama3-8b", few, "pipeline: 4, zero: 1") +
          "software: {base: fsdp, data_loader: {samples_per_second: 10}}\n",
      job("llama3-8b", few, "zero: 2, offload: {optimizer: cpu, gradients: cpu}"),
      job("llama3-8b", few, "zero: 2, offload: {optimizer: nvme}"),
      job("llama3-8b", few, "tensor: 2", "global_batch: 32, precision: fp8"),
      job("llama3-8b", few, "tensor: 2", "global_batch: 32, precision: tf32"),
      job("llama3-8b", few, "tensor: 2", "global_batch: 32, precision: fp32"),
      job("llama3-8b", "node: dgx-2, gpus: 32", "tensor: 8", "global_batch: 32, precision: fp16"),
      job("llama3-8b", "node: gb200-nvl72, trays: 4", "tensor: 4"),
      job("llama3-8b", "node: gb200-nvl72, racks: 2", "tensor: 4", "global_batch: 144"),
      job("mixtral-8x7b", few, "expert: 4, zero: 1"),
      job("mixtral-8x7b", many, "tensor: 8, expert: 8, sequence_parallel: true",
          "global_batch: 512")};
  return all;
}

// The figures of a forecast, as text; nothing for a scenario that is refused.
std::string figures(const std::string& text_of_job, const std::vector<std::string>& sets) {
  try {
    const auto forecast = forecast::simulate(
        scenarios::read_scenario(text_of_job, "job.yaml", sets), {.allocator = true});
    const auto& memory = forecast.memory;
    const auto reserved = memory.allocator ? memory.allocator->first.reserved.value : 0;
    std::string text;
    for (const double figure : {forecast.step.time.value, memory.peak.value, memory.capacity.value,
                                memory.peak_allocated.value, reserved, memory.host_fits ? 1.0 : 0.0,
                                memory.fits ? 1.0 : 0.0})
      text += std::to_string(figure) + ' ';
    return text;
  } catch (const scenarios::Error&) {
    return {};
  } catch (const std::invalid_argument&) {
    return {};
  }
}

bool matters(const std::string& path, Type type) {
  static const auto plain = [] {
    std::vector<std::string> all;
    for (const auto& one : jobs()) all.push_back(figures(one, {}));
    return all;
  }();
  for (const auto& value : values_of(type))
    for (std::size_t i = 0; i < jobs().size(); ++i)
      if (const auto changed = figures(jobs()[i], {path + '=' + value});
          !changed.empty() && changed != plain[i])
        return true;
  return false;
}

}  // namespace

TEST_CASE("every number of a machine and of software changes some forecast, or is known not to") {
  for (const auto& one : jobs()) REQUIRE_FALSE(figures(one, {}).empty());
  const auto numbers = numbers_of_machines();
  CHECK(numbers.size() > 60);
  for (const auto& [path, type] : numbers) {
    const auto why = exceptions().find(path);
    INFO(path << (why == exceptions().end() ? "" : ": " + why->second));
    CHECK(matters(path, type) == (why == exceptions().end()));
  }
  for (const auto& [path, why] : exceptions()) CHECK(numbers.contains(path));
}

}  // namespace live_keys_spec
