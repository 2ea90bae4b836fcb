// SPDX-License-Identifier: Apache-2.0
// The choice of experts by tokens, and the number of ranks and nodes that one token reaches.
#pragma once
#include <cstdint>
#include <vector>

#include "model/transformer.hpp"

namespace strategies {

// The place of one token's experts among all experts.
//   random: any top_k of them;
//   group_limited: any top_k in `top_groups` of `groups` equal groups of consecutive experts
//     (DeepSeek-V2, arXiv 2405.04434, section 2.2.2: device-limited routing);
//   neighbours: a gate of benchmarks, which sends token i to the experts k·i to k·i + k − 1,
//     counted around.
enum class Locality { random, group_limited, neighbours };

// The popularity of experts relative to each other.
//   balanced: alike;
//   power_law: numbers between 1 and `spread` whose density falls as x to the power −exponent, of
//     which the n-th of E experts has the quantile (n − ½) / E; in each layer other experts are the
//     popular ones;
//   histogram: as `shares` says, alike in all layers.
enum class Skew { balanced, power_law, histogram };

// The experts that a rank holds. given: consecutive ones; greedy: those that place_experts chooses.
enum class ExpertPlacement { given, greedy };

struct Routing {
  Locality locality = Locality::random;
  std::int64_t groups = 0, top_groups = 0;  // group_limited
  Skew skew = Skew::balanced;
  double exponent = 1.2, spread = 10'000;  // power_law
  std::vector<double> shares;              // histogram: by expert, in any unit
  ExpertPlacement placement = ExpertPlacement::given;
  friend bool operator==(const Routing&, const Routing&) = default;
};

// The mean number of parts that hold at least one of a token's top_k experts, among `parts` equal
// parts of consecutive experts. With E experts and k = top_k:
//   random: parts · (1 − C(E − E/parts, k) / C(E, k));
//   group_limited: the chance that a part is missed is that mean over the chosen groups, each
//     set of them as likely as any other, and the token's experts any k of theirs. With n experts
//     of the part in chosen groups that hold G in all it is C(G − n, k) / C(G, k);
//   neighbours: k consecutive experts that begin anywhere at a multiple of the greatest common
//     divisor of k and E/parts in a part.
// Popular experts count as any other. O(top_k) for random, O(parts · groups · top_k) for
// group_limited, O(experts) for neighbours.
double parts_hit(const model::Moe& moe, const Routing& routing, double parts);

}  // namespace strategies
