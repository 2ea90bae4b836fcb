// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <ostream>

#include "app/command.hpp"
#include "forecast/unused_tables.hpp"
#include "report/catalog.hpp"
#include "report/fabric.hpp"
#include "report/job.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/foreign/huggingface.hpp"
#include "scenarios/foreign/nccl_tests.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "scenarios/job_file.hpp"
#include "scenarios/jobs/scenario_text.hpp"
#include "scenarios/measured/measured_fabric.hpp"
#include "scenarios/scenario_file.hpp"

namespace app {

int import_huggingface(const std::string& file, const Common& common, Streams streams) {
  Outputs(common).spare({file});
  std::vector<std::string> defaulted;
  const auto model = scenarios::load_huggingface(file, &defaulted);
  if (!common.quiet)
    for (const auto& field : defaulted) streams.err << "assumed: " << field << '\n';
  deliver(common.json ? report::model_json(model) : report::model_yaml(model), common, streams);
  return success;
}

int import_job(const std::string& framework, const std::string& file, const Common& common,
               Streams streams) {
  const auto frameworks = scenarios::job_frameworks();
  if (std::ranges::find(frameworks, framework.substr(0, framework.find('@'))) == frameworks.end())
    throw Mistake("import " + framework + ": unknown format; expected huggingface, nccl-tests or " +
                  scenarios::listed(frameworks));
  Outputs(common).spare({file});
  auto hints = common.job;
  if (!hints.as.empty() && hints.as != framework)
    throw Mistake("import " + framework + ": --as says " + hints.as +
                  "; write the framework once, as import " + hints.as);
  hints.as = framework;
  const auto job = scenarios::load_job(file, common.sets, hints);
  if (!common.quiet) streams.err << report::job_text(job.account, {});
  deliver(common.json ? report::job_json(job) : scenarios::scenario_text(job), common, streams);
  return success;
}

int import_nccl_tests(const std::string& file, const std::string& into, const Common& common,
                      Streams streams) {
  const Outputs outputs(common);
  outputs.spare({file});
  const auto fabric = scenarios::load_nccl_tests(file, scenarios::nccl_tests_hints(common.sets));
  if (!into.empty()) {
    if (common.json) throw Mistake("import --into writes a scenario (YAML); leave out --json");
    outputs.spare({into});
    const auto with = scenarios::with_measured_fabric(into, fabric);
    const auto scenario =
        scenarios::read_scenario(with, into, {}, std::filesystem::path(into).parent_path());
    for (const auto& doubtful : scenarios::doubtful_rows(scenario.cluster))
      warn(doubtful, common, streams);
    for (const auto& unused : forecast::unused_tables(scenario)) warn(unused, common, streams);
    deliver(with, common, streams);
    return success;
  }
  if (!(fabric.link_bandwidth.value > 0))
    throw Mistake(file +
                  ": every test is of one node, and measures the links inside of it (NVLink), no "
                  "network; lay its table over the machine of a scenario with --into SCENARIO, or "
                  "run the tests over two nodes or more");
  deliver(common.json ? report::fabric_json(fabric) : report::fabric_yaml(fabric, file), common,
          streams);
  return success;
}

}  // namespace app
