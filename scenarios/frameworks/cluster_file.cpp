// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/cluster_file.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace scenarios {
namespace {

struct InnerScript {
  std::string text, exports;
  int line = 1;  // in the file, of its first line
};

std::string quoted_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

void add_export(std::string& exports, const std::string& name, std::string_view value) {
  exports += "export " + name + "=" + quoted_word(value) + "; ";
}

// The first line of a block stands behind the line of its key.
int first_line_of(const Value& text) {
  return text.line + (text.text.find('\n') == std::string::npos ? 0 : 1);
}

std::string with_lines(const InnerScript& inner) {
  constexpr int lines_in_front = 2;
  const auto blank = static_cast<std::size_t>(std::max(0, inner.line - 1 - lines_in_front));
  return "#!/bin/bash\n" + std::string(blank, '\n') + inner.exports + "\n" + inner.text;
}

// --- SkyPilot (its task YAML, from memory)

// Returns the GPUs of a node in "accelerators: H100:8" or "accelerators: {H100: 8}"; one where no
// number is given; empty: there are none.
std::string gpus_of_resources(const Value* resources) {
  const auto* asked = resources == nullptr ? nullptr : resources->find("accelerators");
  if (asked == nullptr) return {};
  if (!asked->members.empty()) return asked->members.front().value.text;
  const auto colon = asked->text.rfind(':');
  return asked->text.empty()          ? ""
         : colon == std::string::npos ? "1"
                                      : asked->text.substr(colon + 1);
}

std::optional<InnerScript> script_of_task(const Value& document) {
  const auto* run = document.find("run");
  const auto *resources = document.find("resources"), *nodes = document.find("num_nodes");
  const bool task = resources != nullptr || nodes != nullptr || document.find("setup") != nullptr;
  if (run == nullptr || run->kind != Value::Kind::scalar || !task) return {};
  InnerScript inner{run->text, {}, first_line_of(*run)};
  if (const auto* variables = document.find("envs"))
    for (const auto& [key, value] : variables->members)
      if (value.kind == Value::Kind::scalar) add_export(inner.exports, key.text, value.text);
  add_export(inner.exports, "SKYPILOT_NUM_NODES", nodes == nullptr ? "1" : nodes->text);
  if (const auto gpus = gpus_of_resources(resources); !gpus.empty())
    add_export(inner.exports, "SKYPILOT_NUM_GPUS_PER_NODE", gpus);
  return inner;
}

// --- Kubernetes

// Returns what a container runs: the script behind a shell's -c, or command and arguments as words.
std::optional<InnerScript> script_of_container(const Value& container) {
  std::vector<const Value*> words;
  for (const auto* key : {"command", "args"})
    if (const auto* list = container.find(key); list != nullptr)
      for (const auto& word : list->items) words.push_back(&word);
  if (words.empty()) return {};
  const auto hands_over = std::ranges::find_if(words, [](const Value* word) {
    return word->text.size() > 1 && word->text.front() == '-' && word->text[1] != '-' &&
           word->text.ends_with('c');  // -c, -lc, -ec
  });
  InnerScript inner{{}, {}, words.front()->line};
  if (hands_over != words.end() && hands_over + 1 != words.end()) {
    inner.text = (*(hands_over + 1))->text;
    inner.line = first_line_of(**(hands_over + 1));
  } else {
    for (const auto* word : words) inner.text += quoted_word(word->text) + " ";
  }
  if (const auto* variables = container.find("env"))
    for (const auto& one : variables->items) {
      const auto *name = one.find("name"), *value = one.find("value");
      if (name != nullptr && value != nullptr) add_export(inner.exports, name->text, value->text);
    }
  return inner;
}

// Takes the longest script of all containers: those of a master and of workers are mostly alike.
void find_longest(const Value& value, std::optional<InnerScript>& longest) {
  if (auto inner = script_of_container(value);
      inner && (!longest || inner->text.size() > longest->text.size()))
    longest = std::move(inner);
  for (const auto& item : value.items) find_longest(item, longest);
  for (const auto& member : value.members) find_longest(member.value, longest);
}

}  // namespace

std::optional<std::string> script_in_cluster_file(const Value& document) {
  std::optional<InnerScript> inner;
  if (document.find("apiVersion") != nullptr && document.find("kind") != nullptr)
    find_longest(document, inner);
  else
    inner = script_of_task(document);
  if (!inner) return {};
  return with_lines(*inner);
}

}  // namespace scenarios
