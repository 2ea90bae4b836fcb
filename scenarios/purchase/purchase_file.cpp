// SPDX-License-Identifier: Apache-2.0
#include "scenarios/purchase/purchase_file.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "scenarios/checks/checks.hpp"
#include "scenarios/document.hpp"
#include "scenarios/file_kind.hpp"
#include "scenarios/named.hpp"
#include "scenarios/purchase/purchase_keys.hpp"
#include "scenarios/purchase/purchase_parts.hpp"
#include "scenarios/read_placed.hpp"
#include "units/ceil_div.hpp"

namespace scenarios {
namespace {

using search::Purchase;
using search::PurchaseOption;
using search::Question;

constexpr double usual_gap = 0.02;
constexpr std::int64_t most_ranks = 1 << 30;  // no product of degrees is looked at beyond

struct PurchaseDraft {
  Purchase purchase;
  std::vector<Cursor> workloads, options;
  std::vector<std::string> clusters;  // paths, by option of the purchase
  std::optional<Cursor> search;
};

Form list_of(const std::vector<Field>& fields, std::string_view reason) {
  return {.type = Type::list, .range = {1, 1000, reason}, .forms = {map_of(fields)}};
}

// Takes the maps of a list; complains of items that are none.
void take_maps(std::vector<Cursor>& maps, const Cursor& list) {
  for (std::size_t i = 0; i < list.value().items.size(); ++i)
    if (check({.type = Type::map}, list.item(i))) maps.push_back(list.item(i));
}

const Table<PurchaseDraft>& purchase_table() {
  static const Table<PurchaseDraft> made{
      text<PurchaseDraft>("name", "A name for reports",
                          [](PurchaseDraft& d) -> std::string& { return d.purchase.name; }),
      {{"workload", "What is trained", "", map_of(workload_fields())},
       [](PurchaseDraft& d, const Cursor& at) { d.workloads.push_back(at); }},
      {{"workloads", "The same, several", "", list_of(workload_fields(), "workloads")},
       [](PurchaseDraft& d, const Cursor& at) { take_maps(d.workloads, at); }},
      {{"constraints", "What is allowed at most", "", map_of(constraint_fields())},
       [](PurchaseDraft& d, const Cursor& at) { read_constraints(d.purchase.constraints, at); }},
      {{"economics", "What money and energy cost", "", map_of(economics_fields())},
       [](PurchaseDraft& d, const Cursor& at) { read_economics(d.purchase.economics, at); }},
      {{"reliability", "How often things fail", "never", map_of(reliability_fields())},
       [](PurchaseDraft& d, const Cursor& at) { read_reliability(d.purchase.reliability, at); }},
      {{"options", "Clusters to choose from", "", list_of(option_fields(), "options")},
       [](PurchaseDraft& d, const Cursor& at) { take_maps(d.options, at); }},
      {{"search",
        "Limits of the search for plans, for every workload without its own",
        "gap 0.02",
        {.type = Type::map}},
       [](PurchaseDraft& d, const Cursor& at) { d.search = at; }}};
  return made;
}

// Tells the reading the currency of all money, wherever `economics` stands.
void tell_currency(const Cursor& root) {
  const auto economics = root.find("economics");
  const auto given = economics ? economics->find("currency") : std::nullopt;
  std::string word = given ? given->value().text : "";
  if (!is_currency(word)) word = search::Economics().currency;
  root.reading().set_money({word, "economics.currency is " + word});
}

std::string workload_name(const Cursor& workload) {
  const auto name = name_place(*workload.find("model"));
  return name ? name->value().text : "workload";
}

void read_workloads(PurchaseDraft& draft, const Cursor& root) {
  const bool one = root.find("workload").has_value(), several = root.find("workloads").has_value();
  if (one && several)
    root.complain_at("workloads", "both workload and workloads are given; keep one of them");
  if (!one && !several) root.missing("workload", "a purchase is for a workload, or for workloads");
  for (const auto& at : draft.workloads) {
    auto& workload = draft.purchase.workloads.emplace_back();
    read_workload(workload, at);
    require({"model", "training"}, "a workload needs model, training and tokens", at);
    if (const auto training = at.find("training"); !at.find("tokens"))
      if (!training || !read_tokens(workload, *training))
        require({"tokens"}, "a workload needs model, training and tokens", at);
    if (workload.name.empty() && at.find("model")) workload.name = workload_name(at);
  }
}

bool is_whole(const Cursor& workload) {
  return workload.find("model") && workload.find("training");
}

void check_workload(const search::Workload& workload, const Question& question, const Cursor& at) {
  const auto batch = question.scenario.training.global_batch;
  const auto wrong = less_than_a_step(workload.tokens, question.scenario.training);
  if (workload.tokens > 0 && !wrong.empty()) at.complain_at("tokens", wrong);
  if (workload.max_global_batch && *workload.max_global_batch < batch)
    at.complain_at("max_global_batch",
                   std::to_string(*workload.max_global_batch) + " is below training.global_batch " +
                       std::to_string(batch) + ", the smallest that is tried; give a larger one");
}

// The questions of all workloads on one cluster.
struct Joined {
  std::vector<Question> questions;
  // Complaints that the workloads' keys get here; the questions are there all the same.
  std::vector<Reading> set_aside;
  std::string no_plan;  // the first of them
};

// Joins workloads and clusters to questions; complaints about a question get the paths that its
// parts have in this file.
class Joining {
 public:
  Joining(PurchaseDraft& draft, Reading& reading, const std::string& file)
      : draft_(draft), reading_(reading), file_(file) {}

  // Joins all workloads to a cluster. What the cluster's own keys get is complained of.
  Joined joined(const Value& cluster, const std::string& path) {
    Joined all;
    for (std::size_t i = 0; i < draft_.workloads.size(); ++i) {
      const auto& workload = draft_.workloads[i];
      if (!is_whole(workload)) continue;
      if (auto question = this->question(workload, cluster, path, all)) {
        check_workload(draft_.purchase.workloads[i], *question, workload);
        all.questions.push_back(std::move(*question));
      }
    }
    return all;
  }

  // A workload's mistake if no option is without it; else the reason why it does not run on some.
  void judge(const std::vector<Joined>& options) {
    if (std::ranges::any_of(options, [](const Joined& one) { return one.set_aside.empty(); }))
      return;
    for (const auto& option : options)
      for (const auto& part : option.set_aside)
        reading_.adopt(part, [](const std::string& text) { return text; });
  }

 private:
  Value document_of(const Cursor& workload, const Value& cluster, const Value* limits) const {
    Value document;
    document.kind = Value::Kind::map;
    std::tie(document.line, document.column, document.set) =
        std::tuple(cluster.line, cluster.column, cluster.set);
    const auto add = [&](const std::string& name, const Value& value) {
      Value key;
      key.kind = Value::Kind::scalar;
      key.text = name;
      document.members.push_back({key, value});
    };
    for (const std::string name : {"model", "training", "software", "plan"})
      if (const auto* value = workload.value().find(name)) add(name, *value);
    if (limits != nullptr) add("search", *limits);
    add("cluster", cluster);
    return document;
  }

  // Returns the question of a workload on a cluster; nothing if the cluster is complained of.
  std::optional<Question> question(const Cursor& workload, const Value& cluster,
                                   const std::string& path, Joined& joined) {
    const auto own = workload.find("search");
    const auto limits = own ? own : draft_.search;
    const auto document = document_of(workload, cluster, limits ? &limits->value() : nullptr);
    Reading part(file_, reading_.base(), reading_);
    auto question = read_question(document, part);
    const auto of_cluster = [](const std::string& text) {
      return text.substr(0, text.find_first_of(".:")) == "cluster";
    };
    const auto renamed = [&](const std::string& text) {
      const auto section = text.substr(0, text.find_first_of(".:"));
      if (section == "cluster") return path + text.substr(section.size());
      if (section == "search") return (own ? workload.path() + "." : "") + text;
      return workload.path() + "." + text;
    };
    const auto complaints = part.complaints();
    if (std::ranges::any_of(complaints, of_cluster)) {
      reading_.adopt(part, renamed);
      return {};
    }
    if (!complaints.empty()) {
      joined.set_aside.emplace_back(file_, reading_.base(), reading_).adopt(part, renamed);
      if (joined.no_plan.empty()) joined.no_plan = renamed(complaints.front());
    }
    if (!limits || !limits->find("gap")) question.gap = usual_gap;
    if (question.objective.kind != search::Objective::Kind::step_time)
      limits->complain_at("objective",
                          "a purchase seeks the shortest step of each option; leave "
                          "it out");
    return question;
  }

  PurchaseDraft& draft_;
  Reading& reading_;
  const std::string& file_;
};

// Returns the fewest nodes within `counts` that the degrees which all plans of these questions must
// have divide; nothing if there are none.
std::optional<std::int64_t> divided_nodes(const std::vector<Question>& questions,
                                          const search::NodeCounts& counts) {
  std::int64_t gpus = 1;
  for (const auto& question : questions) {
    const auto& [space, node] = std::tie(question.space, question.scenario.cluster.node);
    std::int64_t ranks = 1;
    for (const auto* degree : {&space.tensor, &space.context, &space.pipeline, &space.data})
      if (degree->listed.size() == 1) ranks = std::min(most_ranks, ranks * degree->listed.front());
    gpus = std::min(most_ranks, std::lcm(gpus, std::lcm(ranks, std::int64_t{node.gpus})));
  }
  if (questions.empty()) return {};
  const auto each = gpus / questions.front().scenario.cluster.node.gpus;
  const auto nodes = units::ceil_div(counts.least, each) * each;
  if (gpus == most_ranks || nodes > counts.most.value_or(nodes)) return {};
  return nodes;
}

// Joins the workloads to the cluster. Where its number of nodes is to be found, and the workloads'
// plans do not go with the number that it was given, it takes one that they divide.
Joined joined_to(ClusterOption& option, const std::string& path, Joining& joining) {
  auto joined = joining.joined(option.value, path);
  if (joined.no_plan.empty() || !option.find) return joined;
  const auto nodes = divided_nodes(joined.questions, *option.find);
  if (!nodes) return joined;
  option.value.find("nodes")->text = std::to_string(*nodes);
  return joining.joined(option.value, path);
}

// Reads an option of the file, which becomes several if it lists numbers of nodes or fabrics.
void read_options(PurchaseDraft& draft, const Cursor& at, Joining& joining,
                  std::vector<Joined>& all) {
  OptionDraft read;
  read_option(read, at);
  require({"name", "cluster"}, "an option has a name and a cluster", at);
  check_payment(read, at);
  const auto cluster = at.find("cluster");
  if (!cluster || cluster->value().kind != Value::Kind::map) return;
  for (auto& each : clusters_of(*cluster, draft.purchase.constraints)) {
    auto one = read;
    one.option.find = each.find;
    one.option.name += each.suffix;
    auto joined = joined_to(each, cluster->path(), joining);
    if (joined.questions.empty()) continue;
    one.option.questions = joined.questions;
    one.option.no_plan = joined.no_plan;
    complete_option(one, draft.purchase.economics, at);
    draft.purchase.options.push_back(std::move(one.option));
    draft.clusters.push_back(cluster->path());
    all.push_back(std::move(joined));
  }
}

void check_names(const std::vector<Cursor>& options) {
  for (std::size_t i = 0; i < options.size(); ++i)
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const auto here = options[i].find("name"), there = options[earlier].find("name");
      if (here && there && here->value().text == there->value().text)
        here->complain("'" + here->value().text + "' is the name of two options; rename one");
    }
}

PurchaseDraft draft_of(const Value& document, Reading& reading, const std::string& file) {
  const Cursor root(document, "", reading);
  PurchaseDraft draft;
  if (document.kind != Value::Kind::map) {
    root.complain("expected a map with workload and options");
    return draft;
  }
  refuse_other_kind(document, FileKind::purchase, file);
  tell_currency(root);
  read_map(purchase_table(), draft, root);
  if (!root.find("options")) root.missing("options", "a purchase chooses among options");
  read_workloads(draft, root);
  check_names(draft.options);
  Joining joining(draft, reading, file);
  std::vector<Joined> joined;
  for (const auto& option : draft.options) read_options(draft, option, joining, joined);
  joining.judge(joined);
  return draft;
}

// Returns a reader of the purchase without its origin.
auto purchase_of(const std::string& file) {
  return [file](const Value& document, Reading& reading) {
    auto draft = draft_of(document, reading, file);
    PlacedPurchase placed{.value = std::move(draft.purchase),
                          .origin = {},
                          .clusters = std::move(draft.clusters),
                          .workloads = {}};
    for (const auto& at : draft.workloads) placed.workloads.push_back(at.path());
    return placed;
  };
}

}  // namespace

std::vector<Field> purchase_fields() { return fields_of(purchase_table()); }

PlacedPurchase load_placed_purchase(const Source& source, std::span<const std::string> sets) {
  auto placed = load_placed(source, sets, purchase_of(source.file.string()));
  placed.value.origin = std::move(placed.origin);
  return std::move(placed.value);
}

Complaint placed(const search::PurchaseRefusal& refused, const PlacedPurchase& purchase) {
  const std::string cluster = "cluster", search = "search.";
  const auto& workload = purchase.workloads.at(refused.workload);
  std::vector<std::string> keys;
  for (const auto& key : refused.why.keys)
    if (key.starts_with(cluster)) {
      keys.push_back(purchase.clusters.at(refused.option) + key.substr(cluster.size()));
    } else {
      keys.push_back(workload + '.' + key);
      if (key.starts_with(search)) keys.push_back(key);
    }
  return placed(strategies::Refusal(keys, refused.why.what()), purchase.origin);
}

}  // namespace scenarios
