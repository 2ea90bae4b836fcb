// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/draft.hpp"

#include <algorithm>
#include <utility>

namespace scenarios {
namespace {

void stand(Value& value, const Place& at) {
  value.line = static_cast<int>(at.line);
  value.column = static_cast<int>(at.column);
  for (auto& item : value.items) stand(item, at);
  for (auto& member : value.members) {
    stand(member.key, at);
    stand(member.value, at);
  }
}

// The value at the path, maps made as needed.
Value& at_path(Value& document, std::string_view path, const Place& at) {
  document.kind = Value::Kind::map;
  const auto end = path.find('.');
  const auto name = path.substr(0, end);
  auto* found = document.find(name);
  if (found == nullptr) {
    Value key = job_text(std::string(name));
    stand(key, at);
    document.members.push_back({std::move(key), Value{}});
    found = &document.members.back().value;
    stand(*found, at);
  }
  return end == path.npos ? *found : at_path(*found, path.substr(end + 1), at);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

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
    if (given_.has(name)) {
      if (given.empty()) at = given_.place_of(name);
      given.push_back(given_.text_of(name));
      keys_[std::string(name)].emplace_back(path);
    } else {
      defaults.emplace_back(name);
    }
  }
  auto comment = given.empty() ? "without " + joined(defaults) : joined(given);
  if (!note.empty()) comment += ": " + note;
  made_.comments[std::string(path)] = from.size() == 0 ? note : comment;
  stand(value, at);
  at_path(made_.document, path, at) = std::move(value);
}

void Draft::want(std::string path, std::string text, Names from) {
  Place at;
  for (const auto name : from)
    if (given_.has(name)) at = given_.place_of(name);
  made_.wanted.push_back({std::move(path), std::move(text), at});
}

JobScenario Draft::finished(const std::vector<JobArgument>& arguments, const std::string& file) && {
  const Complaints places(file);
  for (const auto& argument : arguments) {
    const auto* known = given_.table().find(argument.name);
    JudgedArgument judged{written(argument), places.text_of(argument.at), Effect::unknown, {}, {}};
    if (known == nullptr) {
      const auto near = given_.table().nearest_to(argument.name);
      if (!near.empty()) judged.why = "did you mean " + near + "?";
    } else if (!known->repeats && given_.find(known->name) != &argument) {
      judged.effect = Effect::none;
      judged.why = "given again further down, where it holds";
    } else {
      judged.effect = known->effect;
      judged.why = known->why;
      if (known->effect == Effect::refused) {  // or there would be no scenario
        judged.effect = Effect::none;
        judged.why = "it is off";
      }
      if (const auto keys = keys_.find(known->name); keys != keys_.end()) {
        judged.keys = keys->second;
      } else if (known->effect == Effect::read) {
        judged.effect = Effect::none;
        judged.why = "nothing here depends on it";
      }
      if (const auto part = partly_.find(known->name); part != partly_.end()) {
        judged.effect = Effect::not_modelled;
        judged.why = part->second;
      }
    }
    made_.account.arguments.push_back(std::move(judged));
  }
  made_.account.file = file;
  return std::move(made_);
}

}  // namespace scenarios
