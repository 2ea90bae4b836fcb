// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/documents/error.hpp"

namespace scenarios {
namespace {

std::string place(const std::string& file, int line, int column) {
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::size_t count_values(const Value& value) {
  std::size_t nodes = 1;
  for (const auto& item : value.items) nodes += count_values(item);
  for (const auto& member : value.members)
    nodes += count_values(member.key) + count_values(member.value);
  return nodes;
}

// Whether the key merges another map, "<<: *defaults" (YAML 1.1).
bool merges(const Value& key) { return !key.quoted && key.text == "<<"; }

// Returns the maps that the value of a merging key names; empty: it is no map and no list of maps.
std::vector<Value> merged_maps(Value value) {
  if (value.kind == Value::Kind::map) return {std::move(value)};
  const auto is_map = [](const Value& item) { return item.kind == Value::Kind::map; };
  if (value.kind != Value::Kind::list || !std::ranges::all_of(value.items, is_map)) return {};
  return std::move(value.items);
}

// Adds the members of a map that have other names than those before.
void add_merged(std::vector<Member>& members, std::set<std::string>& names, Value map) {
  const auto first = members.size();
  for (auto& member : map.members)
    if (!names.contains(member.key.text)) members.push_back(std::move(member));
  for (const auto& member : std::span(members).subspan(first)) names.insert(member.key.text);
}

// Builds the value from the parser's events. A library of events wants a derived class; the
// library's own tree cannot bound its depth, shares aliased nodes and loses the marks of keys.
class YamlBuilder final : public YAML::EventHandler {
 public:
  YamlBuilder(const std::string& file, const Limits& limits) : file_(file), limits_(limits) {}

  Value take() { return std::move(root_); }
  bool empty() const { return !filled_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(started_, true))
      fail(mark, "a second document starts here; expected one document per file");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(at(mark, Value::Kind::null), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchor <= anchors_.size() && anchors_[anchor - 1].kind != Value::Kind::null;
    if (!known) fail(mark, "this alias names no value that is complete; write the value out");
    Value copy = anchors_[anchor - 1];
    spend(mark, count_values(copy));
    add(std::move(copy), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Value value = at(mark, Value::Kind::scalar);
    value.text = text;
    value.quoted = !tag.empty() && tag != "?";
    add(std::move(value), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, Value::Kind::list, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, Value::Kind::map, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Value value;
    YAML::anchor_t anchor;
    bool has_key = false;
    Value key;
  };

  [[noreturn]] void fail(const YAML::Mark& mark, std::string text) const {
    throw Error({{place(file_, mark.line + 1, mark.column + 1), std::move(text)}});
  }
  void spend(const YAML::Mark& mark, std::size_t nodes) {
    if ((spent_ += nodes) > limits_.nodes)
      fail(mark, "the document holds more than " + std::to_string(limits_.nodes) +
                     " values once aliases are expanded; no such file is that large");
  }
  Value at(const YAML::Mark& mark, Value::Kind kind) {
    spend(mark, 1);
    Value value;
    value.kind = kind;
    value.line = mark.line + 1;
    value.column = mark.column + 1;
    return value;
  }
  void open(const YAML::Mark& mark, Value::Kind kind, YAML::anchor_t anchor) {
    if (open_.size() >= static_cast<std::size_t>(limits_.depth))
      fail(mark, "nested more than " + std::to_string(limits_.depth) +
                     " levels deep; no such file needs that");
    open_.push_back({at(mark, kind), anchor, false, {}});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    merge(done.value);
    add(std::move(done.value), done.anchor);
  }
  // Puts the members of other maps in the place of the keys that merge them. The map's own win over
  // them, and those of an earlier map over those of a later one.
  void merge(Value& map) const {
    if (std::ranges::none_of(map.members, merges, &Member::key)) return;
    std::set<std::string> names;
    for (const auto& member : map.members)
      if (!merges(member.key)) names.insert(member.key.text);
    std::vector<Member> members;
    for (auto& member : map.members) {
      if (!merges(member.key)) {
        members.push_back(std::move(member));
        continue;
      }
      auto maps = merged_maps(std::move(member.value));
      if (maps.empty())
        throw Error({{place(file_, member.key.line, member.key.column),
                      "<< merges other maps; expected an alias of one, <<: *name, or a list of "
                      "them, <<: [*one, *two]"}});
      for (auto& one : maps) add_merged(members, names, std::move(one));
    }
    map.members = std::move(members);
  }
  void add(Value value, YAML::anchor_t anchor) {
    if (anchor > 0) {
      anchors_.resize(std::max(anchors_.size(), anchor));
      anchors_[anchor - 1] = value;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      filled_ = true;
      return;
    }
    Open& top = open_.back();
    if (top.value.kind == Value::Kind::list) {
      top.value.items.push_back(std::move(value));
    } else if (!top.has_key) {
      top.key = std::move(value);
      top.has_key = true;
    } else {
      top.value.members.push_back({std::move(top.key), std::move(value)});
      top.has_key = false;
    }
  }

  const std::string& file_;
  const Limits& limits_;
  Value root_;
  std::vector<Open> open_;
  std::vector<Value> anchors_;
  std::size_t spent_ = 0;
  bool started_ = false, filled_ = false;
};

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const auto& member : members)
    if (member.key.text == key) return &member.value;
  return nullptr;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

namespace {

// Returns advice for a condition such as > 90 % without quotes, with which YAML begins a block of
// text.
std::string advice(const std::string& what) {
  if (what.find("block scalar") == what.npos) return {};
  return "; text that begins with > or | needs quotes, as in \"> 90 %\"";
}

}  // namespace

Value parse_yaml(std::string_view text, const std::string& file, const Limits& limits) {
  if (text.size() > limits.bytes)
    throw Error({{file, "larger than " + std::to_string(limits.bytes >> 20) +
                            " MiB; no more is read of such a file"}});
  YamlBuilder builder(file, limits);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& wrong) {
    const auto mark = wrong.mark.is_null() ? YAML::Mark() : wrong.mark;
    throw Error({{place(file, mark.line + 1, mark.column + 1),
                  "this is not YAML: " + wrong.msg + advice(wrong.msg)}});
  }
  if (builder.empty()) throw Error({{place(file, 1, 1), "the file is empty; expected YAML"}});
  return builder.take();
}

}  // namespace scenarios
