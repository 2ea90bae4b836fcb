// SPDX-License-Identifier: Apache-2.0
// Plans that people tuned for published runs beside those that searches find. The test takes two
// data sets that take seconds; `stepcast validate search` does all of them.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"

namespace validate_search_spec {

using nlohmann::json;
using tests::stepcast;

TEST_CASE("plans that people tuned are inside of the space, and the plans found are no slower") {
  std::vector<std::string> command{"validate", "search", "megatron_readme_2020_09",
                                   "--json",   "--set",  "search.gap=0.05"};
  if (tests::fewer == 1) command.emplace_back("torchtitan_a100_2024_04");
  const auto run = stepcast(command);
  CHECK(run.err.empty());
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["rows"] == (tests::fewer == 1 ? 7 : 4));  // rows of at least 16 GPUs
  CHECK(document["unsupported"] == 0);
  for (const auto& dataset : document["datasets"])
    for (const auto& row : dataset["rows"]) {
      CAPTURE(row["id"]);
      CHECK(row["outside"] == json::array());
      CHECK(row["given_fits"] == true);
      CHECK(row["found_s"] <= row["given_s"]);
      CHECK(row["lower_bound_s"] <= row["found_s"]);
      CHECK(row["gap"] < 0.0501);
    }
}

TEST_CASE("data sets that nobody tuned are left out, and unknown ones are a mistake") {
  const auto none = stepcast({"validate", "search", "vtrain_ground_truth_multi"});
  CHECK(none.status == app::success);
  CHECK_THAT(none.out, STEPCAST_HOLDS("Of 0 plans"));
  const auto unknown = stepcast({"validate", "search", "vtrain"});
  CHECK(unknown.status == app::wrong_input);
  CHECK_THAT(unknown.err, STEPCAST_HOLDS("unknown data set 'vtrain'"));
  const auto page = stepcast({"validate", "search", "--report", "page.html"});
  CHECK(page.status == app::wrong_input);
}

}  // namespace validate_search_spec
