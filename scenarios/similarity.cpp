// SPDX-License-Identifier: Apache-2.0
#include "scenarios/similarity.hpp"

#include <algorithm>

#include "scenarios/catalog_files.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/keys.hpp"
#include "scenarios/named.hpp"

namespace scenarios {
namespace {

using forecast::Similarity;

// Returns a table with a key for every dimension of that list, whose value is its figure.
template <class Names, class Figures>
Table<Similarity> dimensions(const Names& names, Figures Similarity::*figures) {
  Table<Similarity> table;
  for (std::size_t i = 0; i < names.size(); ++i)
    table.push_back(number<Similarity>(
        names[i], "", {0, 100, "a distance, of which e-fold less correlation is one"}, "Distance",
        [figures, i](Similarity& similarity) -> double& { return (similarity.*figures)[i]; }));
  return table;
}

const Table<Similarity>& differences() {
  static const auto table = dimensions(forecast::word_dimensions, &Similarity::difference);
  return table;
}

const Table<Similarity>& doublings() {
  static const auto table = dimensions(forecast::number_dimensions, &Similarity::doubling);
  return table;
}

const Table<Similarity>& similarity_table() {
  const auto itself = [](Similarity& similarity) -> Similarity& { return similarity; };
  static const Table<Similarity> all{
      number<Similarity>("own", "", {0, 0.99, "a share of the variance, and some is shared"},
                         "Share of the variance that no other scenario has", &Similarity::own),
      inner<Similarity>("difference", "Distance of a difference", differences(), itself),
      inner<Similarity>("doubling", "Distance of a doubling", doublings(), itself)};
  return all;
}

// Complains of each of these keys that is missing.
void require_all(const std::vector<Field>& fields, const Cursor& at) {
  for (const auto& field : fields)
    if (!at.find(field.name)) at.missing(field.name, "every dimension has its figure");
}

}  // namespace

Similarity read_similarity(std::string_view text, const std::string& file) {
  const Value document = parse_yaml(text, file);
  Reading reading(file, {});
  Similarity similarity;
  const Cursor root(document, "", reading);
  read_map(similarity_table(), similarity, root);
  require_all(fields_of(similarity_table()), root);
  if (const auto at = root.find("difference")) require_all(fields_of(differences()), *at);
  if (const auto at = root.find("doubling")) require_all(fields_of(doublings()), *at);
  reading.throw_if_any();
  return similarity;
}

Similarity catalog_similarity() {
  constexpr std::string_view path = "likeness.yaml";
  const auto files = catalog_files();
  const auto found = std::ranges::find(files, path, &CatalogFile::path);
  return found == files.end() ? forecast::usual_similarity()
                              : read_similarity(found->text, std::string(path));
}

}  // namespace scenarios
