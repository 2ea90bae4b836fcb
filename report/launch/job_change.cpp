// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_change.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "report/launch/argument_places.hpp"
#include "report/launch/changed_keys.hpp"
#include "report/launch/engine_file.hpp"
#include "report/launch/job_companions.hpp"
#include "report/launch/job_edit.hpp"
#include "report/launch/job_format.hpp"
#include "report/launch/job_nodes.hpp"
#include "report/launch/job_reading.hpp"
#include "report/launch/launch_fork.hpp"
#include "report/launch/listed_words.hpp"
#include "report/launch/other_values.hpp"
#include "report/launch/plan_differences.hpp"
#include "report/launch/script_edit.hpp"
#include "report/launch/text_diff.hpp"
#include "report/launch/titan_words.hpp"
#include "report/launch/told_keys.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "strategies/job.hpp"

namespace report {
namespace {

using scenarios::JobScenario;

std::string name_of(const scenarios::JudgedArgument& argument) {
  return argument.text.substr(0, argument.text.find(' '));
}

// Names of the arguments from which one of these keys follows, in the order of the file. Those that
// say the precision, too, are no part of a plan; those of gradients' precision, which the bytes of
// buckets follow from, too, count for it alone.
std::vector<std::string> names_behind(const JobScenario& job, const std::set<std::string>& keys) {
  std::vector<std::string> names;
  for (const auto& argument : job.account.arguments) {
    const bool matters = std::ranges::any_of(argument.keys, [&](const std::string& key) {
      return std::ranges::any_of(
          keys, [&](const auto& path) { return key == path || key.starts_with(path + "."); });
    });
    const auto name = name_of(argument);
    constexpr const char* of_gradients = "plan.gradient_precision";
    const auto says = [&](const char* key) {
      return std::ranges::find(argument.keys, key) != argument.keys.end();
    };
    const bool other = says("training.precision") ||
                       ((says(of_gradients) || name == "data_types.grad_accum_dtype") &&
                        !keys.contains(of_gradients));
    if (matters && !other && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

// Returns the edits after which the job has the target's values of those keys.
std::vector<JobEdit> edits_between(const JobScenario& job, const JobScenario& target,
                                   const std::set<std::string>& keys, const JobFormat& format,
                                   std::string_view target_text) {
  std::vector<JobEdit> edits;
  const auto wanted = names_behind(target, keys);
  for (const auto& name : wanted)
    if (auto value = format.value(target_text, name)) edits.push_back({name, std::move(*value)});
  for (const auto& given : names_behind(job, keys)) {
    const auto name = format.usual_name(given);
    if (std::ranges::find(wanted, name) == wanted.end())
      edits.push_back({name, format.value(target_text, name)});  // what else it says there holds
  }
  return edits;
}

// Whether one of the keys follows from the job's argument.
bool says_any_of(const JobScenario& job, const std::string& name,
                 const std::vector<std::string>& keys) {
  return std::ranges::any_of(job.account.arguments, [&](const auto& argument) {
    return name_of(argument) == name && std::ranges::any_of(argument.keys, [&](const auto& key) {
             return std::ranges::find(keys, key) != keys.end();
           });
  });
}

const Framework* framework_of(const scenarios::JobAccount& job) {
  const auto* found = std::ranges::find_if(
      framework_names, [&](const auto& each) { return job.framework == each.first; });
  return found == framework_names.end() ? nullptr : &found->second;
}

// Reads a text of ours; complaints of it, which is nobody's file, are told of the job's.
std::optional<JobScenario> read_written(const std::string& text, const JobFile& as,
                                        const scenarios::JobHints& hints, const std::string& job) {
  try {
    return scenarios::read_job(text, as.name, hints, as.files);
  } catch (const scenarios::Error& wrong) {
    throw scenarios::Error(
        {{scenarios::Complaints(job).text_of({}),
          "the plan cannot be written as a change of this job: " + wrong.complaints.front().text}});
  }
}

// Returns the file with a reader of those that it names that keeps their texts.
JobFile remembering(JobFile file, const std::shared_ptr<std::set<std::string>>& texts) {
  if (file.files)
    file.files = [files = std::move(file.files), texts](const std::string& path) {
      auto text = files(path);
      if (text) texts->insert(*text);
      return text;
    };
  return file;
}

// How the texts of one change are read.
struct Readings {
  scenarios::JobHints written;      // of launch files of ours
  scenarios::JobHints same_size;    // of the job on the plan's GPUs
  scenarios::JobHints any_degrees;  // the same, whose degrees need not make the GPUs yet
};

Readings readings_of(const scenarios::JobHints& hints, const std::string& framework,
                     const forecast::Scenario& scenario, Framework words) {
  auto ranks = scenario.cluster.gpus;
  if (words == Framework::deepspeed) ranks /= scenario.plan.pipeline;  // which no file of keys says
  Readings all{{framework, {"WORLD_SIZE=" + std::to_string(ranks)}}, hints, hints};
  all.written.over.changes = true;
  all.same_size.env.push_back(all.written.env.front());
  all.any_degrees = all.same_size;
  all.any_degrees.over.gpus = ranks;
  return all;
}

// Values that hold where an argument is left out, so that it need not be written.
bool is_needless(const JobEdit& edit, const std::optional<std::string>& there) {
  constexpr std::array<std::string_view, 11> degrees_of_one{
      "--tensor-model-parallel-size",
      "--pipeline-model-parallel-size",
      "--context-parallel-size",
      "--expert-model-parallel-size",
      "parallelism.expert_parallel_size",
      "parallelism.tensor_parallel_degree",
      "parallelism.pipeline_parallel_degree",
      "parallelism.context_parallel_degree",
      "parallelism.expert_parallel_degree",
      "parallelism.data_parallel_replicate_degree",
      "sequence_parallel_size"};
  if (!there)
    return edit.value == "1" &&
           std::ranges::find(degrees_of_one, edit.name) != degrees_of_one.end();
  constexpr std::string_view rest = "parallelism.data_parallel_shard_degree";  // of the ranks: -1
  return edit.name == rest && edit.value && *there == "-1";
}

// One change of a job, and how its text is read and written.
class Changing {
 public:
  Changing(std::string_view text, JobFile file, const scenarios::JobHints& hints,
           const JobScenario& job, const forecast::Scenario& asked)
      : file_(remembering(std::move(file), named_)),
        job_(job),
        asked_(asked),
        framework_(*framework_of(job.account)),
        readings_(readings_of(hints, job.account.framework, asked, framework_)),
        format_(format_of(framework_, places_that_count(file_, readings_.any_degrees))),
        titan_words_(job) {
    made_.text = text;
    made_.launch = launch(asked, framework_);
  }

  ChangedJob made(const scenarios::JobHints& hints) &&;

 private:
  void read_targets();
  void write_keys(KeysToWrite which);
  void complete(std::vector<JobEdit>& edits) const;
  void write(const std::vector<JobEdit>& asked);
  void refuse_left_words(const JobScenario& next) const;
  void write_companions();
  void write_engine_file(std::string_view was);
  std::vector<Lost> lost_before() const;
  void tell();
  SpelledArgument spelled_in(std::string_view text) const {
    return [text = std::string(text), value = format_.value](const std::string& name) {
      return value(text, name);
    };
  }

  // Texts of the files that the job names.
  std::shared_ptr<std::set<std::string>> named_ = std::make_shared<std::set<std::string>>();
  JobFile file_;
  const JobScenario& job_;
  const forecast::Scenario& asked_;
  Framework framework_;
  Readings readings_;
  JobFormat format_;
  TitanWords titan_words_;
  std::set<std::string> lacking_;  // keys that the release of the job's file does not have
  JobStates change_;
  std::vector<Lost> beside_;  // lost by the job's text beside what its framework does not express
  std::vector<Lost> in_engine_file_;  // by a file of DeepSpeed that stays as it is
  ChangedJob made_;
};

void Changing::read_targets() {
  const auto& written = made_.launch;
  const auto launched = [&](const std::string& text) {
    return *read_written(text, {written.name, {}}, readings_.written, file_.name);
  };
  change_.words = job_.account.fork ? in_words_of_fork(written.text, asked_, job_) : written.text;
  change_.plan = launched(written.text);
  change_.target = launched(change_.words);
  change_.now = read_if_right(made_.text, file_, readings_.any_degrees).value_or(job_);
}

// Adds the edits without which the framework would not start with the others.
void Changing::complete(std::vector<JobEdit>& edits) const {
  if (job_.account.fork) return complete_fork_edits(edits, asked_, change_.now);
  const auto given = spelled_in(made_.text), wanted = spelled_in(change_.words);
  const auto plan = with_plan_of(change_.target, asked_);
  auto more = framework_ == Framework::megatron && plan
                  ? fitting_edits(change_.now, plan->plan, given, wanted)
                  : std::vector<JobEdit>{};
  if (framework_ == Framework::deepspeed) more = deepspeed_batch_edits(asked_, given);
  for (auto& edit : more) {
    std::erase_if(edits, [&](const JobEdit& one) { return one.name == edit.name; });
    edits.push_back(std::move(edit));
  }
  std::erase_if(edits, [&](const JobEdit& edit) {
    return is_needless(edit, given(titan_words_.own_name(edit.name).value_or(edit.name)));
  });
}

// Complains where the change left words of an argument behind, with which nothing starts.
void Changing::refuse_left_words(const JobScenario& next) const {
  std::set<std::string> before;
  for (const auto& one : change_.now.account.arguments) before.insert(one.text);
  for (const auto& one : next.account.arguments)
    if (one.effect == scenarios::Effect::unknown && !before.contains(one.text))
      throw scenarios::Error(
          {{one.place, "the plan cannot be written as a change of this job: the word " + one.text +
                           " would be left of an argument; write the job's arguments on lines of "
                           "their own"}});
}

// Makes the edits, quoted in the first way of those whose texts read back as most of the plan.
void Changing::write(const std::vector<JobEdit>& asked) {
  const auto edits =
      framework_ == Framework::torchtitan ? titan_words_.own(asked, lacking_) : asked;
  if (edits.empty()) return;
  const auto text = std::move(made_.text);
  std::set<std::string> tried;
  std::optional<JobScenario> best;
  std::size_t differing = 0;
  for (const auto quotes : {InnerQuotes::none, InnerQuotes::kept, InnerQuotes::doubled}) {
    auto edited = format_.edited(text, edits, quotes);
    if (!tried.insert(edited).second) continue;
    auto read = read_if_right(edited, file_, readings_.any_degrees);
    if (best && !read) continue;
    const auto now = read ? differing_from_job(*read, change_.target, asked_).size() : 0;
    if (best && now >= differing) continue;
    made_.text = std::move(edited);
    best = std::move(read);
    differing = now;
  }
  if (!best) best = read_written(made_.text, file_, readings_.any_degrees, file_.name);
  refuse_left_words(*best);
  change_.now = std::move(*best);
}

void Changing::write_keys(KeysToWrite which) {
  const auto keys = keys_to_write(change_, asked_, made_.launch.not_expressed, which);
  std::vector<JobEdit> edits;
  if (!keys.empty())
    edits = edits_between(change_.now, change_.target, keys, format_, change_.words);
  complete(edits);
  if (!edits.empty()) write(edits);
}

// Makes the changes that no key of the plan asks for.
void Changing::write_companions() {
  const JobStep step{job_, change_.now, asked_};
  const auto edits =
      companion_edits(step, framework_, spelled_in(made_.text), spelled_in(change_.words));
  if (!edits.empty()) write(edits);
  using Kind = strategies::Recompute::Kind;
  if (framework_ == Framework::deepspeed && asked_.plan.recompute.kind != Kind::none)
    beside_.push_back(
        {"recompute",
         "plan.recompute: the training script switches recomputation, and no key of this file; "
         "add --gradient_checkpointing there"});
  if (framework_ != Framework::megatron) return;
  if (auto left = change_queues(made_.text, *named_, step); !left.empty())
    beside_.push_back({"", std::move(left)});
}

// Changes what the file of DeepSpeed repeats of the script.
void Changing::write_engine_file(std::string_view was) {
  const auto read = [&](const std::string& text) {
    return read_if_right(text, file_, readings_.any_degrees);
  };
  const auto steps = strategies::microbatches_of(asked_.plan, asked_.training);
  auto told = change_engine_file(
      made_.text, {was, job_, change_.now, read, places_that_count(file_, readings_.any_degrees)},
      steps);
  change_.now = read(made_.text).value_or(change_.now);
  in_engine_file_ = std::move(told);
}

// The parts of the job as it was that its framework does not express, as far as that plan fits.
std::vector<Lost> Changing::lost_before() const {
  const auto was = with_plan_of(job_, asked_);
  if (was) try {
      return launch(*was, framework_).not_expressed;
    } catch (const std::invalid_argument&) {
    }
  return {};
}

// Says what the text does not have of the plan.
void Changing::tell() {
  auto& lost = made_.launch.not_expressed;
  forget_untrue(lost, plan_keys(asked_), differing_from_asked(change_.now, asked_));
  const auto others = other_values(change_.now, asked_, unwritten_keys(lost));
  forget_unwritten(lost, others, lost_before());
  auto told = lost;
  told.insert(told.end(), beside_.begin(), beside_.end());
  auto left = keys_left(change_, asked_, told);
  made_.left = std::move(left.changeable);
  std::erase_if(made_.left, [&](const std::string& key) { return tell_of(in_engine_file_, key); });
  for (const auto& name : lacking_)
    if (says_any_of(change_.target, name, made_.left))
      made_.beside.push_back(name +
                             ": the release with the other keys of this file has no such key");
  for (auto& one : in_engine_file_) made_.beside.push_back(std::move(one.sentence));
  for (auto& one : beside_) made_.beside.push_back(std::move(one.sentence));
  for (const auto& key : left.unspeakable)
    made_.beside.push_back(key + ": nothing in the changed job says it");
  for (const auto& other : others)
    if (!tell_of(told, other.key)) made_.beside.push_back(other.sentence);
}

ChangedJob Changing::made(const scenarios::JobHints& hints) && {
  const auto text = made_.text;
  read_targets();
  write_keys(KeysToWrite::leading);
  write_keys(KeysToWrite::all);
  write_keys(KeysToWrite::all);  // the batch may follow from the degrees
  if (job_.account.fork)
    write_engine_file(text);
  else
    write_companions();
  // Degrees that no key of a plan names may contradict the GPUs.
  if (!read_if_right(made_.text, file_, readings_.same_size))
    write(edits_between(change_.now, change_.target, {"plan.zero"}, format_, change_.words));
  if (framework_ == Framework::megatron)
    if (auto left = change_nodes(made_.text, file_, hints, asked_.cluster.gpus); !left.empty())
      beside_.push_back({"", std::move(left)});
  if (auto left = left_in_container(text, made_.text); !left.empty())
    beside_.push_back({"", std::move(left)});
  tell();
  made_.diff = unified_diff(text, made_.text, file_.name.substr(file_.name.rfind('/') + 1));
  return std::move(made_);
}

}  // namespace

std::string why_unchangeable(const scenarios::JobAccount& job, std::string_view text) {
  const auto* framework = framework_of(job);
  if (framework == nullptr) return "its framework has no launch configurations";
  if (!format_of(*framework).holds_arguments(text))
    return "the arguments stand in a file that it names; give that file as the job, with --env "
           "WORLD_SIZE=N";
  return {};
}

std::optional<ChangedJob> changed_job(std::string_view text, const std::string& file,
                                      const scenarios::JobHints& hints,
                                      const forecast::Scenario& scenario,
                                      const scenarios::JobFiles& files) {
  auto changing = hints;
  changing.over.changes = true;
  const auto job = scenarios::read_job(text, file, changing, files);
  if (!job || !why_unchangeable(job->account, text).empty()) return {};
  return Changing(text, {file, files}, changing, *job, scenario).made(changing);
}

}  // namespace report
