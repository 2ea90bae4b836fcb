// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/cluster_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/documents/error.hpp"

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

using Variables = std::vector<std::pair<std::string, std::string>>;

// Returns the text with the values of variables for "$(NAME)", as Kubernetes puts them into
// commands, arguments and later variables; other names stay, and "$$(" is "$(". A text that grows
// beyond all that were seen ends there.
std::string with_values(std::string_view text, const Variables& variables) {
  constexpr std::string_view opens = "$(", escaped = "$$(";
  constexpr std::size_t longest = std::size_t{1} << 20;
  std::string made;
  while (!text.empty() && made.size() < longest) {
    if (text.starts_with(escaped)) {
      made += opens;
      text.remove_prefix(escaped.size());
      continue;
    }
    const auto end = text.starts_with(opens) ? text.find(')') : text.npos;
    const auto name =
        end == text.npos ? text.substr(0, 0) : text.substr(opens.size(), end - opens.size());
    const auto found =
        std::ranges::find_if(variables, [&](const auto& one) { return one.first == name; });
    if (end != text.npos && found != variables.end()) {
      made += found->second;
      text.remove_prefix(end + 1);
    } else {
      made += text.front();
      text.remove_prefix(1);
    }
  }
  return made;
}

// Returns the variables that the container has a text for.
Variables variables_of(const Value& container) {
  Variables variables;
  if (const auto* all = container.find("env"))
    for (const auto& one : all->items) {
      const auto *name = one.find("name"), *value = one.find("value");
      if (name == nullptr || value == nullptr) continue;
      auto text = with_values(value->text, variables);
      std::erase_if(variables, [&](const auto& before) { return before.first == name->text; });
      variables.emplace_back(name->text, std::move(text));
    }
  return variables;
}

// Returns the word behind the option -c of a shell, -lc or -ec, which is the first word; null: the
// words are another command.
const Value* text_for_shell(const std::vector<const Value*>& words) {
  constexpr std::array<std::string_view, 4> shells{"sh", "bash", "zsh", "dash"};
  std::string_view program = words.front()->text;
  program.remove_prefix(program.rfind('/') + 1);
  if (std::ranges::find(shells, program) == shells.end()) return nullptr;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string_view option = words[i]->text;
    const bool brief = option.size() > 1 && option.front() == '-' && option[1] != '-';
    if (brief && option.ends_with('c')) return words[i + 1];
    if (brief && option.ends_with('o')) ++i;  // -o pipefail
    if (!option.starts_with('-')) break;      // a script
  }
  return nullptr;
}

// Returns the words of a container's command and arguments.
std::vector<const Value*> words_of(const Value& container) {
  std::vector<const Value*> words;
  for (const auto* key : {"command", "args"})
    if (const auto* list = container.find(key); list != nullptr)
      for (const auto& word : list->items) words.push_back(&word);
  return words;
}

// Returns what a container runs: the script behind a shell's -c, or command and arguments as words.
std::optional<InnerScript> script_of_container(const Value& container) {
  const auto words = words_of(container);
  if (words.empty()) return {};
  const auto variables = variables_of(container);
  InnerScript inner{{}, {}, words.front()->line};
  if (const auto* text = text_for_shell(words); text != nullptr) {
    inner.text = with_values(text->text, variables);
    inner.line = first_line_of(*text);
  } else {
    for (const auto* word : words)
      inner.text += quoted_word(with_values(word->text, variables)) + " ";
  }
  for (const auto& [name, value] : variables) add_export(inner.exports, name, value);
  return inner;
}

// Takes the longest script of all containers: those of a master and of workers are mostly alike.
// Containers that prepare the others are left out.
void find_longest(const Value& value, std::optional<InnerScript>& longest) {
  if (auto inner = script_of_container(value);
      inner && (!longest || inner->text.size() > longest->text.size()))
    longest = std::move(inner);
  for (const auto& item : value.items) find_longest(item, longest);
  for (const auto& member : value.members)
    if (member.key.text != "initContainers") find_longest(member.value, longest);
}

// Adds the words of all containers that start the script, unless a shell reads it.
void find_words(const Value& value, const std::string& script,
                std::vector<std::vector<Value>>& found) {
  const auto words = words_of(value);
  if (!words.empty() && text_for_shell(words) == nullptr &&
      script_of_container(value)->text == script) {
    auto& copy = found.emplace_back();
    for (const auto* word : words) copy.push_back(*word);
  }
  for (const auto& item : value.items) find_words(item, script, found);
  for (const auto& member : value.members)
    if (member.key.text != "initContainers") find_words(member.value, script, found);
}

// Returns the number at the key; empty: none.
std::string number_at(const Value* map, std::string_view key) {
  const auto* value = map == nullptr ? nullptr : map->find(key);
  const bool number = value != nullptr && !value->text.empty() &&
                      value->text.find_first_not_of("0123456789") == std::string::npos;
  return number ? value->text : std::string();
}

std::int64_t count_of(const std::string& number, std::int64_t fallback) {
  return number.empty() || number.size() > 6 ? fallback : std::stoll(number);
}

// The variables that an operator gives the containers which it starts.
struct Started {
  std::int64_t nodes = 0;         // 0: not said
  std::string processes_of_node;  // empty: not said
  bool tells_world = false;       // as WORLD_SIZE
};

// A PyTorchJob that may grow or shrink starts with its replicas.
Started started_by(const Value& pytorch_job) {
  Started started{0, number_at(&pytorch_job, "nprocPerNode"), true};
  auto& each = started.processes_of_node;
  if (each.empty()) each = number_at(pytorch_job.find("elasticPolicy"), "nProcPerNode");
  if (const auto* replicas = pytorch_job.find("pytorchReplicaSpecs"))
    for (const auto& member : replicas->members)
      started.nodes += count_of(number_at(&member.value, "replicas"), 1);
  return started;
}

// Returns the variables that Kubeflow's operator gives torchrun, the nodes and the processes of
// each, as far as a PyTorchJob or a TrainJob says them; of a LeaderWorkerSet the nodes of a group
// (from memory).
std::string exports_of_operator(const Value& object) {
  const auto *kind = object.find("kind"), *spec = object.find("spec");
  if (kind == nullptr || spec == nullptr) return {};
  std::string exports;
  if (kind->text == "LeaderWorkerSet") {
    const auto size = number_at(spec->find("leaderWorkerTemplate"), "size");
    if (!size.empty()) add_export(exports, "LWS_GROUP_SIZE", size);
    return exports;
  }
  Started started;
  if (kind->text == "PyTorchJob") {
    started = started_by(*spec);
  } else if (kind->text == "TrainJob") {
    const auto* trainer = spec->find("trainer");
    started.nodes = count_of(number_at(trainer, "numNodes"), 0);
    started.processes_of_node = number_at(trainer, "numProcPerNode");
  }
  const auto& each = started.processes_of_node;
  if (started.nodes > 0) add_export(exports, "PET_NNODES", std::to_string(started.nodes));
  if (!each.empty()) add_export(exports, "PET_NPROC_PER_NODE", each);
  if (started.nodes > 0 && started.tells_world)
    add_export(exports, "WORLD_SIZE", std::to_string(started.nodes * count_of(each, 1)));
  return exports;
}

// Takes the longest script of the object, with the variables of its operator, if it is longer.
void take_object(const Value& object, std::optional<InnerScript>& longest) {
  std::optional<InnerScript> own;
  find_longest(object, own);
  if (!own || (longest && own->text.size() <= longest->text.size())) return;
  own->exports = exports_of_operator(object) + own->exports;
  longest = std::move(own);
}

// Whether a shell runs the file of that name in the command, or the command is its path.
bool runs_file(std::string_view command, const std::string& name) {
  constexpr std::string_view between = " \t\n;&|()'\"";
  constexpr std::array<std::string_view, 7> starters{"bash", "sh",   "zsh", "source",
                                                     ".",    "exec", ""};
  std::string_view before;
  for (std::size_t i = 0; (i = command.find_first_not_of(between, i)) != command.npos;) {
    const auto end = std::min(command.find_first_of(between, i), command.size());
    const auto word = command.substr(i, end - i);
    i = end;
    if (word.starts_with('-')) continue;
    const auto program = before.substr(before.rfind('/') + 1);
    if (word.ends_with("/" + name) && std::ranges::find(starters, program) != starters.end())
      return true;
    before = word;
  }
  return false;
}

// Takes the script of a ConfigMap in place of a command that runs it, "bash /scripts/train.sh".
void take_mounted(const Value& object, InnerScript& inner) {
  const auto *kind = object.find("kind"), *data = object.find("data");
  if (kind == nullptr || kind->text != "ConfigMap" || data == nullptr) return;
  for (const auto& [name, script] : data->members)
    if (script.kind == Value::Kind::scalar && runs_file(inner.text, name.text)) {
      inner.text = script.text;
      inner.line = first_line_of(script);
      return;
    }
}

bool is_object(const Value& document) {
  return document.find("apiVersion") != nullptr && document.find("kind") != nullptr;
}

// Returns the documents of a text that may be objects of Kubernetes, each in the lines in which it
// stands there; one that is no YAML is left out.
std::vector<Value> documents_of(std::string_view text, const std::string& file) {
  std::vector<Value> documents;
  std::string lines, before;
  int left = 64;  // more are in no file that was seen
  const auto end_document = [&] {
    if (lines.find("apiVersion:") != lines.npos && left-- > 0) try {
        documents.push_back(parse_yaml(before + lines, file));
      } catch (const Error&) {
      }
    before += std::string(static_cast<std::size_t>(std::ranges::count(lines, '\n')), '\n');
    lines.clear();
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const auto line = text.substr(begin, end - begin);
    begin = end;
    const bool mark = line.starts_with("---") && line.find_first_not_of("- \t\r\n") == line.npos;
    if (mark) end_document();
    lines += mark ? "\n" : std::string(line);
  }
  end_document();
  return documents;
}

}  // namespace

std::optional<std::string> script_in_cluster_file(const Value& document) {
  std::optional<InnerScript> inner;
  if (is_object(document))
    take_object(document, inner);
  else
    inner = script_of_task(document);
  if (!inner) return {};
  return with_lines(*inner);
}

std::optional<std::string> script_in_cluster_files(std::string_view text, const std::string& file) {
  if (text.find("\n---") == text.npos || text.find("apiVersion:") == text.npos) return {};
  std::optional<InnerScript> inner;
  const auto documents = documents_of(text, file);
  for (const auto& document : documents)
    if (is_object(document)) take_object(document, inner);
  if (!inner) return {};
  for (const auto& document : documents) take_mounted(document, *inner);
  return with_lines(*inner);
}

std::vector<std::vector<Value>> started_words(std::string_view text, const std::string& file) {
  std::optional<InnerScript> inner;
  auto documents = documents_of(text, file);
  std::erase_if(documents, [](const Value& one) { return !is_object(one); });
  for (const auto& document : documents) take_object(document, inner);
  std::vector<std::vector<Value>> found;
  for (const auto& document : documents)
    if (inner) find_words(document, inner->text, found);
  return found;
}

}  // namespace scenarios
