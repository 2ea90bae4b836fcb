// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/launcher.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/trainer_launch.hpp"

namespace scenarios {
namespace {

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data(), end, number);
  constexpr std::int64_t most = 10'000'000;
  if (wrong != std::errc() || stop != end || number < 1 || number > most) return {};
  return number;
}

// Returns the largest number of nodes in "1:4", "2-4" or "4".
std::optional<std::int64_t> most_nodes_in(std::string_view text) {
  const auto between = text.find_first_of(":-");
  if (between == text.npos) return number_in(text);
  return number_in(text.substr(0, between)) ? number_in(text.substr(between + 1)) : std::nullopt;
}

// Returns the GPUs of "8", "h100:8" or "gpu:h100:8(S:0-1)"; if the text lists several kinds of
// resource (`of_resources`), those of its GPUs.
std::optional<std::int64_t> gpus_in(std::string_view text, bool of_resources) {
  while (of_resources && !text.starts_with("gpu")) {
    const auto comma = text.find(',');
    if (comma == text.npos) return {};
    text.remove_prefix(comma + 1);
  }
  text = text.substr(0, text.find_first_of(of_resources ? ",(" : "("));
  const auto colon = text.rfind(':');
  return number_in(colon == text.npos ? text : text.substr(colon + 1));
}

// Reads the number of GPUs from the options; the last option of a name counts.
class Launched {
 public:
  explicit Launched(std::span<const JobArgument> options) : options_(options) {}

  std::optional<LaunchedGpus> gpus() {
    if (const auto all = number("accelerate.num_processes")) return made(*all);
    if (has("torchrun.")) return of_torchrun();
    if (has("deepspeed.")) return of_deepspeed();
    if (const auto all = number("mpirun.np")) return made(*all);
    return of_slurm();
  }

  // Returns the GPUs that Slurm gives to the job by its options, with `each` GPUs of a node if they
  // give nodes alone.
  std::optional<LaunchedGpus> given_by_slurm(std::optional<std::int64_t> each) {
    if (const auto all = number("slurm.gpus")) return made(*all);
    const auto nodes = number("slurm.nodes");
    if (!nodes) return {};
    if (const auto gpus = of_node()) return made(*gpus * *nodes);
    return each ? made(*each * *nodes, " with " + std::to_string(*each) + " each") : std::nullopt;
  }

 private:
  const JobArgument* find(std::string_view name) const {
    const JobArgument* found = nullptr;
    for (const auto& option : options_)
      if (option.name == name) found = &option;
    return found;
  }

  bool has(std::string_view launcher) const {
    return std::ranges::any_of(options_, [&](const JobArgument& option) {
      return std::string_view(option.name).starts_with(launcher);
    });
  }

  // Whether options of the launcher stand in a word that only a shell can tell.
  bool hides(std::string_view launcher) const {
    return std::ranges::any_of(options_, [&](const JobArgument& option) {
      return std::string_view(option.name).starts_with(launcher) && hides_options(option);
    });
  }

  // Returns the option's number, and notes that the answer rests on this option.
  std::optional<std::int64_t> number(std::string_view name) {
    const auto* option = find(name);
    const auto number = option == nullptr ? std::nullopt : launched_number(*option);
    if (number) made_.from.push_back(option);
    return number;
  }

  std::optional<LaunchedGpus> made(std::int64_t gpus, const std::string& note = {}) {
    made_.gpus = gpus;
    for (const auto* option : made_.from)
      made_.text += (made_.text.empty() ? "" : ", ") + written(*option);
    made_.text += note;
    made_.at = made_.from.front()->at;
    return std::move(made_);
  }

  std::optional<LaunchedGpus> of_torchrun() {
    auto each = number("torchrun.nproc_per_node");
    const auto* said = find("torchrun.nproc_per_node");
    if (!each && said != nullptr) each = of_node();  // "gpu", "auto"
    if (!each) return {};
    const auto* nodes = find("torchrun.nnodes");
    if (nodes == nullptr && hides("torchrun.")) return {};
    if (nodes == nullptr) return made(*each, " on one node");  // torchrun's default
    const auto number_of = number("torchrun.nnodes");
    return number_of ? made(*each * *number_of) : std::nullopt;
  }

  // Returns the GPUs of a node that Slurm gives.
  std::optional<std::int64_t> of_node() {
    for (const auto* name : {"slurm.gpus_per_node", "slurm.gres"})
      if (const auto gpus = number(name)) return gpus;
    return {};
  }

  // Returns the GPUs of DeepSpeed's launcher, which without a file of hosts uses only the node that
  // it runs on.
  std::optional<LaunchedGpus> of_deepspeed() {
    if (const auto* chosen = find("deepspeed.include")) {
      const auto slots = slots_of(*chosen);
      if (slots) made_.from.push_back(chosen);
      return slots ? made(*slots) : std::nullopt;
    }
    const auto each = number("deepspeed.num_gpus");
    if (!each) return {};
    const bool told = find("deepspeed.hostfile") != nullptr || hides("deepspeed.");
    if (find("deepspeed.num_nodes") == nullptr)
      return !told ? made(*each, " on one node") : std::nullopt;
    const auto nodes = number("deepspeed.num_nodes");
    return nodes ? made(*each * *nodes) : std::nullopt;
  }

  // Returns the number of GPUs in "localhost:0,1,2,3@worker-1:0,2"; nothing if a host is chosen
  // whole.
  static std::optional<std::int64_t> slots_of(const JobArgument& option) {
    if (option.values.size() != 1 || !option.values[0].trouble.empty()) return {};
    std::int64_t slots = 0;
    for (std::string_view rest = option.values[0].text; !rest.empty();) {
      const auto end = std::min(rest.find('@'), rest.size());
      const auto host = rest.substr(0, end);
      const auto colon = host.find(':');
      if (colon == host.npos || colon + 1 == host.size()) return {};
      slots += 1 + std::ranges::count(host.substr(colon), ',');
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return slots > 0 ? std::optional(slots) : std::nullopt;
  }

  // Returns the GPUs of srun or sbatch: tasks are processes if a node has several; else one task
  // starts processes on all GPUs.
  std::optional<LaunchedGpus> of_slurm() {
    const auto value = [&](const char* name) {
      const auto* option = find(name);
      return option == nullptr ? std::nullopt : launched_number(*option);
    };
    const auto nodes = value("slurm.nodes"), each = value("slurm.ntasks_per_node"),
               all = value("slurm.ntasks");
    if (!all && each && nodes && value("slurm.gpus_per_task"))
      return made(*number("slurm.gpus_per_task") * *number("slurm.ntasks_per_node") *
                  *number("slurm.nodes"));
    if (each.value_or(1) > 1 && nodes)
      return made(*number("slurm.ntasks_per_node") * *number("slurm.nodes"));
    if (all && *all > nodes.value_or(1)) return made(*number("slurm.ntasks"));
    if (const auto gpus = number("slurm.gpus")) return made(*gpus);
    if (all && value("slurm.gpus_per_task"))
      return made(*number("slurm.gpus_per_task") * *number("slurm.ntasks"));
    if (const auto gpus = of_node())
      return nodes ? made(*gpus * *number("slurm.nodes")) : made(*gpus, " on one node");
    if (each && nodes) return made(*number("slurm.ntasks_per_node") * *number("slurm.nodes"));
    return {};
  }

  std::span<const JobArgument> options_;
  LaunchedGpus made_;
};

// The options of Slurm that give another number of GPUs than the launcher behind them starts; empty
// if both agree, or if one of the two gives no number.
struct Disagreement {
  const JobArgument* option = nullptr;  // of Slurm, the first
  std::string text;
};

Disagreement disagreement(std::span<const JobArgument> launcher,
                          const std::optional<LaunchedGpus>& launched) {
  Disagreement found;
  if (!launched || std::string_view(launched->from.front()->name).starts_with("slurm.")) return {};
  std::optional<std::int64_t> each;
  for (const auto* option : launched->from)
    if (gives(*option, "torchrun.nproc_per_node") || gives(*option, "deepspeed.num_gpus"))
      each = launched_number(*option);
  const auto given = Launched(launcher).given_by_slurm(each);
  if (!given || given->gpus == launched->gpus) return {};
  found.option = given->from.front();
  found.text = given->text + " are " + std::to_string(given->gpus) + " GPUs and " + launched->text +
               " are " + std::to_string(launched->gpus) + ", which the forecast has";
  return found;
}

// Returns a guess of the known option that an unknown one may be; empty if none is near.
std::string supposed(const JobArgument& option) {
  const auto& table = arguments_of("launchers");
  const std::string_view name = option.name;
  const auto shown = [](std::string_view known) {
    return "--" + std::string(known.substr(known.find('.') + 1));
  };
  std::string all;
  for (const auto* known : table.beginning(name))
    all += (all.empty() ? "it may be " : " or ") + shown(known->name);
  if (!all.empty()) return all;
  const bool of_accelerate = name.starts_with("accelerate.");
  const auto near = of_accelerate ? nearest_accelerate_option(name) : table.nearest_to(name);
  return near.empty() ? "" : "did you mean " + shown(near) + "?";
}

// Returns accelerate's key of an option; null: the option is not accelerate's, or unknown.
const KnownArgument* key_of_accelerate(std::string_view option) {
  const auto key = option.starts_with("accelerate.") ? accelerate_key(option) : std::string();
  return key.empty() ? nullptr : arguments_of("accelerate").find(key);
}

JudgedArgument judged(const JobArgument& option, const std::string& file,
                      const std::optional<LaunchedGpus>& launched, const Disagreement& other,
                      const std::string& unused) {
  JudgedArgument one{written(option), place_text(option, file), Effect::unknown, {}, {}};
  if (hides_options(option)) {
    one.effect = Effect::not_modelled;
    one.why = option.values.front().trouble;
    return one;
  }
  const auto* known = arguments_of("launchers").find(option.name);
  if (known == nullptr) {
    if (const auto* key = key_of_accelerate(option.name); key == nullptr) {
      one.why = supposed(option);
    } else if (key->effect == Effect::none) {
      one.effect = Effect::none;
      one.why = key->why;
    } else {
      one.effect = Effect::not_modelled;
      one.why = "accelerate's; the forecast has what the program's own arguments say";
    }
    return one;
  }
  one.effect = known->effect;
  one.why = known->why;
  if (known->effect != Effect::read) return one;
  if (unused.empty() && launched &&
      std::ranges::find(launched->from, &option) != launched->from.end()) {
    one.keys.emplace_back("cluster.gpus");
    return one;
  }
  if (unused.empty() && &option == other.option) {
    one.effect = Effect::not_modelled;
    one.why = other.text;
    return one;
  }
  one.effect = Effect::none;
  one.why = !unused.empty() ? unused
            : launched      ? "the number of GPUs is that of " + launched->text
                            : "nothing here depends on it";
  return one;
}

}  // namespace

std::optional<std::int64_t> launched_number(const JobArgument& option) {
  const bool told = option.values.size() == 1 && option.values[0].trouble.empty();
  if (!told) return {};
  const std::string_view name = option.name, text = option.values[0].text;
  if (name.ends_with("nodes")) return most_nodes_in(text);
  if (name == "slurm.gres" || name.starts_with("slurm.gpus"))
    return gpus_in(text, name == "slurm.gres");
  return number_in(text);
}

std::optional<LaunchedGpus> launched_gpus(std::span<const JobArgument> launcher) {
  return Launched(launcher).gpus();
}

LaunchedTrouble launcher_trouble(std::span<const JobArgument> launcher) {
  for (const auto& option : launcher) {
    const auto* known = arguments_of("launchers").find(option.name);
    if (!hides_options(option) && (known == nullptr || known->effect != Effect::read)) continue;
    for (const auto& value : option.values)
      if (!value.trouble.empty())
        return {written(option) + (written(option).ends_with('=') ? "…: " : ": ") + value.trouble,
                option.at};
  }
  constexpr std::array<std::string_view, 4> counted{"gpu", "cpu", "xpu", "auto"};
  for (const auto& option : launcher) {
    const bool number =
        gives(option, "torchrun.nproc_per_node") || gives(option, "torchrun.nnodes");
    if (!number || option.values.size() != 1 || launched_number(option).value_or(0) > 0) continue;
    if (std::ranges::find(counted, option.values.front().text) != counted.end()) continue;
    return {written(option) + ": expected a whole number above zero; write one", option.at};
  }
  return {};
}

void account_launcher(JobAccount& account, std::span<const JobArgument> launcher,
                      const std::string& unused) {
  const auto launched = launched_gpus(launcher);
  const auto other = disagreement(launcher, launched);
  std::vector<JudgedArgument> all;
  for (const auto& option : launcher)
    if (!option.standard) all.push_back(judged(option, account.file, launched, other, unused));
  account.arguments.insert(account.arguments.begin(), all.begin(), all.end());
}

std::optional<std::int64_t> world_size_of(const JobHints& hints) {
  constexpr std::string_view name = "WORLD_SIZE=";
  std::optional<std::int64_t> size;
  if (hints.over.gpus) return hints.over.gpus;
  if (hints.own_world) return size;
  for (const auto& one : hints.env)
    if (one.starts_with(name)) size = number_in(std::string_view(one).substr(name.size()));
  return size;
}

std::string_view world_words(const JobHints& hints) {
  return hints.over.gpus ? "the scenario over the job says how many GPUs there are"
                         : "--env WORLD_SIZE says how many GPUs there are";
}

const JobArgument* launched_nodes(std::span<const JobArgument> launcher) {
  const auto found = std::ranges::find_if(launcher, [](const JobArgument& one) {
    return gives(one, "torchrun.nnodes") && launched_number(one).value_or(0) > 0;
  });
  return found == launcher.end() ? nullptr : &*found;
}

std::optional<std::int64_t> gpus_of(std::span<const JobArgument> launcher, const JobHints& hints) {
  if (const auto world = world_size_of(hints)) return world;
  if (const auto launched = launched_gpus(launcher)) return launched->gpus;
  const auto* nodes = launched_nodes(launcher);
  if (nodes == nullptr || !hints.over.node_gpus || !launcher_trouble(launcher).text.empty())
    return {};
  return *launched_number(*nodes) * *hints.over.node_gpus;
}

std::int64_t product_of(std::initializer_list<std::int64_t> degrees) {
  constexpr std::int64_t most = 1'000'000'000'000;
  std::int64_t product = 1;
  for (const auto degree : degrees)
    if (__builtin_mul_overflow(product, degree, &product) || product > most) return most;
  return product;
}

std::int64_t sequences_of(const Given& given, std::string_view name,
                          std::initializer_list<std::int64_t> factors) {
  constexpr std::int64_t too_many = 1'000'000'000'000;
  const auto sequences = product_of(factors);
  if (sequences < too_many) return sequences;
  std::string words;
  for (const auto factor : factors) words += (words.empty() ? "" : " x ") + std::to_string(factor);
  given.complain(name,
                 "a step would have " + words + " sequences; write a smaller batch, such as 1");
  return 1;
}

std::string contradiction_of(const std::string& which, std::int64_t ranks, std::int64_t gpus,
                             bool divide) {
  return which + std::to_string(ranks) + " ranks, which " +
         (divide ? "do not divide the " : "are not the ") + std::to_string(gpus) +
         " GPUs of --env WORLD_SIZE or of the launcher; the framework does not start. Write other "
         "degrees, or give another number of GPUs, such as --env WORLD_SIZE=" +
         std::to_string(ranks);
}

}  // namespace scenarios
