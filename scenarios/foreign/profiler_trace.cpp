// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/profiler_trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ios>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/documents/json_tokens.hpp"
#include "scenarios/documents/unpacked.hpp"
#include "scenarios/foreign/kernel_names.hpp"
#include "units/text.hpp"

namespace scenarios {

using forecast::GpuWork;

namespace {

using Hints = std::initializer_list<std::pair<std::string_view, GpuWork>>;

GpuWork first_hint(const std::string& in, const Hints& hints, GpuWork otherwise) {
  for (const auto& [part, kind] : hints)
    if (in.find(part) != in.npos) return kind;
  return otherwise;
}

// Returns the kind of communication of a process group by the names that Megatron, DeepSpeed and
// torchtitan give it.
GpuWork kind_of_group(std::string_view group) {
  return first_hint(units::lower_case(group),
                    {{"expert_data", GpuWork::data_comm},
                     {"expert", GpuWork::expert_comm},
                     {"context", GpuWork::context_comm},
                     {"tensor", GpuWork::tensor_comm},
                     {"pipeline", GpuWork::pipeline_comm},
                     {"data", GpuWork::data_comm},
                     {"fsdp", GpuWork::data_comm},
                     {"mesh_ep", GpuWork::expert_comm},
                     {"mesh_cp", GpuWork::context_comm},
                     {"mesh_tp", GpuWork::tensor_comm},
                     {"mesh_pp", GpuWork::pipeline_comm},
                     {"mesh_dp", GpuWork::data_comm}},
                    GpuWork::other_comm);
}

GpuWork kind_of_collective(const std::string& lower_name) {
  return first_hint(lower_name,
                    {{"allreduce", GpuWork::all_reduce},
                     {"allgather", GpuWork::all_gather},
                     {"reducescatter", GpuWork::reduce_scatter},
                     {"alltoall", GpuWork::all_to_all},
                     {"sendrecv", GpuWork::send_receive}},
                    GpuWork::other_comm);
}

// The fields of one event that matter.
struct Event {
  std::string phase, category, name;
  std::string group, group_name, group_ranks, format;
  std::int64_t start_ns = 0, duration_ns = 0, stream = -1;
  std::int64_t elements = 0, group_size = 0, source = -1, destination = -1;

  bool is_gpu_work() const {
    const auto kind = units::lower_case(category);
    return phase == "X" && (kind == "kernel" || is_copy());
  }
  bool is_copy() const {
    const auto kind = units::lower_case(category);
    return kind == "gpu_memcpy" || kind == "gpu_memset" || kind == "memcpy" || kind == "memset";
  }
  bool is_step() const { return phase == "X" && name.starts_with("ProfilerStep"); }
  GpuWork kind() const {
    if (is_copy()) return GpuWork::copy;
    const auto kernel = units::lower_case(name);
    if (kernel.find("nccl") == kernel.npos) return GpuWork::compute;
    const auto of_group = kind_of_group(group);
    return of_group == GpuWork::other_comm ? kind_of_collective(kernel) : of_group;
  }
  forecast::ProfiledWork work() const {
    forecast::ProfiledWork work{kind(), stream, start_ns, start_ns + duration_ns};
    if (work.kind == GpuWork::compute) {
      const auto kernel = units::lower_case(name);
      work.sort = class_of_kernel(kernel);
      if (work.sort == forecast::KernelClass::attention)
        work.attention = pass_of_attention(kernel);
      else if (work.sort != forecast::KernelClass::others)
        work.format = format_of_product(kernel);
    } else if (work.kind != GpuWork::copy) {
      work.elements = elements;
      work.source = source;
      work.destination = destination;
    }
    return work;
  }
  // Returns the identity of the group that communicates; empty if the event does not give it.
  std::string identity() const {
    std::string all = group;
    for (const auto* more : {&group_name, &group_ranks})
      if (!more->empty()) all += (all.empty() ? "" : " ") + *more;
    return all;
  }
};

// Microseconds in a number of JSON.
struct Number {
  std::int64_t whole = 0, thousandfold = 0;
  bool in_range = false;
};

// A start and a duration up to this still add up in 64 bits of nanoseconds.
constexpr std::int64_t most_microseconds = 4'000'000'000'000'000;

Number trace_number(const std::string& text) {
  std::int64_t whole = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (wrong == std::errc() && end == text.data() + text.size()) {
    const bool in_range = whole > -most_microseconds && whole < most_microseconds;
    return {whole, in_range ? whole * 1000 : 0, in_range};
  }
  // A double holds microseconds since 1970 to a quarter, microseconds since the trace began to the
  // nanosecond.
  const double number = json_number(text);
  if (!(std::abs(number) < static_cast<double>(most_microseconds)))
    return {number > 0 ? most_microseconds : 0, 0, false};
  const auto ns = static_cast<std::int64_t>(std::llround(number * 1000));
  return {ns / 1000, ns, true};
}

constexpr std::string_view expected_trace =
    "expected a trace as torch.profiler's export_chrome_trace writes it";

// { "distributedInfo": { … }, "traceEvents": [ { … } ] }
class Reader {
 public:
  Reader(std::streambuf& text, const std::string& file) : tokens_(text), complaints_(file) {}

  forecast::Profile read() {
    try {
      document();
      if (!complaints_.any()) check();
    } catch (const JsonMistake& wrong) {
      complaints_.add(wrong.at, wrong.limit.empty()
                                    ? "this is no JSON; " + std::string(expected_trace) + ", whole"
                                    : wrong.limit);
    } catch (const PackedMistake& wrong) {
      complaints_.add(tokens_.here(), wrong.what());
    }
    complaints_.throw_if_any();
    profile_.formats.assign(formats_.begin(), formats_.end());
    profile_.steps = gpu_steps_.empty() ? std::move(host_steps_) : std::move(gpu_steps_);
    return std::move(profile_);
  }

 private:
  using Kind = JsonToken::Kind;
  static constexpr std::size_t most_work = 20'000'000, most_steps = 1'000'000;
  static constexpr std::size_t most_groups = 100'000, most_formats = 64;

  // Calls of() for each key of the map that the last token began, with the key in key_; of() takes
  // the value.
  template <class Of>
  void each_key(Of&& of) {
    while (tokens_.next().kind == Kind::key) {
      key_ = token_text();
      of();
    }
  }
  const std::string& token_text() { return tokens_.last().text; }
  void pass_over_value() {
    tokens_.next();
    tokens_.skip();
  }

  void document() {
    if (tokens_.next().kind != Kind::begin_map) {
      tokens_.skip();
    } else {
      each_key([&] {
        if (key_ == "traceEvents")
          events();
        else if (key_ == "distributedInfo")
          distributed_info();
        else if (key_ == "deviceProperties")
          device_properties();
        else
          pass_over_value();
      });
    }
    tokens_.next();  // nothing may follow
  }

  void distributed_info() {
    if (tokens_.next().kind != Kind::begin_map) return tokens_.skip();
    each_key([&] {
      const auto& token = tokens_.next();
      if (token.kind != Kind::number) return tokens_.skip();
      if (key_ == "rank") profile_.rank = trace_number(token.text).whole;
      if (key_ == "world_size") profile_.world_size = trace_number(token.text).whole;
    });
  }

  void events() {
    const auto& token = tokens_.next();
    if (!events_at_) events_at_ = token.at;
    if (token.kind != Kind::begin_list) return tokens_.skip();
    saw_events_ = true;
    while (tokens_.next().kind != Kind::end_list) {
      if (tokens_.last().kind == Kind::begin_map)
        event();
      else
        tokens_.skip();
    }
  }

  void event() {
    event_ = {};
    duration_at_ = tokens_.last().at;
    each_key([&] {
      const auto& token = tokens_.next();
      if (key_ == "ts" || key_ == "dur")
        time(token);
      else if (token.kind == Kind::text)
        word(token);
      else if (token.kind == Kind::begin_map && key_ == "args")
        arguments();
      else
        tokens_.skip();
    });
    finish();
  }

  void time(const JsonToken& token) {
    const auto place = token.at;
    if (key_ == "dur") duration_at_ = place;
    if (token.kind == Kind::number) {
      const auto number = trace_number(token.text);
      if (!number.in_range) wrong(place, key_, "beyond what a time can be");
      (key_ == "ts" ? event_.start_ns : event_.duration_ns) = number.thousandfold;
    } else if (token.kind == Kind::text) {
      wrong(place, key_, "a text");
    } else if (token.kind == Kind::truth || token.kind == Kind::null) {
      wrong(place, key_, token.kind == Kind::null ? "null" : "true or false");
    } else {
      wrong(place, key_, token.kind == Kind::begin_map ? "a map" : "a list");
      tokens_.skip();
    }
  }

  void word(const JsonToken& token) {
    if (key_ == "ph") event_.phase = token.text;
    if (key_ == "cat") event_.category = token.text;
    if (key_ == "name") event_.name = token.text;
  }

  void arguments() {
    each_key([&] {
      const auto& token = tokens_.next();
      if (token.kind == Kind::number)
        whole_argument(trace_number(token.text));
      else if (token.kind == Kind::text)
        text_argument(token.text);
      else
        tokens_.skip();
    });
  }
  void whole_argument(const Number& number) {
    if (!number.in_range) return;
    if (key_ == "stream") event_.stream = number.whole;
    if (key_ == "In msg nelems") event_.elements = std::max<std::int64_t>(0, number.whole);
    if (key_ == "Group size") event_.group_size = std::max<std::int64_t>(0, number.whole);
    if (key_ == "Src Rank") event_.source = number.whole;
    if (key_ == "Dst Rank") event_.destination = number.whole;
  }
  void text_argument(std::string text) {
    constexpr std::size_t longest = 1024;  // ranks of large groups are cut by the profiler too
    text.resize(std::min(text.size(), longest));
    if (key_ == "Process Group Description") event_.group = text;
    if (key_ == "Process Group Name") event_.group_name = text;
    if (key_ == "Process Group Ranks") event_.group_ranks = text;
    if (key_ == "dtype") event_.format = text;
  }

  // Reads the first device's name: [{"id": 0, "name": "NVIDIA H100 80GB HBM3", …}].
  void device_properties() {
    if (tokens_.next().kind != Kind::begin_list) return tokens_.skip();
    while (tokens_.next().kind != Kind::end_list) {
      if (tokens_.last().kind != Kind::begin_map) {
        tokens_.skip();
        continue;
      }
      each_key([&] {
        const auto& token = tokens_.next();
        if (key_ == "name" && token.kind == Kind::text && profile_.device.empty())
          profile_.device = token.text;
        else
          tokens_.skip();
      });
    }
  }

  void add_work() {
    auto work = event_.work();
    if (forecast::is_communication(work.kind)) {
      if (const auto identity = event_.identity(); !identity.empty()) {
        const auto [found, fresh] =
            groups_.try_emplace(identity, static_cast<std::uint32_t>(profile_.groups.size() + 1));
        if (fresh) {
          if (groups_.size() > most_groups)
            throw JsonMistake(duration_at_, "more than 100,000 groups of ranks");
          profile_.groups.push_back({identity, kind_of_group(event_.group), event_.group_size});
        }
        work.group = found->second;
      }
      if (!event_.format.empty() && formats_.size() < most_formats) formats_.insert(event_.format);
    }
    profile_.work.push_back(work);
  }

  void wrong(const Place& at, const std::string& key, const std::string& what) {
    complaints_.add(at, "traceEvents[" + std::to_string(count_) + "]." + key + ": " + what +
                            "; expected microseconds as a number");
  }

  void finish() {
    const bool step = event_.is_step();
    if (step || event_.is_gpu_work()) {
      if (event_.duration_ns < 0) wrong(duration_at_, "dur", "negative");
      const auto end = event_.start_ns + event_.duration_ns;
      if (profile_.work.size() >= most_work || host_steps_.size() + gpu_steps_.size() >= most_steps)
        throw JsonMistake(duration_at_,
                          "more than 20 million kernels, or 1 million steps; profile "
                          "fewer steps");
      if (step)
        (event_.category == "gpu_user_annotation" ? gpu_steps_ : host_steps_)
            .push_back({event_.name, event_.start_ns, end});
      else
        add_work();
    }
    ++count_;
  }

  // Complains if the JSON is no trace with work of a GPU.
  void check() {
    if (!saw_events_)
      complaints_.add(events_at_.value_or(Place{}),
                      "no 'traceEvents'; " + std::string(expected_trace));
    else if (profile_.work.empty())
      complaints_.add(*events_at_, "no work of a GPU among " + std::to_string(count_) +
                                       " events; profile with ProfilerActivity.CUDA");
  }

  JsonTokens tokens_;
  Complaints complaints_;
  std::string key_;
  bool saw_events_ = false;
  std::optional<Place> events_at_;
  std::size_t count_ = 0;  // events before this one
  Event event_;
  Place duration_at_;  // of this event
  forecast::Profile profile_;
  std::vector<forecast::ProfiledStep> gpu_steps_, host_steps_;
  std::map<std::string, std::uint32_t> groups_;  // by identity, counted from one
  std::set<std::string> formats_;
};

}  // namespace

forecast::Profile read_profiler_trace(std::streambuf& text, const std::string& file_name) {
  Unpacked unpacked(text);
  return Reader(unpacked, file_name).read();
}

forecast::Profile load_profiler_trace(const std::filesystem::path& file) {
  auto text = open_file(file);
  try {
    return read_profiler_trace(text, file.string());
  } catch (const std::ios_base::failure& failed) {
    throw Error({{file.string(), "cannot be read: " + failed.code().message()}});
  }
}

}  // namespace scenarios
