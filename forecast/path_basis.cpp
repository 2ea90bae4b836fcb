// SPDX-License-Identifier: Apache-2.0
#include "forecast/path_basis.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "strategies/activity.hpp"

namespace forecast {

using sim::Picoseconds;
using strategies::CostQuery;
using topology::Evidence;

std::string_view to_text(Priced kind) {
  constexpr std::array<std::string_view, priced_kinds> texts{
      "products", "attention", "experts", "element_wise", "collectives", "messages", "host"};
  return texts[static_cast<std::size_t>(kind)];
}

ByEvidence Basis::total() const {
  ByEvidence sum{};
  for (const auto& kind : of)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += kind[i];
  return sum;
}

namespace {

Priced kind_of(const CostQuery& question) {
  if (!question.kernel) return Priced::collectives;
  if (question.kernel->kind == units::Kernel::Kind::attention) return Priced::attention;
  return question.kernel->grouped ? Priced::experts : Priced::products;
}

// The time of the path by question; time that answers no question, by its kind.
struct Account {
  std::vector<Picoseconds> asked;  // by number
  std::array<Picoseconds, priced_kinds> others{};

  void add(std::uint32_t number, Priced other, Picoseconds time) {
    (number != 0 ? asked[number] : others[static_cast<std::size_t>(other)]) += time;
  }
};

// Shares the time that a pass took on an activity among its steps on it. The ends of the shares are
// rounded, so that they sum to the time.
void share_out(const sim::Template& body, sim::Activity activity, Picoseconds time,
               Account& account) {
  const auto on = [&](const sim::Step& step) { return step.activity == activity; };
  double all = 0, so_far = 0;
  for (const auto& step : body.steps)
    if (on(step)) all += static_cast<double>(step.duration);
  if (!(all > 0)) return account.add(0, Priced::host, time);
  Picoseconds shared = 0;
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    const auto& step = body.steps[i];
    if (!on(step)) continue;
    so_far += static_cast<double>(step.duration);
    const auto end = static_cast<Picoseconds>(static_cast<double>(time) * (so_far / all) + 0.5);
    const auto number = i < body.asked.size() ? body.asked[i] : 0;
    const bool computes = step.lane == sim::Lane::compute;
    account.add(number, computes ? Priced::element_wise : Priced::collectives, end - shared);
    shared = end;
  }
  account.add(0, Priced::host, time - shared);
}

void add_passes(const sim::Program& program, const sim::Waits& waits, Account& account) {
  for (std::size_t body = 0; body < waits.in_passes.size(); ++body) {
    const auto& spent = waits.in_passes[body];
    account.add(0, Priced::host, spent.host + spent.idle);
    for (sim::Activity activity = 0; activity < sim::activities; ++activity)
      if (spent.on[activity] != 0)
        share_out(program.templates()[body], activity, spent.on[activity], account);
  }
}

void add_others(const sim::Program& program, const sim::Waits& waits, Account& account) {
  const auto& names = program.asked();
  for (const auto& [event, start, end] : waits.critical_path) {
    if (event == sim::no_event) {
      account.add(0, Priced::host, end - start);
      continue;
    }
    const auto index = waits.op_of[static_cast<std::size_t>(event)];
    const auto& op = program.ops()[index];
    if (op.kind == sim::Op::Kind::pass) continue;
    if (op.kind != sim::Op::Kind::collective) {
      account.add(0, Priced::messages, end - start);
      continue;
    }
    using Name = std::pair<sim::OpId, std::uint32_t>;
    const auto name = std::ranges::lower_bound(names, sim::OpId{index}, {}, &Name::first);
    const auto number = name != names.end() && name->first == sim::OpId{index} ? name->second : 0;
    account.add(number, sim::is_host_side(op.lane) ? Priced::host : Priced::collectives,
                end - start);
  }
}

// Questions that one measurement answers are alike in this.
auto measurement_of(const CostQuery& question) {
  const auto kernel = question.kernel.value_or(units::Kernel{});
  return std::tuple(kind_of(question), kernel.layout, kernel.precision, kernel.causal, kernel.fused,
                    kernel.batch, kernel.m, kernel.n, kernel.k, question.gpu.kind,
                    question.collective, question.size.value, question.group, question.stands_in);
}

// Returns the measurements whose work takes time of the path, each once, by the first question that
// it answers.
std::vector<Wanted> measurements_of(const strategies::CostQueries& questions,
                                    const Account& account) {
  std::vector<Wanted> all;
  std::map<decltype(measurement_of(CostQuery{})), std::size_t> known;
  for (std::uint32_t number = 1; number < account.asked.size(); ++number) {
    const auto time = account.asked[number];
    if (time == 0) continue;
    const auto& question = questions[number];
    const auto [found, fresh] = known.try_emplace(measurement_of(question), all.size());
    if (fresh) all.push_back({question, kind_of(question), {}, 0});
    all[found->second].time_ps += time;
  }
  return all;
}

}  // namespace

Basis basis_of(const sim::Program& program, const sim::Waits& waits,
               const strategies::CostQueries& questions, const EvidenceOf& evidence_of) {
  Account account;
  account.asked.resize(questions.count() + 1);
  add_passes(program, waits, account);
  add_others(program, waits, account);
  Basis basis;
  const auto of = [&](Priced kind, Evidence evidence) -> std::int64_t& {
    return basis.of[static_cast<std::size_t>(kind)][static_cast<std::size_t>(evidence)];
  };
  for (std::size_t kind = 0; kind < priced_kinds; ++kind)
    of(static_cast<Priced>(kind), Evidence::physics) = account.others[kind];
  auto& wanted = basis.wanted;
  for (auto& one : measurements_of(questions, account)) {
    one.evidence = evidence_of(one.question);
    of(one.kind, one.evidence) += one.time_ps;
    if (one.evidence >= Evidence::scaled) wanted.push_back(one);
  }
  std::ranges::stable_sort(wanted, std::ranges::greater(), &Wanted::time_ps);
  if (wanted.size() > most_wanted) wanted.resize(most_wanted);
  return basis;
}

}  // namespace forecast
