// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/scenario_text.hpp"

#include <algorithm>
#include <set>

namespace scenarios {
namespace {

constexpr std::size_t comment_column = 44;

bool is_plain(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text,
                             [](char c) {
                               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                      (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '/' ||
                                      c == '-' || c == ' ' || c == '+';
                             }) &&
         text.front() != '-' && text.front() != ' ' && text.back() != ' ';
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string flow(const Value& value) {
  if (value.kind == Value::Kind::null) return "null";
  if (value.kind == Value::Kind::scalar)
    return value.quoted || !is_plain(value.text) ? quoted(value.text) : value.text;
  std::string text;
  if (value.kind == Value::Kind::list) {
    for (const auto& item : value.items) text += (text.empty() ? "" : ", ") + flow(item);
    return "[" + text + "]";
  }
  for (const auto& member : value.members)
    text += (text.empty() ? "" : ", ") + member.key.text + ": " + flow(member.value);
  return "{" + text + "}";
}

class Writer {
 public:
  explicit Writer(const JobScenario& scenario) : scenario_(scenario) {}

  std::string text() {
    for (const auto& member : scenario_.document.members)
      write(member.key.text, member.value, member.key.text, 0);
    for (const auto& wanted : scenario_.wanted)
      if (!written_.contains(wanted.path)) text_ += "# " + wanted.path + ": " + wanted.text + "\n";
    return text_;
  }

 private:
  void write(const std::string& key, const Value& value, const std::string& path,
             std::size_t indent) {
    std::string line(indent, ' ');
    written_.insert(path);
    if (value.kind == Value::Kind::map && !scenario_.comments.contains(path)) {
      text_ += line + key + ":\n";
      for (const auto& member : value.members)
        write(member.key.text, member.value, path + "." + member.key.text, indent + 2);
      return;
    }
    line += key + ": " + flow(value);
    if (value.set > 0) {
      line = padded(line) + "# --set";
    } else if (const auto comment = scenario_.comments.find(path);
               comment != scenario_.comments.end()) {
      line = padded(line) + "# " + comment->second;
    }
    text_ += line + "\n";
  }

  static std::string padded(std::string line) {
    line.resize(std::max(line.size() + 1, comment_column), ' ');
    return line;
  }

  const JobScenario& scenario_;
  std::set<std::string> written_;
  std::string text_;
};

}  // namespace

std::string scenario_text(const JobScenario& scenario) {
  const auto& account = scenario.account;
  return "# " + account.file + ": " + account.framework + " @" + account.version + "\n" +
         Writer(scenario).text();
}

}  // namespace scenarios
