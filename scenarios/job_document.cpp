// SPDX-License-Identifier: Apache-2.0
#include "scenarios/job_document.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "scenarios/document.hpp"
#include "scenarios/documents/edit.hpp"
#include "scenarios/file_kind.hpp"
#include "scenarios/frameworks/launch_script.hpp"
#include "scenarios/frameworks/looked.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/draft.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

// Lays the mapping `over` on top of `under`, down to `depth` levels of keys.
void lay_over(Value& under, const Value& over, int depth) {
  if (depth == 0 || under.kind != Value::Kind::map || over.kind != Value::Kind::map) {
    under = over;
    return;
  }
  for (const auto& member : over.members) {
    if (auto* found = under.find(member.key.text))
      lay_over(*found, member.value, depth - 1);
    else
      under.members.push_back(member);
  }
}

// Complains of keys that are given twice, of which laying over would keep one in silence.
void check_all_once(const Cursor& at) {
  for (const auto& member : at.value().members) {
    check_once(member, at);
    check_all_once(at.member(member));
  }
}

// Throws Error if a key of the document is given twice.
void refuse_repeated(const Value& document, const std::string& file,
                     const std::filesystem::path& base) {
  Reading probe(file, base);
  check_all_once(Cursor(document, "", probe));
  probe.throw_if_any();
}

struct NamedJob {
  std::string file;
  JobHints hints;
};

NamedJob job_of(const Value& value, const std::string& file, const JobHints& hints) {
  const auto wrong = [&](const Value& at, const std::string& text) {
    const Complaints places(file);
    return Error({{places.text_of({at.line, at.column, at.set}), "job: " + text}});
  };
  constexpr const char* expected =
      "expected a file, or {file: FILE, as: FRAMEWORK, env: {NAME: VALUE}}";
  NamedJob job{{}, hints};
  if (value.kind == Value::Kind::scalar) job.file = value.text;
  if (value.kind == Value::Kind::map)
    for (const auto& member : value.members) {
      const auto& key = member.key.text;
      if (key == "file" && member.value.kind == Value::Kind::scalar)
        job.file = member.value.text;
      else if (key == "as" && member.value.kind == Value::Kind::scalar)
        job.hints.as = hints.as.empty() ? member.value.text : hints.as;
      else if (key == "env" && member.value.kind == Value::Kind::map)
        for (const auto& one : member.value.members)
          job.hints.env.insert(job.hints.env.begin(), one.key.text + "=" + one.value.text);
      else
        throw wrong(member.key, expected);
    }
  if (job.file.empty()) throw wrong(value, expected);
  return job;
}

Value map_with(std::string_view key, Value value) {
  Value map;
  map.kind = Value::Kind::map;
  map.members.push_back({job_text(std::string(key)), std::move(value)});
  return map;
}

// Removes the keys that are left open from the job and from those that it must give.
void loosen_job(JobScenario& job, void (*loosen)(Value&)) {
  if (loosen == nullptr) return;
  loosen(job.document);
  constexpr std::string_view section = "plan";
  std::erase_if(job.wanted, [&](const WantedKey& one) {
    if (!one.path.starts_with("plan.")) return false;
    const auto key = one.path.substr(section.size() + 1);
    auto probe = map_with(section, map_with(key, job_whole(1)));
    loosen(probe);
    const auto* plan = probe.find(section);
    return plan == nullptr || plan->find(key) == nullptr;
  });
}

[[noreturn]] void refuse_unknown(const Place& at, std::string_view text, const std::string& file) {
  const auto foreign = foreign_framework(text);
  throw Error({{Complaints(file).text_of(at),
                (foreign.empty() ? "this is neither a scenario nor a job of a framework that is "
                                   "known"
                                 : "it is " + std::string(foreign)) +
                    "; " + expected_jobs()}});
}

// Refuses a document that has none of a scenario's sections except perhaps a model, or no sections
// at all: it is another program's.
void refuse_other_document(const Value& document, std::string_view text, const std::string& file) {
  constexpr std::array<std::string_view, 9> own{
      "cluster", "training", "plan", "software", "name", "search", "alerts", "published", "job"};
  const bool map = document.kind == Value::Kind::map;
  if (map && document.members.empty()) return;
  constexpr std::size_t enough = 2;  // keys of nobody, which are no mistype of one
  std::vector<std::string> others;
  const auto foreign = foreign_framework(text);
  for (const auto& member : document.members) {
    const bool is_name = std::string_view(member.key.text) == "name";  // which others have, too
    if (is_name && !foreign.empty()) continue;
    if (std::ranges::find(own, member.key.text) != own.end()) return;
    if (member.key.text != "model") others.push_back(member.key.text);
  }
  if (map && others.size() < enough && foreign.empty()) return;
  const auto& first = map ? document.members.front().key : document;
  if (document.find("model_type") != nullptr && document.find("architectures") != nullptr)
    throw Error({{Complaints(file).text_of({first.line, first.column, 0}),
                  "this is a model of Hugging Face, without a job: write model: {huggingface: " +
                      file + "} into a scenario, or add --set model.huggingface=" + file +
                      " to a job; `stepcast import huggingface " + file + "` shows its sizes"}});
  refuse_unknown({first.line, first.column, 0}, text, file);
}

// Accounts for variables of the command line that no file of the job has, so that their values
// change nothing.
void account_unused(JobAccount& account, const JobHints& hints, std::string_view text,
                    const Texts& texts) {
  // These variables count even if no file has them.
  constexpr std::array<std::string_view, 3> known{"WORLD_SIZE", "NNODES", "NPROC_PER_NODE"};
  for (const auto& setting : hints.env) {
    const auto name = std::string_view(setting).substr(0, setting.find('='));
    const bool argument = name.find_first_not_of("0123456789") == name.npos;
    if (argument || std::ranges::find(known, name) != known.end()) continue;
    if (!has_word(text, name) &&
        !texts.any([&](std::string_view one) { return has_word(one, name); }))
      account.arguments.push_back({"--env " + setting,
                                   "the command line",
                                   Effect::unknown,
                                   {},
                                   "no file of the job has a variable of this name"});
  }
}

// Names the model's file from the scenario's folder: the job names it from its own.
void place_config(Value& document, const std::filesystem::path& folder) {
  auto* model = document.find("model");
  auto* config = model == nullptr ? nullptr : model->find("huggingface");
  if (config != nullptr) config->text = (folder / config->text).lexically_normal().string();
}

}  // namespace

JobFiles files_beside(Texts& texts, const std::filesystem::path& folder) {
  return [&texts, folder](const std::string& name) -> std::optional<std::string> {
    const auto path = (folder / name).lexically_normal();
    std::error_code wrong;
    if (!std::filesystem::is_regular_file(path, wrong)) return {};
    return texts.of(path);
  };
}

OpenedDocument open_document(std::string_view text, const std::string& file,
                             const std::filesystem::path& base, const JobHints& hints, Texts& texts,
                             void (*loosen)(Value&)) {
  if (auto job = read_job(text, file, hints, files_beside(texts, base))) {
    loosen_job(*job, loosen);
    account_unused(job->account, hints, text, texts);
    return {std::move(job->document), std::move(job->account), std::move(job->wanted)};
  }
  if (has_script_name(file)) refuse_unknown({1, 1, 0}, text, file);
  auto document = parse_yaml(text, file);
  refuse_other_kind(document, FileKind::scenario, file);
  if (document.find("job") == nullptr) refuse_other_document(document, text, file);
  return open_document(std::move(document), file, base, hints, texts, loosen);
}

OpenedDocument open_document(Value document, const std::string& file,
                             const std::filesystem::path& base, const JobHints& hints, Texts& texts,
                             void (*loosen)(Value&)) {
  const auto* named = document.find("job");
  if (named == nullptr) return {std::move(document), {}, {}};
  refuse_repeated(document, file, base);
  const auto asked = job_of(*named, file, hints);
  const auto path = base / asked.file;
  const auto read = [&](const JobHints& told) {
    return read_job(texts.of(path), path.string(), told, files_beside(texts, path.parent_path()));
  };
  auto job = read_under(asked.hints, {}, document, base, read);
  if (!job)
    throw Error({{Complaints(path.string()).text_of({}),
                  "this is no job that is known; add as: FRAMEWORK beside its "
                  "name"}});
  loosen_job(*job, loosen);
  account_unused(job->account, hints, texts.of(path), texts);
  place_config(job->document, std::filesystem::path(asked.file).parent_path());
  stand_at(job->document, {named->line, named->column, 0});
  for (auto& wanted : job->wanted) wanted.at = {named->line, named->column, 0};
  std::erase_if(document.members, [](const Member& member) { return member.key.text == "job"; });
  constexpr int sections_and_keys = 2;
  lay_over(job->document, document, sections_and_keys);
  return {std::move(job->document), std::move(job->account), std::move(job->wanted),
          std::move(document)};
}

bool says(const Value& document, std::string_view path) {
  const auto dot = path.find('.');
  const auto* section = document.find(path.substr(0, dot));
  if (section == nullptr || dot == path.npos) return section != nullptr;
  if (section->kind != Value::Kind::map || section->find("base") || section->find("huggingface"))
    return true;
  const auto key = path.substr(dot + 1);
  if (section->find(key) != nullptr) return true;
  const auto* node = section->find("node");
  const bool listed = node != nullptr && node->kind == Value::Kind::list;
  return key == "nodes" && (section->find("gpus") != nullptr || listed);
}

Value values_of(std::span<const std::string> sets, const std::filesystem::path& folder) {
  Value values;
  values.kind = Value::Kind::map;
  Reading probe("", folder);  // the reader of the scenario tells what is wrong with `sets`
  apply_sets(values, sets, probe);
  return values;
}

OpenedDocument open_first(const Opening& opening, std::span<const std::string> sets) {
  return read_under(opening.hints, values_of(sets, opening.folder), {}, opening.folder,
                    opening.under);
}

void read_again(OpenedDocument& opened, const Opening& opening, std::span<const std::string> sets,
                Reading& reading) {
  if (!opened.job || reading.complains()) return;
  const auto again = over_job(opening.hints, opened.document, opened.over, opening.folder);
  if (!again) return;
  try {
    auto second = opening.under(*again);
    apply_sets(second.document, sets, reading);
    opened = std::move(second);
  } catch (const Error&) {
    // The first reading stays, unless it lacks what only the second could say.
    if (std::ranges::any_of(opened.wanted, [&](const WantedKey& wanted) {
          return !says(opened.document, wanted.path);
        }))
      throw;
  }
}

Value open_base(const std::filesystem::path& file, Reading& reading) {
  const auto& text = reading.texts().of(file);
  const Opening opening{file.parent_path(), {}, [&](const JobHints& hints) {
                          return open_document(text, file.string(), file.parent_path(), hints,
                                               reading.texts());
                        }};
  auto opened = opening.under({});
  read_again(opened, opening, {}, reading);
  if (opened.job) settle_size(opened.document);
  return std::move(opened.document);
}

void complete_from_job(OpenedDocument& opened, Reading& reading) {
  if (!opened.job) return;
  settle_size(opened.document);
  for (const auto& wanted : opened.wanted) {
    if (says(opened.document, wanted.path)) continue;
    Value at;
    at.line = static_cast<int>(wanted.at.line);
    at.column = static_cast<int>(wanted.at.column);
    reading.complain(at, {{}, wanted.path + ": " + wanted.text});
  }
  // The reader then tells all other mistakes of the scenario at once.
  if (reading.complains()) check(map_of(scenario_fields()), Cursor(opened.document, "", reading));
  reading.throw_if_any();
}

}  // namespace scenarios
