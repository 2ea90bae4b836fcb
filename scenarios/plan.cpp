// SPDX-License-Identifier: Apache-2.0
// The plan and the training: strategies/plan.hpp as people write it.
#include "strategies/plan.hpp"

#include <algorithm>
#include <array>

#include "scenarios/keys.hpp"
#include "scenarios/nearest.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using strategies::Overlap;
using strategies::Plan;
using strategies::Recompute;
using strategies::Training;

constexpr Range degree{1, 1'000'000, "1 means that nothing is divided"};

bool is_one(const Value& value) { return to_whole(value) == 1; }
bool is_none(const Value& value) { return value.text == "none"; }

// --- recompute

const std::vector<std::string_view>& operator_names() {
  static const std::vector<std::string_view> names{
      "core_attn", "layernorm", "moe_act", "mla_up_proj", "mlp", "moe", "shared_experts"};
  return names;
}

Form one_recompute_form() {
  return {.type = Type::either,
          .forms = {
              {.type = Type::choice, .choices = {"none", "selective", "full", "optimal", "per-op"}},
              map_of({{"full_layers",
                       "Layers of each pipeline rank, recomputed whole",
                       "",
                       {.type = Type::whole, .range = {0, 10'000, "layers of one pipeline rank"}}},
                      {"selective",
                       "Operators that are recomputed",
                       "",
                       {.type = Type::list,
                        .forms = {{.type = Type::choice, .choices = operator_names()}}}}})}};
}

Form recompute_form() {
  Form form = one_recompute_form();
  form.forms.push_back({.type = Type::list, .forms = {one_recompute_form()}});
  return form;
}

constexpr auto recompute_supported =
    " is not supported yet; supported: none, selective, full, {full_layers: N}";

void read_recompute_word(Plan& plan, const Cursor& at) {
  using enum Recompute::Kind;
  const auto& word = at.value().text;
  if (word == "none") plan.recompute = {none};
  if (word == "selective") plan.recompute = {selective};
  if (word == "full") plan.recompute = {full};
  if (word == "optimal" || word == "per-op") at.unsupported(word + recompute_supported);
}

void read_recompute_map(Plan& plan, const Cursor& at) {
  const auto* layers = at.value().find("full_layers");
  const auto* operators = at.value().find("selective");
  if ((layers == nullptr) == (operators == nullptr)) {
    at.complain("expected one of {full_layers: N} and {selective: [operator, ...]}");
  } else if (layers != nullptr) {
    plan.recompute = {Recompute::Kind::full_layers, to_whole(*layers)};
  } else if (operators->items.size() == 1 && operators->items.front().text == "core_attn") {
    plan.recompute = {Recompute::Kind::selective};
  } else {
    at.unsupported("a choice of operators" + std::string(recompute_supported));
  }
}

void read_recompute(Plan& plan, const Cursor& at) {
  if (!check(recompute_form(), at)) return;
  switch (at.value().kind) {
    case Value::Kind::scalar:
      return read_recompute_word(plan, at);
    case Value::Kind::map:
      return read_recompute_map(plan, at);
    default:
      at.unsupported("one choice per stage" + std::string(recompute_supported));
  }
}

// --- rank_order: tp-cp-ep-dp-pp

void read_rank_order(Plan& plan, const Cursor& at) {
  using strategies::Degree;
  constexpr std::array<std::pair<std::string_view, Degree>, 5> names{{{"tp", Degree::tensor},
                                                                      {"cp", Degree::context},
                                                                      {"ep", Degree::expert},
                                                                      {"dp", Degree::data},
                                                                      {"pp", Degree::pipeline}}};
  std::vector<Degree> order;
  const std::string_view text = at.value().text;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('-', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    const auto found = std::ranges::find(names, word, [](const auto& name) { return name.first; });
    if (found != names.end() && std::ranges::find(order, found->second) == order.end())
      order.push_back(found->second);
    else
      order.resize(0), begin = text.size();
    begin = std::max(begin, end) + 1;
  }
  if (order.size() == names.size())
    plan.rank_order = order;
  else
    at.complain("'" + std::string(text) +
                "' is no order of ranks; expected tp, cp, ep, dp and pp, each once, innermost "
                "first, such as 'tp-cp-ep-dp-pp'");
}

// --- bucket: a size, or {reduce, gather}

const Form& bucket_form() {
  constexpr Range sizes{1, 1e15, "a buffer in device memory"};
  static const Form form{.type = Type::either,
                         .forms = {{.type = Type::bytes, .range = sizes},
                                   map_of({{"reduce",
                                            "Bucket of gradient reduction",
                                            "",
                                            {.type = Type::bytes, .range = sizes}},
                                           {"gather",
                                            "Bucket of parameter gathering",
                                            "",
                                            {.type = Type::bytes, .range = sizes}}})}};
  return form;
}

void read_bucket(Plan& plan, const Cursor& at) {
  if (!check(bucket_form(), at)) return;
  if (at.value().kind == Value::Kind::scalar)
    plan.bucket = units::parse_bytes(at.value().text);
  else
    at.unsupported("separate buckets are not supported yet; write one size");
}

void read_layers_per_stage(Plan& plan, const Cursor& at) {
  const Form form{.type = Type::list,
                  .range = {1, 10'000, ""},
                  .forms = {{.type = Type::whole, .range = {0, 10'000, "layers of one stage"}}}};
  if (!check(form, at)) return;
  plan.layers_per_stage.clear();
  for (const auto& item : at.value().items) plan.layers_per_stage.push_back(to_whole(item));
}

// --- what is known but not simulated yet

Form offload_form() {
  const Form host{.type = Type::choice, .choices = {"cpu"}};
  const Form anywhere{.type = Type::choice, .choices = {"cpu", "nvme"}};
  const Form parts{
      .type = Type::either,
      .forms = {host, map_of({{"to", "Where to", "", host},
                              {"layers",
                               "How many layers",
                               "all",
                               {.type = Type::whole, .range = {0, 10'000, "layers"}}},
                              {"modules",
                               "Which operators",
                               "all",
                               {.type = Type::list, .forms = {{.type = Type::text}}}}})}};
  return {.type = Type::either,
          .forms = {{.type = Type::choice, .choices = {"none"}},
                    map_of({{"optimizer", "Optimizer states", "device", anywhere},
                            {"gradients", "Gradients", "device", host},
                            {"parameters", "Parameters", "device", anywhere},
                            {"activations", "Kept activations", "device", parts}})}};
}

Form wrap_form() {
  return {.type = Type::either,
          .forms = {
              {.type = Type::choice, .choices = {"layer", "model"}},
              map_of({{"layers",
                       "Layers gathered at once",
                       "",
                       {.type = Type::whole, .range = {1, 10'000, "layers gathered at once"}}}})}};
}

Table<Plan> later_keys() {
  const auto one_of = [](std::vector<std::string_view> names) {
    return Form{.type = Type::choice, .choices = std::move(names)};
  };
  return {not_yet<Plan>("context", "1", {.type = Type::whole, .range = degree},
                        "Context-parallel degree", is_one, "write 1: sequences are not split"),
          unread<Plan>("context_method", one_of({"ring", "ulysses", "all-gather"}),
                       "How keys and values travel; nothing at context 1"),
          not_yet<Plan>("expert", "1", {.type = Type::whole, .range = degree},
                        "Expert-parallel degree", is_one, "write 1: models are dense"),
          unread<Plan>("expert_tensor", {.type = Type::whole, .range = degree},
                       "Tensor-parallel degree of experts; nothing for a dense model"),
          not_yet<Plan>(
              "layers", "all alike",
              {.type = Type::list, .range = {0, 10'000, ""}, .forms = {{.type = Type::map}}},
              "Strategies of single layers", [](const Value& value) { return value.items.empty(); },
              "leave it out: all layers are treated alike"),
          not_yet<Plan>(
              "offload", "none", offload_form(), "What is kept in host memory or storage",
              [](const Value& value) {
                return is_none(value) || (value.kind == Value::Kind::map && value.members.empty());
              },
              "write none: everything stays in device memory"),
          not_yet<Plan>("gradient_compression", "none", one_of({"none", "onebit", "fp8"}),
                        "Compression of gradients on the wire", is_none, "write none"),
          not_yet<Plan>("activation_compression", "none", one_of({"none", "fp8", "int8"}),
                        "Compression of kept activations", is_none, "write none"),
          not_yet<Plan>(
              "wrap", "layer", wrap_form(), "With zero 3: what is gathered at once",
              [](const Value& value) { return value.text == "layer"; }, "write layer")};
}

// --- the tables

const Table<Overlap>& overlap_table() {
  static const Table<Overlap> table{
      yes_no<Overlap>("data", "of the software", "Gradient reduction", &Overlap::data),
      yes_no<Overlap>("tensor", "of the software", "Tensor-parallel communication",
                      &Overlap::tensor),
      yes_no<Overlap>("pipeline", "of the software", "Pipeline transfers", &Overlap::pipeline),
      yes_no<Overlap>("parameters", "of the software", "Parameter gathering", &Overlap::parameters),
      unread<Overlap>("expert", {.type = Type::yes_no},
                      "Expert-parallel communication; nothing for a dense model")};
  return table;
}

void add_degrees(Table<Plan>& table) {
  using strategies::ScheduleKind;
  const std::vector<Named<ScheduleKind>> schedules{{"gpipe", ScheduleKind::gpipe},
                                                   {"1f1b", ScheduleKind::one_f_one_b},
                                                   {"interleaved", ScheduleKind::interleaved},
                                                   {"zb-h1", {}},
                                                   {"zb-h2", {}},
                                                   {"zb-v", {}},
                                                   {"v-half", {}},
                                                   {"v-min", {}},
                                                   {"dualpipe", {}},
                                                   {"dualpipe-v", {}}};
  const Table<Plan> keys{
      whole<Plan>("tensor", "1", degree, "Tensor-parallel degree", &Plan::tensor),
      whole<Plan>("pipeline", "1", {1, 10'000, "1 means no pipeline"}, "Pipeline ranks",
                  &Plan::pipeline),
      whole<Plan>("data", "GPUs / (tensor x pipeline)", degree, "Data-parallel degree",
                  &Plan::data),
      yes_no<Plan>("sequence_parallel", "false", "Megatron's sequence parallelism beside tensor",
                   &Plan::sequence_parallel),
      whole<Plan>("micro_batch", "1", {1, 1'000'000, "sequences of one microbatch"},
                  "Sequences per microbatch of one data-parallel replica", &Plan::micro_batch),
      choice<Plan>("schedule", "1f1b", schedules, "Order of the passes of a pipeline",
                   &Plan::schedule),
      whole<Plan>("virtual_stages", "1", {1, 1'000, "model chunks of one pipeline rank"},
                  "Model chunks per pipeline rank", &Plan::virtual_stages),
      {{"layers_per_stage",
        "Transformer layers of each virtual stage in model order",
        "as even as possible",
        {.type = Type::list,
         .forms = {{.type = Type::whole, .range = {0, 10'000, "layers of one stage"}}}}},
       read_layers_per_stage}};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_memory_and_traffic(Table<Plan>& table) {
  using strategies::ShardGroup;
  const Table<Plan> keys{
      whole<Plan>("zero", "0",
                  {0, 3, "0 nothing, 1 optimizer states, 2 and gradients, 3 and parameters"},
                  "What is sharded over data-parallel ranks", &Plan::zero),
      yes_no<Plan>("reshard_after_forward", "true",
                   "With zero 3: free gathered parameters after the forward pass",
                   &Plan::reshard_after_forward),
      choice<Plan>(
          "shard_group", "all",
          std::vector<Named<ShardGroup>>{{"all", ShardGroup::all}, {"node", ShardGroup::node}},
          "Ranks that share one copy", &Plan::shard_group),
      {{"recompute", "What is dropped after the forward pass and computed again", "none",
        recompute_form()},
       read_recompute},
      inner<Plan>("overlap", "Which communication runs beside computation", overlap_table(),
                  &Plan::overlap),
      choice<Plan>("gradient_precision", "of the software",
                   std::vector<Named<units::Precision>>{{"fp32", units::Precision::fp32},
                                                        {"bf16", units::Precision::bf16}},
                   "Accumulation and reduction of gradients", &Plan::gradient_precision),
      {{"bucket", "Gradient bucket", "of the software", bucket_form()}, read_bucket},
      {{"rank_order",
        "Placement of ranks, innermost degree first",
        "tp-cp-ep-dp-pp",
        {.type = Type::text}},
       read_rank_order}};
  table.insert(table.end(), keys.begin(), keys.end());
}

Table<Plan> make_plan_table() {
  Table<Plan> table;
  add_degrees(table);
  add_memory_and_traffic(table);
  const auto later = later_keys();
  table.insert(table.end(), later.begin(), later.end());
  return table;
}

Table<Training> make_training_table() {
  using strategies::Optimizer;
  using units::Precision;
  const std::vector<Named<Precision>> precisions{{"fp32", Precision::fp32},
                                                 {"tf32", Precision::tf32},
                                                 {"fp16", Precision::fp16},
                                                 {"bf16", Precision::bf16},
                                                 {"fp8", {}},
                                                 {"mxfp8", {}},
                                                 {"nvfp4", {}}};
  const std::vector<Named<Optimizer>> optimizers{
      {"adamw", Optimizer::adamw},   {"adam", Optimizer::adam},
      {"lamb", Optimizer::lamb},     {"adafactor", Optimizer::adafactor},
      {"sophia", Optimizer::sophia}, {"muon", Optimizer::muon},
      {"sgd", Optimizer::sgd},       {"onebit-adam", Optimizer::onebit_adam}};
  return {whole<Training>("sequence_length", "", {1, 134'217'728, "tokens of one sequence"},
                          "Tokens of a whole sequence", &Training::sequence_length),
          whole<Training>("global_batch", "", {1, 16'777'216, "sequences of one step"},
                          "Sequences per optimizer step", &Training::global_batch),
          choice<Training>("precision", "bf16", precisions, "Precision of matrix products",
                           &Training::precision),
          unread<Training>(
              "fp8_recipe",
              {.type = Type::choice, .choices = {"delayed", "tensorwise", "rowwise", "blockwise"}},
              "How fp8 values are scaled; nothing in other precisions"),
          choice<Training>("optimizer", "adamw", optimizers, "Optimizer", &Training::optimizer),
          number<Training>("padding", "0", {0, 0.99, "the share of tokens that are padding"},
                           "Share of tokens that are padding", &Training::padding)};
}

const Table<Plan>& plan_table() {
  static const auto table = make_plan_table();
  return table;
}

const Table<Training>& training_table() {
  static const auto table = make_training_table();
  return table;
}

}  // namespace

std::vector<Field> plan_fields() { return fields_of(plan_table()); }
std::vector<Field> training_fields() { return fields_of(training_table()); }

void read_plan(Plan& plan, const Cursor& at) { read_map(plan_table(), plan, at); }
void read_training(Training& training, const Cursor& at) {
  read_map(training_table(), training, at);
}

}  // namespace scenarios
