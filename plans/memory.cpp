// SPDX-License-Identifier: Apache-2.0
#include "plans/memory.hpp"

#include <algorithm>

#include "model/narrow.hpp"
#include "plans/duties.hpp"
#include "plans/precision.hpp"
#include "plans/shard_groups.hpp"

namespace strategies {

int moments_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
    case Optimizer::muon:
      return 1;
    case Optimizer::adafactor:
      return 0;
    default:
      return 2;
  }
}

namespace {

struct BytesPerParameter {
  double weights, gradients, optimizer;
  double copies = 0;  // in 8 or 4 bit, of the weights
};

double copy_bytes(const Training& training) {
  return model::weight_copy_bytes(training.precision, training.fp8_recipe,
                                  weight_copies(training.in_bf16));
}

// Whether whole weights of narrow products have no 16-bit ones beside their copies. Gradients that
// are computed in 16 bit read these.
bool only_narrow(const Training& training, const Software& software) {
  using enum units::Precision;
  return software.narrow_weights && (training.precision == fp8 || training.precision == mxfp8) &&
         weight_copies(training.in_bf16).count() == 2;
}

constexpr double master_bytes = 4;

// Bytes of one moment of Adam for a parameter.
double moment_bytes(const Software& software) {
  constexpr double wide = 4;
  const auto master_beside = std::max(0.0, master_bytes - software.weight_bytes);
  if (software.optimizer_bytes >= 2 * wide + master_beside) return wide;
  const auto master = software.weight_bytes < master_bytes ? master_bytes : 0;
  return std::max(0.0, software.optimizer_bytes - master) / 2;
}

// Bytes per parameter that the training's optimizer keeps less than Adam.
double saved_bytes(const Training& training, const Software& software) {
  return (2 - moments_of(training.optimizer)) * moment_bytes(software);
}

bool is_wide(const Training& training) { return units::element_bytes(training.precision) == 4; }

// Bytes per parameter by which the plan's master copy makes the optimizer's states smaller. Of a
// copy that has the weights as a part (FSDP) the states hold the rest alone, which may all go.
double saved_master_bytes(const Plan& plan, const Training& training, const Software& software) {
  if (is_wide(training)) return 0;
  const double master =
      std::min(master_bytes, software.optimizer_bytes - 2 * moment_bytes(software));
  return std::min(master, master_bytes - units::element_bytes(plan.master_weights));
}

BytesPerParameter bytes_of(const Plan& plan, const Training& training, const Software& software) {
  const double gradients = kept_gradient_bytes(plan, training, software);
  const double saved =
      saved_bytes(training, software) + saved_master_bytes(plan, training, software);
  if (is_wide(training)) return {4, gradients, 2 * moment_bytes(software) - saved};
  return {software.weight_bytes, gradients, software.optimizer_bytes - saved, copy_bytes(training)};
}

// Bytes of a kept gradient if the plan does not choose its precision: 4 in training of 32 bit, else
// the software's.
double own_gradient_bytes(const Training& training, const Software& software) {
  return is_wide(training) ? 4 : software.gradient_bytes;
}

units::Precision own_precision(const Training& training, const Software& software) {
  return is_wide(training) ? units::Precision::fp32 : software.gradient_precision;
}

}  // namespace

units::Precision reduced_gradient_precision(const Plan& plan, const Training& training,
                                            const Software& software) {
  return plan.gradient_precision.value_or(own_precision(training, software));
}

double reduced_gradient_bytes(const Plan& plan, const Training& training,
                              const Software& software) {
  return units::element_bytes(reduced_gradient_precision(plan, training, software));
}

double kept_gradient_bytes(const Plan& plan, const Training& training, const Software& software) {
  const double own = own_gradient_bytes(training, software);
  if (!plan.gradient_precision) return own;
  const double asked = units::element_bytes(*plan.gradient_precision);
  return std::max(asked, own + asked - units::element_bytes(own_precision(training, software)));
}

bool sends_signs(const Plan& plan, const Training& training) {
  return plan.gradient_compression == GradientCompression::onebit ||
         training.optimizer == Optimizer::onebit_adam;
}

std::optional<double> packed_bytes(const Plan& plan, const Training& training) {
  if (sends_signs(plan, training)) return 1.0 / 8;
  if (plan.gradient_compression == GradientCompression::fp8) return 1.0;
  return {};
}

// For signs, gradient and error are read, error and sign written. For fp8, the gradient is read
// twice, because its largest value is looked for first.
double packing_traffic(const Plan& plan, const Training& training, double gradient_bytes) {
  const auto packed = packed_bytes(plan, training);
  if (!packed) return 0;
  return *packed + (sends_signs(plan, training) ? gradient_bytes + 2 * 4 : 2 * gradient_bytes);
}

double unpacking_traffic(const Plan& plan, const Training& training, double gradient_bytes) {
  const auto packed = packed_bytes(plan, training);
  return packed ? *packed + gradient_bytes : 0;
}

double copied_parameter_traffic(const Plan& plan, const Software& software,
                                double parameter_bytes) {
  return plan.zero == 3 && software.copies_parameters ? 2 * parameter_bytes : 0;
}

double copied_gradient_traffic(const Plan& plan, const Training& training, const Software& software,
                               double gradient_bytes) {
  if (plan.zero < 3 || !software.copies_gradients || packed_bytes(plan, training)) return 0;
  const double left = sums_whole_gradients(plan, training, software)
                          ? kept_gradient_bytes(plan, training, software)
                          : model::wide_bytes(training.precision);
  return left + gradient_bytes;
}

double optimizer_traffic(const Plan& plan, const Training& training, const Software& software,
                         double cast) {
  const double copies = copy_bytes(training);
  const double states = 2 * master_bytes + 2 * 2 * moment_bytes(software) + 2;
  const double passes = std::max(0.0, software.optimizer_traffic - states) / 4;  // over gradients
  const double wider =
      kept_gradient_bytes(plan, training, software) - own_gradient_bytes(training, software);
  double traffic = std::max(12.0, software.optimizer_traffic + passes * wider -
                                      2 * saved_bytes(training, software) -
                                      2 * saved_master_bytes(plan, training, software));
  if (copies > 0) traffic += cast * (2 + copies);
  if (is_wide(training)) traffic -= 2;
  const auto optimizer = training.optimizer;
  // Parameters are read, the update written and read once more.
  if (optimizer == Optimizer::lamb || optimizer == Optimizer::adafactor) traffic += 3 * 4;
  if (optimizer == Optimizer::onebit_adam) traffic -= 4;
  return traffic;
}

double host_traffic(const Plan& plan, const Training& training, const Software& software) {
  return 12 - 2 * saved_master_bytes(plan, training, software) +
         2 * moments_of(training.optimizer) * moment_bytes(software);
}

double state_bytes(const Plan& plan, const Training& training, const Software& software) {
  return (is_wide(training) ? 0 : master_bytes) - saved_master_bytes(plan, training, software) +
         moments_of(training.optimizer) * moment_bytes(software);
}

bool gradients_come_late(const Software& software, std::int64_t microbatches) {
  return !software.keep_gradients && microbatches == 1;
}

namespace {

// The bytes of whole gradients under ZeRO-3 beside gathered parameters. Tensor by tensor, they take
// the place of their parameters, and count for what they are wider.
double whole_gradient_bytes(const Holding& held, const Plan& plan, const Training& training,
                            const Software& software) {
  const auto bytes = bytes_of(plan, training, software);
  if (!software.tensor_units) return held.unreduced * bytes.gradients;
  const double wider = reduced_gradient_bytes(plan, training, software) - bytes.weights;
  return held.gathered * std::max(0.0, wider);
}

// The bytes of parameters of `each` bytes that one rank has.
double divided(const Parameters& of, double each, const Shards& shards) {
  return of.with_layer * each / shards.with_layer + of.apart * each / shards.apart;
}

// The copies and the buffer of reducing the gradients of so many parameters after the last pass.
units::Bytes reduction_memory(double reduced, const Plan& plan, const Training& training,
                              const Software& software) {
  return {reduced * software.reduction_bytes +
          std::min(reduced * reduced_gradient_bytes(plan, training, software),
                   software.reduction_buffer.value)};
}

}  // namespace

StaticMemory static_memory(const Holding& held, const Shards& shards, const Plan& plan,
                           const Training& training, const Software& software) {
  using enum Offload::Tier;
  const auto bytes = bytes_of(plan, training, software);
  const double p = held.parameters.all();
  // Bytes of all parameters of `each` bytes, divided over ranks from ZeRO's stage `from_stage` on.
  const auto all_of = [&](double each, int from_stage) {
    return divided(held.parameters, each, plan.zero >= from_stage ? shards : Shards{});
  };
  StaticMemory memory;
  const auto& offload = plan.offload;
  // Adds bytes to the memory of their tier: the device, its host, or NVMe.
  const auto place = [&](units::Bytes& on_device, Offload::Tier tier, double size) {
    (tier == none ? on_device : tier == cpu ? memory.host : memory.nvme) += units::Bytes{size};
  };
  const double moment = moment_bytes(software);
  const bool is_muon = training.optimizer == Optimizer::muon;
  // Second moments of what Muon does not orthogonalise.
  const double seconds = is_muon ? all_of(moment, 1) - divided(held.matrices, moment,
                                                               plan.zero >= 1 ? shards : Shards{})
                                 : 0;
  const double states = all_of(bytes.optimizer, 1) + seconds;
  const double moments = all_of(moments_of(training.optimizer) * moment, 1) + seconds;
  place(memory.optimizer, offload.optimizer, states);
  if (offload.optimizer == none && !software.moments_at_start)
    memory.moments = {std::min(moments, states)};
  place(memory.stepping, offload.optimizer, all_of(software.stepping_bytes, 1));
  const auto holders = holders_of(plan);
  if (sends_signs(plan, training))
    memory.optimizer += units::Bytes{4 * (p + divided(held.parameters, 1, holders))};
  // Whole gradients are summed up where they come from; a rank's own part of them may leave.
  const bool whole_gradients = sums_whole_gradients(plan, training, software);
  if (whole_gradients)
    memory.gradients += units::Bytes{p * reduced_gradient_bytes(plan, training, software)};
  if (offload.gradients || !whole_gradients)
    place(memory.gradients, offload.gradients ? cpu : none, all_of(bytes.gradients, 2));
  if (offload.optimizer != none && !offload.gradients)
    memory.host += units::Bytes{all_of(bytes.gradients, 1)};

  const double copies = held.cast * bytes.copies;
  const bool gathers = plan.zero == 3 && (shards.most() > 1 || offload.parameters != none);
  if (gathers) {
    place(memory.weights, offload.parameters, all_of(bytes.weights, 3));
    // Parameters of which no other rank holds a part are whole without a gather.
    const double all = not_whole(held.parameters, shards, offload.parameters != none);
    const double whole = plan.reshard_after_forward
                             ? held.gathered * bytes.weights + held.gathered_cast * bytes.copies
                             : all * bytes.weights + copies;
    memory.gathered = {whole + whole_gradient_bytes(held, plan, training, software)};
  } else {
    const double wide = only_narrow(training, software) ? p - held.cast : p;
    memory.weights = {wide * bytes.weights + copies};
    if (plan.zero >= 2) memory.gathered = {held.unreduced * bytes.gradients};
  }
  // From stage 2 on `gathered` has the gradients of a unit that is being reduced.
  if (plan.zero < 2)
    memory.reduction =
        reduction_memory(not_whole(held.parameters, holders, false), plan, training, software);
  return memory;
}

}  // namespace strategies
