// SPDX-License-Identifier: Apache-2.0
// The keys that a page can ask another value of, from the reader's own tables.
#include <string>
#include <string_view>

#include "report/page/page_parts.hpp"
#include "scenarios/catalog.hpp"
#include "scenarios/documents/form_at.hpp"
#include "scenarios/tables.hpp"

namespace report {
namespace {

using scenarios::Form;
using scenarios::Kind;
using scenarios::Type;

// The alternative that is written as one word or number; null where there is none.
const Form* plain_form(const Form& form) {
  switch (form.type) {
    case Type::either:
      for (const auto& alternative : form.forms)
        if (const auto* plain = plain_form(alternative)) return plain;
      return nullptr;
    case Type::list:
    case Type::map:
      return nullptr;
    default:
      return &form;
  }
}

const char* type_word(Type type) {
  switch (type) {
    case Type::whole:
      return "whole";
    case Type::choice:
      return "choice";
    case Type::yes_no:
      return "yes_no";
    default:
      return "text";  // a quantity with its unit too
  }
}

void add_key(Document& all, const std::string& path, const Form& of, std::string_view what) {
  const auto* form = plain_form(of);
  if (form == nullptr) return;
  Document choices = Document::array();
  for (const auto choice : form->choices) choices.push_back(std::string(choice));
  Object key;
  key.put("path", path)
      .put("type", type_word(form->type))
      .put("what", std::string(what))
      .put("choices", std::move(choices));
  if (form->type == Type::whole)
    key.put("least", static_cast<std::int64_t>(form->range.least))
        .put("most", static_cast<std::int64_t>(form->range.most));
  all.push_back(key.take());
}

void add_section(Document& all, const std::string& name,
                 const std::vector<scenarios::Field>& fields) {
  for (const auto& field : fields)
    add_key(all, name + "." + std::string(field.name), field.form, field.description);
}

void add_name(Document& all, const char* path, Kind kind, const char* what) {
  Document names = Document::array();
  for (const auto name : scenarios::catalog_names(kind)) names.push_back(std::string(name));
  all.push_back(Object()
                    .put("path", path)
                    .put("type", "choice")
                    .put("what", what)
                    .put("choices", std::move(names))
                    .take());
}

}  // namespace

Document keys_document() {
  Document all = Document::array();
  add_section(all, "plan", scenarios::plan_fields());
  add_section(all, "training", scenarios::training_fields());
  const auto cluster = scenarios::map_of(scenarios::cluster_fields());
  if (const auto* nodes = scenarios::form_at(cluster, "nodes"))
    add_key(all, "cluster.nodes", *nodes, "Number of nodes");
  add_name(all, "cluster.node", Kind::node, "Kind of the nodes");
  add_name(all, "cluster.fabric", Kind::fabric, "What joins the nodes");
  add_name(all, "model", Kind::model, "The model");
  add_name(all, "software", Kind::software, "Framework whose habits are followed");
  add_section(all, "software", scenarios::software_fields());
  return all;
}

}  // namespace report
