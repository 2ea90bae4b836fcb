// SPDX-License-Identifier: Apache-2.0
#include "app/commands.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/manual.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/frameworks/read_job.hpp"

namespace app {

void add_common(CLI::App& command, Common& common) {
  command
      .add_option("--set", common.sets,
                  "Override one value of the YAML document: path.to.key=value (repeatable)")
      ->allow_extra_args(false);
  command.add_flag("--json", common.json, "Print one JSON document on standard output");
  command.add_option("--output", common.output, "Write the answer to FILE")->type_name("FILE");
  command
      .add_option("--threads", common.threads,
                  "Threads to use where work is parallel (0, the default: one for each core)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  command.add_flag("--quiet", common.quiet, "No warnings and no progress on standard error");
}

void add_job(CLI::App& command, Common& common) {
  command
      .add_option("--as", common.job.as,
                  "The scenario is a job of this framework, such as megatron@core_v0.12: " +
                      scenarios::listed(scenarios::job_frameworks()) +
                      " (default: recognised by content)")
      ->type_name("FRAMEWORK[@VERSION]");
  command
      .add_option("--env", common.job.env,
                  "Value of a variable that the job's file uses: NAME=VALUE (repeatable); "
                  "WORLD_SIZE is the number of GPUs")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  CLI::Validator check = CLI::IsMember(words);
  check.operation([words](std::string& given) -> std::string {
    if (std::ranges::find(words, given) != words.end()) return {};
    const std::vector<std::string_view> known(words.begin(), words.end());
    return "unknown value '" + given + "'; expected " + (words.size() > 1 ? "one of " : "") +
           scenarios::listed(known) + scenarios::suggestion(given, known);
  });
  return check;
}

void add_emission(CLI::App& command, Emission& emission, const std::string& what) {
  command
      .add_option("--emit", emission.framework,
                  "Print " + what +
                      " as launch configuration of megatron, deepspeed, torchtitan or nanotron "
                      "instead")
      ->check(one_of({"megatron", "deepspeed", "torchtitan", "nanotron"}))
      ->type_name("FRAMEWORK");
  command
      .add_option("--emit-to", emission.folder,
                  "Answer as usual, and write into FOLDER all files that the framework of --emit "
                  "starts from; without --emit, of a job: its file with " +
                      what + ", and the change as a unified diff")
      ->type_name("FOLDER");
  command
      .add_flag("--diff", emission.diff,
                "Of a job: print the change that makes it run " + what + " as a unified diff")
      ->excludes(command.get_option("--emit"));
}

CLI::Option* add_corrections(CLI::App& command, Common& common) {
  return command
      .add_option("--corrections", common.corrections,
                  "Correct step times by the measured steps of FILE (YAML): a list of {scenario, "
                  "measured}")
      ->type_name("FILE");
}

void add_report(CLI::App& command, Common& common, const std::string& what) {
  command
      .add_option("--report", common.report,
                  "Write a page that a browser opens from the disk: " + what)
      ->type_name("FILE.html");
}

void add_purchase(CLI::App& program, Common& common, Action& action) {
  auto file = std::make_shared<std::string>();
  auto* command = program.add_subcommand(
      "purchase", "Choose which cluster to buy or rent for a workload, a deadline and a budget");
  command->add_option("purchase", *file, "Purchase file (YAML): workload, options, what they cost")
      ->required();
  add_common(*command, common);
  add_corrections(*command, common);
  add_report(*command, common, "options, money, what would change the choice");
  command->footer(
      "Exit status 1: no option keeps to all limits.\n"
      "Example:\n  stepcast purchase scenarios/examples/purchase-llama3-70b.yaml "
      "--set 'constraints.deadline=120 days'");
  command->callback([file, &common, &action] {
    action = [file, &common](Streams streams) { return purchase(*file, common, streams); };
  });
}

void add_trace_command(CLI::App& program, Common& common, Action& action) {
  struct Asked {
    std::string file, against;
  };
  auto asked = std::make_shared<Asked>();
  auto* command = program.add_subcommand(
      "trace", "Break down a real run's trace of PyTorch's profiler as a forecast is");
  command
      ->add_option("file", asked->file,
                   "What export_chrome_trace wrote for one rank (.json or .json.gz), or a snapshot "
                   "of its memory (torch.cuda.memory._dump_snapshot): .pickle or .pickle.gz")
      ->required();
  command->add_option("--against", asked->against, "Forecast this scenario beside it")
      ->type_name("SCENARIO");
  add_common(*command, common);
  add_job(*command, common);
  command->footer(
      "Times are of the median step; offload_s of --json is what the text calls copies. A trace of "
      "another run than the scenario of --against is not compared. At most 4 GiB once unpacked, 20 "
      "million kernels and 1 million steps.\n"
      "Example:\n  stepcast trace rank0.pt.trace.json.gz --against my-run.yaml");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) {
      return trace(asked->file, asked->against, common, streams);
    };
  });
}

void add_explain(CLI::App& program, Common& common, Action& action) {
  auto asked = std::make_shared<ExplainRequest>();
  auto* command = program.add_subcommand(
      "explain", "Say why a run was slower than its forecast: suspects with seconds and evidence");
  command
      ->add_option("scenario", asked->file,
                   "Scenario file (YAML) of what ran, or a job of a framework")
      ->required();
  command->add_option("--measured", asked->measured, "Time that its step took, such as 14s")
      ->type_name("TIME");
  command
      ->add_option("--trace", asked->trace,
                   "What PyTorch's profiler wrote for one rank (.json or .json.gz), or a folder "
                   "with such a file for each of several ranks; their clocks need not agree")
      ->type_name("FILE|FOLDER");
  add_common(*command, common);
  add_job(*command, common);
  command->footer(
      "Exit status 1: the trace is not of this scenario.\n"
      "Example:\n  stepcast explain my-run.yaml --measured 14s --trace traces/");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) { return explain(*asked, common, streams); };
  });
}

void add_validate(CLI::App& program, Common& common, Action& action) {
  auto asked = std::make_shared<ValidateRequest>();
  auto* command =
      program.add_subcommand("validate", "Forecast published runs and compare, row by row");
  command->add_option("datasets", asked->datasets,
                      "Data sets (default: all training runs); 'collectives' [TABLE…]: measured "
                      "collectives instead; 'search' [DATASET…]: their plans, where tuned, beside "
                      "those found; 'corrections': each run corrected by others of its set");
  command->add_option("--data", asked->folder, "Folder of published runs")->type_name("FOLDER");
  command->add_option("--report", asked->page, "Write a page with plots and tables (HTML)")
      ->type_name("FILE");
  command
      ->add_option("--intervals", asked->intervals,
                   "Write the quantiles of what forecasts were off by: the program carries "
                   "scenarios/catalog/intervals.yaml")
      ->type_name("FILE");
  command
      ->add_option("--likeness", asked->similarity,
                   "With `corrections`: write how alike forecasts err: the program carries "
                   "scenarios/catalog/likeness.yaml")
      ->type_name("FILE");
  add_common(*command, common);
  command->footer("Example:\n  stepcast validate megatron_sc21_table1 korthikanti2022_table5");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) { return validate(*asked, common, streams); };
  });
}

void add_calibrate(CLI::App& program, Common& common, Action& action) {
  auto asked = std::make_shared<CalibrationRequest>();
  auto* command = program.add_subcommand(
      "calibrate", "Fit the cost model's parameters to measurements and write catalog files");
  command
      ->add_option("--parameters", asked->parameters,
                   "What is fitted to what (default: scenarios/calibration.yaml)")
      ->type_name("FILE");
  command->add_option("--data", asked->data, "Folder of published runs")->type_name("FOLDER");
  command->add_flag("--only-print", asked->only_print, "Write no files");
  command
      ->add_option("--catalog", asked->catalog,
                   "Folder that files are written to (default: scenarios/catalog; with --kernels "
                   "this one)")
      ->type_name("FOLDER");
  auto* kernels = command
                      ->add_option("--kernels", asked->kernels,
                                   "Make a device entry from this table of measured kernels "
                                   "(tools/measure_kernels.py) instead")
                      ->type_name("CSV");
  command->add_option("--name", asked->name, "Name of that device")->needs(kernels);
  command->add_option("--base", asked->base, "Device of the catalog that the rest is taken from")
      ->needs(kernels);
  add_common(*command, common);
  command->footer(
      "Examples:\n  stepcast calibrate --only-print\n"
      "  stepcast calibrate --kernels my_gpu.csv --name my-gpu --base h100-80gb-sxm");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) {
      return asked->kernels.empty() ? calibrate(*asked, common, streams)
                                    : calibrate_kernels(*asked, common, streams);
    };
  });
}

void add_catalog(CLI::App& program, Common& common, Action& action) {
  struct Asked {
    std::string kind, name, schema = "scenario";
    FabricSize size;
  };
  auto asked = std::make_shared<Asked>();
  auto* command = program.add_subcommand(
      "catalog", "Models, devices, nodes, fabrics and software profiles that can be named");
  command->require_subcommand(0, 1);
  add_common(*command, common);
  auto* list = command->add_subcommand("list", "List names");
  list->add_option("kind", asked->kind, "model, device, node, fabric or software");
  auto* show = command->add_subcommand("show", "Show one entry with its sources");
  show->add_option("kind", asked->kind, "model, device, node, fabric or software")->required();
  show->add_option("name", asked->name, "Its name")->required();
  show->add_option("--nodes", asked->size.nodes, "A fabric is shown for so many nodes")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  show->add_option("--node", asked->size.node, "and nodes of this name");
  auto* schema = command->add_subcommand("schema", "Print the JSON Schema of a kind of file");
  schema->add_option("file", asked->schema, "scenario, sweep, purchase or corrections")
      ->check(one_of({"scenario", "sweep", "purchase", "corrections"}))
      ->capture_default_str();
  for (auto* sub : {list, show, schema}) add_common(*sub, common);
  command->footer("Example:\n  stepcast catalog show model gpt3-175b --json");
  command->callback([asked, show, schema, &common, &action] {
    action = [asked, shows = show->parsed(), schemas = schema->parsed(), &common](Streams streams) {
      refuse_sets(common, "entries of the catalog are shown as they are");
      if (shows) return catalog_show(asked->kind, asked->name, asked->size, common, streams);
      if (schemas) return catalog_schema(asked->schema, common, streams);
      return catalog_list(asked->kind, common, streams);
    };
  });
}

void add_import(CLI::App& program, Common& common, Action& action) {
  struct Asked {
    std::string format, file, into;
  };
  auto asked = std::make_shared<Asked>();
  auto* command = program.add_subcommand(
      "import", "Turn another tool's file into a catalog entry, or a job into a scenario");
  command
      ->add_option("format", asked->format,
                   "huggingface, nccl-tests, " + scenarios::listed(scenarios::job_frameworks()))
      ->required();
  command
      ->add_option("file", asked->file,
                   "A config.json; what all_reduce_perf and the like print (also of rccl-tests); "
                   "or a job of that framework, which becomes a scenario")
      ->required();
  command
      ->add_option(
          "--into", asked->into,
          "With nccl-tests: print this scenario with the measurements over its fabric; what "
          "a log leaves out is said by --set ranks=16,nodes=2,collective=all_reduce")
      ->type_name("SCENARIO");
  add_common(*command, common);
  add_job(*command, common);
  command->footer("Example:\n  stepcast import huggingface config.json > my-model.yaml");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) {
      if (asked->format == "nccl-tests") {
        refuse_env(common, asked->file, false);
        return import_nccl_tests(asked->file, asked->into, common, streams);
      }
      if (!asked->into.empty()) throw Mistake("import --into is for nccl-tests");
      if (asked->format == "huggingface") {
        refuse_sets(common, "change those of the entry that is printed");
        refuse_env(common, asked->file, false);
        return import_huggingface(asked->file, common, streams);
      }
      return import_job(asked->format, asked->file, common, streams);
    };
  });
}

// Adds the commands that print the completion script and the manual page of all commands.
void add_manual(CLI::App& program, Common& common, Action& action) {
  auto shell = std::make_shared<std::string>();
  auto* complete =
      program.add_subcommand("completion", "Print a completion script for bash, zsh or fish");
  complete->add_option("shell", *shell, "bash, zsh or fish")->required();
  complete->footer("Example:\n  source <(stepcast completion bash)");
  complete->callback([shell, &program, &common, &action] {
    action = [shell, &program, &common](Streams streams) {
      deliver(completion(program, *shell), common, streams);
      return success;
    };
  });
  auto* man = program.add_subcommand("man", "Print the manual page");
  man->footer("Example:\n  stepcast man | man -l -");
  man->callback([&program, &common, &action] {
    action = [&program, &common](Streams streams) {
      deliver(man_page(program, STEPCAST_VERSION), common, streams);
      return success;
    };
  });
}

}  // namespace app
