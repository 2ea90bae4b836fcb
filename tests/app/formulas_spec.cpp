// SPDX-License-Identifier: Apache-2.0
// The pages of docs/model open with their formulas, each with an example in numbers:
// `name(quantity=number, …) = result`. The program computes every example here.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "model/layer.hpp"
#include "plans/holdings.hpp"
#include "plans/memory.hpp"
#include "plans/routing.hpp"
#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/schedule.hpp"
#include "search/purchase/goodput.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"
#include "topology/collective.hpp"
#include "topology/kernel_time.hpp"
#include "topology/offload_time.hpp"

namespace formulas_spec {
namespace {

using Numbers = std::map<std::string, double>;

// The numbers of an example, which the program computes with. `used` collects the names that are
// asked for.
struct Given {
  const Numbers& numbers;
  std::set<std::string>& used;
  double operator()(const std::string& name) const {
    used.insert(name);
    return numbers.at(name);
  }
  std::int64_t whole(const std::string& name) const { return std::llround((*this)(name)); }
  int count(const std::string& name) const { return static_cast<int>(whole(name)); }
};

topology::Device device(const Given& with) {
  topology::Device one{.name = "example"};
  one.memory_bandwidth = {with("bandwidth")};
  one.efficiency = {.memory = with("memory"), .kernel_gap = {with("gap")}};
  return one;
}

double stream_time(const Given& with) {
  return topology::kernel_time({.traffic = {with("bytes")}}, device(with)).value;
}

double product_time(const Given& with) {
  topology::Device one{.name = "example"};
  one.peak[static_cast<std::size_t>(units::Precision::bf16)] = {with("peak")};
  one.memory_bandwidth = {1e15};
  one.sms = with.count("sms");
  one.efficiency = {.product_plateau = with("plateau"),
                    .product_half_depth = with("half_depth"),
                    .memory = 1,
                    .kernel_gap = {0}};
  const auto m = with.whole("m"), n = with.whole("n"), k = with.whole("k");
  return topology::kernel_time({.kind = units::Kernel::Kind::product,
                                .m = m,
                                .n = n,
                                .k = k,
                                .flops = {2.0 * static_cast<double>(m * n * k)}},
                               one)
      .value;
}

double clock_under(const Given& with) {
  topology::Device one;
  one.power = {with("power")};
  one.efficiency.measured_power = {with("measured")};
  one.efficiency.sustained_clock = with("sustained");
  return one.clock();
}

topology::Sending sending(topology::Collective collective, const Given& with) {
  topology::Cluster cluster;
  cluster.node.device.peak[static_cast<std::size_t>(units::Precision::bf16)] = {312e12};
  cluster.node.nvlink = {.kind = topology::NvLink::Kind::nvswitch, .bandwidth = {300e9}};
  cluster.gpus = cluster.node.gpus = 8;
  const int ranks = with.count("ranks");
  return topology::collective_sending(
      collective, {with("bytes")},
      {.ranks = ranks, .nodes = 1, .least_per_node = ranks, .most_per_node = ranks}, cluster);
}

double parts_hit(const Given& with) {
  model::Moe moe;
  moe.experts = with.whole("experts");
  moe.top_k = with.whole("top_k");
  return strategies::parts_hit(moe, {}, with("parts"));
}

double zero_bytes(const Given& with) {
  strategies::Plan plan;
  plan.zero = with.count("stage");
  const int ranks = with.count("ranks"), shards = plan.zero > 0 ? ranks : 1;
  strategies::Software software;
  software.gradient_bytes = with("gradient");
  if (software.gradient_bytes == 2) software.gradient_precision = units::Precision::bf16;
  software.optimizer_bytes = 12;
  const strategies::Holding held{.parameters = {.with_layer = with("parameters")}};
  const auto memory = strategies::static_memory(held, {.with_layer = shards}, plan, {}, software);
  return (memory.weights + memory.gradients + memory.optimizer).value;
}

double offload_time(const Given& with) {
  topology::Cluster cluster;
  cluster.gpus = cluster.node.gpus = with.count("gpus");
  cluster.node.pcie = {.bandwidth = {with("pcie")}, .latency = {0}};
  cluster.node.host = {.memory = {1e12}, .memory_bandwidth = {with("host")}};
  return topology::offload_time({.moved = {with("moved")}, .touched = {with("touched")}}, cluster,
                                0)
      .value;
}

double kept_bytes(const Given& with) {
  model::Transformer gpt;
  gpt.layers = 1;
  gpt.hidden = with.whole("h");
  gpt.heads = gpt.kv_heads = with.whole("a");
  gpt.head_dim = gpt.hidden / gpt.heads;
  gpt.ffn = 4 * gpt.hidden;
  gpt.vocab = gpt.max_sequence = with.whole("s");
  double sum = 0;
  const model::Kernels unfused{.attention = model::AttentionKernel::unfused};
  for (const auto& op : model::layer(gpt, model::whole(gpt, with.whole("b"), with.whole("s")),
                                     unfused, units::Precision::bf16))
    for (const auto& tensor : op.kept) sum += tensor.size.value;
  return sum;
}

double gpt_parameters(const Given& with) {
  model::Transformer gpt;
  gpt.layers = with.whole("L");
  gpt.hidden = with.whole("h");
  gpt.heads = gpt.kv_heads = gpt.hidden / 64;
  gpt.head_dim = 64;
  gpt.ffn = 4 * gpt.hidden;
  gpt.vocab = with.whole("V");
  gpt.max_sequence = with.whole("s");
  return static_cast<double>(model::parameters(gpt));
}

double in_flight(const Given& with) {
  return strategies::peak_in_flight(
      strategies::one_f_one_b(with.count("stage"), with.count("p"), with.count("m")), 1);
}

double bubble(const Given& with) {
  const auto text = [&](const char* name) { return std::to_string(with.whole(name)); };
  const auto run =
      tests::stepcast({"schedule", "--schedule", with("v") > 1 ? "interleaved" : "1f1b", "--stages",
                       text("p"), "--microbatches", text("m"), "--chunks", text("v"), "--forward",
                       "1000", "--backward", "2000", "--json"});
  return nlohmann::json::parse(run.out).at("bubble_fraction").get<double>();
}

search::Renewal renewal(const Given& with) {
  return {.failures = {1 / with("M")}, .stall = {with("C")}, .lag = {0}, .restart = {with("R")}};
}

double availability(const Given& with) {
  return search::availability({with("failures")}, {with("repair")}, with.whole("spares"));
}

const std::map<std::string, std::function<double(const Given&)>> formulas{
    {"stream_time", stream_time},
    {"product_time", product_time},
    {"clock", clock_under},
    {"all_reduce_bytes",
     [](const Given& with) { return sending(topology::Collective::all_reduce, with).bytes.value; }},
    {"all_gather_bytes",
     [](const Given& with) { return sending(topology::Collective::all_gather, with).bytes.value; }},
    {"parts_hit", parts_hit},
    {"zero_bytes", zero_bytes},
    {"offload_time", offload_time},
    {"kept_bytes", kept_bytes},
    {"parameters", gpt_parameters},
    {"in_flight", in_flight},
    {"bubble", bubble},
    {"young_interval",
     [](const Given& with) { return search::young_interval(renewal(with)).value; }},
    {"best_interval", [](const Given& with) { return search::best_interval(renewal(with)).value; }},
    {"progress", [](const Given& with) { return search::progress(renewal(with), {with("T")}); }},
    {"availability", availability},
};

struct Example {
  std::string page, text, name;
  Numbers numbers;
  double result = 0, tolerance = 0;  // half a unit of the last printed digit
};

double half_a_digit(const std::string& number) {
  const auto e = number.find('e');
  const auto mantissa = number.substr(0, e);
  const auto dot = mantissa.find('.');
  const double digits =
      dot == std::string::npos ? 0 : static_cast<double>(mantissa.size() - dot - 1);
  const double power = e == std::string::npos ? 0 : std::stod(number.substr(e + 1));
  return 0.5 * std::pow(10, power - digits) * 1.0001;
}

std::vector<Example> examples_of(const std::filesystem::path& page) {
  std::ifstream file(page);
  std::stringstream text;
  text << file.rdbuf();
  const auto all = text.str();
  static const std::regex form(R"(`(\w+)\((\w+=[^`)]*)\) = (-?[0-9.]+(e-?[0-9]+)?)`)");
  static const std::regex number(R"((\w+)=(-?[0-9.]+(e-?[0-9]+)?))");
  std::vector<Example> examples;
  for (std::sregex_iterator at(all.begin(), all.end(), form), end; at != end; ++at) {
    Example one{.page = page.filename().string(), .text = (*at)[0], .name = (*at)[1]};
    const std::string with = (*at)[2];
    for (std::sregex_iterator n(with.begin(), with.end(), number); n != end; ++n)
      one.numbers[(*n)[1]] = std::stod((*n)[2]);
    one.result = std::stod((*at)[3]);
    one.tolerance = half_a_digit((*at)[3]);
    examples.push_back(std::move(one));
  }
  return examples;
}

std::vector<Example> all_examples() {
  std::vector<Example> all;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(STEPCAST_SOURCE_DIR) / "docs/model"))
    for (auto& one : examples_of(entry.path())) all.push_back(std::move(one));
  return all;
}

}  // namespace

TEST_CASE("the program computes the examples of the pages of formulas") {
  for (const auto& example : all_examples()) {
    INFO(example.page << ": " << example.text);
    REQUIRE(formulas.count(example.name) == 1);
    std::set<std::string> used;
    const double computed = formulas.at(example.name)({example.numbers, used});
    CHECK(std::abs(computed - example.result) <= example.tolerance);
    for (const auto& [name, value] : example.numbers) CHECK(used.count(name) == 1);
  }
}

TEST_CASE("every formula that can be computed has an example on a page") {
  std::set<std::string> told;
  for (const auto& example : all_examples()) told.insert(example.name);
  for (const auto& [name, compute] : formulas) {
    INFO(name);
    CHECK(told.count(name) == 1);
  }
}

}  // namespace formulas_spec
