// SPDX-License-Identifier: Apache-2.0
#include "plans/software.hpp"

#include <algorithm>

#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using model::Kernels;
using strategies::Software;

struct Draft {
  Software software;
  void finish() {}
};

template <class T>
auto kernels_key(T Software::*member) {
  return [member](Draft& draft) -> T& { return draft.software.*member; };
}
template <class T>
auto kernels_key(T Kernels::*member) {
  return [member](Draft& draft) -> T& { return draft.software.kernels.*member; };
}

// --- cuda_graphs: true, false, or the parts of a layer that are captured

using Part = std::optional<strategies::GraphedPart>;  // nothing: whole passes

const std::vector<Named<Part>>& parts() {
  using enum strategies::GraphedPart;
  static const std::vector<Named<Part>> named{
      {"attn", attn}, {"moe_router", moe_router}, {"moe_preprocess", moe_preprocess}, {"full", {}}};
  return named;
}

Form graphs_form() {
  auto list = words_form(parts());
  list.range.least = 0;
  return {.type = Type::either, .forms = {{.type = Type::yes_no}, list}};
}

void read_graphs(Draft& draft, const Cursor& at) {
  if (!check(graphs_form(), at)) return;
  auto& software = draft.software;
  const auto named = meanings(parts(), at);
  software.cuda_graphs = to_yes_no(at.value()) || std::ranges::find(named, Part{}) != named.end();
  software.graphed_parts.clear();
  if (software.cuda_graphs) return;  // whole passes hold all parts
  for (const auto& part : named) software.graphed_parts.push_back(*part);
}

// --- data_loader: none, or {samples_per_second, prefetch}

const Table<strategies::DataLoader>& loader_table() {
  using strategies::DataLoader;
  static const Table<DataLoader> table{
      number<DataLoader>("samples_per_second", "", {1e-6, 1e9, "a loader makes something ready"},
                         "Sequences that the loader of one GPU makes ready",
                         &DataLoader::samples_per_second),
      whole<DataLoader>("prefetch", "2", {0, 1'000'000, "0: made ready only when they are needed"},
                        "Microbatches made ready ahead of the one in use", &DataLoader::prefetch)};
  return table;
}

Form loader_form() {
  return {
      .type = Type::either,
      .forms = {{.type = Type::choice, .choices = {"none"}}, map_of(fields_of(loader_table()))}};
}

void read_loader(Draft& draft, const Cursor& at) {
  draft.software.data_loader.reset();
  if (!check(loader_form(), at) || at.value().kind == Value::Kind::scalar) return;
  read_map(loader_table(), draft.software.data_loader.emplace(), at);
  require({"samples_per_second"}, "a loader has a speed", at);
}

void add_kernel_keys(Table<Draft>& table) {
  using enum model::AttentionKernel;
  const std::vector<Named<model::AttentionKernel>> kinds{
      {"unfused", unfused}, {"fused", fused},    {"flash", flash},
      {"flash1", flash_1},  {"flash3", flash_3}, {"memory-efficient", memory_efficient}};
  using strategies::MoeDispatcher;
  const std::vector<Named<MoeDispatcher>> dispatchers{{"all-to-all", MoeDispatcher::all_to_all},
                                                      {"all-gather", MoeDispatcher::all_gather},
                                                      {"deepep", MoeDispatcher::deepep},
                                                      {"hybridep", MoeDispatcher::hybridep}};
  const std::vector<Named<model::ExpertProducts>> expert_products{
      {"one-by-one", model::ExpertProducts::one_by_one},
      {"grouped", model::ExpertProducts::grouped},
      {"fused", model::ExpertProducts::fused}};
  const Table<Draft> keys{
      choice<Draft>("attention", "flash", kinds,
                    "Score matrix in memory, cuDNN's fused kernel, FlashAttention-2, -1 or -3, or "
                    "xFormers' memory-efficient kernel",
                    kernels_key(&Kernels::attention)),
      yes_no<Draft>("fused_softmax", "true", "Scale, mask and softmax in one kernel",
                    kernels_key(&Kernels::fused_softmax)),
      yes_no<Draft>("fused_bias_activation", "true", "Bias and activation in one kernel",
                    kernels_key(&Kernels::fused_bias_activation)),
      yes_no<Draft>("fused_bias_dropout_add", "true", "Bias, dropout and residual in one kernel",
                    kernels_key(&Kernels::fused_bias_dropout_add)),
      yes_no<Draft>("fused_norm", "true", "Norms in one kernel", kernels_key(&Kernels::fused_norm)),
      yes_no<Draft>("fused_rotary", "true", "Rotary embedding in one kernel",
                    kernels_key(&Kernels::fused_rotary)),
      yes_no<Draft>("fused_cross_entropy", "false", "Cross entropy in one kernel",
                    kernels_key(&Kernels::fused_cross_entropy)),
      yes_no<Draft>("copies_attention_output", "false",
                    "FlashAttention's output is kept in its own layout beside the layers'",
                    kernels_key(&Kernels::copies_attention_output)),
      yes_no<Draft>("cross_entropy_in_place", "false",
                    "Steps of the cross entropy overwrite their logits",
                    kernels_key(&Kernels::cross_entropy_in_place)),
      yes_no<Draft>("fused_gradient_accumulation", "true",
                    "Weight gradients added to fp32 inside the product",
                    kernels_key(&Kernels::fused_gradient_accumulation)),
      choice<Draft>("expert_products", "grouped", expert_products,
                    "Products of the experts on a device: a launch for each, one for all, or one "
                    "that takes biases, activation and casts along (mxfp8 only)",
                    kernels_key(&Kernels::expert_products)),
      yes_no<Draft>("staged_gradient_accumulation", "false",
                    "Where they are not: summed up in 16 bit first, then cast, added and zeroed",
                    kernels_key(&Kernels::staged_gradient_accumulation)),
      yes_no<Draft>("compile", "false", "A compiler fuses element-wise chains",
                    kernels_key(&Software::compile)),
      {{"cuda_graphs", "Whole passes, or the named parts of a layer, are launched at once", "false",
        graphs_form()},
       read_graphs},
      choice<Draft>("moe_dispatcher", "all-to-all", dispatchers,
                    "How tokens reach their experts and come back",
                    kernels_key(&Software::moe_dispatcher)),
      {{"data_loader", "The input pipeline as a stage in front of the first pass",
        "none: data are always there in time", loader_form()},
       read_loader}};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_overlap_keys(Table<Draft>& table) {
  using enum strategies::TensorOverlap;
  const std::vector<Named<strategies::TensorOverlap>> manners{{"async", async},
                                                              {"pipelined", pipelined}};
  const Table<Draft> keys{
      yes_no<Draft>("overlap_data", "true", "Gradient reduction under the backward pass",
                    kernels_key(&Software::overlap_data)),
      yes_no<Draft>("overlap_tensor", "false", "Tensor-parallel communication under computation",
                    kernels_key(&Software::overlap_tensor)),
      choice<Draft>("tensor_overlap", "async", manners,
                    "Tensor-parallel communication under the weight gradient, or also part by part "
                    "under the products beside it",
                    kernels_key(&Software::tensor_overlap)),
      yes_no<Draft>("overlap_pipeline", "false",
                    "Pipeline transfers do not occupy the computing stream",
                    kernels_key(&Software::overlap_pipeline)),
      yes_no<Draft>("overlap_parameters", "false", "Parameter gathering under computation",
                    kernels_key(&Software::overlap_parameters)),
      yes_no<Draft>("overlap_expert", "false",
                    "Dispatch to experts and back under another microbatch's computation",
                    kernels_key(&Software::overlap_expert)),
      number<Draft>("interference", "0", {0, 1, "overlapped communication slows, it does not stop"},
                    "Share by which overlapped communication slows computation",
                    kernels_key(&Software::interference)),
      yes_no<Draft>("pipeline_sync", "true",
                    "After each pipeline transfer the host waits for the device",
                    kernels_key(&Software::pipeline_sync)),
      yes_no<Draft>("scatter_gather", "true",
                    "Pipeline transfers carry 1/t of the activation per tensor rank",
                    kernels_key(&Software::scatter_gather)),
      yes_no<Draft>("keep_sent_outputs", "false",
                    "What a stage sent to the next stays until its backward pass",
                    kernels_key(&Software::keep_sent_outputs)),
      yes_no<Draft>("keep_gathered_inputs", "false",
                    "With sequence parallelism: gathered inputs of products stay whole until the "
                    "backward pass, which gathers none again",
                    kernels_key(&Software::keep_gathered_inputs)),
      yes_no<Draft>("post_validation", "false",
                    "Zero-bubble schedules: the optimizer does not wait for the gradient norm of "
                    "other stages",
                    kernels_key(&Software::post_validation)),
      yes_no<Draft>("all_reduce_gradients", "false",
                    "With zero 1: every rank gets the sum of all gradients",
                    kernels_key(&Software::all_reduce_gradients)),
      yes_no<Draft>("states_by_tensor", "false",
                    "With zero 1: ranks own whole tensors, reduced to and broadcast from one owner "
                    "after the other",
                    kernels_key(&Software::states_by_tensor)),
      yes_no<Draft>("limit_all_gathers", "true",
                    "With zero 3: at most one unit is gathered ahead of the one in use",
                    kernels_key(&Software::limit_all_gathers)),
      yes_no<Draft>("root_unit", "false",
                    "With zero 3: embedding and head form a unit that stays gathered until the "
                    "backward pass, as FSDP's root does",
                    kernels_key(&Software::root_unit))};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_cost_keys(Table<Draft>& table) {
  constexpr Range per_parameter{0, 64, "bytes of one parameter"};
  const std::vector<Named<units::Precision>> gradients{{"fp32", units::Precision::fp32},
                                                       {"bf16", units::Precision::bf16},
                                                       {"fp16", units::Precision::fp16}};
  const Table<Draft> keys{
      duration<Draft>("launch_forward", "8 us", "Host time to launch a kernel, forward",
                      kernels_key(&Software::launch_forward)),
      duration<Draft>("launch_backward", "6 us", "Host time to launch a kernel, backward",
                      kernels_key(&Software::launch_backward)),
      duration<Draft>("step_overhead", "5 ms", "Host time of a step besides kernels",
                      kernels_key(&Software::step_overhead)),
      yes_no<Draft>("launch_blocking", "false",
                    "The host waits for each kernel before it launches the next",
                    kernels_key(&Software::launch_blocking)),
      whole<Draft>("vocab_multiple", "128", {1, 1 << 20, "rows per tensor-parallel rank"},
                   "The vocabulary is padded to this multiple of the tensor degree",
                   kernels_key(&Software::vocab_multiple)),
      choice<Draft>("gradient_precision", "fp32", gradients,
                    "Precision of gradient accumulation and reduction",
                    kernels_key(&Software::gradient_precision)),
      number<Draft>("weight_bytes", "2", per_parameter, "Weights, bytes per parameter",
                    kernels_key(&Software::weight_bytes)),
      number<Draft>("gradient_bytes", "4", per_parameter, "Gradients, bytes per parameter",
                    kernels_key(&Software::gradient_bytes)),
      number<Draft>("optimizer_bytes", "12", per_parameter,
                    "Optimizer states with the master copy, bytes per parameter",
                    kernels_key(&Software::optimizer_bytes)),
      number<Draft>("optimizer_traffic", "34", {0, 1000, "bytes per parameter"},
                    "Device memory traffic of an optimizer step, bytes per parameter",
                    kernels_key(&Software::optimizer_traffic)),
      bytes<Draft>("bucket", "160 MB", "Gradient bucket", kernels_key(&Software::bucket)),
      number<Draft>("reduction_bytes", "0", per_parameter,
                    "Flat copies of gradients while they are reduced, bytes per parameter",
                    kernels_key(&Software::reduction_bytes)),
      bytes<Draft>("reduction_buffer", "0", "Buffer through which gradients are reduced, at most",
                   kernels_key(&Software::reduction_buffer)),
      bytes<Draft>("framework_memory", "0", "Context and libraries outside the allocator",
                   kernels_key(&Software::framework_memory)),
      bytes<Draft>("communicator_memory", "0", "Buffers of one communicator",
                   kernels_key(&Software::communicator_memory)),
      bytes<Draft>("workspace", "0", "Matrix-product workspace inside the allocator",
                   kernels_key(&Software::workspace)),
      bytes<Draft>("expert_workspace", "0",
                   "The same of experts' grouped products, besides, in models that have experts",
                   kernels_key(&Software::expert_workspace)),
      number<Draft>("reserved_over_allocated", "1.05", {1, 4, "what is reserved holds the tensors"},
                    "The caching allocator's memory over that of the tensors",
                    kernels_key(&Software::reserved_over_allocated))};
  table.insert(table.end(), keys.begin(), keys.end());
}

Table<Draft> make_software_table() {
  Table<Draft> table;
  add_kernel_keys(table);
  add_overlap_keys(table);
  add_cost_keys(table);
  add_entry_keys(table);
  return table;
}

const Table<Draft>& software_table() {
  static const auto made = make_software_table();
  return made;
}

}  // namespace

std::vector<Field> software_fields() { return fields_of(software_table()); }

Software usual_software(const Cursor& at) {
  Value name;
  name.kind = Value::Kind::scalar;
  name.text = "megatron-core";
  return read_software(at.instead(name, at.value()));
}

Software read_software(const Cursor& at) {
  Draft draft;
  // A mapping without a base starts from what holds where `software` is left out.
  const bool bare = at.value().kind == Value::Kind::map && !name_place(at);
  if (bare) draft.software = usual_software(at);
  const auto name = read_named(Kind::software, software_table(), draft, at);
  if (!bare) draft.software.name = name.value_or("software");
  return draft.software;
}

}  // namespace scenarios
