// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include "forecast/accuracy/similarity.hpp"

namespace forecast {
namespace {

constexpr std::size_t dimensions = word_dimensions.size() + number_dimensions.size();
constexpr double most =
    3;  // deviations beyond say something is wrong, not how wrong neighbours are

// Two deviations of a family, and how far apart they are along each dimension.
struct Pair {
  double a = 0, b = 0, shared = 1, weight = 1;
  bool same = false;
  std::array<float, dimensions> apart{};
};

// The figures that are fitted, as one list.
using Figures = std::array<double, dimensions + 1>;

Figures figures_of(const Similarity& similarity) {
  Figures figures{};
  std::ranges::copy(similarity.difference, figures.begin());
  std::ranges::copy(similarity.doubling, figures.begin() + word_dimensions.size());
  figures.back() = similarity.own;
  return figures;
}

Similarity similarity_from(const Figures& figures) {
  Similarity similarity;
  std::copy_n(figures.begin(), word_dimensions.size(), similarity.difference.begin());
  std::copy_n(figures.begin() + word_dimensions.size(), number_dimensions.size(),
              similarity.doubling.begin());
  similarity.own = figures.back();
  return similarity;
}

Pair pair_of(const Deviation& a, const Deviation& b, double weight) {
  Pair pair{std::clamp(a.value, -most, most), std::clamp(b.value, -most, most),
            std::sqrt(a.shared * b.shared), weight, same(a.setting, b.setting)};
  for (std::size_t i = 0; i < word_dimensions.size(); ++i)
    pair.apart[i] = a.setting.words[i] == b.setting.words[i] ? 0.0F : 1.0F;
  for (std::size_t i = 0; i < number_dimensions.size(); ++i)
    pair.apart[word_dimensions.size() + i] =
        static_cast<float>(std::abs(a.setting.numbers[i] - b.setting.numbers[i]));
  return pair;
}

// Adds every n-th pair of a family, at most most_pairs in all. Their weights sum to the root of the
// number of runs less one, because the pairs of a family say nearly the same.
void add_pairs(std::vector<Pair>& pairs, const Family& family) {
  const auto all = family.size() * (family.size() - 1) / 2;
  if (family.size() < 2) return;
  const auto every = (all + most_pairs - 1) / most_pairs;
  const auto taken = (all + every - 1) / every;
  const double weight =
      std::sqrt(static_cast<double>(family.size() - 1)) / static_cast<double>(taken);
  std::size_t number = 0;
  for (std::size_t j = 1; j < family.size(); ++j)
    for (std::size_t i = 0; i < j; ++i)
      if (number++ % every == 0) pairs.push_back(pair_of(family[i], family[j], weight));
}

// Logarithm of the density of two standard normal deviations of that correlation, but for
// constants.
double log_density(const Pair& pair, const Figures& figures) {
  double apart = 0;
  for (std::size_t i = 0; i < dimensions; ++i) apart += figures[i] * pair.apart[i];
  const double like = pair.same ? 1 : (1 - figures.back()) * std::exp(-apart);
  const double r = pair.shared * like, left = std::max(1e-4, 1 - r * r);
  const auto [a, b] = std::pair(pair.a, pair.b);
  return -0.5 * (std::log(left) + (a * a - 2 * r * a * b + b * b) / left);
}

double worth(const std::vector<Pair>& pairs, const Figures& figures, const Figures& usual) {
  constexpr double spread = 1.5,
                   least = 0.01;  // of the prior, in logarithms; a zero counts so much
  double sum = 0;
  for (const auto& pair : pairs) sum += pair.weight * log_density(pair, figures);
  for (std::size_t i = 0; i < figures.size(); ++i)
    sum -= 0.5 * std::pow(std::log((figures[i] + least) / (usual[i] + least)) / spread, 2);
  return sum;
}

constexpr std::array<double, 11> grid{0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 0.8, 1.2};
constexpr std::size_t own_values = 10;  // a share is below one

}  // namespace

Similarity usual_similarity() {
  Similarity similarity{.own = 0.15};
  similarity.difference.fill(0.25);
  similarity.difference[0] = 1;    // another device has other kernels, clocks and drivers,
  similarity.difference[2] = 0.5;  // another framework some of them
  similarity.doubling.fill(0.05);
  return similarity;
}

Similarity fit_similarity(const std::vector<Family>& families, const Similarity& usual) {
  std::vector<Pair> pairs;
  for (const auto& family : families) add_pairs(pairs, family);
  const auto prior = figures_of(usual);
  auto best = prior;
  double most_worth = worth(pairs, best, prior);
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 0; i < best.size(); ++i)
      for (const double value :
           std::span(grid).first(i + 1 == best.size() ? own_values : grid.size())) {
        auto tried = best;
        tried[i] = value;
        const double here = worth(pairs, tried, prior);
        if (here <= most_worth + 1e-6) continue;
        most_worth = here;
        best = tried;
        better = true;
      }
  }
  return similarity_from(best);
}

}  // namespace forecast
