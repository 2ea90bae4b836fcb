// SPDX-License-Identifier: Apache-2.0
// A value with its path, so that every complaint can name its place.
#pragma once
#include <algorithm>
#include <any>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"

namespace scenarios {

// Parsed entries of the catalog by "KIND/NAME".
using Entries = std::map<std::string, std::shared_ptr<const Value>>;

// The currency of all money in a file, and the reason for it, which complaints give.
struct MoneyRule {
  std::string currency = "USD", why = "money of scenarios is in USD";
};

// A part of a document, and the keys that it may have.
struct Section {
  std::string_view name;
  std::vector<std::string_view> keys;
  bool last_resort = false;  // its keys are meant only where no section before it has them
};

// State of reading one file: its complaints, and the catalog and files that it may look up.
class Reading {
 public:
  Reading(std::string file, std::filesystem::path base)
      : complaints_(std::move(file)), base_(std::move(base)) {}
  // A reading for which these entries replace those of the catalog under their names.
  Reading(std::string file, std::filesystem::path base, const Entries& overlay)
      : complaints_(std::move(file)), base_(std::move(base)), overlay_(&overlay) {}

  // A reading of a part of another reading's file: it knows the same files.
  Reading(std::string file, std::filesystem::path base, const Reading& whole)
      : Reading(std::move(file), std::move(base)) {
    texts_ = whole.texts_;
    money_ = whole.money_;
    is_part_ = true;
  }
  // One that begins with these files.
  Reading(std::string file, std::filesystem::path base, Texts texts)
      : Reading(std::move(file), std::move(base)) {
    *texts_ = std::move(texts);
  }

  const std::filesystem::path& base() const { return base_; }
  const std::string& file() const { return complaints_.file(); }
  Texts& texts() { return *texts_; }                       // texts of files that documents name
  void complain(const Value& where, Complaint complaint);  // an empty place is filled in
  std::string place_of(const Value& where) const;          // "FILE:LINE:COLUMN" or "--set N"
  // Takes over the complaints of a reading of a document that was made of parts of this file, each
  // once; `renamed` gives the name of its path here.
  void adopt(const Reading& part, const std::function<std::string(const std::string&)>& renamed) {
    complaints_.adopt(part.complaints_, renamed);
  }
  // A key whose value could not be read, so that nothing more is concluded from it.
  void doubt(const std::string& path) { doubts_.push_back(path); }
  bool doubtful(std::string_view path) const;  // it, something inside, or something around it
  bool doubted_itself(std::string_view path) const;
  const MoneyRule& money() const { return money_; }
  void set_money(MoneyRule rule) { money_ = std::move(rule); }
  // Notes what a file that the document names has, and its reading leaves out; each once.
  void note(std::string text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end())
      notes_.push_back(std::move(text));
  }
  const std::vector<std::string>& notes() const { return notes_; }
  // The sections of the document, in which a key may be meant that stands in another. They must
  // outlive this. A part of a document has none.
  void set_sections(std::span<const Section> sections) {
    if (!is_part_) sections_ = sections;
  }
  std::span<const Section> sections() const { return sections_; }
  bool complains() const { return complaints_.any(); }
  std::vector<std::string> complaints() const { return complaints_.texts(); }
  void throw_if_any() { complaints_.throw_if_any(); }

  // The entry by "KIND/NAME", or null if it was neither laid over the catalog nor remembered.
  const Value* entry(const std::string& name);
  const Value* remember(const std::string& name, Value entry);  // rows name the same few
  // Names of the entries that were looked up.
  const std::set<std::string>& named() const { return named_; }
  // Values parsed from files that documents name, by file name; the code that put a value in knows
  // its type.
  std::map<std::string, std::any>& parsed() { return parsed_; }
  void start_over(std::string file) {
    complaints_ = Complaints(std::move(file));
    doubts_.clear();
  }

 private:
  Complaints complaints_;
  std::filesystem::path base_;
  std::vector<std::string> doubts_, notes_;
  std::span<const Section> sections_;
  bool is_part_ = false;
  MoneyRule money_;
  std::shared_ptr<Texts> texts_ = std::make_shared<Texts>();  // shared with readings of parts
  const Entries* overlay_ = nullptr;
  Entries entries_;
  std::set<std::string> named_;
  std::map<std::string, std::any> parsed_;
};

class Cursor {
 public:
  Cursor(const Value& value, std::string path, Reading& reading)
      : value_(&value), blamed_(&value), path_(std::move(path)), reading_(&reading) {}

  const Value& value() const { return *value_; }
  const std::string& path() const { return path_; }
  Reading& reading() const { return *reading_; }

  Cursor member(const Member& member) const { return inside(member.value, member.key.text); }
  Cursor item(std::size_t index) const {
    return inside(value_->items[index], std::to_string(index));
  }
  // The member of that key, if this is a map that has it.
  std::optional<Cursor> find(std::string_view key) const {
    const auto* found = value_->find(key);
    return found == nullptr ? std::nullopt : std::optional(inside(*found, std::string(key)));
  }
  std::string inner_path(std::string_view key) const;  // path of a member, present or not
  // Another value read in this one's place; complaints point at `blamed`, which stands in the file.
  Cursor instead(const Value& other, const Value& blamed) const {
    Cursor cursor = *this;
    cursor.value_ = &other;
    if (!inherited_) cursor.blamed_ = &blamed;
    cursor.inherited_ = true;
    return cursor;
  }
  // An entry of the catalog, read in this one's place.
  Cursor entry(const Value& entry, const Value& blamed) const {
    auto cursor = instead(entry, blamed);
    cursor.in_entry_ = true;
    return cursor;
  }
  bool in_entry() const { return in_entry_; }
  // The final value of a key of this mapping, present or not; complaints point at the key, or else
  // at the mapping.
  Cursor in_the_end(std::string_view key, const Value& value) const;

  void complain(const std::string& text) const { say(text, false); }
  // A complaint about a key rather than about its value; `meant` is the key that was probably
  // meant.
  void complain_of(const Value& key, const std::string& text, const std::string& meant) const;
  void missing(std::string_view key, std::string_view why) const;
  // A complaint about the meaning of a key, whether it stands here or comes from elsewhere.
  void complain_at(std::string_view key, const std::string& text) const;
  void unsupported(const std::string& text) const { say(text, true); }

 private:
  Cursor inside(const Value& value, const std::string& name) const {
    Cursor cursor = *this;
    cursor.value_ = &value;
    if (!inherited_) cursor.blamed_ = &value;
    cursor.path_ = inner_path(name);
    return cursor;
  }
  void say(const std::string& text, bool unsupported) const;

  const Value* value_;
  const Value* blamed_;  // where complaints point
  bool inherited_ = false, in_entry_ = false;
  std::string path_;
  Reading* reading_;
};

}  // namespace scenarios
