// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.hpp"

#include "sim/contention.hpp"
#include "sim/stepper.hpp"

namespace sim {

Trace run(const Program& program, Detail detail) {
  if (!program.traffic().empty()) return run_contended(program, detail);
  Stepper stepper(program, detail);
  for (const auto& op : program.ops()) {
    if (op.kind == Op::Kind::pass) {
      stepper.pass(op);
    } else {
      const auto start = stepper.ready(op);
      stepper.settle(op, start, start + op.duration);
    }
  }
  return stepper.take();
}

}  // namespace sim
