// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/titan_ranks.hpp"

#include <algorithm>
#include <string>

#include "scenarios/jobs/launcher.hpp"

namespace scenarios {

TitanRanks titan_ranks(const Given& given, Draft& draft, const TitanDegrees& degrees,
                       std::optional<std::int64_t> gpus) {
  constexpr const char *copies = "parallelism.data_parallel_replicate_degree",
                       *sharded = "parallelism.data_parallel_shard_degree";
  TitanRanks ranks{given.degree(copies)};
  const bool over = draft.over_ranks();
  const bool rest = given.word_or(sharded, "-1") == "-1";
  if (!rest) ranks.shards = given.degree(sharded);
  if (!gpus) return ranks;
  const auto others =
      product_of({ranks.replicas, degrees.tensor, degrees.pipeline, degrees.context});
  const auto all = product_of({others, ranks.shards.value_or(1)});
  const bool fits = rest ? *gpus % others == 0 : all == *gpus;
  if (!fits && !over)
    given.complain(
        given.mentioned(sharded) != nullptr ? sharded : copies,
        contradiction_of(rest ? "the other degrees make " : "all degrees make ", all, *gpus, rest));
  if (!fits && over && !rest)
    draft.partly(sharded, "the scenario over the job leaves " + std::to_string(*gpus / others) +
                              " shards on its " + std::to_string(*gpus) +
                              " GPUs, which are forecast");
  if (rest || (!fits && over)) ranks.shards = std::max<std::int64_t>(1, *gpus / others);
  return ranks;
}

}  // namespace scenarios
