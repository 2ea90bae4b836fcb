// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/titan_ranks.hpp"

#include <algorithm>
#include <array>
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

TitanSpread spread_of(const TitanRanks& ranks, const TitanDegrees& degrees) {
  return {.replicas = ranks.replicas,
          .shards = ranks.shards,
          .tensor = degrees.tensor,
          .pipeline = degrees.pipeline,
          .context = degrees.context,
          .expert = degrees.expert};
}

void refuse_replicas(const Given& given, const OverJob& over) {
  constexpr std::array<const char*, 6> degrees{"plan.zero",    "plan.data",     "plan.tensor",
                                               "plan.context", "plan.pipeline", "plan.expert"};
  const bool mended =
      std::ranges::any_of(degrees, [&](const char* key) { return over.values.contains(key); });
  if (over.changes || mended) return;
  given.complain(
      "parallelism.data_parallel_replicate_degree",
      "where FSDP divides nothing (data_parallel_shard_degree 1) torchtitan has replicas "
      "on neither tensor nor pipeline ranks, and refuses to start; write 1, or shard "
      "over more ranks");
}

}  // namespace scenarios
