// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/explain/faulty_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>

namespace faulty_runs {

using forecast::KernelClass;
using forecast::KernelPhase;
using forecast::StepPart;

namespace {

struct Place {
  std::int64_t tensor = 0, data = 0, stage = 0;
};

struct Op {
  enum class Kind : std::uint8_t { kernel, gap, meet, start_meet, wait };
  Kind kind = Kind::kernel;
  std::string name;
  double took = 0;
  int stream = 7;
  std::string group, description;  // of a meeting
  std::vector<std::int64_t> members;
  std::int64_t elements = 0, source = -1, destination = -1;
};

struct Event {
  const Op* op;
  double start, end;
};

struct Met {
  std::size_t came = 0;
  double last = 0;
};

const char* kernel_name(KernelClass of, KernelPhase phase) {
  switch (of) {
    case KernelClass::products:
      return "nvjet_hsh_256x128_64x4_2x1_v_bz_coopA_TNN";
    case KernelClass::attention:
      return phase == KernelPhase::backward ? "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel"
                                            : "flash_fwd_kernel";
    case KernelClass::experts:
      return "cutlass_grouped_gemm_bf16";
    default:
      return "vectorized_elementwise_kernel";
  }
}

// Writes the program of one rank for one step.
class Writer {
 public:
  Writer(const forecast::Scenario& scenario, const std::vector<forecast::RankTimes>& expected,
         const std::vector<Injected>& faults, std::int64_t rank, std::mt19937& random,
         double jitter, double step)
      : plan_(scenario.plan),
        faults_(faults),
        rank_(rank),
        random_(random),
        jitter_(jitter),
        step_(step) {
    at_ = {rank % plan_.tensor, rank / plan_.tensor % plan_.data,
           rank / (plan_.tensor * plan_.data)};
    for (const auto& one : expected)
      if (one.stage == at_.stage) times_ = &one;
    microbatches_ = scenario.training.global_batch / plan_.micro_batch / plan_.data;
    layers_ = times_->layers;
    hidden_ = std::max(0.0, times_->communicating[StepPart::data_comm].value -
                                times_->exposed[StepPart::data_comm].value);
  }

  std::vector<Op> write() {
    if (const auto* fault = find(Fault::loading)) gap(fault->amount * step_);
    plan_pauses();
    const auto p = plan_.pipeline, warm = std::min(microbatches_, p - 1 - at_.stage);
    std::int64_t forward = 0, backward = 0;
    for (; forward < warm; ++forward) forward_pass(forward);
    while (backward < microbatches_) {
      if (forward < microbatches_) forward_pass(forward++);
      backward_pass(backward++);
    }
    finish();
    return std::move(ops_);
  }

 private:
  const Injected* find(Fault fault) const {
    for (const auto& one : faults_)
      if (one.fault == fault) return &one;
    return nullptr;
  }
  bool among(const Injected& fault) const {
    return std::ranges::find(fault.ranks, rank_) != fault.ranks.end();
  }

  std::int64_t real_layers() const {
    const auto* fault = find(Fault::deeper_stage);
    if (!fault) return layers_;
    const auto from = fault->stage + 1 < plan_.pipeline ? fault->stage + 1 : fault->stage - 1;
    const auto moved = static_cast<std::int64_t>(fault->amount);
    return layers_ + (at_.stage == fault->stage ? moved : at_.stage == from ? -moved : 0);
  }

  void kernel(KernelClass of, KernelPhase phase, double mean) {
    if (mean <= 0) return;
    double took = mean * std::max(0.2, 1 + jitter_ * normal_(random_));
    for (const auto& fault : faults_) {
      if (fault.fault == Fault::slow_ranks && among(fault)) took *= fault.amount;
      if (fault.fault == Fault::slow_rank_class && among(fault) && fault.kernels == of)
        took *= fault.amount;
      if (fault.fault == Fault::slow_class && fault.kernels == of) took *= fault.amount;
      if (fault.fault == Fault::clock) took *= fault.amount;
      if (fault.fault == Fault::fuller_expert && of == KernelClass::experts) {
        const auto ranks = static_cast<double>(plan_.expert);
        took *= among(fault) ? fault.amount : (ranks - fault.amount) / (ranks - 1);
      }
    }
    ops_.push_back({.kind = Op::Kind::kernel, .name = kernel_name(of, phase), .took = took});
    for (const auto& fault : faults_)
      if (fault.fault == Fault::host) gap(fault.amount * mean);
    if (!pauses_.empty() && ops_.size() >= pauses_.back()) {
      pauses_.pop_back();
      gap(pause_);
    }
  }
  void gap(double took) {
    if (took > 0) ops_.push_back({.kind = Op::Kind::gap, .took = took});
  }

  void plan_pauses() {
    const auto* fault = find(Fault::paused_rank);
    if (!fault || !among(*fault)) return;
    const std::size_t count = 1 + random_() % 3;
    pause_ = fault->amount * step_ / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i)
      pauses_.push_back(5 + random_() % static_cast<unsigned>(4 * microbatches_ * layers_));
    std::ranges::sort(pauses_, std::greater<>());
  }

  double slow(StepPart part) const {
    double factor = 1;
    for (const auto& fault : faults_)
      if (fault.fault == Fault::slow_collectives && fault.part == part &&
          (fault.ranks.empty() || among(fault)))
        factor *= fault.amount;
    return factor;
  }

  // The seconds for which the next collective stalls: the tenth of its kind.
  double stall(StepPart part) {
    const auto* fault = find(Fault::stall);
    if (!fault || fault->part != part || !among(*fault)) return 0;
    return ++exchanges_ == 10 ? fault->amount * step_ : 0;
  }

  Op meeting(StepPart part, const char* kernel, const char* description, double took,
             std::vector<std::int64_t> members, int stream) {
    Op op{.kind = Op::Kind::meet,
          .name = std::string("ncclDevKernel_") + kernel,
          .took = took * slow(part) + stall(part),
          .stream = stream,
          .description = description,
          .members = std::move(members)};
    op.elements = static_cast<std::int64_t>(took * 1e9);
    for (const auto member : op.members)
      op.group += (op.group.empty() ? "[" : ", ") + std::to_string(member);
    op.group += "]";
    return op;
  }

  std::int64_t rank_at(const Place& at) const {
    return at.tensor + plan_.tensor * (at.data + plan_.data * at.stage);
  }
  std::vector<std::int64_t> tensor_members() const {
    std::vector<std::int64_t> all;
    for (std::int64_t t = 0; t < plan_.tensor; ++t)
      all.push_back(rank_at({t, at_.data, at_.stage}));
    return all;
  }
  std::vector<std::int64_t> data_members() const {
    std::vector<std::int64_t> all;
    for (std::int64_t d = 0; d < plan_.data; ++d)
      all.push_back(rank_at({at_.tensor, d, at_.stage}));
    return all;
  }
  std::vector<std::int64_t> expert_members() const {
    std::vector<std::int64_t> all;
    const auto first = at_.data / plan_.expert * plan_.expert;
    for (std::int64_t e = 0; e < plan_.expert; ++e)
      all.push_back(rank_at({at_.tensor, first + e, at_.stage}));
    return all;
  }

  // Adds the layers of one microbatch: kernels of the phase, with their communication.
  void layers(KernelPhase phase, double tensor_each, double expert_each) {
    const auto& times = times_->computing[static_cast<std::size_t>(
        phase == KernelPhase::recompute ? KernelPhase::forward : phase)];
    const auto per_layer = [&](KernelClass of) {
      return times[static_cast<std::size_t>(of)].value /
             static_cast<double>(microbatches_ * layers_);
    };
    const bool backward = phase == KernelPhase::backward;
    const double beside = backward ? hidden_each(StepPart::tensor_comm) : 0;
    for (std::int64_t layer = 0; layer < real_layers(); ++layer) {
      kernel(KernelClass::others, phase, per_layer(KernelClass::others) / 2);
      start_tensor(beside);
      kernel(KernelClass::products, phase, per_layer(KernelClass::products) / 2);
      if (beside > 0) ops_.push_back({.kind = Op::Kind::wait, .stream = 29});
      kernel(KernelClass::attention, phase, per_layer(KernelClass::attention));
      if (plan_.tensor > 1)
        ops_.push_back(meeting(StepPart::tensor_comm, "AllReduce_Sum_bf16_RING_LL",
                               "tensor_model_parallel_group", tensor_each, tensor_members(), 21));
      const bool exchanges = plan_.expert > 1 && expert_each > 0;
      if (exchanges)
        ops_.push_back(meeting(StepPart::expert_comm, "SendRecv", "expert_model_parallel_group",
                               expert_each, expert_members(), 22));
      kernel(KernelClass::experts, phase, per_layer(KernelClass::experts));
      if (exchanges)
        ops_.push_back(meeting(StepPart::expert_comm, "SendRecv", "expert_model_parallel_group",
                               expert_each, expert_members(), 22));
      start_tensor(beside);
      kernel(KernelClass::products, phase, per_layer(KernelClass::products) / 2);
      if (beside > 0) ops_.push_back({.kind = Op::Kind::wait, .stream = 29});
      kernel(KernelClass::others, phase, per_layer(KernelClass::others) / 2);
      if (plan_.tensor > 1)
        ops_.push_back(meeting(StepPart::tensor_comm, "AllReduce_Sum_bf16_RING_LL",
                               "tensor_model_parallel_group", tensor_each, tensor_members(), 21));
      if (backward) reduce_some();
    }
  }

  // The seconds of one exchange inside layers. Each layer has two forward and two backward that
  // nothing hides, and two more backward that run under products (hidden_each).
  double each(StepPart part) const {
    return times_->exposed[part].value / static_cast<double>(4 * microbatches_ * layers_);
  }
  double hidden_each(StepPart part) const {
    return (times_->communicating[part].value - times_->exposed[part].value) /
           static_cast<double>(2 * microbatches_ * layers_);
  }
  void start_tensor(double took) {
    if (plan_.tensor < 2 || took <= 0) return;
    auto op = meeting(StepPart::tensor_comm, "AllReduce_Sum_bf16_RING_LL",
                      "tensor_model_parallel_group", took, tensor_members(), 29);
    op.kind = Op::Kind::start_meet;
    ops_.push_back(op);
  }

  void message(std::int64_t other_stage, bool send, bool forwards) {
    const auto other = rank_at({at_.tensor, at_.data, other_stage});
    const double took = times_->communicating[StepPart::pipeline_comm].value /
                        static_cast<double>(2 * microbatches_);
    auto op = meeting(StepPart::pipeline_comm, "SendRecv", "pipeline_model_parallel_group", took,
                      {std::min(rank_, other), std::max(rank_, other)}, forwards ? 23 : 24);
    op.kind = send ? Op::Kind::start_meet : Op::Kind::meet;
    if (send) op.stream += 7;
    op.source = send ? rank_ : other;
    op.destination = send ? other : rank_;
    op.elements = 1000;
    op.group = "pipeline";
    ops_.push_back(op);
    if (send) gap(took);  // the kernel that sends delays the next one
  }

  void forward_pass(std::int64_t) {
    if (at_.stage > 0) message(at_.stage - 1, false, true);
    layers(KernelPhase::forward, each(StepPart::tensor_comm), each(StepPart::expert_comm));
    if (at_.stage + 1 < plan_.pipeline) message(at_.stage + 1, true, true);
  }

  void backward_pass(std::int64_t microbatch) {
    if (at_.stage + 1 < plan_.pipeline) message(at_.stage + 1, false, false);
    if (find(Fault::recomputing))
      layers(KernelPhase::recompute, each(StepPart::tensor_comm), each(StepPart::expert_comm));
    reducing_ = plan_.data > 1 && hidden_ > 0 && microbatch >= microbatches_ - reduced_over();
    layers(KernelPhase::backward, each(StepPart::tensor_comm), each(StepPart::expert_comm));
    if (at_.stage > 0) message(at_.stage - 1, true, false);
  }

  // The number of last backward passes that have room for all hidden reductions.
  std::int64_t reduced_over() const {
    const double pass =
        times_->computed(KernelPhase::backward).value / static_cast<double>(microbatches_);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(hidden_ / (0.7 * pass))), 1,
                                    microbatches_);
  }

  void reduce_some() {
    if (!reducing_) return;
    auto op = meeting(StepPart::data_comm, "ReduceScatter_Sum_f32_RING_LL", "data_parallel_group",
                      hidden_ / static_cast<double>(reduced_over() * layers_), data_members(), 25);
    op.kind = find(Fault::blocking) ? Op::Kind::meet : Op::Kind::start_meet;
    op.stream = 27;
    ops_.push_back(op);
  }

  void finish() {
    ops_.push_back({.kind = Op::Kind::wait, .stream = 27});
    // The last reduction has no pass left to hide under.
    const double last = hidden_ / static_cast<double>(reduced_over() * layers_);
    const double exposed = std::max(0.0, times_->exposed[StepPart::data_comm].value - last);
    const auto& update = times_->computing[static_cast<std::size_t>(KernelPhase::update)];
    const auto after = [&](double share) {
      if (plan_.data > 1 && exposed > 0)
        ops_.push_back(meeting(StepPart::data_comm, "AllGather_RING_LL", "data_parallel_group",
                               exposed * share, data_members(), 27));
    };
    after(0.5);
    for (std::size_t of = 0; of < forecast::kernel_classes; ++of)
      for (int i = 0; i < 8; ++i)
        kernel(static_cast<KernelClass>(of), KernelPhase::update, update[of].value / 8);
    after(0.5);
    std::vector<std::int64_t> everyone;
    for (std::int64_t r = 0; r < plan_.tensor * plan_.data * plan_.pipeline; ++r)
      everyone.push_back(r);
    ops_.push_back(
        meeting(StepPart::other, "AllReduce_Sum_f32_RING_LL", "default_pg", 20e-6, everyone, 28));
    gap(times_->exposed[StepPart::other].value);
  }

  const strategies::Plan& plan_;
  const std::vector<Injected>& faults_;
  std::int64_t rank_;
  std::mt19937& random_;
  std::normal_distribution<double> normal_;
  double jitter_, step_;
  Place at_;
  const forecast::RankTimes* times_ = nullptr;
  std::int64_t microbatches_ = 1, layers_ = 1;
  double hidden_ = 0;
  bool reducing_ = false;
  int exchanges_ = 0;  // of the kind that stalls
  std::vector<std::size_t> pauses_;
  double pause_ = 0;
  std::vector<Op> ops_;
};

// Plays all programs. A meeting ends `took` after its last member has come.
class Player {
 public:
  explicit Player(const std::vector<std::vector<Op>>& programs) : programs_(programs) {
    ranks_.resize(programs.size());
  }

  std::vector<std::vector<Event>> play() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < programs_.size(); ++r)
        while (ranks_[r].next < programs_[r].size() && step(r)) moved = true;
    }
    std::vector<std::vector<Event>> events;
    for (std::size_t r = 0; r < programs_.size(); ++r) {
      if (ranks_[r].next != programs_[r].size()) throw std::logic_error("the ranks wait for ever");
      for (auto& [event, meeting] : ranks_[r].open)
        ranks_[r].events[event].end = end_of(meeting, *ranks_[r].events[event].op);
      events.push_back(std::move(ranks_[r].events));
    }
    return events;
  }
  double finish() const {
    double last = 0;
    for (const auto& rank : ranks_) last = std::max(last, rank.now);
    return last;
  }

 private:
  using Key = std::pair<std::string, int>;
  struct Rank {
    std::size_t next = 0;
    double now = 0;
    bool waiting = false;            // has come to its next meeting
    std::map<int, double> streams;   // when each stream is free
    std::map<int, Key> last;         // unfinished meeting of a stream
    std::map<std::string, int> met;  // number of meetings of a group so far
    std::vector<Event> events;
    std::vector<std::pair<std::size_t, Key>> open;  // events whose end is not known yet
  };

  static std::string who(const Op& op) {
    return op.description + op.group + std::to_string(op.source) + ">" +
           std::to_string(op.destination);
  }
  bool is_over(const Key& meeting, const Op& op) {
    return meetings_[meeting].came == op.members.size();
  }
  double end_of(const Key& meeting, const Op& op) { return meetings_[meeting].last + op.took; }

  // Whether the stream is free, which it is once the end of its last meeting is known.
  bool settle(Rank& rank, int stream) {
    const auto found = rank.last.find(stream);
    if (found == rank.last.end()) return true;
    const auto& op = *last_op_[{static_cast<std::size_t>(&rank - ranks_.data()), stream}];
    if (!is_over(found->second, op)) return false;
    rank.streams[stream] = std::max(rank.streams[stream], end_of(found->second, op));
    rank.last.erase(found);
    return true;
  }

  bool step(std::size_t r) {
    auto& rank = ranks_[r];
    const auto& op = programs_[r][rank.next];
    if (op.kind == Op::Kind::kernel) {
      rank.events.push_back({&op, rank.now, rank.now + op.took});
      rank.now += op.took;
    } else if (op.kind == Op::Kind::gap) {
      rank.now += op.took;
    } else if (op.kind == Op::Kind::wait) {
      if (!settle(rank, op.stream)) return false;
      rank.now = std::max(rank.now, rank.streams[op.stream]);
    } else if (!meet(r, rank, op)) {
      return false;
    }
    ++rank.next;
    rank.waiting = false;
    return true;
  }

  bool meet(std::size_t r, Rank& rank, const Op& op) {
    const bool blocking = op.kind == Op::Kind::meet;
    if (!rank.waiting) {
      if (!settle(rank, op.stream)) return false;
      const double start = std::max(rank.now, rank.streams[op.stream]);
      const Key key{who(op), rank.met[who(op)]++};
      auto& meeting = meetings_[key];
      ++meeting.came;
      meeting.last = std::max(meeting.last, start);
      rank.events.push_back({&op, start, start});
      rank.open.emplace_back(rank.events.size() - 1, key);
      if (!blocking) {
        rank.last[op.stream] = key;
        last_op_[{r, op.stream}] = &op;
        return true;
      }
      rank.waiting = true;
    }
    const auto& key = rank.open.back().second;
    if (!is_over(key, op)) return false;
    rank.now = end_of(key, op);
    return true;
  }

  const std::vector<std::vector<Op>>& programs_;
  std::vector<Rank> ranks_;
  std::map<Key, Met> meetings_;
  std::map<std::pair<std::size_t, int>, const Op*> last_op_;
};

void add_event(std::string& text, const Event& event, double shift) {
  std::array<char, 512> line{};
  const auto& op = *event.op;
  std::snprintf(line.data(), line.size(),
                ",\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":%d,"
                "\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"stream\":%d",
                op.name.c_str(), op.stream, (event.start + shift) * 1e6,
                (event.end - event.start) * 1e6, op.stream);
  text += line.data();
  if (!op.members.empty()) {
    text += ",\"Process Group Description\":\"" + op.description + "\",\"Process Group Ranks\":\"" +
            op.group + "\",\"Group size\":" + std::to_string(op.members.size()) +
            ",\"In msg nelems\":" + std::to_string(op.elements) + ",\"dtype\":\"BFloat16\"";
    if (op.source >= 0)
      text += ",\"Src Rank\":" + std::to_string(op.source) +
              ",\"Dst Rank\":" + std::to_string(op.destination);
  }
  text += "}}";
}

std::string trace_of(std::int64_t rank, std::size_t world,
                     const std::vector<std::vector<Event>>& steps,
                     const std::vector<double>& lengths, double skew) {
  std::string text =
      "{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100 80GB HBM3\"}],"
      "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":" +
      std::to_string(rank) + ",\"world_size\":" + std::to_string(world) +
      "},\"traceEvents\":[{\"ph\":\"M\"}";
  double begin = 1 + skew;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(),
                  ",\n{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#%zu\","
                  "\"ts\":%.3f,\"dur\":%.3f}",
                  s + 3, begin * 1e6, lengths[s] * 1e6);
    text += line.data();
    for (const auto& event : steps[s]) add_event(text, event, begin);
    begin += lengths[s];
  }
  return text + "]}";
}

}  // namespace

RecordedRun record(const forecast::Scenario& scenario,
                   const std::vector<forecast::RankTimes>& expected,
                   const std::vector<Injected>& faults, const Recording& recording) {
  std::mt19937 random(recording.seed);
  const auto ranks = static_cast<std::size_t>(scenario.cluster.gpus);
  double step = 0;
  for (const auto& part : forecast::step_parts) step += expected.front().exposed[part.part].value;
  std::vector<std::vector<std::vector<Op>>> programs;  // by step; events refer to them
  std::vector<std::vector<std::vector<Event>>> events(ranks);
  std::vector<double> lengths;
  for (int s = 0; s < recording.steps; ++s) {
    auto& program = programs.emplace_back();
    for (std::size_t r = 0; r < ranks; ++r)
      program.push_back(Writer(scenario, expected, faults, static_cast<std::int64_t>(r), random,
                               recording.jitter, step)
                            .write());
    Player player(program);
    auto played = player.play();
    for (std::size_t r = 0; r < ranks; ++r) events[r].push_back(std::move(played[r]));
    lengths.push_back(player.finish());
  }
  RecordedRun run{.seconds = lengths[(lengths.size() - 1) / 2]};
  std::uniform_real_distribution<double> skew(0, recording.skew);
  for (std::size_t r = 0; r < ranks; ++r) {
    const double shift = skew(random);
    const auto rank = static_cast<std::int64_t>(r);
    if (std::ranges::find(recording.missing, rank) != recording.missing.end()) continue;
    run.ranks.push_back(rank);
    run.traces.push_back(trace_of(rank, ranks, events[r], lengths, shift));
  }
  return run;
}

}  // namespace faulty_runs
