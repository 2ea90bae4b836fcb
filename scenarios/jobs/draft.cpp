// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/draft.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "scenarios/documents/edit.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"

namespace scenarios {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

bool is_no(const JobArgument& argument) {
  return argument.values.size() == 1 && argument.values.front().trouble.empty() &&
         argument.values.front().text != "0" && yes_or_no(argument.values.front().text) == false;
}

// Whether what the argument asks for, which is not modelled, is not wanted: a key of another
// framework's that is 0 or none, or one that says no.
bool unwanted(const KnownArgument& known, const JobArgument& argument, bool of_other) {
  const bool off = argument.off || is_no(argument) || (of_other && is_off(argument));
  if (!known.usually_on) return off && !(known.repeats && !argument.off && !of_other);
  return !off;
}

// Joins the verdicts on one argument of a file that stands for several of the framework: "not
// modelled" takes precedence, then "read".
void join(JudgedArgument& one, JudgedArgument&& other) {
  const auto rank = [](Effect effect) {
    return effect == Effect::not_modelled ? 2 : effect == Effect::read ? 1 : 0;
  };
  for (auto& key : other.keys)
    if (std::ranges::find(one.keys, key) == one.keys.end()) one.keys.push_back(std::move(key));
  if (rank(other.effect) <= rank(one.effect)) return;
  one.effect = other.effect;
  one.why = std::move(other.why);
}

}  // namespace

Value& value_at(Value& document, std::string_view path, const Place& at) {
  document.kind = Value::Kind::map;
  const auto end = path.find('.');
  const auto name = path.substr(0, end);
  auto* found = document.find(name);
  if (found == nullptr) {
    Value key = job_text(std::string(name));
    stand_at(key, at);
    document.members.push_back({std::move(key), Value{}});
    found = &document.members.back().value;
    stand_at(*found, at);
  }
  return end == path.npos ? *found : value_at(*found, path.substr(end + 1), at);
}

Value job_text(std::string text) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = std::move(text);
  return value;
}

Value job_whole(std::int64_t number) { return job_text(std::to_string(number)); }

Value job_yes_no(bool yes) { return job_text(yes ? "true" : "false"); }

Value job_list(const std::vector<std::int64_t>& numbers) {
  Value list;
  list.kind = Value::Kind::list;
  for (const auto number : numbers) list.items.push_back(job_whole(number));
  return list;
}

Value job_words(const std::vector<std::string>& words) {
  Value list;
  list.kind = Value::Kind::list;
  for (const auto& word : words) list.items.push_back(job_text(word));
  return list;
}

void Draft::set(std::string_view path, Value value, Names from, const std::string& note) {
  std::vector<std::string> given, defaults;
  Place at;
  for (const auto name : from) {
    if (given_.mentioned(name) != nullptr) {
      if (given.empty()) at = given_.place_of(name);
      if (auto text = given_.text_of(name); std::ranges::find(given, text) == given.end())
        given.push_back(std::move(text));
      keys_[std::string(name)].emplace_back(path);
    } else {  // "SECTION.any" stands for all keys of a section
      defaults.emplace_back(name.substr(0, name.ends_with(".any") ? name.rfind('.') : name.npos));
    }
  }
  auto comment = given.empty() ? "without " + joined(defaults) : joined(given);
  if (!note.empty()) comment += ": " + note;
  made_.comments[std::string(path)] = from.size() == 0 ? note : comment;
  stand_at(value, at);
  value_at(made_.document, path, at) = std::move(value);
}

std::int64_t Draft::holding(std::string_view path, std::int64_t number) const {
  const auto section = std::string(path.substr(0, path.find('.')));
  if (const auto found = over_.values.find(path); found != over_.values.end()) {
    constexpr double most = 1e6;  // the scenario complains of what is no such number
    double said = 0;
    const auto& text = found->second;
    const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), said);
    const bool whole = wrong == std::errc() && stop == text.data() + text.size() && said >= 1 &&
                       said <= most && said == std::floor(said);
    return whole ? static_cast<std::int64_t>(said) : number;
  }
  const bool renamed = section == "model" && (over_.values.contains(section) ||
                                              over_.values.contains(section + ".base") ||
                                              over_.values.contains(section + ".huggingface"));
  return renamed ? 0 : number;
}

bool Draft::over_ranks() const {
  const auto lies = [&](const char* key) { return over_.values.contains(key); };
  return over_.gpus || lies("plan.tensor") || lies("plan.pipeline") || lies("plan.context");
}

void Draft::want(std::string path, std::string text, Names from) {
  Place at;
  for (const auto name : from)
    if (given_.has(name)) at = given_.place_of(name);
  if (const auto [argument, meant] = given_.misspelt_in(text); argument != nullptr) {
    if (argument->file.empty()) at = argument->at;
    text = argument->name + " is unknown (did you mean " + meant + "?), and " + text;
  }
  for (const auto name : from) {
    auto elsewhere = given_.elsewhere(name);
    if (elsewhere.empty()) continue;
    text = elsewhere + ": " + text;
    break;
  }
  made_.wanted.push_back({std::move(path), std::move(text), at});
}

JudgedArgument Draft::judged(const JobArgument& argument, const std::string& file) const {
  const auto* known = given_.table().find(argument.name);
  JudgedArgument judged{written(argument), place_text(argument, file), Effect::unknown, {}, {}};
  if (known == nullptr) {
    const auto& near = given_.meant_by(argument.name);
    if (!near.empty()) judged.why = "did you mean " + near + "?";
    return judged;
  }
  if (!known->repeats && given_.mentioned(known->name) != &argument) {
    judged.effect = Effect::none;
    judged.why = "given again further down, where it holds";
    return judged;
  }
  judged.effect = known->effect;
  judged.why = known->why;
  if (known->effect == Effect::refused ||  // or there would be no scenario
      (known->effect == Effect::not_modelled &&
       unwanted(*known, argument, given_.table().below() != nullptr))) {
    judged.effect = Effect::none;
    judged.why = known->usually_on ? "it is on" : "it is off";
  }
  if (const auto keys = keys_.find(known->name); keys != keys_.end()) {
    judged.keys = keys->second;
  } else if (known->effect == Effect::read) {
    judged.effect = Effect::none;
    judged.why = "nothing here depends on it";
  }
  for (const auto& [prefix, why] : unused_)
    if (std::string_view(known->name).starts_with(prefix) && judged.keys.empty()) {
      judged.effect = Effect::none;
      judged.why = why;
    }
  if (const auto part = partly_.find(known->name); part != partly_.end()) {
    judged.effect = Effect::not_modelled;
    judged.why = part->second;
  }
  return judged;
}

JobScenario Draft::finished(const std::vector<JobArgument>& arguments, const std::string& file) && {
  auto& account = made_.account;
  const JobArgument* before = nullptr;
  for (const auto& argument : arguments) {
    auto next = judged(argument, file);
    const bool standing =
        !argument.file.empty() && !argument.named;  // no argument of the job's own
    account.known = account.known || (!standing && next.effect != Effect::unknown);
    const bool of_another = standing && next.keys.empty() && next.effect != Effect::not_modelled &&
                            next.effect != Effect::unknown;
    if (of_another || (argument.standard && next.keys.empty()))
      continue;  // a default of a file that the job stands on
    const bool same = before != nullptr && !argument.text.empty() &&
                      before->text == argument.text && before->at == argument.at &&
                      before->file == argument.file;
    before = &argument;
    if (same)
      join(account.arguments.back(), std::move(next));
    else
      account.arguments.push_back(std::move(next));
  }
  account.file = file;
  return std::move(made_);
}

void set_shard_group(Draft& draft, const Given& given, std::optional<std::int64_t> sharers,
                     std::int64_t copies, Draft::Names from) {
  const auto& name = *from.begin();
  if (!sharers)
    draft.partly(name,
                 "how many GPUs there are is not known, and the forecast divides states over all "
                 "replicas; give --env WORLD_SIZE=N, or add --set plan.shard_group=N");
  else if (*sharers % copies != 0)
    given.complain(name, std::to_string(copies) + " does not divide the " +
                             std::to_string(*sharers) + " ranks that share parameters");
  else
    draft.whole("plan.shard_group", *sharers / copies, from,
                std::to_string(*sharers) + " ranks / " + std::to_string(copies));
}

}  // namespace scenarios
