// SPDX-License-Identifier: Apache-2.0
// A scenario that is being made of a job's arguments.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/jobs/given.hpp"

namespace scenarios {

Value job_text(std::string text);  // a scalar
Value job_whole(std::int64_t number);
Value job_yes_no(bool yes);
Value job_list(const std::vector<std::int64_t>& numbers);
Value job_words(const std::vector<std::string>& words);

// Returns the value at "section.key" of a document, and makes maps as needed.
Value& value_at(Value& document, std::string_view path, const Place& at);

class Draft {
 public:
  using Names = std::initializer_list<std::string_view>;

  // A draft that begins empty; `over` lies over the job. Both must outlive it.
  Draft(const Given& given, const OverJob& over) : given_(given), over_(over) {}

  // Sets the key at "section.key", which follows from these arguments, given or at their defaults;
  // `note` says how.
  void set(std::string_view path, Value value, Names from, const std::string& note = {});
  // Returns the number that holds, by which further defaults go.
  std::int64_t whole(std::string_view path, std::int64_t number, Names from,
                     const std::string& note = {}) {
    set(path, job_whole(number), from, note);
    return holding(path, number);
  }
  void yes_no(std::string_view path, bool yes, Names from, const std::string& note = {}) {
    set(path, job_yes_no(yes), from, note);
  }
  void text(std::string_view path, std::string word, Names from, const std::string& note = {}) {
    set(path, job_text(std::move(word)), from, note);
  }

  // Lays known values below the key at "section.key": each holds where the draft's follows from no
  // argument of the job itself, but from defaults alone. Keys inside of a map of `below` that are
  // defaults go.
  void lay_below(const std::string& path, const Value& below, Names from,
                 const std::string& note = {});
  // Says by these arguments that the key at "section.key" is not there, whatever lies below.
  void leave_out(const std::string& path, Names from);

  // Returns the number at "section.key" that lies over the job's `number`, else `number`; 0 for a
  // key of the model where another model replaces the job's.
  std::int64_t holding(std::string_view path, std::int64_t number) const;
  const OverJob& over() const { return over_; }
  // Whether the key at "section.key" is set.
  bool sets(std::string_view path) const { return made_.comments.contains(std::string(path)); }
  // Whether degrees or the number of GPUs lie over the job, which may not fit its other degrees.
  bool over_ranks() const;

  // Says which effect of the argument the forecast leaves out, although keys follow from the
  // argument.
  void partly(std::string_view name, std::string why) {
    partly_[std::string(name)] = std::move(why);
  }

  // Marks arguments that begin with `prefix` as without effect on this job, unless keys follow from
  // them.
  void unused(std::string prefix, std::string why) {
    unused_.emplace_back(std::move(prefix), std::move(why));
  }

  // Asks for a key that a scenario needs and the job does not give.
  void want(std::string path, std::string text, Names from = {});

  // Returns the scenario, and the effect of every argument of the job.
  JobScenario finished(const std::vector<JobArgument>& arguments, const std::string& file) &&;

 private:
  JudgedArgument judged(const JobArgument& argument, const std::string& file) const;
  // Whether the job itself says the key, or one inside of it.
  bool own(const std::string& path) const;
  // Sets how PyTorch's allocator is set up, as variables of the job say.
  void read_allocator();
  void read_allocator_setting(const std::string& name, const std::string& setting);
  void drop_defaults_in(const std::string& path);

  const Given& given_;
  const OverJob& over_;
  JobScenario made_;
  std::map<std::string, std::vector<std::string>, std::less<>> keys_;  // by argument
  std::set<std::string> own_;  // keys that follow from arguments of the job itself
  std::map<std::string, std::string, std::less<>> partly_;   // by argument
  std::vector<std::pair<std::string, std::string>> unused_;  // by beginning
};

// Sets the ranks of a shard group of which there are `copies`, by the first argument, among the
// ranks that hold the same parameters; complains where these are no multiple. Without `sharers`,
// for they follow from a number of GPUs that is not known, says so of that argument.
void set_shard_group(Draft& draft, const Given& given, std::optional<std::int64_t> sharers,
                     std::int64_t copies, Draft::Names from);

}  // namespace scenarios
