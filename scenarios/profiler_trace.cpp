// SPDX-License-Identifier: Apache-2.0
#include "scenarios/profiler_trace.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/error.hpp"

namespace scenarios {

using forecast::GpuWork;

namespace {

[[noreturn]] void fail(const std::string& place, const std::string& text) {
  throw Error({{.place = place, .text = text}});
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

using Hints = std::initializer_list<std::pair<std::string_view, GpuWork>>;

GpuWork first_hint(const std::string& in, const Hints& hints, GpuWork otherwise) {
  for (const auto& [part, kind] : hints)
    if (in.find(part) != in.npos) return kind;
  return otherwise;
}

// Megatron's, DeepSpeed's and torchtitan's names of process groups.
GpuWork kind_of_group(std::string_view group) {
  return first_hint(lower(group),
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

// What one event says, as far as it matters.
struct Event {
  std::string phase, category, name, group;
  std::int64_t start_ns = 0, duration_ns = 0, stream = -1;

  bool is_gpu_work() const {
    const auto kind = lower(category);
    return phase == "X" && (kind == "kernel" || is_copy());
  }
  bool is_copy() const {
    const auto kind = lower(category);
    return kind == "gpu_memcpy" || kind == "gpu_memset" || kind == "memcpy" || kind == "memset";
  }
  bool is_step() const { return phase == "X" && name.starts_with("ProfilerStep"); }
  GpuWork kind() const {
    if (is_copy()) return GpuWork::copy;
    const auto kernel = lower(name);
    if (kernel.find("nccl") == kernel.npos) return GpuWork::compute;
    const auto of_group = kind_of_group(group);
    return of_group == GpuWork::other_comm ? kind_of_collective(kernel) : of_group;
  }
};

// Called by the parser as it goes; keeps one event.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Handler(std::string file) : file_(std::move(file)) {}

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("true or false"); }
  bool number_integer(number_integer_t value) override {
    const bool in_range = value > -most_microseconds;
    return number(value, in_range ? value * 1000 : 0, in_range);
  }
  bool number_unsigned(number_unsigned_t value) override {
    const bool in_range = value < static_cast<number_unsigned_t>(most_microseconds);
    const auto whole = in_range ? static_cast<std::int64_t>(value) : most_microseconds;
    return number(whole, whole * 1000, in_range);
  }
  bool number_float(number_float_t value, const string_t&) override {
    // Microseconds since 1970 keep a quarter of one; since the trace began, all their nanoseconds.
    const bool in_range = std::abs(value) < static_cast<double>(most_microseconds);
    const auto ns = in_range ? static_cast<std::int64_t>(std::llround(value * 1000)) : 0;
    return number(ns / 1000, ns, in_range);
  }
  bool string(string_t& value) override {
    if (in_event() && depth_ == event_depth) {
      if (key_ == "ph") event_.phase = value;
      if (key_ == "cat") event_.category = value;
      if (key_ == "name") event_.name = value;
      if (is_time()) wrong("a text");
    } else if (in_args() && key_ == "Process Group Description") {
      event_.group = value;
    }
    return true;
  }
  bool binary(binary_t&) override { return true; }

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 1) saw_object_ = true;
    if (depth_ == 2) distributed_ = key_ == "distributedInfo";
    if (depth_ == event_depth && events_) event_ = {};
    if (depth_ == event_depth + 1) args_ = key_ == "args";
    return true;
  }
  bool end_object() override {
    if (in_event() && depth_ == event_depth) finish();
    if (depth_ == event_depth + 1) args_ = false;
    if (depth_ == 2) distributed_ = false;
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    // Old profilers wrote the events alone.
    if (depth_ == 2 && key_ == "traceEvents") saw_events_ = events_ = true;
    return true;
  }
  bool end_array() override {
    if (depth_ == 2) events_ = false;
    --depth_;
    return true;
  }
  bool key(string_t& value) override {
    key_ = value;
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& wrong) override {
    const std::string_view what = wrong.what();
    const auto number_after = [&](std::string_view word) {
      const auto at = what.find(word);
      int value = 0;
      if (at != what.npos)
        std::from_chars(what.data() + at + word.size(), what.data() + what.size(), value);
      return std::to_string(value);
    };
    fail(file_ + ":" + number_after("line ") + ":" + number_after("column "),
         "this is no JSON; expected a trace as torch.profiler's export_chrome_trace writes it, "
         "whole");
  }

  forecast::Profile take() {
    if (!saw_object_ || !saw_events_)
      fail(file_,
           "no 'traceEvents'; expected a trace as torch.profiler's export_chrome_trace writes it");
    if (profile_.work.empty())
      fail(file_, "no work of a GPU among " + std::to_string(count_) +
                      " events; profile with ProfilerActivity.CUDA");
    profile_.steps = gpu_steps_.empty() ? std::move(host_steps_) : std::move(gpu_steps_);
    return std::move(profile_);
  }

 private:
  // A start and a duration of as much still add up in 64 bits of nanoseconds.
  static constexpr std::int64_t most_microseconds = 4'000'000'000'000'000;
  static constexpr int event_depth = 3;  // { "traceEvents": [ { … } ] }

  bool in_event() const { return events_ && depth_ >= event_depth; }
  bool in_args() const { return in_event() && depth_ == event_depth + 1 && args_; }
  bool is_time() const { return key_ == "ts" || key_ == "dur"; }

  bool number(std::int64_t whole, std::int64_t thousandfold, bool in_range) {
    if (in_event() && depth_ == event_depth && is_time()) {
      if (!in_range) wrong("beyond what a time can be");
      (key_ == "ts" ? event_.start_ns : event_.duration_ns) = thousandfold;
    } else if (in_args() && key_ == "stream") {
      event_.stream = whole;
    } else if (distributed_ && depth_ == 2) {
      if (key_ == "rank") profile_.rank = whole;
      if (key_ == "world_size") profile_.world_size = whole;
    }
    return true;
  }
  bool other(const char* what) {
    if (in_event() && depth_ == event_depth && is_time()) wrong(what);
    return true;
  }
  [[noreturn]] void wrong(const char* what) const {
    fail(file_, "traceEvents[" + std::to_string(count_) + "]." + key_ + ": " + what +
                    "; expected microseconds as a number");
  }

  void finish() {
    const bool step = event_.is_step();
    if (step || event_.is_gpu_work()) {
      if (event_.duration_ns < 0) {
        key_ = "dur";
        wrong("negative");
      }
      const auto end = event_.start_ns + event_.duration_ns;
      if (step)
        (event_.category == "gpu_user_annotation" ? gpu_steps_ : host_steps_)
            .push_back({event_.name, event_.start_ns, end});
      else
        profile_.work.push_back({event_.kind(), event_.stream, event_.start_ns, end});
    }
    ++count_;
  }

  std::string file_, key_;
  int depth_ = 0;
  bool saw_object_ = false, saw_events_ = false, events_ = false;
  bool args_ = false, distributed_ = false;
  std::size_t count_ = 0;  // events before this one
  Event event_;
  forecast::Profile profile_;
  std::vector<forecast::ProfiledStep> gpu_steps_, host_steps_;
};

// What a file holds, decompressed if it is compressed.
class Unpacked : public std::streambuf {
 public:
  explicit Unpacked(const std::filesystem::path& path)
      : path_(path), file_(gzopen(path.c_str(), "rb"), &gzclose) {
    std::error_code ignored;
    if (!file_ || std::filesystem::is_directory(path, ignored))
      fail(path.string(), "cannot be read; is it there?");
    gzbuffer(file_.get(), 1 << 18);
  }

 protected:
  int_type underflow() override {
    const int got = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int state = Z_OK;
    gzerror(file_.get(), &state);
    if (got < 0 || state != Z_OK)
      fail(path_.string(), "cannot be unpacked; the compressed file is damaged or cut off");
    if (got == 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
    return traits_type::to_int_type(buffer_.front());
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  std::vector<char> buffer_ = std::vector<char>(1 << 18);
};

}  // namespace

forecast::Profile read_profiler_trace(std::istream& text, const std::string& file_name) {
  Handler handler(file_name);
  // Exceptions of the buffer must come out, not set a flag of the stream.
  text.exceptions(std::ios::badbit);
  nlohmann::json::sax_parse(text, &handler);
  return handler.take();
}

forecast::Profile load_profiler_trace(const std::filesystem::path& file) {
  Unpacked unpacked(file);
  std::istream text(&unpacked);
  return read_profiler_trace(text, file.string());
}

}  // namespace scenarios
