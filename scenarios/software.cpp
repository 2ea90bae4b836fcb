// SPDX-License-Identifier: Apache-2.0
#include "plans/software.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "plans/words.hpp"
#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using model::Kernels;
using strategies::Software;

constexpr const char* unnamed_software = "software";  // the name of a mapping without base

template <class T>
auto of_kernels(T Kernels::*member) {
  return [member](auto& software) -> auto& { return software.kernels.*member; };
}

// --- cuda_graphs: true, false, or the parts of a layer that are captured

using Part = std::optional<strategies::GraphedPart>;  // nothing: whole passes

const std::vector<Named<Part>>& parts() {
  static const auto named = [] {
    std::vector<Named<Part>> all;
    for (const auto& [name, part] : words_of(strategies::GraphedPart{}))
      all.push_back({name, part});
    all.push_back({"full", {}});
    return all;
  }();
  return named;
}

Form graphs_form() {
  auto list = words_form(parts());
  list.range.least = 0;
  return {.type = Type::either, .forms = {{.type = Type::yes_no}, list}};
}

void read_graphs(Software& software, const Cursor& at) {
  if (!check(graphs_form(), at)) return;
  const auto named = values_named(parts(), at);
  software.cuda_graphs = to_yes_no(at.value()) || std::ranges::find(named, Part{}) != named.end();
  software.graphed_parts.clear();
  if (software.cuda_graphs) return;  // whole passes hold all parts
  for (const auto& part : named) software.graphed_parts.push_back(*part);
}

std::optional<Value> show_graphs(const Software& software) {
  if (software.graphed_parts.empty()) return shown_yes_no(software.cuda_graphs);
  return shown_words(software.graphed_parts);
}

// --- loss_chunks: a number of parts, or liger

constexpr const char* liger = "liger";

Form chunks_form() {
  return {.type = Type::either,
          .forms = {
              {.type = Type::whole,
               .range = {1, static_cast<double>(Kernels::most_loss_chunks), "parts of the tokens"}},
              {.type = Type::choice, .choices = {liger}}}};
}

Key<Software> chunks_key() {
  return {
      {"loss_chunks",
       "Parts of the tokens over which the LM head and its loss run in turn, so that the logits "
       "of one alone are in memory; liger: as many as the vocabulary is wider than the model",
       "1", chunks_form()},
      [](Software& software, const Cursor& at) {
        if (!check(chunks_form(), at)) return;
        software.kernels.loss_chunks =
            at.value().text == liger ? Kernels::by_width : to_whole(at.value());
      },
      [](const Software& software) -> std::optional<Value> {
        const auto chunks = software.kernels.loss_chunks;
        return chunks == Kernels::by_width ? shown_text(liger) : shown_whole(chunks);
      }};
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

void read_loader(Software& software, const Cursor& at) {
  software.data_loader.reset();
  if (!check(loader_form(), at) || at.value().kind == Value::Kind::scalar) return;
  read_map(loader_table(), software.data_loader.emplace(), at);
  require({"samples_per_second"}, "a loader has a speed", at);
}

std::optional<Value> show_loader(const Software& software) {
  if (!software.data_loader) return shown_text("none");
  return show_map(loader_table(), *software.data_loader);
}

// --- allocator: {expandable_segments, max_split_size_mb, …}

const Table<strategies::AllocatorSettings>& allocator_table() {
  using Settings = strategies::AllocatorSettings;
  static const Table<Settings> table{
      yes_no<Settings>("expandable_segments", "false",
                       "PyTorch: segments grow page by page instead of being taken as they are",
                       &Settings::expandable_segments),
      whole<Settings>("max_split_size_mb", "", {21, 1 << 20, "MiB, above PyTorch's 20"},
                      "PyTorch: blocks of so many MiB or more are not split",
                      &Settings::max_split_size_mb),
      whole<Settings>("roundup_power2_divisions", "0", {0, 64, "a power of two"},
                      "PyTorch: parts of a power of two that sizes are rounded up to; 0: to 512 "
                      "bytes",
                      &Settings::roundup_power2_divisions),
      number<Settings>("garbage_collection_threshold", "0", {0, 1, "a share of what is allowed"},
                       "PyTorch: the share of cluster.memory_fraction's memory above which unused "
                       "segments are given back; 0: never",
                       &Settings::garbage_collection_threshold),
      number<Settings>("preallocated", "", {0.01, 1, "a share of the device's memory"},
                       "JAX: the share of the device's memory that is taken before the first step "
                       "(XLA_PYTHON_CLIENT_MEM_FRACTION); left out, memory is taken when needed",
                       &Settings::preallocated)};
  return table;
}

void read_allocator(Software& software, const Cursor& at) {
  auto& settings = software.allocator;
  read_map(allocator_table(), settings, at);
  const auto divisions = static_cast<std::uint64_t>(settings.roundup_power2_divisions);
  if (divisions > 0 && !std::has_single_bit(divisions))
    at.complain("roundup_power2_divisions " + std::to_string(divisions) +
                " is no power of two; write 1, 2, 4, 8, 16, 32 or 64");
}

std::optional<Value> show_allocator(const Software& software) {
  return show_map(allocator_table(), software.allocator);
}

void add_kernel_keys(Table<Software>& table) {
  const Table<Software> keys{
      choice<Software>(
          "attention", "flash",
          "Score matrix in memory, cuDNN's fused kernel, FlashAttention-2, -1 or -3, or "
          "xFormers' memory-efficient kernel; or cuDNN's on NVIDIA's GPUs from Hopper or from "
          "Blackwell on and FlashAttention-2 on others",
          of_kernels(&Kernels::attention)),
      yes_no<Software>("fused_softmax", "true", "Scale, mask and softmax in one kernel",
                       of_kernels(&Kernels::fused_softmax)),
      yes_no<Software>("softmax_in_fp32", "false",
                       "Without that kernel: the softmax of 16-bit scores is computed in fp32, "
                       "which the backward pass reads, and cast back",
                       of_kernels(&Kernels::softmax_in_fp32)),
      yes_no<Software>("autocast", "false",
                       "Weights of fp32 under PyTorch's autocast: products alone are in 16 bit, "
                       "after casts; norms, softmax and what layers hand on are in fp32",
                       of_kernels(&Kernels::autocast)),
      yes_no<Software>("fused_bias_activation", "true", "Bias and activation in one kernel",
                       of_kernels(&Kernels::fused_bias_activation)),
      yes_no<Software>("gelu_in_steps", "false",
                       "GELU by tanh in PyTorch's operations, one after the other (gelu_new of "
                       "Transformers); with `compile` in one kernel",
                       of_kernels(&Kernels::gelu_in_steps)),
      yes_no<Software>("fused_bias_dropout_add", "true", "Bias, dropout and residual in one kernel",
                       of_kernels(&Kernels::fused_bias_dropout_add)),
      yes_no<Software>("fused_norm", "true", "Norms in one kernel",
                       of_kernels(&Kernels::fused_norm)),
      yes_no<Software>("fused_rotary", "true", "Rotary embedding in one kernel",
                       of_kernels(&Kernels::fused_rotary)),
      yes_no<Software>("joined_projections", "true",
                       "Queries, keys and values in one product, and both halves of a gated MLP",
                       of_kernels(&Kernels::joined_projections)),
      yes_no<Software>("repeats_kv", "false",
                       "Keys and values copied for every query head in front of attention",
                       of_kernels(&Kernels::repeats_kv))};
  table.insert(table.end(), keys.begin(), keys.end());
}

// Kernels of the loss, of gradients and of experts.
void add_further_kernel_keys(Table<Software>& table) {
  const Table<Software> keys{
      yes_no<Software>("fused_cross_entropy", "false", "Cross entropy in one kernel",
                       of_kernels(&Kernels::fused_cross_entropy)),
      chunks_key(),
      yes_no<Software>("compiled_cross_entropy", "false",
                       "A compiler joins the steps of the cross entropy: of the logits only the "
                       "16-bit ones and their gradients are in memory",
                       of_kernels(&Kernels::compiled_cross_entropy)),
      yes_no<Software>("copies_attention_output", "false",
                       "FlashAttention's output is kept in its own layout beside the layers'",
                       of_kernels(&Kernels::copies_attention_output)),
      yes_no<Software>("cross_entropy_in_place", "false",
                       "Steps of the cross entropy overwrite their logits",
                       of_kernels(&Kernels::cross_entropy_in_place)),
      yes_no<Software>("gradients_in_place", "false",
                       "A compiled step writes gradients over tensors that nothing reads later: of "
                       "logits with `compiled_cross_entropy`, of an activation's input over those "
                       "of its output",
                       of_kernels(&Kernels::gradients_in_place)),
      yes_no<Software>("fused_gradient_accumulation", "true",
                       "Weight gradients added to fp32 inside the product",
                       of_kernels(&Kernels::fused_gradient_accumulation)),
      choice<Software>(
          "expert_products", "grouped",
          "Products of the experts on a device: a launch for each, one for all, or one "
          "that takes biases, activation and casts along (mxfp8 only)",
          of_kernels(&Kernels::expert_products)),
      yes_no<Software>("einsum_dispatch", "false",
                       "Copies of tokens for experts are made, and their results summed up, by "
                       "products with one-hot matrices (DeepSpeed without Tutel, GShard)",
                       of_kernels(&Kernels::einsum_dispatch)),
      yes_no<Software>("staged_gradient_accumulation", "false",
                       "Where they are not: summed up in 16 bit first, then cast, added and zeroed",
                       of_kernels(&Kernels::staged_gradient_accumulation))};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_step_keys(Table<Software>& table) {
  const Table<Software> keys{
      yes_no<Software>("compile", "false", "A compiler fuses element-wise chains",
                       &Software::compile),
      {{"cuda_graphs", "Whole passes, or the named parts of a layer, are launched at once", "false",
        graphs_form()},
       read_graphs,
       show_graphs},
      choice<Software>("moe_dispatcher", "all-to-all",
                       "How tokens reach their experts and come back", &Software::moe_dispatcher),
      {{"data_loader", "The input pipeline as a stage in front of the first pass",
        "none: data are always there in time", loader_form()},
       read_loader,
       show_loader}};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_host_keys(Table<Software>& table) {
  const Table<Software> keys{
      duration<Software>("launch_forward", "8 us", "Host time to launch a kernel, forward",
                         &Software::launch_forward),
      duration<Software>("launch_backward", "6 us", "Host time to launch a kernel, backward",
                         &Software::launch_backward),
      duration<Software>("step_overhead", "5 ms", "Host time of a step besides kernels",
                         &Software::step_overhead),
      duration<Software>("step_overhead_per_tensor", "0 s",
                         "The same for each tensor of weights whose states a rank keeps",
                         &Software::step_overhead_per_tensor),
      yes_no<Software>("launch_blocking", "false",
                       "The host waits for each kernel before it launches the next",
                       &Software::launch_blocking),
      yes_no<Software>("pipeline_sync", "true",
                       "After each pipeline transfer the host waits for the device",
                       &Software::pipeline_sync)};
  table.insert(table.end(), keys.begin(), keys.end());
}

Key<Software> blockwise_key() {
  return yes_no<Software>("blockwise_context", "false",
                          "With context: attention takes one rank's keys after the other even "
                          "where all are gathered; their gradients go round in fp32 (PyTorch)",
                          &Software::blockwise_context);
}

void add_overlap_keys(Table<Software>& table) {
  const Table<Software> keys{
      yes_no<Software>("overlap_data", "true", "Gradient reduction under the backward pass",
                       &Software::overlap_data),
      yes_no<Software>("overlap_tensor", "false", "Tensor-parallel communication under computation",
                       &Software::overlap_tensor),
      choice<Software>(
          "tensor_overlap", "async",
          "Tensor-parallel communication under the weight gradient, or also part by part "
          "under the products beside it",
          &Software::tensor_overlap),
      yes_no<Software>("overlap_pipeline", "false",
                       "Pipeline transfers do not occupy the computing stream",
                       &Software::overlap_pipeline),
      yes_no<Software>(
          "overlaps_chunks_alone", "false",
          "With overlap_pipeline: gpipe and 1f1b with one virtual stage a rank wait for "
          "their transfers (Megatron-LM)",
          &Software::overlaps_chunks_alone),
      yes_no<Software>("overlap_parameters", "false", "Parameter gathering under computation",
                       &Software::overlap_parameters),
      yes_no<Software>("overlap_expert", "false",
                       "Dispatch to experts and back under another microbatch's computation",
                       &Software::overlap_expert),
      number<Software>(
          "interference",
          "the share of the GPU's sms that the collective holds; 0 where these are not known",
          {0, 1, "overlapped communication slows, it does not stop"},
          "Share by which communication slows computation beside it", &Software::interference),
      blockwise_key(),
      yes_no<Software>("scatter_gather", "true",
                       "Pipeline transfers carry 1/t of the activation per tensor rank",
                       &Software::scatter_gather),
      yes_no<Software>("keep_sent_outputs", "false",
                       "What a stage sent to the next stays until its backward pass",
                       &Software::keep_sent_outputs),
      yes_no<Software>(
          "keep_gathered_inputs", "false",
          "With sequence parallelism: gathered inputs of products stay whole until the "
          "backward pass, which gathers none again",
          &Software::keep_gathered_inputs),
      yes_no<Software>(
          "post_validation", "false",
          "Zero-bubble schedules: the optimizer does not wait for the gradient norm of "
          "other stages",
          &Software::post_validation)};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_sharding_keys(Table<Software>& table) {
  const Table<Software> keys{
      yes_no<Software>("all_reduce_gradients", "false",
                       "With zero 1: every rank gets the sum of all gradients",
                       &Software::all_reduce_gradients),
      yes_no<Software>(
          "states_by_tensor", "false",
          "With zero 1: ranks own whole tensors, reduced to and broadcast from one owner "
          "after the other",
          &Software::states_by_tensor),
      choice<Software>("gradient_sync_in_pipelines", "microbatch",
                       "When pipelines reduce gradients if `plan.gradient_sync` is left out",
                       &Software::gradient_sync_in_pipelines),
      yes_no<Software>("limit_all_gathers", "true",
                       "With zero 3: at most one unit is gathered ahead of the one in use",
                       &Software::limit_all_gathers),
      yes_no<Software>("root_unit", "false",
                       "With zero 3: embedding and head form a unit that stays gathered until the "
                       "backward pass, as FSDP's root does",
                       &Software::root_unit),
      yes_no<Software>("tensor_units", "false",
                       "With zero 3: each tensor is gathered and its gradient reduced on its own, "
                       "as XLA does. No unit is gathered ahead of the one in use, and whole "
                       "gradients take the place of their parameters",
                       &Software::tensor_units),
      yes_no<Software>("copies_parameters", "false",
                       "With zero 3: the tensors of a unit are copied out of the buffer into which "
                       "they were gathered, before the unit runs (FSDP 2)",
                       &Software::copies_parameters),
      yes_no<Software>("copies_gradients", "false",
                       "With zero 3: the gradients of a unit are copied into the buffer that is "
                       "reduced, in the precision of the reduction (FSDP 1 and 2)",
                       &Software::copies_gradients)};
  table.insert(table.end(), keys.begin(), keys.end());
}

constexpr Range per_parameter{0, 64, "bytes of one parameter"};

void add_state_keys(Table<Software>& table) {
  using enum units::Precision;
  const Table<Software> keys{
      whole<Software>("vocab_multiple", "128", {1, 1 << 20, "rows per tensor-parallel rank"},
                      "The vocabulary is padded to this multiple of the tensor degree",
                      &Software::vocab_multiple),
      choice<Software>("gradient_precision", "fp32", words_for({fp32, bf16, fp16}),
                       "Precision of gradient accumulation and reduction",
                       &Software::gradient_precision),
      amount<Software>("weight_bytes", "2", per_parameter, "Weights, bytes per parameter",
                       &Software::weight_bytes),
      amount<Software>("gradient_bytes", "4", per_parameter, "Gradients, bytes per parameter",
                       &Software::gradient_bytes),
      amount<Software>("optimizer_bytes", "12", per_parameter,
                       "Optimizer states with the master copy, bytes per parameter",
                       &Software::optimizer_bytes),
      yes_no<Software>("keep_gradients", "true",
                       "Gradients stay in memory from step to step; otherwise the backward pass of "
                       "the first microbatch makes them, and they go with the step",
                       &Software::keep_gradients)};
  table.insert(table.end(), keys.begin(), keys.end());
}

void add_memory_keys(Table<Software>& table) {
  const Table<Software> keys{
      yes_no<Software>("moments_at_start", "false",
                       "The optimizer's moments are allocated before the first step; otherwise the "
                       "update of the first step makes them, in memory that its passes have cached",
                       &Software::moments_at_start),
      amount<Software>("stepping_bytes", "0", per_parameter,
                       "Copies of gradients while the optimizer runs, bytes per parameter that it "
                       "updates",
                       &Software::stepping_bytes),
      yes_no<Software>(
          "narrow_weights", "false",
          "In fp8 and mxfp8 no 16-bit weights are kept beside the copies that products "
          "read (--fp8-param-gather)",
          &Software::narrow_weights),
      amount<Software>("optimizer_traffic", "34", {0, 1000, "bytes per parameter"},
                       "Device memory traffic of an optimizer step, bytes per parameter",
                       &Software::optimizer_traffic),
      bytes<Software>("bucket", "160 MB", "Gradient bucket", &Software::bucket),
      amount<Software>("reduction_bytes", "0", per_parameter,
                       "Flat copies of gradients while they are reduced, bytes per parameter",
                       &Software::reduction_bytes),
      bytes<Software>("reduction_buffer", "0",
                      "Buffer through which gradients are reduced, at most",
                      &Software::reduction_buffer),
      bytes<Software>("framework_memory", "0", "Context and libraries outside the allocator",
                      &Software::framework_memory),
      bytes<Software>("communicator_memory", "0", "Buffers of one communicator",
                      &Software::communicator_memory),
      bytes<Software>("workspace", "0", "Matrix-product workspace inside the allocator",
                      &Software::workspace),
      bytes<Software>("expert_workspace", "0",
                      "The same of experts' grouped products, besides, in models that have experts",
                      &Software::expert_workspace),
      number<Software>("reserved_over_allocated", "1.05",
                       {1, 4, "what is reserved holds the tensors"},
                       "The caching allocator's memory over that of the tensors",
                       &Software::reserved_over_allocated),
      {{"allocator", "How the allocator of device memory is set up",
        "PyTorch's caching allocator as it is without PYTORCH_CUDA_ALLOC_CONF",
        map_of(fields_of(allocator_table()))},
       read_allocator,
       show_allocator}};
  table.insert(table.end(), keys.begin(), keys.end());
}

Table<Software> make_software_table() {
  Table<Software> table;
  add_kernel_keys(table);
  add_further_kernel_keys(table);
  add_step_keys(table);
  add_host_keys(table);
  add_overlap_keys(table);
  add_sharding_keys(table);
  add_state_keys(table);
  add_memory_keys(table);
  add_entry_keys(table);
  return table;
}

const Table<Software>& software_table() {
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
  Software software;
  // A mapping without a base starts from the profile that is used if `software` is left out.
  const bool bare = at.value().kind == Value::Kind::map && !name_place(at);
  if (bare) software = usual_software(at);
  const auto name = read_named(Kind::software, software_table(), software, at);
  if (!bare) software.name = name.value_or(unnamed_software);
  return software;
}

Value shown(const Software& software) {
  return over_base(software.name, unnamed_software, show_map(software_table(), software));
}

}  // namespace scenarios
