// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.hpp"

#include "sim/contention.hpp"
#include "sim/stepper.hpp"

namespace sim {

Trace run(const Program& program, Detail detail) {
  Stepper stepper(program, detail);
  for (const auto& op : program.ops()) {
    if (op.kind == Op::Kind::pass) {
      stepper.pass(op);
    } else {
      const auto start = stepper.ready(op);
      stepper.settle(op, start, start + idle_duration(program, op));
    }
  }
  auto trace = stepper.take();
  if (nothing_meets(program, trace)) return trace;
  return run_contended(program, detail);
}

}  // namespace sim
