// SPDX-License-Identifier: Apache-2.0
#include "report/purchase/purchase.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <ostream>

#include "app/command.hpp"
#include "app/corrections.hpp"
#include "app/headway.hpp"
#include "app/parallel.hpp"
#include "app/stopping.hpp"
#include "report/launch/framework_limits.hpp"
#include "report/page/page.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/purchase/purchase_file.hpp"

namespace app {
namespace {

// Each search has its own limit of time; Ctrl-C ends the one that runs and all that follow.
class Searches {
 public:
  explicit Searches(const Common& common)
      : caller_(common.caller), telling_(common.caller, {}), threads_(threads_of(common)) {}

  // The option whose plans are looked for from now on.
  void begin(std::size_t i, std::size_t n, const std::string& name) {
    option_ = {"plans for " + name,
               {{"options_done", static_cast<double>(i)}, {"options", static_cast<double>(n)}}};
    telling_.say(option_);
  }

  search::Answer operator()(const search::Question& question) {
    if (stopped_) return {.interrupted = true};
    const Stopping stopping(question.time_limit, caller_);
    search::Options options{.top = 1, .stop = &stopping.flag()};
    options.for_each = [this](std::size_t count, const std::function<void(std::size_t)>& work) {
      for_each_index(count, threads_, work);
    };
    if (telling_.wanted())
      options.progress = [this](const search::Progress& progress) {
        telling_([&] { return with(headway_of(progress)); });
      };
    auto answer = search::search(question, options);
    stopped_ = stopping.by_user();
    return answer;
  }
  bool stopped() const { return stopped_; }

 private:
  Headway with(const Headway& searched) const {
    auto both = option_;
    both.text += ": " + searched.text;
    both.figures.insert(both.figures.end(), searched.figures.begin(), searched.figures.end());
    return both;
  }

  const Caller* caller_;
  Headway option_;
  Telling telling_;
  unsigned threads_;
  bool stopped_ = false;
};

void warn_purchase(const search::Purchase& purchase, const search::Decision& decision,
                   const Common& common, Streams streams) {
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    for (const auto& plan : decision.options[i].found.workloads) {
      for (const auto& warning : plan.forecast.warnings)
        warn(purchase.options[i].name + ": " + warning, common, streams);
      if (const auto text = report::not_run_words(plan.scenario); !text.empty())
        warn(purchase.options[i].name + ": " + text, common, streams);
    }
}

search::Decision decided(const scenarios::PlacedPurchase& read, const search::Purchasing& how) {
  try {
    return search::decide(read.value, how);
  } catch (const search::PurchaseRefused& refused) {
    std::vector<scenarios::Complaint> complaints;  // what a workload says, options share
    for (const auto& one : refused.all)
      if (const auto said = scenarios::placed(one, read);
          std::ranges::find(complaints, said) == complaints.end())
        complaints.push_back(said);
    throw scenarios::Error(complaints);
  }
}

}  // namespace

int purchase(const std::string& file, const Common& common, Streams streams) {
  check_report_name(common.report);
  const Outputs outputs(common);
  const auto read = scenarios::load_placed_purchase(source_of(file, common.caller), common.sets);
  outputs.spare(read.origin.read);
  const auto correcting = load_correcting(common, outputs, streams);
  const auto began = std::chrono::steady_clock::now();
  Searches searches(common);
  search::Purchasing how{.solve = std::ref(searches), .intervals = scenarios::catalog_intervals()};
  if (correcting) how.corrections = correcting->corrections;
  const bool shows = streams.err_terminal && !common.quiet;
  if (shows)
    how.progress = [&](std::size_t i, std::size_t n, const std::string& name) {
      streams.err << "\r\x1b[K" << i + 1 << " of " << n << ": plans for " << name << std::flush;
    };
  if (common.caller != nullptr && common.caller->progress)
    how.progress = std::bind_front(&Searches::begin, &searches);
  const auto decision = decided(read, how);
  const auto& asked = decision.purchase;
  if (shows) streams.err << "\r\x1b[K" << std::flush;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

  warn_purchase(asked, decision, common, streams);
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  const auto document = report::purchase_json(asked, decision, STEPCAST_VERSION, {took.count()});
  if (!common.report.empty()) write_report(common, report::purchase_page(document));
  if (common.caller != nullptr)
    common.caller->page = [document] { return report::purchase_page(document); };
  deliver(common.json ? document : report::purchase_text(asked, decision, options), common,
          streams);
  if (searches.stopped()) return interrupted;
  if (decision.recommended) return success;
  streams.err << "stepcast: " << report::recommendation_words(asked, decision) << '\n';
  return no_answer;
}

}  // namespace app
