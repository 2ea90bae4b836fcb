// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/titan_start.hpp"

namespace scenarios {

bool fsdp_divides(const TitanSpread& spread) {
  return spread.shards.value_or(2) > 1 || spread.context > 1;
}

TitanCast titan_cast(const TitanSpread& spread) {
  if (fsdp_divides(spread) || spread.expert > 1) return TitanCast::mixed;
  if (spread.tensor == 1 && spread.pipeline == 1) return TitanCast::mixed;
  return spread.replicas > 1 ? TitanCast::refused : TitanCast::weights;
}

}  // namespace scenarios
