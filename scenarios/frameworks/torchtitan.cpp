// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/torchtitan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "scenarios/documents/nearest.hpp"
#include "scenarios/frameworks/titan_parts.hpp"
#include "scenarios/frameworks/titan_precision.hpp"
#include "scenarios/frameworks/titan_ranks.hpp"
#include "scenarios/frameworks/titan_start.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/jobs/table_files.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

using TitanNames = Draft::Names;

struct TitanJob {
  const Given& given;
  Draft& draft;
  std::optional<std::int64_t> gpus;
  bool by_registry = false;  // the command names a function that says what it does not
  TitanModel model{};
  TitanDegrees degrees{};

  bool yes(std::string_view name) const { return given.yes(name); }
};

// Returns the models by "name flavor".
const Value& titan_models() {
  static const Value models = [] {
    for (const auto& file : job_table_files())
      if (file.table == "torchtitan_models") return parse_yaml(file.text, "torchtitan_models.yaml");
    return Value{};
  }();
  return models;
}

// Returns the model of "--module llama3 --config llama3_8b", which the registry calls "llama3 8B".
const Value* model_of_config(const std::string& module, const std::string& config) {
  const auto plain = [](std::string_view text) {
    auto small = units::lower_case(text);
    std::erase_if(small, [](char c) { return c == ' ' || c == '_' || c == '-' || c == '.'; });
    return small;
  };
  const auto family = module.substr(module.rfind('.') + 1);
  for (const auto& member : titan_models().members)
    if (plain(member.key.text) == plain(config) || plain(member.key.text) == plain(family + config))
      return &member.value;
  return nullptr;
}

void read_model(TitanJob& job) {
  const auto& given = job.given;
  const auto module = given.word_or("module", ""), config = given.word_or("config", "");
  const auto family = given.word_or("model.name", config.empty() ? "llama3" : module),
             flavor = given.word_or("model.flavor", config.empty() ? "debugmodel" : config);
  const auto* model = config.empty() || given.has("model.flavor")
                          ? titan_models().find(family + " " + flavor)
                          : model_of_config(module, config);
  if (model == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& member : titan_models().members) names.push_back(member.key.text);
    job.draft.want("model",
                   "of torchtitan's models " + family + " " + flavor + " is not known" +
                       suggestion(family + " " + flavor, names) +
                       "; add --set model=NAME of the catalog, or --set model.huggingface=FILE",
                   {"model.flavor", "model.name", "config", "module"});
    return;
  }
  const auto set = [&](const std::string& key, const Value& value) {
    job.draft.set("model." + key, value,
                  given.has("config") ? TitanNames{"config", "module"}
                                      : TitanNames{"model.flavor", "model.name"});
  };
  set("name", job_text(config.empty() ? family + " " + flavor : family));
  for (const auto& member : model->members) set(member.key.text, member.value);
  if (const auto* layers = model->find("layers"))
    job.model.layers = job.draft.holding("model.layers", std::stoll(layers->text));
  if (job.model.layers == 0) return;  // another model replaces it
  const auto* moe = model->find("moe");
  const auto above = [&](const char* key, long long least) {
    const auto* found = moe == nullptr ? nullptr : moe->find(key);
    return found != nullptr && std::stoll(found->text) > least;
  };
  job.model.experts = moe != nullptr;
  job.model.dense_layers = moe == nullptr || above("first_dense_layers", 0) || above("every", 1);
  job.model.shared_experts = above("shared_experts", 0);
}

// --- GPUs and batch

// Where all degrees are given, GPUs are their product, which torchtitan insists on.
void count_gpus(TitanJob& job, const TitanRanks& ranks) {
  if (job.gpus || !ranks.shards) return;
  job.gpus = job.draft.whole(
      "cluster.gpus",
      product_of({ranks.replicas, *ranks.shards, job.degrees.tensor, job.degrees.pipeline,
                  job.degrees.context}),
      {"parallelism.data_parallel_shard_degree", "parallelism.data_parallel_replicate_degree",
       "parallelism.tensor_parallel_degree", "parallelism.pipeline_parallel_degree",
       "parallelism.context_parallel_degree"},
      "the product of all degrees");
}

// Asks for what the configuration says that the command names, a function of torchtitan's.
void want_of_registry(TitanJob& job, const std::string& key) {
  job.draft.want(key,
                 "it stands in the function " + job.given.word_or("config", "") +
                     " of torchtitan's registry, which is not read; add --set " + key + "=N",
                 {"config", "module"});
}

// A pipeline takes the local batch through its stages and drains; what the global batch has beyond
// that is taken through them again.
void judge_drains(TitanJob& job, const TitanRanks& ranks, std::int64_t local, std::int64_t global,
                  const char* local_name) {
  const auto* global_name = "training.global_batch_size";
  const auto* name = job.given.has(local_name) ? local_name : global_name;
  if (!ranks.shards) {
    job.draft.partly(name,
                     "how often the pipeline drains in a step follows from the number of GPUs, "
                     "which is not known; the forecast drains it once");
    return;
  }
  const auto once = product_of({local, ranks.replicas, *ranks.shards});
  const auto& over = job.draft.over().values;
  const bool mended = job.draft.over_ranks() || over.contains("training.global_batch");
  if (once > 0 && global % once == 0) {
    if (global == once) return;
    job.draft.partly(name, "the pipeline takes " + std::to_string(local) +
                               " sequences of a replica at once and drains " +
                               std::to_string(global / once) +
                               " times a step; the forecast, which drains once, is too fast");
  } else if (!mended) {
    job.given.complain(global_name, "it is no multiple of the " + std::to_string(once) +
                                        " sequences that all data-parallel ranks take at once "
                                        "(local batch x ranks)");
  } else {
    job.draft.partly(name, "local batches of " + std::to_string(local) +
                               " do not make the global batch of the scenario over the job, which "
                               "is forecast as one batch of each replica");
  }
}

void read_global_batch(TitanJob& job, const TitanRanks& ranks, std::int64_t local,
                       const char* local_name) {
  auto& draft = job.draft;
  const auto* global_name = "training.global_batch_size";
  const bool pipeline = job.degrees.pipeline > 1;
  if (const auto word = job.given.word_or(global_name, "-1"); word != "-1") {
    const auto size = job.given.whole_or(global_name, 1);
    const auto global = pipeline
                            ? draft.whole("training.global_batch", size, {global_name, local_name})
                            : draft.whole("training.global_batch", size, {global_name});
    if (pipeline) judge_drains(job, ranks, local, global, local_name);
  } else if (ranks.shards) {
    const auto global =
        draft.whole("training.global_batch",
                    sequences_of(job.given, local_name, {local, ranks.replicas, *ranks.shards}),
                    {local_name, "parallelism.data_parallel_replicate_degree",
                     "parallelism.data_parallel_shard_degree"},
                    "local batch x data-parallel ranks");
    if (pipeline) judge_drains(job, ranks, local, global, local_name);
  } else {
    draft.want("training.global_batch",
               "it is the local batch of " + std::to_string(local) +
                   " x data-parallel ranks, and the number of GPUs is not known; add --env "
                   "WORLD_SIZE=N, or --set training.global_batch=N",
               {local_name});
  }
}

void read_batch(TitanJob& job, const TitanRanks& ranks) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto* local_name =
      given.has("training.batch_size") ? "training.batch_size" : "training.local_batch_size";
  const auto local = given.whole_or(local_name, 8);
  if (job.by_registry && !given.has("training.seq_len"))
    want_of_registry(job, "training.sequence_length");
  else
    draft.whole("training.sequence_length", given.whole_or("training.seq_len", 2048),
                {"training.seq_len"});
  if (job.by_registry && !given.has(local_name)) {
    want_of_registry(job, "plan.micro_batch");
    if (given.word_or("training.global_batch_size", "-1") == "-1")
      want_of_registry(job, "training.global_batch");
    else
      draft.whole("training.global_batch", given.whole_or("training.global_batch_size", 1),
                  {"training.global_batch_size"});
    return;
  }
  const auto* parts = "parallelism.pipeline_parallel_microbatches";  // of versions before 0.2
  const auto microbatches = given.whole_or(parts, 0);
  if (job.degrees.pipeline > 1 && microbatches > 0)
    draft.whole("plan.micro_batch", std::max<std::int64_t>(1, local / microbatches),
                {parts, local_name}, "local batch over microbatches");
  else if (job.degrees.pipeline > 1)
    draft.whole("plan.micro_batch",
                given.whole_or("parallelism.pipeline_parallel_microbatch_size", 1),
                {"parallelism.pipeline_parallel_microbatch_size"});
  else
    draft.whole("plan.micro_batch", local, {local_name});
  read_global_batch(job, ranks, local, local_name);
}

void read_degrees(TitanJob& job) {
  auto& draft = job.draft;
  auto& degrees = job.degrees;
  const auto read = [&](std::int64_t& degree, const char* key, const char* name) {
    degree = draft.whole(key, job.given.degree(name), {name});
  };
  read(degrees.tensor, "plan.tensor", "parallelism.tensor_parallel_degree");
  if (degrees.tensor > 1)
    draft.yes_no("plan.sequence_parallel", true, {"parallelism.tensor_parallel_degree"},
                 "always, with tensor parallelism");
  read(degrees.pipeline, "plan.pipeline", "parallelism.pipeline_parallel_degree");
  read(degrees.context, "plan.context", "parallelism.context_parallel_degree");
  if (job.degrees.context > 1)
    draft.text(
        "plan.context_method",
        job.given.word_or("parallelism.context_parallel_rotate_method", "allgather") == "alltoall"
            ? "ring"
            : "all-gather",
        {"parallelism.context_parallel_rotate_method"});
  const auto expert = degrees.expert = job.given.degree("parallelism.expert_parallel_degree");
  draft.whole("plan.expert", expert, {"parallelism.expert_parallel_degree"});
  if (expert > 1) {
    draft.whole("plan.expert_tensor", job.given.degree("parallelism.expert_tensor_parallel_degree"),
                {"parallelism.expert_tensor_parallel_degree"});
    if (job.given.word_or("parallelism.expert_parallel_comm_backend", "standard") == "deepep")
      draft.text("software.moe_dispatcher", "deepep", {"parallelism.expert_parallel_comm_backend"});
  }
}

// --- stages

struct TitanSchedule {
  std::string_view word, schedule;
  std::int64_t chunks;  // of a rank, where nothing says it
};

constexpr std::array<TitanSchedule, 5> titan_schedules{{{"1f1b", "1f1b", 1},
                                                        {"gpipe", "gpipe", 1},
                                                        {"interleaved1f1b", "interleaved", 2},
                                                        {"zbvzerobubble", "zb-v", 2},
                                                        {"dualpipev", "dualpipe-v", 2}}};

// Sets the stages that are given by the names of their modules, or of their first layers.
void read_parts(TitanJob& job, const TitanSchedule& schedule, const char* name) {
  const auto chunks = schedule.word == "interleaved1f1b" ? 0 : schedule.chunks;
  const bool whole = job.given.has(titan_parts_name);
  const auto layers = whole
                          ? titan_parts(job.given, job.model.layers, job.degrees.pipeline, chunks)
                          : titan_points(job.given, job.model.layers, job.degrees.pipeline, chunks);
  if (layers.empty()) return;
  const auto* from = whole ? titan_parts_name : titan_points_name;
  const auto of_rank = static_cast<std::int64_t>(layers.size()) / job.degrees.pipeline;
  job.draft.text("plan.schedule", std::string(schedule.schedule), {name});
  if (of_rank > 1) job.draft.whole("plan.virtual_stages", of_rank, {from});
  job.draft.set("plan.layers_per_stage", job_list(layers), {from});
}

// Returns the number of chunks of a rank that lies over the job's `chunks`: given itself, or of
// another schedule than the job's, for which the job's is no number.
std::int64_t chunks_over(const TitanJob& job, const TitanSchedule& own, std::int64_t chunks) {
  const auto& over = job.draft.over().values;
  const auto schedule = over.find("plan.schedule");
  if (schedule != over.end() && schedule->second != own.schedule) {
    const auto* known =
        std::ranges::find(titan_schedules, schedule->second, &TitanSchedule::schedule);
    chunks = known == titan_schedules.end() ? 1 : known->chunks;
  }
  return job.draft.holding("plan.virtual_stages", chunks);
}

void read_stages(TitanJob& job) {
  if (job.degrees.pipeline == 1) return;
  const auto& given = job.given;
  job.draft.yes_no("plan.overlap.pipeline", false, {}, "PyTorch's schedules wait for transfers");
  const auto* name = "parallelism.pipeline_parallel_schedule";
  const auto word = units::lower_case(given.word_or(name, "1F1B"));
  const auto* known = std::ranges::find(titan_schedules, word, &TitanSchedule::word);
  if (known == titan_schedules.end()) {
    given.refuse(name,
                 "this schedule is not modelled; expected 1F1B, GPipe, Interleaved1F1B, "
                 "ZBVZeroBubble or DualPipeV");
    return;
  }
  if (given.has(titan_parts_name) || !given.words(titan_points_name).empty())
    return read_parts(job, *known, name);
  const auto first = given.whole_or("parallelism.pipeline_parallel_first_stage_less_layers", 1),
             last = given.whole_or("parallelism.pipeline_parallel_last_stage_less_layers", 1);
  const auto slots = job.model.layers + first + last;
  auto chunks = known->chunks;
  const auto* each = "parallelism.pipeline_parallel_layers_per_stage";
  if (const auto layers = given.whole(each); layers && *layers > 0 && job.model.layers > 0) {
    const auto stages = (slots + *layers - 1) / *layers;
    if (stages % job.degrees.pipeline != 0) {
      given.complain(each, std::to_string(*layers) + " layers make " + std::to_string(stages) +
                               " stages, with embedding and head as layers, which do not divide "
                               "among " +
                               std::to_string(job.degrees.pipeline) + " pipeline ranks");
      return;
    }
    chunks = stages / job.degrees.pipeline;
  }
  job.draft.text("plan.schedule", std::string(known->schedule), {name});
  chunks = chunks_over(job, *known, chunks);
  if (chunks > 1) job.draft.whole("plan.virtual_stages", chunks, {each, name});
  const auto stages = job.degrees.pipeline * chunks;
  if (job.model.layers == 0) return;
  std::vector<std::int64_t> layers;
  for (std::int64_t stage = 0; stage < stages; ++stage)
    layers.push_back(slots / stages + (stage < slots % stages ? 1 : 0) - (stage == 0 ? first : 0) -
                     (stage == stages - 1 ? last : 0));
  if (std::ranges::any_of(layers, [](std::int64_t count) { return count < 0; })) {
    given.complain(each, "stages have fewer layers than the embedding or the head counts for");
    return;
  }
  job.draft.set("plan.layers_per_stage", job_list(layers),
                {each, "parallelism.pipeline_parallel_first_stage_less_layers",
                 "parallelism.pipeline_parallel_last_stage_less_layers"},
                "embedding and head count as layers");
}

// --- sharding, recomputation, precision, compiler

void read_precision(TitanJob& job, const TitanRanks& ranks) {
  const auto cast = titan_cast(spread_of(ranks, job.degrees));
  if (cast == TitanCast::refused) refuse_replicas(job.given, job.draft.over());
  read_titan_precision(job.given, job.draft, job.model, cast);
  constexpr const char* name = "training.dtype";
  if (job.given.word_or(name, "float32") != "float32")
    job.draft.partly(name, "weights and states in 16 bit; the forecast has fp32");
}

void read_sharding(TitanJob& job, const TitanRanks& ranks) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const bool sharded = fsdp_divides(spread_of(ranks, job.degrees));
  draft.whole(
      "plan.zero", sharded ? 3 : 0,
      {"parallelism.data_parallel_shard_degree", "parallelism.data_parallel_replicate_degree"});
  if (ranks.replicas > 1 && sharded) {
    std::optional<std::int64_t> sharers;
    if (ranks.shards) sharers = ranks.replicas * *ranks.shards * job.degrees.context;
    set_shard_group(
        draft, given, sharers, ranks.replicas,
        {"parallelism.data_parallel_replicate_degree", "parallelism.data_parallel_shard_degree"});
  }
  if (sharded) {
    const auto word = given.word_or("parallelism.fsdp_reshard_after_forward", "default");
    if (word != "default" && word != "always" && word != "never")
      given.complain("parallelism.fsdp_reshard_after_forward", "expected default, always or never");
    draft.yes_no("plan.reshard_after_forward",
                 word == "always" || (word == "default" && job.degrees.pipeline == 1),
                 {"parallelism.fsdp_reshard_after_forward"},
                 word == "default" ? "unless there is a pipeline" : "");
  }
  if (job.yes("training.enable_cpu_offload"))
    for (const auto* key :
         {"plan.offload.optimizer", "plan.offload.gradients", "plan.offload.parameters"})
      draft.text(key, "cpu", {"training.enable_cpu_offload"});
}

void read_recompute(TitanJob& job) {
  const auto& given = job.given;
  const auto mode = given.word_or("activation_checkpoint.mode", "selective"),
             option = given.word_or("activation_checkpoint.selective_ac_option", "2");
  const TitanNames from{"activation_checkpoint.mode", "activation_checkpoint.selective_ac_option"};
  if (mode == "none" || mode == "full") {
    job.draft.text("plan.recompute", mode, {"activation_checkpoint.mode"});
    return;
  }
  if (mode == "selective" && option == "op") {
    job.draft.text("plan.recompute", "per-op", from);
    return;
  }
  const auto every = given.has("activation_checkpoint.selective_ac_option")
                         ? given.whole("activation_checkpoint.selective_ac_option")
                         : std::optional<std::int64_t>(2);
  if (mode == "memory_budget") {
    given.refuse("activation_checkpoint.mode",
                 "the compiler chooses what is kept, which is not modelled; expected none, full or "
                 "selective");
    return;
  }
  if (mode != "selective" || !every || *every == 0) {
    given.complain("activation_checkpoint.mode", "expected none, full or selective");
    return;
  }
  Value layers;
  layers.kind = Value::Kind::list;
  for (auto layer = *every - 1; layer < job.model.layers; layer += *every) {
    Value one;
    one.kind = Value::Kind::map;
    one.members.push_back({job_text("from"), job_whole(layer)});
    one.members.push_back({job_text("to"), job_whole(layer)});
    one.members.push_back({job_text("recompute"), job_text("full")});
    layers.items.push_back(std::move(one));
  }
  job.draft.set("plan.layers", std::move(layers), from,
                "every layer of " + std::to_string(*every) + " is recomputed whole");
}

void read_optimizer(TitanJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  auto optimizer = given.word_or("optimizer.name", "AdamW");
  if (optimizer == "AdamW" || optimizer == "Adam")
    draft.text("training.optimizer", optimizer == "Adam" ? "adam" : "adamw", {"optimizer.name"});
  else
    given.refuse("optimizer.name", "expected AdamW or Adam");
}

void read_loss(TitanJob& job) {
  constexpr const char* name = "loss.num_chunks";
  if (job.given.table().find(name) != nullptr && job.given.has(name))
    job.draft.whole("software.loss_chunks", job.given.whole_or(name, 1), {name});
}

void read_compiler(TitanJob& job) {
  const auto parts = job.given.words("compile.components");
  const auto compiled = [&](const std::string& part) {
    const bool named =
        !job.given.has("compile.components") || std::ranges::find(parts, part) != parts.end();
    return job.yes("training.compile") || (job.yes("compile.enable") && named);
  };
  const bool compiles = compiled("model");
  job.draft.yes_no("software.compile", compiles,
                   {"compile.enable", "training.compile", "compile.components"});
  job.draft.yes_no("software.compiled_cross_entropy", compiled("loss"),
                   {"compile.enable", "training.compile", "compile.components"});
  constexpr const char* overlaps = "parallelism.enable_async_tensor_parallel";
  if (job.degrees.tensor == 1) return;
  const bool asked = job.yes(overlaps);
  const auto& over = job.draft.over().values;
  if (asked && !compiles && !job.by_registry && !over.contains("software.compile") &&
      !over.contains("plan.overlap.tensor"))  // maybe_enable_async_tp, from memory
    job.given.complain(overlaps,
                       "the compiler overlaps it, and torchtitan does not start without; write "
                       "compile.enable = true (of the components model), or leave this out");
  job.draft.yes_no("plan.overlap.tensor", compiles && asked, {overlaps});
}

}  // namespace

bool is_torchtitan(const Value& document) {
  const auto has = [&](std::string_view section, std::string_view key) {
    const auto* found = document.find(section);
    return found != nullptr && found->find(key) != nullptr;
  };
  return has("model", "flavor") || (document.find("activation_checkpoint") != nullptr &&
                                    document.find("training") != nullptr);
}

JobScenario torchtitan_scenario(const FrameworkJob& job, const std::string& file,
                                std::optional<std::int64_t> gpus, Complaints& complaints,
                                std::string_view table) {
  const Given given(arguments_of(table), job.arguments, complaints);
  complaints.throw_if_any();  // what is missing beside matters to nobody then
  Draft draft(given, job.over);
  TitanJob reading{given, draft, gpus};
  draft.text("software.base", "torchtitan", {}, "the framework");
  reading.by_registry = given.has("config");
  if (reading.by_registry)
    draft.partly("config",
                 "of this function only the model is known; what the command does not say is "
                 "forecast as the defaults of torchtitan's classes");
  read_model(reading);
  read_degrees(reading);
  const auto ranks = titan_ranks(given, draft, reading.degrees, gpus);
  count_gpus(reading, ranks);
  read_batch(reading, ranks);
  read_precision(reading, ranks);
  read_optimizer(reading);
  read_stages(reading);
  read_sharding(reading, ranks);
  read_recompute(reading);
  read_loss(reading);
  read_compiler(reading);
  if (given.table().find("modules.*") != nullptr && given.has("modules.*"))
    draft.text("name", job.program, {"modules.*"});
  return std::move(draft).finished(job.arguments, file);
}

}  // namespace scenarios
