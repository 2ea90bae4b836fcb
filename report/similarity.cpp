// SPDX-License-Identifier: Apache-2.0
#include "report/similarity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/document.hpp"
#include "report/terminal.hpp"

namespace report {
namespace {

using forecast::Accuracy;
using forecast::NeighbourScore;
using forecast::Similarity;

Document accuracy_document(const Accuracy& accuracy) {
  return Object()
      .number("mape", accuracy.error)
      .number("coverage", accuracy.coverage)
      .number("width", accuracy.width)
      .take();
}

Document score_document(const NeighbourScore& score) {
  return Object()
      .put("name", score.name)
      .put("runs", score.runs)
      .put("without", accuracy_document(score.plain))
      .put("one_other", accuracy_document(score.any))
      .put("nearest", accuracy_document(score.nearest))
      .put("all_others", accuracy_document(score.rest))
      .take();
}

template <class Names, class Figures>
Document figures_document(const Names& names, const Figures& figures) {
  Object object;
  for (std::size_t i = 0; i < names.size(); ++i)
    object.number(std::string(names[i]).c_str(), figures[i]);
  return object.take();
}

template <class Names, class Figures>
std::string figures_words(const Names& names, const Figures& figures) {
  std::string words;
  for (std::size_t i = 0; i < names.size(); ++i)
    words += fmt::format("{}{} {:g}", i == 0 ? "" : ", ", names[i], figures[i]);
  return words;
}

template <class Names, class Figures>
std::string figures_yaml(const Names& names, const Figures& figures) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("  {}: {:g}\n", names[i], figures[i]);
  return text;
}

std::string score_row(const std::string& name, const NeighbourScore& score, int name_width) {
  std::string text = "  " + left(fitted(name, name_width), name_width);
  text += right(grouped(static_cast<double>(score.runs)), 6);
  for (const auto& one : {score.plain, score.any, score.nearest, score.rest})
    text += right(percent(one.error), 9) + right(fmt::format("{:.0f}", 100 * one.coverage), 5);
  return text + '\n';
}

}  // namespace

std::string similarity_yaml(const Similarity& similarity) {
  return "# Written by `stepcast validate corrections --likeness scenarios/catalog/likeness.yaml`; "
         "do not\n"
         "# edit. How alike forecasts err (docs/correction.md): the share of the variance of a "
         "forecast's\n"
         "# error that no other has, and the distance that a difference and a doubling make.\n" +
         fmt::format("own: {:g}\ndifference:\n", similarity.own) +
         figures_yaml(forecast::word_dimensions, similarity.difference) + "doubling:\n" +
         figures_yaml(forecast::number_dimensions, similarity.doubling);
}

std::string neighbours_json(const std::vector<NeighbourScore>& scores,
                            const Similarity& similarity) {
  Document sets = Document::array();
  for (const auto& score : scores) sets.push_back(score_document(score));
  return dump(Object()
                  .put("datasets", std::move(sets))
                  .put("mean", scores.empty() ? Document() : score_document(mean_of(scores)))
                  .put("likeness",
                       Object()
                           .number("own", similarity.own)
                           .put("difference",
                                figures_document(forecast::word_dimensions, similarity.difference))
                           .put("doubling",
                                figures_document(forecast::number_dimensions, similarity.doubling))
                           .take())
                  .take());
}

std::string neighbours_text(const std::vector<NeighbourScore>& scores, const Similarity& similarity,
                            const TextOptions& options) {
  if (scores.empty()) return "No data set has two measured runs.\n";
  const int width = width_of(options), name_width = std::max(16, width - 64);
  std::string text =
      heading("Step time: mean absolute error, and measured steps inside the 80 % interval",
              options) +
      "  " + left("", name_width) + right("", 6) + right("as forecast", 14) +
      right("1 measured", 14) + right("the nearest", 14) + right("all others", 14) + '\n' + "  " +
      left("data set", name_width) + right("runs", 6);
  for (int i = 0; i < 4; ++i) text += right("error", 9) + right("in %", 5);
  text += '\n';
  for (const auto& score : scores) text += score_row(score.name, score, name_width);
  text += score_row("mean", mean_of(scores), name_width);
  text += '\n' + wrapped(
                     "Each run is forecast as it stands; corrected by one other measured run of "
                     "its data set (the mean over all choices, and the run most like it); and "
                     "by all others. Prior and likeness are from the other data sets.",
                     2, width);
  text += heading("Likeness that all data sets give", options);
  text += wrapped(fmt::format("own {:g}", similarity.own), 2, width);
  text += wrapped(
      "a difference: " + figures_words(forecast::word_dimensions, similarity.difference), 2, width);
  return text +
         wrapped("a doubling: " + figures_words(forecast::number_dimensions, similarity.doubling),
                 2, width);
}

}  // namespace report
