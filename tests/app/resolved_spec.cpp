// SPDX-License-Identifier: Apache-2.0
// A resolved scenario, read again, is the scenario that it was resolved from.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "forecast/forecast.hpp"
#include "plans/partition.hpp"
#include "report/document.hpp"
#include "scenarios/document.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/tables.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"

namespace resolved_spec {

namespace {

// The scenario of a text, whether it can be simulated or not.
forecast::Scenario read(const std::string& text) {
  scenarios::Reading reading("resolved.json", {});
  const auto scenario =
      scenarios::read_document(scenarios::parse_yaml(text, "resolved.json"), reading);
  reading.throw_if_any();
  return scenario;
}

forecast::Scenario same_again(const forecast::Scenario& scenario) {
  const auto text = report::scenario_document(scenario).dump();
  CAPTURE(text);
  const auto again = read(text);
  CHECK(again.name == scenario.name);
  CHECK(again.cluster.gpus == scenario.cluster.gpus);
  CHECK(again.cluster.stragglers == scenario.cluster.stragglers);
  CHECK(again.cluster.degraded_links == scenario.cluster.degraded_links);
  CHECK(again.cluster.others.size() == scenario.cluster.others.size());
  for (std::size_t i = 0; i < scenario.cluster.others.size(); ++i)
    CHECK(again.cluster.others[i].nodes == scenario.cluster.others[i].nodes);
  CHECK(report::scenario_document(again).dump() == text);
  return again;
}

// Draws from everything that a dense model on 128 B200 may be given; nothing is left to defaults,
// so that the printed keys are the drawn ones.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  void onto(forecast::Scenario& s) {
    degrees(s.plan);
    stages(s.plan);
    memory(s.plan);
    traffic(s.plan);
    training(s.training, s.plan);
    software(s.software);
  }

 private:
  std::int64_t upto(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random_);
  }
  bool coin() { return upto(1) == 1; }
  template <class E>
  E kind(int last) {
    return static_cast<E>(upto(last));
  }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return *(all.begin() + upto(static_cast<std::int64_t>(all.size()) - 1));
  }

  void degrees(strategies::Plan& plan) {
    plan.tensor = one_of({1, 2, 4, 8});
    plan.context = one_of({1, 2, 4});
    plan.pipeline = one_of({1, 2, 4});
    plan.data = 128 / (plan.tensor * plan.context * plan.pipeline);
    plan.expert_tensor = plan.tensor;
    plan.context_method = kind<strategies::ContextMethod>(2);
    plan.sequence_parallel = coin();
    std::ranges::shuffle(plan.rank_order, random_);
  }

  void stages(strategies::Plan& plan) {
    using enum strategies::ScheduleKind;
    plan.schedule = kind<strategies::ScheduleKind>(9);
    if (plan.schedule == dualpipe && plan.pipeline == 1) plan.schedule = dualpipe_v;
    const bool two = plan.schedule == zb_v || plan.schedule == v_half || plan.schedule == v_min ||
                     plan.schedule == dualpipe_v;
    plan.virtual_stages = two ? 2 : plan.schedule == interleaved ? 1 + upto(4) : 1;
    const auto chunks = static_cast<std::size_t>(plan.pipeline * plan.virtual_stages);
    if (coin()) {
      plan.layers_per_stage.assign(chunks, 0);
      for (int layer = 0; layer < 80; ++layer)
        ++plan.layers_per_stage[static_cast<std::size_t>(
            upto(plan.pipeline * plan.virtual_stages - 1))];
    }
    plan.recompute = coin() ? recompute() : strategies::Recompute{};
    if (plan.recompute == strategies::Recompute{} && coin())
      for (const auto layers : strategies::layers_per_virtual_stage(plan, 80))
        plan.recompute_of_stage.push_back(recompute(layers));
    if (coin()) return;
    for (std::int64_t from = upto(9); from < 80; from += 1 + upto(30)) {
      plan.layers.push_back({from, std::min<std::int64_t>(79, from + upto(9)), recompute()});
      from = plan.layers.back().to;
      if (auto& one = plan.layers.back().recompute;
          one->kind == strategies::Recompute::Kind::full_layers)
        one = strategies::Recompute{strategies::Recompute::Kind::full, 0, {}};
    }
  }

  strategies::Recompute recompute(std::int64_t most = 20) {
    using enum strategies::Module;
    strategies::Recompute one{kind<strategies::Recompute::Kind>(5), 0, {}};
    if (one.kind == strategies::Recompute::Kind::full_layers) one.layers = upto(most);
    if (one.kind == strategies::Recompute::Kind::modules)
      one.modules = coin() ? std::vector{layernorm} : std::vector{core_attn, mlp};
    return one;
  }

  void memory(strategies::Plan& plan) {
    using Tier = strategies::Offload::Tier;
    plan.micro_batch = 1 + upto(2);
    plan.zero = static_cast<int>(upto(3));
    plan.reshard_after_forward = coin();
    using strategies::ShardGroup;
    plan.shard_group = coin() ? ShardGroup::node : coin() ? ShardGroup::all : ShardGroup::of(2);
    if (plan.zero == 3) plan.wrap.layers = upto(3);
    plan.activation_compression = kind<strategies::ActivationCompression>(2);
    auto& offload = plan.offload;
    offload.optimizer = kind<Tier>(2);
    if (plan.zero == 3) offload.parameters = kind<Tier>(2);
    offload.gradients = plan.zero >= 2 && offload.optimizer != Tier::none && coin();
    offload.activations = coin();
    if (!offload.activations) return;
    if (coin())
      offload.activation_layers = 1 + upto(80 / plan.pipeline - 1);
    else if (coin())
      offload.activation_modules = {strategies::Module::core_attn, strategies::Module::mlp};
  }

  void traffic(strategies::Plan& plan) {
    plan.overlap = {coin(), coin(), coin(), coin(), coin()};
    plan.gradient_precision = coin() ? units::Precision::fp32 : units::Precision::bf16;
    plan.gradient_compression = coin()          ? strategies::GradientCompression::fp8
                                : plan.zero < 2 ? strategies::GradientCompression::onebit
                                                : strategies::GradientCompression::none;
    if (plan.zero >= 2) plan.gradient_sync = kind<strategies::GradientSync>(1);
    plan.bucket = units::Bytes{static_cast<double>(1 + upto(1'000'000'000))};
    if (coin()) plan.gather_bucket = units::Bytes{static_cast<double>(1 + upto(1'000'000'000))};
  }

  void training(strategies::Training& training, const strategies::Plan& plan) {
    training.global_batch = plan.micro_batch * plan.data * 2 * (4 + upto(4));
    training.precision = kind<units::Precision>(6);
    if (training.precision == units::Precision::fp8)
      training.fp8_recipe = kind<strategies::Fp8Recipe>(3);
    training.optimizer = kind<strategies::Optimizer>(plan.zero < 2 ? 7 : 6);
    using enum strategies::Optimizer;
    if (plan.offload.optimizer != strategies::Offload::Tier::none)
      training.optimizer = one_of({adamw, adam, sgd});
    training.padding = 0.01 * static_cast<double>(upto(99));
  }

  void software(strategies::Software& software) {
    using enum strategies::GraphedPart;
    software.kernels.attention = kind<model::AttentionKernel>(5);
    if (software.kernels.attention == model::AttentionKernel::flash_3)  // Hopper only
      software.kernels.attention = model::AttentionKernel::flash;
    software.tensor_overlap = kind<strategies::TensorOverlap>(1);
    software.kernels.fused_cross_entropy = coin();
    software.kernels.loss_chunks = coin() ? 1 : coin() ? model::Kernels::by_width : 8;
    software.kernels.cross_entropy_in_place = coin();
    software.kernels.gradients_in_place = coin();
    software.kernels.compiled_cross_entropy = coin();
    software.stepping_bytes = static_cast<double>(upto(6));
    software.narrow_weights = coin();
    software.keep_sent_outputs = coin();
    software.kernels.expert_products = kind<model::ExpertProducts>(2);
    software.keep_gathered_inputs = coin();
    software.reduction_bytes = static_cast<double>(upto(4));
    software.reduction_buffer = units::Bytes{1e6 * static_cast<double>(upto(9))};
    software.compile = coin();
    software.cuda_graphs = coin();
    if (!software.cuda_graphs && coin())
      software.graphed_parts = coin() ? std::vector{attn, moe_router} : std::vector{moe_preprocess};
    software.moe_dispatcher = kind<strategies::MoeDispatcher>(3);
    if (coin()) software.data_loader = {0.5 * static_cast<double>(1 + upto(99)), upto(8)};
    software.pipeline_sync = coin();
    software.overlap_expert = coin();
    software.post_validation = coin();
    software.limit_all_gathers = coin();
    software.gradient_sync_in_pipelines = kind<strategies::GradientSync>(1);
    software.root_unit = coin();
    software.tensor_units = coin();
    software.copies_parameters = coin();
    software.copies_gradients = coin();
    software.moments_at_start = coin();
    software.launch_blocking = coin();
    software.all_reduce_gradients = coin();
    software.states_by_tensor = coin();
    software.keep_gradients = coin();
    software.kernels.staged_gradient_accumulation = coin();
    software.kernels.copies_attention_output = coin();
    software.kernels.joined_projections = coin();
    software.kernels.repeats_kv = coin();
    software.kernels.autocast = coin();
    software.kernels.gelu_in_steps = coin();
    software.kernels.einsum_dispatch = coin();
    software.blockwise_context = coin();
  }

  std::mt19937 random_;
};

// Adds the paths of the mapping to all keys that hold no mapping themselves.
void add_leaves(const std::vector<scenarios::Field>& fields, const std::string& before,
                std::vector<std::pair<std::string, scenarios::Form>>& leaves) {
  using scenarios::Type;
  for (const auto& field : fields) {
    const auto* form = &field.form;
    if (form->type == Type::either) form = &form->forms.back();  // the form is NAME or a mapping
    const auto path = before + std::string(field.name);
    if (form->type != Type::map) {
      leaves.emplace_back(path, field.form);
      continue;
    }
    std::vector<scenarios::Field> inner;
    for (std::size_t i = 0; i < form->keys.size(); ++i)
      inner.push_back({form->keys[i].name, {}, {}, form->forms[i]});
    add_leaves(inner, path + ": {", leaves);
  }
}

// The least value of the form, for a quantity zero if its range has that.
std::optional<std::string> least(const scenarios::Form& form) {
  using enum scenarios::Type;
  switch (form.type) {
    case whole:
    case number:
    case bytes:
    case bandwidth:
    case flop_rate:
    case duration:
    case power:
    case money:
      return scenarios::plain(form.range.least).find(',') == std::string::npos
                 ? std::optional(scenarios::plain(form.range.least))
                 : std::nullopt;
    case yes_no:
      return "false";
    case text:
      return "''";
    case list:
      return "[]";
    default:
      return {};
  }
}

// A cluster with the key set to `value`, over the entry of that name.
std::string with_least(std::string_view of, std::string_view base, const std::string& path,
                       const std::string& value) {
  auto entry = "{base: " + std::string(base) + ", " + path + ": " + value +
               std::string(static_cast<std::size_t>(std::ranges::count(path, '{')), '}') + "}";
  if (of == "fabric") entry = "dgx-h100, fabric: " + entry;
  return "{model: llama3-8b, cluster: {node: " + entry +
         ", nodes: 2}, training: {sequence_length: 128, global_batch: 1024}}";
}

// A file with the text, in a folder that is removed with it.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("stepcast-resolved-" + name)) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file) << text;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a key of a node or a fabric is printed though it is zero and its base is not") {
  const auto check = [](std::string_view of, const std::vector<scenarios::Field>& fields,
                        std::initializer_list<std::string_view> bases) {
    std::vector<std::pair<std::string, scenarios::Form>> leaves;
    add_leaves(fields, "", leaves);
    int accepted = 0;
    for (const auto base : bases)
      for (const auto& [path, form] : leaves)
        if (const auto value = least(form)) {
          const auto text = with_least(of, base, path, *value);
          CAPTURE(text);
          std::optional<forecast::Scenario> given;
          try {
            given = read(text);
          } catch (const scenarios::Error&) {
            continue;  // zero is no value of this key, or not beside other keys of the base
          }
          ++accepted;
          CHECK(same_again(*given).cluster == given->cluster);
        }
    return accepted;
  };
  CHECK(check("node", scenarios::node_fields(), {"dgx-h100", "dgx-a100-80gb", "gb200-nvl72"}) > 60);
  CHECK(check("fabric", scenarios::fabric_fields(), {"ndr-rail-fat-tree", "ethernet-100g"}) > 10);
}

TEST_CASE("measured kernels are printed with the digest of their file, which must be its own") {
  const Folder folder("kernels");
  const auto scenario = [&] {
    return scenarios::read_scenario(R"(
model: gpt2-xl
cluster:
  node: {base: dgx-h100, device: {base: h100-80gb-sxm, kernels: mine.csv}}
  nodes: 1
training: {sequence_length: 1024, global_batch: 64}
)",
                                    "mine.yaml", {}, folder.path());
  };
  const auto printed = [](const forecast::Scenario& of) {
    return report::scenario_document(of)["cluster"]["node"]["device"]["kernels"];
  };
  const std::string head = "kind,pass,batch,m,n,k,causal,implementation,efficiency\n";
  folder.write("mine.csv", head + "product,forward,1,4096,4096,4096,,,0.5\n");
  const auto first = scenario();
  folder.write("mine.csv", head + "product,forward,1,4096,4096,4096,,,0.6\n");
  const auto second = scenario();
  CHECK(printed(first)["file"] == "mine.csv");
  CHECK(printed(first)["digest"] != printed(second)["digest"]);
  const auto again = [&](const forecast::Scenario& of) {
    return scenarios::read_scenario(report::scenario_document(of).dump(), "resolved.json", {},
                                    folder.path());
  };
  CHECK(again(second).cluster == second.cluster);
  CHECK_THROWS_WITH(again(first),
                    STEPCAST_HOLDS("mine.csv is not the table that this scenario was made with"));
}

TEST_CASE("every example is the same after it was resolved and read again") {
  for (const auto& entry : std::filesystem::directory_iterator("scenarios/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    if (entry.path().string().find("-search-") != std::string::npos) continue;  // has no plan
    if (entry.path().filename().string().starts_with("purchase-")) continue;
    CAPTURE(entry.path().string());
    same_again(scenarios::load_scenario(entry.path()));
  }
}

TEST_CASE("mixed nodes, stragglers and degraded links are printed as they are read") {
  same_again(scenarios::read_scenario(R"(
model: gpt3-175b
cluster:
  node: [{node: dgx-h100, nodes: 4}, {node: dgx-a100-80gb, nodes: 8}, {node: dgx-h200, nodes: 4}]
  stragglers: [{gpus: [17, 3], slowdown: 1.2}, {nodes: [4], slowdown: 1.5}]
  degraded_links: [{link: nic3.2, factor: 0.5}, {link: gpu17, factor: 0.25}]
training: {sequence_length: 2048, global_batch: 1536}
plan: {tensor: 8, pipeline: 16}
)",
                                      "mixed.yaml"));
}

TEST_CASE("parameters are printed to be gathered ahead where they are: always with ZeRO-3") {
  const auto printed = [](const std::string& plan) {
    const auto scenario = read(
        "{model: llama3-70b, cluster: {node: dgx-h100, nodes: 16}, software: megatron-core, "
        "training: {sequence_length: 8192, global_batch: 128}, plan: " +
        plan + "}");
    return report::scenario_document(scenario)["plan"]["overlap"]["parameters"].get<bool>();
  };
  CHECK_FALSE(printed("{zero: 1}"));
  CHECK(printed("{zero: 1, overlap: {parameters: true}}"));
  CHECK(printed("{zero: 3}"));
  CHECK_FALSE(printed("{zero: 3, overlap: {parameters: false}}"));
}

TEST_CASE(
    "the precision of gradients is printed where the plan gives it: profiles have more to say") {
  const auto check_same_bytes = [](const std::string& rest, double gradients) {
    CAPTURE(rest);
    const auto given = read(
        "{model: gpt2-xl, cluster: {node: dgx-a100-80gb, nodes: 1}, "
        "training: {sequence_length: 1024, global_batch: 8" +
        rest + "}");
    const auto again = same_again(given);
    const auto [first, second] = std::pair{forecast::simulate(given), forecast::simulate(again)};
    CHECK(first.step.time.value == second.step.time.value);
    CHECK(first.memory.stages.front().gradients.value ==
          second.memory.stages.front().gradients.value);
    CHECK(first.memory.stages.front().gradients.value / 1'557'611'200 ==
          Approx(gradients).epsilon(0.01));
  };
  // The model has 1.56e9 parameters. Gradients of 32-bit training take 4 bytes, whatever precision
  // the profile sums in.
  check_same_bytes(", precision: tf32}, software: nemo", 4);
  check_same_bytes("}, software: {base: megatron-core, gradient_bytes: 2}", 2);
  check_same_bytes("}, software: megatron-core", 4);
  check_same_bytes("}, plan: {gradient_precision: bf16}, software: megatron-core", 2);
}

TEST_CASE("any plan, its training and its software are printed as they are read") {
  const auto plain = read(R"(
model: llama3-70b
cluster: {node: dgx-b200, nodes: 16}
training: {sequence_length: 8192, global_batch: 128}
)");
  for (unsigned seed = 0; seed < 1000 / tests::fewer; ++seed) {
    CAPTURE(seed);
    auto scenario = plain;
    Draw(seed).onto(scenario);
    const auto again = same_again(scenario);
    CHECK(again.plan == scenario.plan);
    CHECK(again.training == scenario.training);
    CHECK(again.software == scenario.software);
  }
}

}  // namespace resolved_spec
