// SPDX-License-Identifier: Apache-2.0
#include "model/narrow.hpp"

namespace model {

using units::Kernel;
using units::Precision;

namespace {

constexpr double wide = 2;  // bytes of a value before the cast

double scale_bytes(Precision precision, Scaling scaling, Operand operand) {
  if (precision == Precision::mxfp8) return 1.0 / 32;
  if (precision == Precision::nvfp4) return 1.0 / 16;
  if (scaling != Scaling::blockwise) return 0;
  return operand == Operand::weights ? 4.0 / (128 * 128) : 4.0 / 128;
}

bool searches_first(Precision precision, Scaling scaling) {
  return precision == Precision::nvfp4 ||
         (precision == Precision::fp8 && scaling == Scaling::tensorwise);
}

}  // namespace

double copy_bytes(Precision precision, Scaling scaling, Operand operand) {
  if (!is_narrow(precision)) return 0;
  return units::element_bytes(precision) + scale_bytes(precision, scaling, operand);
}

double weight_copy_bytes(Precision precision, Scaling scaling, Copies copies) {
  return copies.count() * copy_bytes(precision, scaling, Operand::weights);
}

std::vector<Kernel> casts(Precision precision, Scaling scaling, double values, Copies copies) {
  if (!is_narrow(precision) || copies.count() == 0) return {};
  const auto stream = [&](double bytes, bool reduces = false) {
    return Kernel{.kind = Kernel::Kind::stream,
                  .traffic = {bytes * values},
                  .reduces = reduces,
                  .issue = units::Issue::within_call};
  };
  const double copy = copy_bytes(precision, scaling, Operand::values);
  if (precision == Precision::fp8 && scaling == Scaling::rowwise) {
    std::vector<Kernel> kernels;
    if (copies.rows) kernels = {stream(wide + copy, true)};
    if (copies.columns) {
      kernels.push_back(stream(wide, true));
      kernels.push_back(stream(wide + copy));
    }
    return kernels;
  }
  const auto cast = stream(wide + copies.count() * copy);
  if (!searches_first(precision, scaling)) return {cast};
  return {stream(wide, true), cast};
}

}  // namespace model
