// SPDX-License-Identifier: Apache-2.0
// The fields of a config.json, known under several names.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"

namespace scenarios {

// Returns at most the first `most` bytes of a text in UTF-8 and cuts no character.
std::string beginning(const std::string& text, std::size_t most);

// A size that a file leaves out if it is the class's own.
struct ClassDefault {
  std::string_view key;
  std::int64_t value;
};

// Reads fields under any of their names and keeps account of missing and wrong ones.
class Fields {
 public:
  using Names = std::initializer_list<const char*>;
  // Takes the fields of the map and of those maps inside of it in which some families keep sizes.
  // Fields of a part for text win against the outer ones, as in transformers, but for those that
  // name the model; of tie_word_embeddings an outer value is never taken. If one map gives a field
  // twice, the last one wins. The document must outlive the fields.
  Fields(const Value& document, const std::string& file, std::vector<std::string>* defaulted,
         std::vector<std::string>* differences);

  bool has(Names names) const { return find(names).value != nullptr; }
  bool is_null(const char* name) const;  // the field is there, and null
  // Whether the file, or else the class, gives a whole number from 1.
  bool gives_size(Names names) const;
  // The model_type of the part that reads and writes text, if the file keeps it in a map inside.
  const std::string& text_type() const { return text_type_; }
  bool wraps_text() const { return wraps_text_; }
  // Sizes that needed() and whole_or() take for absent fields from now on: the first list's, else
  // the second one's.
  void fall_back_on(std::span<const ClassDefault> sizes, std::span<const ClassDefault> further) {
    sizes_ = {sizes, further};
  }

  std::optional<std::int64_t> whole(Names names, std::int64_t least = 1);
  // One number, or a list that repeats it for every layer; a list of several is unsupported.
  std::optional<std::int64_t> same_in_layers(Names names, std::int64_t least = 1);
  // A number that may be missing: then 0.
  std::int64_t count(Names names) { return whole(names, 0).value_or(0); }
  std::int64_t needed(Names names);
  std::int64_t whole_or(Names names, std::int64_t otherwise, const std::string& field,
                        const std::string& why);
  bool yes_no(const char* name, bool otherwise, const char* field);
  double share(Names names, double otherwise);
  std::string word(Names names);
  std::vector<std::int64_t> list(const char* name);
  std::vector<std::string> words(Names names);
  std::vector<bool> truths(const char* name);
  // Returns the field's value as it stands in the file; null: it is not there, or null.
  const Value* value(Names names) const { return find(names).value; }
  void note(const std::string& text) {
    if (defaulted_ != nullptr) defaulted_->push_back(text);
  }
  // Notes a difference between the file and what is read from it, which is no default.
  void differ(const std::string& text) {
    note(text);
    if (differences_ != nullptr) differences_->push_back(text);
  }
  // Complains at the field that has one of the names, else at the beginning of the document.
  void complain(Names names, const std::string& text, bool unsupported = false);
  bool wrong() const { return complaints_.any(); }
  void throw_if_any() { complaints_.throw_if_any(); }

 private:
  struct Field {
    const Value* value = nullptr;
    std::string name;
  };
  Field find(Names names) const;
  void merge(const Value& inner);
  void merge_text(const Value& inner);
  std::optional<std::int64_t> class_default(Names names);
  std::optional<std::int64_t> whole_of(const Field& field, std::int64_t least);
  void refuse(const Field& field, const std::string& text);

  const Value& document_;
  std::map<std::string_view, const Value*> fields_;
  std::vector<std::string>* defaulted_;
  std::vector<std::string>* differences_;
  std::string text_type_;
  bool wraps_text_ = false;
  std::array<std::span<const ClassDefault>, 2> sizes_;
  Complaints complaints_;
};

}  // namespace scenarios
