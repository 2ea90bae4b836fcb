// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "library/call.hpp"
#include "library/costs.hpp"
#include "library/stepcast.h"
#include "topology/words.hpp"

// A text that is made at most once, by whoever asks first.
struct MadeOnce {
  const char* get(const std::function<std::string()>& make) {
    std::call_once(once, [&] {
      try {
        text = make();
      } catch (...) {
        text.reset();
      }
    });
    return text ? text->c_str() : nullptr;
  }
  std::once_flag once;
  std::optional<std::string> text;
};

struct stepcast_answer {
  library::Answer answer;
  std::string json, warnings;
  MadeOnce page, trace;
};
struct stepcast_stop {
  std::stop_source source;
};
struct stepcast_cluster {
  library::SharedCluster cluster;
};
struct stepcast_group {
  library::Group group;
};
struct stepcast_device {
  library::Device device;
};

namespace {

constexpr const char* unknown_fault = "an internal fault that does not say what it is";
constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

void tell(char** error, const char* text) {
  if (error != nullptr) *error = ::strdup(text);
}

// Returns the result of `make`; if it throws, null, and `error` receives the reason.
template <class Make>
auto made(char** error, Make make) -> decltype(make()) {
  if (error != nullptr) *error = nullptr;
  try {
    return make();
  } catch (const std::exception& wrong) {
    tell(error, wrong.what());
  } catch (...) {
    tell(error, unknown_fault);
  }
  return nullptr;
}

library::Answer answer_of(const char* request, stepcast_stop* stop, stepcast_progress progress,
                          void* user) {
  library::Hooks hooks;
  if (stop != nullptr) hooks.stop = stop->source.get_token();
  if (progress != nullptr)
    hooks.progress = [=](const app::Headway& headway) {
      progress(library::json_of(headway).c_str(), user);
    };
  constexpr int wrong_input = 2, own_fault = 3;
  library::Answer answer;
  try {
    return library::run(library::call_of(request == nullptr ? "" : request), hooks);
  } catch (const std::invalid_argument& wrong) {
    answer.status = wrong_input;
    answer.said = wrong.what();
  } catch (const std::exception& fault) {
    answer.status = own_fault;
    answer.said = fault.what();
  } catch (...) {
    answer.status = own_fault;
    answer.said = unknown_fault;
  }
  answer.page = answer.trace = []() -> std::string { throw std::invalid_argument("no answer"); };
  return answer;
}

template <class Enum>
int number_of(const char* name) {
  if (name != nullptr)
    for (const auto& [word, value] : words_of(Enum{}))
      if (word == name) return static_cast<int>(value);
  return -1;
}

template <class Enum>
std::optional<Enum> value_of(int number) {
  for (const auto& [word, value] : words_of(Enum{}))
    if (static_cast<int>(value) == number) return value;
  return {};
}

std::optional<units::Kernel> kernel_of(const stepcast_kernel& asked) {
  using Kind = units::Kernel::Kind;
  using Layout = units::Kernel::Layout;
  constexpr std::array kinds{Kind::product, Kind::attention, Kind::stream, Kind::random};
  constexpr std::array layouts{Layout::forward, Layout::input_gradient, Layout::weight_gradient};
  const auto precision = value_of<units::Precision>(asked.precision);
  const auto kind = static_cast<std::size_t>(asked.kind);
  const auto pass = static_cast<std::size_t>(asked.pass);
  if (asked.size != sizeof asked || !precision || kind >= kinds.size() || pass >= layouts.size())
    return {};
  if (!(asked.flops >= 0) || !(asked.traffic >= 0)) return {};
  return units::Kernel{.kind = kinds[kind],
                       .precision = *precision,
                       .layout = layouts[pass],
                       .causal = asked.causal != 0,
                       .batch = asked.batch,
                       .m = asked.m,
                       .n = asked.n,
                       .k = asked.k,
                       .flops = {asked.flops},
                       .traffic = {asked.traffic}};
}

double time_of(const stepcast_group* group, std::optional<topology::Collective> collective,
               double bytes) {
  if (group == nullptr || !collective) return no_time;
  try {
    return group->group.time(*collective, {bytes}).value;
  } catch (...) {
    return no_time;
  }
}

}  // namespace

extern "C" {

int stepcast_abi_version(void) { return STEPCAST_ABI_VERSION; }

const char* stepcast_version(void) {
  static const std::string version = library::version();
  return version.c_str();
}

stepcast_stop* stepcast_stop_new(void) { return new (std::nothrow) stepcast_stop; }
void stepcast_stop_request(stepcast_stop* stop) {
  if (stop != nullptr) stop->source.request_stop();
}
void stepcast_stop_free(stepcast_stop* stop) { delete stop; }

stepcast_answer* stepcast_call(const char* request, stepcast_stop* stop, stepcast_progress progress,
                               void* user) {
  try {
    auto* answer = new stepcast_answer{answer_of(request, stop, progress, user), {}, {}, {}, {}};
    answer->json = library::document_of(answer->answer);
    answer->warnings = library::warnings_of(answer->answer);
    return answer;
  } catch (...) {
    return nullptr;
  }
}
int stepcast_answer_status(const stepcast_answer* answer) {
  return answer == nullptr ? 3 : answer->answer.status;
}
const char* stepcast_answer_json(const stepcast_answer* answer) {
  return answer == nullptr ? nullptr : answer->json.c_str();
}
const char* stepcast_answer_warnings(const stepcast_answer* answer) {
  return answer == nullptr ? nullptr : answer->warnings.c_str();
}
const char* stepcast_answer_page(stepcast_answer* answer) {
  return answer == nullptr ? nullptr : answer->page.get(answer->answer.page);
}
const char* stepcast_answer_trace(stepcast_answer* answer) {
  return answer == nullptr ? nullptr : answer->trace.get(answer->answer.trace);
}
void stepcast_answer_free(stepcast_answer* answer) { delete answer; }

void stepcast_text_free(char* text) { std::free(text); }

stepcast_cluster* stepcast_cluster_new(const char* text, char** error) {
  return made(error, [&] {
    return new stepcast_cluster{library::cluster_of(text == nullptr ? "" : text)};
  });
}
void stepcast_cluster_free(stepcast_cluster* cluster) { delete cluster; }

stepcast_group* stepcast_group_new(const stepcast_cluster* cluster, const int64_t* gpus,
                                   size_t ranks, int sharing, char** error) {
  return made(error, [&]() -> stepcast_group* {
    if (cluster == nullptr || gpus == nullptr)
      throw std::invalid_argument("a group needs a cluster and its GPUs");
    return new stepcast_group{library::Group(cluster->cluster, {gpus, ranks}, sharing)};
  });
}
void stepcast_group_free(stepcast_group* group) { delete group; }

int stepcast_collective(const char* name) { return number_of<topology::Collective>(name); }

double stepcast_collective_time(const stepcast_group* group, int collective, double bytes) {
  return time_of(group, value_of<topology::Collective>(collective), bytes);
}

void stepcast_collective_times(const stepcast_group* group, int collective, const double* bytes,
                               double* seconds, size_t count) {
  if (seconds == nullptr) return;
  const auto asked = value_of<topology::Collective>(collective);
  for (size_t i = 0; i < count; ++i)
    seconds[i] = bytes == nullptr ? no_time : time_of(group, asked, bytes[i]);
}

stepcast_device* stepcast_device_new(const char* text, char** error) {
  return made(error, [&] { return new stepcast_device{library::Device(text ? text : "")}; });
}
void stepcast_device_free(stepcast_device* device) { delete device; }

int stepcast_precision(const char* name) { return number_of<units::Precision>(name); }

double stepcast_kernel_time(const stepcast_device* device, const stepcast_kernel* kernel) {
  if (device == nullptr || kernel == nullptr) return no_time;
  try {
    const auto asked = kernel_of(*kernel);
    return asked ? device->device.time(*asked).value : no_time;
  } catch (...) {
    return no_time;
  }
}

}  // extern "C"
