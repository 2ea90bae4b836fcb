// SPDX-License-Identifier: Apache-2.0
#include "library/call.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <locale>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "app/command.hpp"

namespace app {
extern const char* const commit;
}

namespace library {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* expected =
    R"(; expected {"command": "simulate", "inputs": [...], "options": {...}})";

[[noreturn]] void refuse_request(const std::string& what) {
  throw std::invalid_argument("request: " + what + expected);
}

// One document is called after what its command reads.
std::string input_name(const std::string& command) {
  if (command == "sweep" || command == "purchase") return command;
  return command == "schedule" ? "order" : "scenario";
}

std::string written(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class Words {
 public:
  explicit Words(const std::string& command) : command_(command) {
    std::istringstream words(command);
    for (std::string word; words >> word;) call_.words.push_back(word);
    if (call_.words.empty()) refuse_request("no command");
  }

  void option(std::string name, const Json& value) {
    std::ranges::replace(name, '_', '-');
    if (value.is_null() || value == false) return;
    if (name == "set" && value.is_object()) return lay(value, "");
    if (value.is_array()) {
      for (const auto& one : value) option(name, one);
      return;
    }
    const auto text = value.is_object() ? given(name, value) : written(value);
    if (text.empty())
      refuse_request("options." + name + " is an empty text; leave it out or give it a value");
    call_.words.push_back(checked("--" + name + "=" + text, "options." + name));
  }

  void input(const Json& value) {
    inputs_.push_back(value.is_object() ? given(input_name(command_), value)
                                        : checked(written(value), "an input"));
  }

  void text(const std::string& name, const Json& value) {
    if (!value.is_string()) refuse_request("texts." + name + " is no text");
    call_.texts[name] = value.get<std::string>();
  }

  Call finish() {
    if (!inputs_.empty()) call_.words.emplace_back("--");
    call_.words.insert(call_.words.end(), inputs_.begin(), inputs_.end());
    return std::move(call_);
  }

 private:
  static std::string checked(std::string word, const std::string& what) {
    if (word.find('\0') != std::string::npos)
      refuse_request(what + " has a zero byte, which no name or value has");
    return word;
  }

  // Each leaf replaces what is there, and nothing beside it.
  void lay(const Json& values, const std::string& path) {
    for (const auto& [key, value] : values.items()) {
      const auto here = path.empty() ? key : path + '.' + key;
      if (value.is_object() && !value.empty()) {
        lay(value, here);
      } else {
        call_.words.push_back(
            checked("--set=" + here + '=' + value.dump(), "a key of options.set"));
      }
    }
  }

  // The text is laid out a key to a line, so that a complaint's line finds it.
  std::string given(std::string name, const Json& document) {
    const auto first = name;
    for (int i = 2; call_.texts.contains(name); ++i) name = first + std::to_string(i);
    call_.texts[name] = document.dump(1);
    return name;
  }

  std::string command_;
  Call call_;
  std::vector<std::string> inputs_;
};

// "NAME:LINE:COLUMN" in three; the name may hold colons.
Json json_of(const scenarios::Complaint& complaint) {
  Json json{{"place", complaint.place}};
  std::string file = complaint.place;
  std::vector<std::int64_t> numbers;
  while (numbers.size() < 2) {
    const auto colon = file.rfind(':');
    if (colon == std::string::npos) break;
    std::int64_t number = 0;
    const char* end = file.data() + file.size();
    if (std::from_chars(file.data() + colon + 1, end, number).ptr != end) break;
    numbers.push_back(number);
    file.resize(colon);
  }
  json["file"] = file;
  json["line"] = numbers.size() == 2 ? Json(numbers[1]) : Json();
  json["column"] = numbers.size() == 2 ? Json(numbers[0]) : Json();
  json["text"] = complaint.text;
  json["unsupported"] = complaint.unsupported;
  return json;
}

struct Ran {
  int status;
  std::string out, err;
};

Ran ran(const Call& call, const std::vector<std::string>& more, app::Caller& caller) {
  std::vector<const char*> argv{"stepcast"};
  const auto inputs = std::ranges::find(call.words, "--");
  const auto add = [&](auto begin, auto end) {
    for (auto word = begin; word != end; ++word) argv.push_back(word->c_str());
  };
  add(call.words.begin(), inputs);
  add(more.begin(), more.end());
  add(inputs, call.words.end());
  caller.texts = call.texts;
  std::ostringstream out, err;
  for (auto* text : {&out, &err}) text->imbue(std::locale::classic());
  const int status = app::run(static_cast<int>(argv.size()), argv.data(), {out, err}, &caller);
  return {status, std::move(out).str(), std::move(err).str()};
}

// Runs the command again and returns the file that it writes for this option. Throws
// std::invalid_argument if it writes none.
std::string file_of(const Call& call, const std::string& option, const std::string& name) {
  app::Caller caller;
  std::stop_source never;  // a caller with a token leaves signals alone
  caller.stop = never.get_token();
  caller.takes_files = true;
  const auto again = ran(call, {"--json", "--quiet", "--" + option + "=" + name}, caller);
  const auto file = caller.files.find(name);
  if (file != caller.files.end()) return std::move(file->second);
  throw std::invalid_argument(again.err.empty() ? "the command wrote no file of --" + option
                                                : again.err);
}

using Made = std::function<std::string()>;

Made none_of(const Call& call, const std::string& option) {
  return [command = call.words.front(), option]() -> std::string {
    throw std::invalid_argument("an answer of " + command + " has no " +
                                (option == "trace" ? "timeline" : "page (--report)"));
  };
}

Json parsed(std::string_view request) {
  if (request.find_first_not_of(" \t\r\n") == request.npos) refuse_request("is empty");
  try {
    return Json::parse(request);
  } catch (const Json::parse_error& wrong) {
    const std::string said = wrong.what();  // "[json.exception.parse_error.101] parse error at ..."
    const auto begin = said.find("] ");
    refuse_request("is no JSON: " + (begin == said.npos ? said : said.substr(begin + 2)));
  } catch (const Json::exception& wrong) {
    refuse_request(std::string("cannot be read: ") + wrong.what());
  }
}

}  // namespace

Call call_of(std::string_view request) {
  const auto json = parsed(request);
  if (!json.is_object()) refuse_request("is JSON, but no object");
  if (!json.contains("command")) refuse_request("has no command");
  if (!json["command"].is_string()) refuse_request("its command is no text");
  Words words(json["command"].get<std::string>());
  for (const auto& [key, value] : json.items()) {
    if (key == "command") continue;
    if (key == "options" && value.is_object()) {
      for (const auto& [name, one] : value.items()) words.option(name, one);
    } else if (key == "texts" && value.is_object()) {
      for (const auto& [name, one] : value.items()) words.text(name, one);
    } else if (key == "inputs" && value.is_array()) {
      for (const auto& one : value) words.input(one);
    } else {
      refuse_request("'" + key + "' is no key of one, or has a wrong value");
    }
  }
  return words.finish();
}

Answer run(const Call& call, const Hooks& hooks) {
  app::Caller caller;
  std::stop_source never;
  caller.stop = hooks.stop.stop_possible() ? hooks.stop : never.get_token();
  caller.progress = hooks.progress;
  auto [status, out, err] = ran(call, {"--json", "--quiet"}, caller);
  Answer answer{.status = status,
                .document = std::move(out),
                .said = std::move(err),
                .complaints = std::move(caller.complaints),
                .warnings = std::move(caller.warnings),
                .page = {},
                .trace = {}};
  answer.has_page = caller.has_page;
  answer.has_trace = caller.has_trace;
  const auto made = [&](bool has, const auto& left, const char* option, const char* name) {
    if (left || !has) return left ? left : none_of(call, option);
    return Made([=] { return file_of(call, option, name); });
  };
  answer.page = made(caller.has_page, caller.page, "report", "page.html");
  answer.trace = made(caller.has_trace, caller.trace, "trace", "t.json");
  return answer;
}

std::string document_of(const Answer& answer) {
  if (!answer.document.empty()) return answer.document;
  auto said = answer.said;
  while (said.ends_with('\n')) said.pop_back();
  Json json{{"stepcast", STEPCAST_VERSION}, {"status", answer.status}, {"error", said}};
  json["complaints"] = Json::array();
  for (const auto& complaint : answer.complaints) json["complaints"].push_back(json_of(complaint));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string warnings_of(const Answer& answer) {
  return Json(answer.warnings).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_of(const app::Headway& headway) {
  Json json{{"text", headway.text}};
  for (const auto& [name, figure] : headway.figures) json[name] = figure;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string version() {
  const std::string made_from = app::commit;
  return STEPCAST_VERSION + (made_from.empty() ? "" : " (commit " + made_from + ")");
}

}  // namespace library
