// SPDX-License-Identifier: Apache-2.0
// Purchases as they are read, and the complaints about wrong ones.
#include <algorithm>

#include "scenarios/catalog.hpp"
#include "scenarios/purchase/purchase_keys.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"
#include "tests/scenarios/purchases.hpp"
#include "topology/fabric_plan.hpp"

namespace purchase_file_spec {

using units::Money;
using units::Seconds;

namespace {

constexpr double day = 86400;

constexpr auto contract = R"(
workload: {model: llama3-70b, training: {sequence_length: 8192, global_batch: 2048, precision: bf16}, tokens: 15e12}
constraints: {deadline: 200 days, budget: 60e6 USD, power: 6 MW}
economics: {electricity: 0.08 USD/kWh, pue: 1.25, lifetime: 4 years, currency: USD}
reliability: {gpu_mtbf: 50000 hours, restart: 10 minutes, checkpoint_bandwidth: 40 GB/s}
options:
  - {name: h100-2048, cluster: {node: dgx-h100, nodes: 256, fabric: ndr-rail-fat-tree}, price: {node: 300e3 USD, network_per_node: 40e3 USD}}
  - {name: rented,    cluster: {node: dgx-h200, nodes: [128, 256]}, rent: {per_gpu_hour: 2.5 USD}}
)";

// A small purchase whose option and economics vary.
std::string toy(const std::string& option, const std::string& economics = "{}") {
  return "workload: {model: llama3-8b, training: {sequence_length: 8192, global_batch: 64}, "
         "tokens: 1e12}\neconomics: " +
         economics + "\noptions:\n  - {name: a, " + option + "}\n";
}

search::Purchase read(const std::string& text, const tests::Sets& sets = {}) {
  return tests::read_purchase(text, "p.yaml", sets);
}
const auto complaint = [](const std::string& text, const tests::Sets& sets = {}) {
  return tests::complaints_of([&] { read(text, sets); });
};

std::vector<std::string> names(const search::Purchase& purchase) {
  std::vector<std::string> all;
  for (const auto& option : purchase.options) all.push_back(option.name);
  return all;
}

}  // namespace

TEST_CASE("a purchase is read with its units") {
  const auto p = read(contract);
  CHECK(p.workloads.size() == 1);
  CHECK(p.workloads[0].name == "llama3-70b");
  CHECK(p.workloads[0].tokens == 15e12);
  CHECK(p.constraints.deadline->value == 200 * day);
  CHECK(p.constraints.budget->value == 60e6);
  CHECK(p.constraints.power->value == 6e6);
  CHECK((p.economics.electricity * units::Joules{3.6e6}).value == Approx(0.08));
  CHECK(p.economics.lifetime.value == 4 * 365 * day);
  CHECK(p.reliability.gpu_mtbf->value == 5e4 * 3600);
  CHECK(p.reliability.checkpoint_bandwidth->value == 40e9);
  REQUIRE(names(p) == std::vector<std::string>{"h100-2048", "rented/128", "rented/256"});
  CHECK(p.options[0].cluster().gpus == 2048);
  CHECK(p.options[0].price->node.value == 300e3);
  CHECK(p.options[0].price->network_per_node.value == 40e3);
  CHECK(p.options[0].price->source.empty());
  CHECK(p.options[0].power.nameplate.value == 10.2e3);
  CHECK(p.options[0].nodes_per_rack == 4);
  CHECK(p.options[0].questions[0].gap == 0.02);
  CHECK_FALSE(p.options[1].price);
  CHECK(p.options[1].cluster().nodes() == 128);
  CHECK(p.options[2].rent->per_gpu_hour.value == 2.5);
}

TEST_CASE("keys that a purchase leaves out have the promised defaults") {
  const auto p = read(toy("cluster: {node: dgx-h100, nodes: 2}, rent: {per_gpu_hour: 2}"));
  CHECK(p.economics.currency == "USD");
  CHECK(p.economics.electricity.value == 0);
  CHECK(p.economics.pue == 1);
  CHECK(p.economics.utilisation == 1);
  CHECK(p.workloads[0].weight == 1);
  CHECK(p.workloads[0].overhead == 0);
  CHECK(p.reliability == search::Reliability{});
  CHECK(p.options[0].rent->kind == search::Rent::Kind::on_demand);
}

TEST_CASE("racks are paid and powered by the trays in them, however these are written") {
  const auto of = [](const char* size) {
    auto p = read(toy(std::string("cluster: {node: gb200-nvl72, ") + size + "}"));
    auto& option = p.options[0];
    option.questions[0].scenario.cluster.fabric.switch_power = {};
    option.price->network_per_node = {};
    return search::assess(p, option, {});
  };
  // A rack of 18 trays costs 3 million and draws 120 kW.
  for (const auto* two : {"nodes: 2", "racks: 2", "trays: 36", "gpus: 144"}) {
    CAPTURE(two);
    CHECK(of(two).power.value == Approx(240e3));
    CHECK(of(two).capital_full.value == Approx(6e6));
  }
  for (const auto* part : {"trays: 20", "trays: 20, racks: 2", "gpus: 80", "gpus: 78"}) {
    CAPTURE(part);
    CHECK(of(part).power.value == Approx(20 * 120e3 / 18));
    CHECK(of(part).capital_full.value == Approx(20 * 3e6 / 18));
    CHECK(of(part).racks == 2);
  }
  CHECK(read(toy("cluster: {node: gb200-nvl72, trays: 20, racks: 2}")).options[0].price->source ==
        read(toy("cluster: {node: gb200-nvl72, nodes: 2}")).options[0].price->source);
}

TEST_CASE("an option without a price has the catalog's, with where it is from") {
  const auto p = read(toy("cluster: {node: dgx-h100, nodes: 64}"));
  const auto& price = *p.options[0].price;
  const auto& cluster = p.options[0].cluster();
  CHECK(price.node.value == 310e3);
  CHECK(price.network_per_node.value == topology::plan_of(cluster).price->value / 64);
  CHECK(price.source == "catalog, dgx-h100: spreadsheet 1Ft3RbeZ, August 2024, with NICs");
  CHECK_FALSE(price.estimated);
  const auto guessed = read(toy("cluster: {node: gb300-nvl72, nodes: 1}")).options[0];
  CHECK(guessed.price->estimated);
  CHECK(guessed.nodes_per_rack == 1);
  const auto own = read(toy("cluster: {node: {base: dgx-h100, price: 1e5 USD}, nodes: 1}"));
  CHECK(own.options[0].price->node.value == 1e5);
  CHECK(own.options[0].price->source.empty());
}

TEST_CASE("every node of the catalog with a price says where it is from") {
  for (const auto name : scenarios::catalog_names(scenarios::Kind::node)) {
    if (scenarios::catalog_node(name).price.value == 0) continue;
    CAPTURE(std::string(name));
    const auto option =
        read(toy("cluster: {node: " + std::string(name) + ", nodes: 1}, power: {nameplate: 1 kW}"),
             {"workload.training.precision=fp16"})
            .options[0];
    CHECK_FALSE(option.price->source.empty());
  }
}

TEST_CASE("amounts are money or a share of the purchase") {
  const auto p = read(toy(
      "cluster: {node: dgx-h100, nodes: 2}, residual_value: \"15 %\", support_per_year: 2e4 USD"));
  CHECK(p.options[0].residual_value.of({1000}).value == Approx(150));
  CHECK(p.options[0].support_per_year.of({1000}).value == 2e4);
}

TEST_CASE("a cluster that lists nodes or fabrics is an option for each") {
  const auto p =
      read(toy("cluster: {node: dgx-h100, nodes: {from: 2, to: 9, factor: 2}, fabric: "
               "[ndr-rail-fat-tree, {base: efa-400g, oversubscription: 2}]}"));
  CHECK(names(p) == std::vector<std::string>{"a/2/ndr-rail-fat-tree", "a/2/efa-400g.1",
                                             "a/4/ndr-rail-fat-tree", "a/4/efa-400g.1",
                                             "a/8/ndr-rail-fat-tree", "a/8/efa-400g.1"});
  CHECK(p.options[3].cluster().fabric.oversubscription == std::vector<double>{2});
  CHECK(p.options[3].cluster().nodes() == 4);
  CHECK(names(read(toy("cluster: {node: dgx-h100, nodes: {from: 1, to: 6, step: 2}}"))) ==
        std::vector<std::string>{"a/1", "a/3", "a/5"});
}

TEST_CASE("values that a plan or a search fixes hold for every option") {
  const auto p = read(R"(
workloads:
  - {model: llama3-8b, training: {sequence_length: 8192, global_batch: 64}, tokens: 1e12, weight: 3,
     plan: {tensor: 2}, search: {gap: 0.1}}
  - {name: other, model: llama3-8b, training: {sequence_length: 4096, global_batch: 64}, tokens: 1e11}
search: {memory_headroom: 0.1, zero: [1, 2]}
options: [{name: a, cluster: {node: dgx-h100, nodes: [1, 2]}}]
)");
  REQUIRE(p.options[1].questions.size() == 2);
  const auto& [first, second] = std::tie(p.options[1].questions[0], p.options[1].questions[1]);
  CHECK(first.space.tensor.listed == std::vector<std::int64_t>{2});
  CHECK(first.gap == 0.1);
  CHECK(first.memory_headroom == search::usual_headroom);
  CHECK(second.memory_headroom == 0.1);
  CHECK(second.gap == 0.02);
  CHECK(second.scenario.training.sequence_length == 4096);
  CHECK(p.workloads[0].weight == 3);
  CHECK(p.workloads[1].name == "other");
}

TEST_CASE("an option that a workload's plan cannot run on keeps the reason; the others are read") {
  const auto with = [](const std::string& nodes, const std::string& plan) {
    return read(toy("cluster: {node: dgx-h100, nodes: " + nodes + "}"), {"workload.plan=" + plan});
  };
  for (const std::string plan : {"{tensor: 8, pipeline: 2}", "{data: 16}", "{pipeline: 16}"}) {
    const auto p = with("[2, 3]", plan);
    REQUIRE(names(p) == std::vector<std::string>{"a/2", "a/3"});
    CHECK(p.options[0].no_plan.empty());
    CHECK(p.options[1].no_plan.starts_with("workload.plan."));
    CHECK(p.options[1].cluster().gpus == 24);
    CHECK(p.options[1].price->node.value > 0);
  }
  CHECK(with("[2, 3]", "{pipeline: 16}").options[1].no_plan ==
        "workload.plan.pipeline: pipeline 16 does not divide 24 GPUs: the degrees of a plan "
        "multiply to them");
}

TEST_CASE("where a workload's plan can run on no option, that is a mistake of the workload") {
  const auto cluster = [](const std::string& nodes) {
    return toy("cluster: {node: dgx-h100, nodes: " + nodes + "}");
  };
  CHECK(
      complaint(cluster("[1, 3]"), {"workload.plan={pipeline: 16}"}) ==
      "workload.plan.pipeline: pipeline 16 does not divide 8 GPUs: the degrees of a plan multiply "
      "to them\nworkload.plan.pipeline: pipeline 16 does not divide 24 GPUs: the degrees of a "
      "plan multiply to them");
  CHECK(complaint(cluster("2"), {"workload.plan={pipelin: 16}"}) != "no complaint");
  // A mistake of an option is one, whatever the others are.
  CHECK(complaint(cluster("[2, 0]"), {"workload.plan={pipeline: 16}"}) != "no complaint");
}

TEST_CASE("a number of nodes is found among those that the degrees of a plan divide") {
  const auto found = [](const std::string& nodes, const std::string& plan) {
    return read(toy("cluster: {node: dgx-h100, nodes: " + nodes + "}"), {"workload.plan=" + plan})
        .options[0];
  };
  const auto one = found("{from: 2, to: 12}", "{tensor: 8, pipeline: 3}");
  CHECK(one.no_plan.empty());
  CHECK(one.find->least == 2);
  CHECK(one.find->most == 12);
  CHECK(one.cluster().nodes() == 3);  // 24 GPUs are the fewest that 8 x 3 divides
  const auto fixed = found("{from: 1, to: 12}", "{tensor: 8, pipeline: 1, context: 1, data: 4}");
  CHECK(fixed.cluster().nodes() == 4);
  CHECK(complaint(toy("cluster: {node: dgx-h100, nodes: {from: 1, to: 12}}"),
                  {"workload.plan={pipeline: 13}"}) != "no complaint");
}

TEST_CASE("--set reaches into options") {
  const auto p = read(contract, {"options.1.cluster.nodes=64", "economics.pue=1.1"});
  CHECK(names(p) == std::vector<std::string>{"h100-2048", "rented"});
  CHECK(p.options[1].cluster().nodes() == 64);
  CHECK(p.economics.pue == 1.1);
}

TEST_CASE("money in two currencies is refused wherever it stands") {
  const auto euros = [](const std::string& option, const std::string& more = "") {
    return complaint(toy(option, "{currency: EUR" + more + "}"));
  };
  CHECK(euros("cluster: {node: dgx-h100, nodes: 1}, price: {node: 3e5 EUR}",
              ", electricity: 0.1 EUR/kWh") == "no complaint");
  CHECK(euros("cluster: {node: dgx-h100, nodes: 1}, price: {node: 3e5}") == "no complaint");
  CHECK(euros("cluster: {node: dgx-h100, nodes: 1}, price: {node: 3e5 USD}") ==
        "options.0.price.node: '3e5 USD' is in USD, and economics.currency is EUR: money is not "
        "mixed; write it in EUR");
  CHECK(euros("cluster: {node: dgx-h100, nodes: 1}, rent: {per_gpu_hour: 2 EUR}",
              ", electricity: 0.1 USD/kWh") ==
        "economics.electricity: '0.1 USD' is in USD, and economics.currency is EUR: money is "
        "not mixed; write it in EUR");
  CHECK(euros("cluster: {node: {base: dgx-h100, price: 1e5 GBP}, nodes: 1}") ==
        "options.0.cluster.node.price: '1e5 GBP' is in GBP, and economics.currency is EUR: money "
        "is not mixed; write it in EUR");
  CHECK(euros("cluster: {node: dgx-h100, nodes: 1}") ==
        "options.0.cluster: prices of the catalog are in USD, and economics.currency is EUR; give "
        "the option price: {node: … EUR}");
}

TEST_CASE("a mistake in an option is said with what to write instead") {
  const std::string cluster = "cluster: {node: dgx-h100, nodes: 1}, ";
  CHECK(complaint(toy(cluster + "rent: {kind: spot}")) ==
        "options.0.rent: missing key 'per_gpu_hour'; rents are not in the catalog; write e.g. "
        "per_gpu_hour: 2.5 USD\n"
        "options.0.rent: missing key 'preemption_mtbf'; spot nodes are taken away; write how "
        "often, e.g. 30 days");
  CHECK(complaint(toy(cluster + "rent: {per_gpu_hour: 2, preemption_mtbf: 1 day}")) ==
        "options.0.rent.preemption_mtbf: only what is rented as spot is taken away; write kind: "
        "spot");
  CHECK(complaint(toy(cluster + "price: {node: 3}, rent: {per_gpu_hour: 2}")) ==
        "options.0.rent: both price and rent are given; keep one of them");
  CHECK(complaint(toy(cluster + "residual_value: 120 %")) ==
        "options.0.residual_value: 120 is out of range; expected 0 to 100: of what is bought");
  CHECK(complaint(toy(cluster + "residual_value: 0.15")) ==
        "options.0.residual_value: '0.15' is a share without '%'; write 15 %, or an amount with "
        "its currency");
  CHECK(complaint(toy(cluster + "support_per_year: 0.05")) ==
        "options.0.support_per_year: '0.05' is a share without '%'; write 5 %, or an amount with "
        "its currency");
  CHECK(complaint(toy("cluster: {node: dgx-h100, nodes: 1}, power: {idle: 20 kW}")) ==
        "options.0.cluster: the option's power.idle is above its nameplate");
  CHECK(complaint(toy("cluster: {node: {gpus: 1, device: l40s}, gpus: 1}")) ==
        "options.0.cluster: node 'node' has no price in the catalog; give the option price: {node: "
        "…}, or rent: {per_gpu_hour: …}\n"
        "options.0.cluster: what node 'node' draws is not known; give the option power: "
        "{nameplate: …}");
  CHECK(complaint(toy("cluster: {node: dgx-h100, nodes: []}")) ==
        "options.0.cluster.nodes: an empty list; write numbers of nodes");
  CHECK(complaint(toy("cluster: {node: dgx-h100, nodes: {from: 1, to: 8, step: 1, factor: 2}}")) ==
        "options.0.cluster.nodes: a range has either step or factor");
  CHECK(complaint(toy("cluster: {node: dgx-h100, nodes: {from: 8, to: 1}}")) ==
        "options.0.cluster.nodes.to: is below from; give a larger one");
  CHECK(complaint(toy("cluster: {node: dgx-h100}")) ==
        "options.0.cluster: missing key 'nodes'; a cluster needs nodes: N or gpus: N");
}

TEST_CASE("a range without steps, or no number under a limit, leaves the number to be found") {
  auto p = read(toy("cluster: {node: dgx-h100, nodes: {from: 4, to: 80}}"));
  REQUIRE(p.options.size() == 1);
  CHECK(p.options[0].name == "a");
  REQUIRE(p.options[0].find);
  CHECK(p.options[0].find->least == 4);
  CHECK(p.options[0].find->most == 80);
  CHECK(p.options[0].cluster().nodes() == 4);
  CHECK(p.options[0].price->network_of_catalog);

  p = read(toy("cluster: {node: dgx-h100}"),
           {"constraints.budget=5e6", "constraints.budget_of=capital"});
  REQUIRE(p.options[0].find);
  CHECK(p.options[0].find->least == 1);
  CHECK_FALSE(p.options[0].find->most);
  CHECK(p.constraints.budget_of == search::Constraints::BudgetOf::capital);
  CHECK_FALSE(read(toy("cluster: {node: dgx-h100, nodes: 2}")).options[0].find);
}

TEST_CASE("tokens of a workload may stand with its training, and have units") {
  const std::string text =
      "workload: {model: llama3-8b, training: {sequence_length: 8192, global_batch: 64, tokens: 15 "
      "T tokens}}\noptions:\n  - {name: a, cluster: {node: dgx-h100, nodes: 1}}\n";
  CHECK(read(text).workloads[0].tokens == 15e12);
  CHECK(read(text, {"workload.tokens=2 trillion"}).workloads[0].tokens == 2e12);
}

TEST_CASE("a mistake in a workload is said once, however many options there are") {
  CHECK(complaint(contract, {"workload.training.precision=fp7"}) ==
        "workload.training.precision: unknown value 'fp7'; expected one of fp32, tf32, fp16, bf16, "
        "fp8, mxfp8, nvfp4; did you mean 'fp8'?");
  const auto several = complaint(contract, {"workload.model={layers: 2}"});  // all at one place
  const auto first = several.substr(0, several.find('\n'));
  CHECK(several.find(first) == several.rfind(first));
  CHECK(several.find('\n') != several.npos);
  CHECK(complaint(contract, {"workload.max_global_batch=1000"}) ==
        "workload.max_global_batch: 1000 is below training.global_batch 2048, the smallest that is "
        "tried; give a larger one");
  CHECK(complaint(contract, {"workload.search.objective=cost"}) ==
        "workload.search.objective: a purchase seeks the shortest step of each option; leave it "
        "out");
  CHECK(complaint(contract, {"search.tensor=many"}) != "no complaint");
  CHECK(complaint(contract, {"workload.model=null"}) ==
        "workload: missing key 'model'; a workload needs model, training and tokens");
}

TEST_CASE("a purchase lacks neither workload nor options") {
  CHECK(complaint("{name: x}") ==
        "missing key 'options'; a purchase chooses among options\n"
        "missing key 'workload'; a purchase is for a workload, or for workloads");
  CHECK(complaint("[1]") == "expected a map with workload and options");
  CHECK(complaint(contract, {"workloads=[]"}) != "no complaint");
  CHECK(complaint(contract, {"options.1.name=h100-2048"}) ==
        "options.1.name: 'h100-2048' is the name of two options; rename one");
}

TEST_CASE("times and powers of a purchase have a unit, but 0") {
  const auto told = [](const char* key) { return complaint(contract, {key}); };
  CHECK_THAT(told("options.0.lead_time=30"),
             STEPCAST_HOLDS("options.0.lead_time: '30' has no unit; write 30 days"));
  CHECK_THAT(told("options.0.power.nameplate=10"), STEPCAST_HOLDS("write 10 kW"));
  // Numbers may be seconds or watts, as in other files, where that is as much as a usual unit.
  CHECK_THAT(told("reliability.gpu_mtbf=54000"),
             STEPCAST_HOLDS("write 15 hours if it is in seconds, 54000 hours if it is in hours"));
  CHECK_THAT(
      told("reliability.restart=600"),
      STEPCAST_HOLDS("write 10 minutes if it is in seconds, 600 minutes if it is in minutes"));
  CHECK_THAT(told("constraints.power=300000"),
             STEPCAST_HOLDS("write 300 kW if it is in watts, 300000 kW if it is in kW"));
  // Otherwise it would be a node of ten megawatts, and a deadline after 14,000 years.
  CHECK(told("options.0.power.nameplate=10200") ==
        "options.0.power.nameplate: '10200' has no unit; write 10.2 kW");
  CHECK(told("constraints.deadline=5184000") ==
        "constraints.deadline: '5184000' has no unit; write 60 days");
  CHECK_THAT(told("economics.discount_rate=8 %"), STEPCAST_HOLDS("write 0.08"));
  CHECK(told("options.0.lead_time=0") == "no complaint");
  CHECK(told("options.0.lead_time=30 days") == "no complaint");
}

TEST_CASE("thousands behind a point are asked about, cents are not") {
  const auto told = [](const std::string& price) {
    return complaint(toy("cluster: {node: dgx-h100, nodes: 2}, price: {node: " + price + "}",
                         "{currency: EUR}"));
  };
  CHECK_THAT(told("300.000 EUR"),
             STEPCAST_HOLDS("'300.000 EUR' may be 300 or 300,000; write 300 EUR or 300000 EUR"));
  CHECK_THAT(told("12.345 EUR"), STEPCAST_HOLDS("write 12.3450 EUR or 12345 EUR"));
  CHECK(told("12.3450 EUR") == "no complaint");
  CHECK(told("300000.50 EUR") == "no complaint");
  CHECK(told("300.125e3 EUR") == "no complaint");
  CHECK_THAT(told("300e3 euros"), STEPCAST_HOLDS("write e.g. '300e3 EUR'"));
}

TEST_CASE("a range of nodes that lacks its end is told so once") {
  const auto told = complaint(toy("cluster: {node: dgx-h100, nodes: {from: 3}}"));
  CHECK_THAT(told, STEPCAST_HOLDS("missing key 'to'"));
  CHECK(told.find("is below from") == told.npos);
}

TEST_CASE("all mistakes of a purchase come out in one run, with their places") {
  try {
    read(
        R"(workload: {model: llama3-70b, training: {sequence_length: 8192, global_batch: 2048, precison: bf16}, tokens: 15e12}
constraints: {deadline: 200 dys, budgt: 60e6 USD}
economics: {electricity: 0.08, pue: 0.9}
options:
  - {name: a, cluster: {node: dgx-h10, nodes: 256}, price: {node: 300e3 GBP}}
  - {name: b, cluster: {node: dgx-h200, nodes: [128, 0]}, rent: {per_gpu_hour: 2.5 USD}}
)");
    FAIL("it was read");
  } catch (const scenarios::Error& wrong) {
    std::vector<std::string> places;
    for (const auto& one : wrong.complaints)
      places.push_back(one.place + ": " + one.text.substr(0, one.text.find_first_of(";'(")));
    CHECK(places ==
          std::vector<std::string>{"p.yaml:1:85: workload.training.precison: unknown key",
                                   "p.yaml:2:25: constraints.deadline: unknown duration ",
                                   "p.yaml:2:34: constraints.budgt: unknown key",
                                   "p.yaml:3:26: economics.electricity: unknown price of energy ",
                                   "p.yaml:3:37: economics.pue: 0.9 is out of range",
                                   "p.yaml:5:31: options.0.cluster.node: unknown node ",
                                   "p.yaml:5:67: options.0.price.node: ",
                                   "p.yaml:6:54: options.1.cluster.nodes: 0 is out of range"});
  }
}

TEST_CASE("a purchase that is cut off or has nonsense in it is read or refused") {
  const std::string whole = contract;
  const auto survives = [](const std::string& text) {
    try {
      read(text);
    } catch (const scenarios::Error& wrong) {
      return !wrong.complaints.empty();
    }
    return true;
  };
  for (std::size_t length = 0; length < whole.size(); length += 9)
    CHECK(survives(whole.substr(0, length)));
  for (const auto* path : {"workload",
                           "workload.model",
                           "workload.training",
                           "workload.tokens",
                           "workload.plan",
                           "workload.search",
                           "constraints",
                           "constraints.deadline",
                           "economics",
                           "economics.electricity",
                           "economics.currency",
                           "reliability",
                           "reliability.spares",
                           "options",
                           "options.0",
                           "options.0.cluster",
                           "options.0.cluster.node",
                           "options.0.cluster.nodes",
                           "options.0.cluster.fabric",
                           "options.0.price",
                           "options.0.price.node",
                           "options.0.rent",
                           "options.0.power",
                           "options.0.residual_value",
                           "options.0.name",
                           "search",
                           "workloads"})
    for (const auto* nonsense :
         {"[]", "{}", "[[1]]", "{a: {b: 1}}", "''", "-1", "1e300", "nan", "~x", "%", "USD", "/",
          "5 USD/", "[null]", "{from: 1, to: 10000000, step: 1}", "{base: dgx-h100}", "2.5 EUR"}) {
      CAPTURE(path, nonsense);
      bool survived = true;
      try {
        read(whole, {std::string(path) + "=" + nonsense});
      } catch (const scenarios::Error& wrong) {
        survived = !wrong.complaints.empty();
      }
      CHECK(survived);
    }
}

}  // namespace purchase_file_spec
