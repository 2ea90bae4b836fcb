// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/draft.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "scenarios/documents/edit.hpp"
#include "scenarios/jobs/argument_words.hpp"
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
    if (const auto* argument = given_.mentioned(name); argument != nullptr) {
      if (!argument->standard) own_.emplace(path);
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

bool Draft::own(const std::string& path) const {
  const auto inside = own_.lower_bound(path + ".");
  return own_.contains(path) || (inside != own_.end() && inside->starts_with(path + "."));
}

void Draft::drop_defaults_in(const std::string& path) {
  auto& map = value_at(made_.document, path, {});
  std::erase_if(map.members, [&](const Member& one) {
    const auto key = path + "." + one.key.text;
    if (own(key)) return false;
    made_.comments.erase(key);
    for (auto& [name, keys] : keys_) std::erase(keys, key);
    return true;
  });
}

void Draft::lay_below(const std::string& path, const Value& below, Names from,
                      const std::string& note) {
  if (own_.contains(path)) return;
  if (below.kind != Value::Kind::map) {
    if (!own(path)) set(path, below, from, note);
    return;
  }
  const bool section = path.find('.') == path.npos;
  if (!section) drop_defaults_in(path);
  for (const auto& member : below.members)
    lay_below(path + "." + member.key.text, member.value, from, note);
}

void Draft::leave_out(const std::string& path, Names from) {
  own_.insert(path);
  for (const auto name : from) keys_[std::string(name)].push_back(path);
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
  const auto* known = argument.stray ? nullptr : given_.table().find(argument.name);
  JudgedArgument judged{written(argument), place_text(argument, file), Effect::unknown, {}, {}};
  if (known == nullptr) {
    const auto& near = given_.meant_by(argument.name);
    if (!near.empty()) judged.why = "did you mean " + near + "?";
    if (near.empty() && argument.stray) judged.why = "no argument takes this word";
    if (argument.stray && begins_argument(argument.name))
      judged.why =
          "it is no part of the command, which ends above: a comment, or a blank behind \\, ends "
          "its lines";
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

// Reads "NAME:VALUE" (c10/core/AllocatorConfig).
void Draft::read_allocator_setting(const std::string& name, const std::string& setting) {
  const auto colon = std::min(setting.find(':'), setting.size());
  const auto key = setting.substr(0, colon);
  const auto value = setting.substr(std::min(colon + 1, setting.size()));
  const std::string path = "software.allocator." + key;
  const bool number = !value.empty() && value.find_first_not_of("0123456789.") == std::string::npos;
  const auto yes = yes_or_no(value);
  if (key == "backend" && value == "native") return;  // the usual allocator
  if (key == "expandable_segments" && yes)
    yes_no(path, *yes, {name});
  else if ((key == "max_split_size_mb" || key == "garbage_collection_threshold" ||
            key == "roundup_power2_divisions") &&
           number)
    text(path, value, {name});
  else
    partly(name, "the forecast's allocator has no " + setting);
}

void Draft::read_allocator() {
  for (const std::string name :
       {"ENV_VARS.PYTORCH_CUDA_ALLOC_CONF", "ENV_VARS.PYTORCH_ALLOC_CONF"}) {
    const auto* argument = given_.table().find(name) == nullptr ? nullptr : given_.find(name);
    if (argument == nullptr || argument->values.size() != 1) continue;
    const auto& word = argument->values.front();
    if (!word.trouble.empty()) {
      partly(name, word.trouble);
      continue;
    }
    for (std::size_t begin = 0; begin < word.text.size();) {
      auto end = std::min(word.text.find(',', begin), word.text.size());
      if (const auto list = word.text.find('[', begin); list < end)  // a list has commas
        end = std::min(word.text.find(',', std::min(word.text.find(']', list), word.text.size())),
                       word.text.size());
      auto setting = word.text.substr(begin, end - begin);
      std::erase(setting, ' ');
      if (!setting.empty()) read_allocator_setting(name, setting);
      begin = end + 1;
    }
  }
}

JobScenario Draft::finished(const std::vector<JobArgument>& arguments, const std::string& file) && {
  read_allocator();
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
