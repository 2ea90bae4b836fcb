// SPDX-License-Identifier: Apache-2.0
#include "scenarios/likeness.hpp"

#include <algorithm>

#include "scenarios/catalog_files.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/keys.hpp"
#include "scenarios/named.hpp"

namespace scenarios {
namespace {

using forecast::Likeness;

// A figure for every dimension of that list.
template <class Names, class Figures>
Table<Likeness> dimensions(const Names& names, Figures Likeness::*figures) {
  Table<Likeness> table;
  for (std::size_t i = 0; i < names.size(); ++i)
    table.push_back(number<Likeness>(
        names[i], "", {0, 100, "a distance, of which e-fold less correlation is one"}, "Distance",
        [figures, i](Likeness& likeness) -> double& { return (likeness.*figures)[i]; }));
  return table;
}

const Table<Likeness>& differences() {
  static const auto table = dimensions(forecast::word_dimensions, &Likeness::difference);
  return table;
}

const Table<Likeness>& doublings() {
  static const auto table = dimensions(forecast::number_dimensions, &Likeness::doubling);
  return table;
}

const Table<Likeness>& likeness_table() {
  const auto itself = [](Likeness& likeness) -> Likeness& { return likeness; };
  static const Table<Likeness> all{
      number<Likeness>("own", "", {0, 0.99, "a share of the variance, and some is shared"},
                       "Share of the variance that no other scenario has", &Likeness::own),
      inner<Likeness>("difference", "Distance of a difference", differences(), itself),
      inner<Likeness>("doubling", "Distance of a doubling", doublings(), itself)};
  return all;
}

// Every key of these must stand there.
void require_all(const std::vector<Field>& fields, const Cursor& at) {
  for (const auto& field : fields)
    if (!at.find(field.name)) at.missing(field.name, "every dimension has its figure");
}

}  // namespace

Likeness read_likeness(std::string_view text, const std::string& file) {
  const Value document = parse_yaml(text, file);
  Reading reading(file, {});
  Likeness likeness;
  const Cursor root(document, "", reading);
  read_map(likeness_table(), likeness, root);
  require_all(fields_of(likeness_table()), root);
  if (const auto at = root.find("difference")) require_all(fields_of(differences()), *at);
  if (const auto at = root.find("doubling")) require_all(fields_of(doublings()), *at);
  reading.throw_if_any();
  return likeness;
}

Likeness catalog_likeness() {
  constexpr std::string_view path = "likeness.yaml";
  const auto files = catalog_files();
  const auto found = std::ranges::find(files, path, &CatalogFile::path);
  return found == files.end() ? forecast::usual_likeness()
                              : read_likeness(found->text, std::string(path));
}

}  // namespace scenarios
