// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/pickle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace scenarios {

namespace {

constexpr unsigned char stop = '.';

struct Opcode {
  unsigned char code;
  std::string_view name;
};
constexpr std::array<Opcode, 17> runs_code{{{'c', "GLOBAL"},
                                            {0x93, "STACK_GLOBAL"},
                                            {'R', "REDUCE"},
                                            {'b', "BUILD"},
                                            {'i', "INST"},
                                            {'o', "OBJ"},
                                            {0x81, "NEWOBJ"},
                                            {0x92, "NEWOBJ_EX"},
                                            {0x82, "EXT1"},
                                            {0x83, "EXT2"},
                                            {0x84, "EXT4"},
                                            {0x97, "NEXT_BUFFER"},
                                            {0x98, "READONLY_BUFFER"},
                                            {'P', "PERSID"},
                                            {'Q', "BINPERSID"},
                                            {'2', "DUP"},
                                            {'0', "POP"}}};

std::string hexadecimal(unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

PickleValue integer(std::int64_t number) {
  return {.kind = PickleKind::integer, .integer = number};
}

}  // namespace

void Pickle::fail(const std::string& what) const { throw PickleMistake(begin_, what); }

void Pickle::refuse(unsigned char opcode) const {
  const auto found = std::ranges::find(runs_code, opcode, &Opcode::code);
  if (found != runs_code.end())
    fail("opcode " + std::string(found->name) +
         " is no plain value; only numbers, texts, lists, tuples and maps are read");
  fail("opcode " + hexadecimal(opcode) + " is not known; a pickle of protocol 2 to 5 was expected");
}

unsigned char Pickle::byte() {
  const auto next = in_.sbumpc();
  if (next == std::streambuf::traits_type::eof()) fail("the pickle ends before its STOP");
  if (++read_ > limits_.bytes) fail("the pickle is larger than what is read");
  return static_cast<unsigned char>(next);
}

std::uint64_t Pickle::number(int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
  return value;
}

PickleValue Pickle::read(const Take& take) {
  if (const auto first = byte(); first != 0x80) fail("no pickle: it does not begin with PROTO");
  if (const auto protocol = byte(); protocol < 2 || protocol > 5)
    fail("protocol " + std::to_string(protocol) + " is not read; 2 to 5 are");
  for (;;) {
    begin_ = read_;
    const auto opcode = byte();
    if (opcode == stop) break;
    step(opcode, take);
  }
  if (stack_.size() != 1 || !marks_.empty()) fail("STOP leaves no single value");
  return stack_.front();
}

void Pickle::step(unsigned char opcode, const Take& take) {
  if (!plain(opcode) && !container(opcode, take) && !memo(opcode)) refuse(opcode);
}

bool Pickle::plain(unsigned char opcode) {
  switch (opcode) {
    case 'N':
      push({});
      return true;
    case 0x88:
    case 0x89:
      push({.kind = PickleKind::truth, .integer = opcode == 0x88 ? 1 : 0});
      return true;
    case 'J':
      push(integer(static_cast<std::int32_t>(number(4))));
      return true;
    case 'K':
      push(integer(static_cast<std::int64_t>(number(1))));
      return true;
    case 'M':
      push(integer(static_cast<std::int64_t>(number(2))));
      return true;
    case 0x8a:
      push_long(number(1));
      return true;
    case 0x8b:
      push_long(number(4));
      return true;
    case 'G': {
      std::uint64_t bits = 0;
      for (int i = 0; i < 8; ++i) bits = bits << 8 | byte();
      push({.kind = PickleKind::real, .real = std::bit_cast<double>(bits)});
      return true;
    }
    case 0x8c:  // SHORT_BINUNICODE, SHORT_BINSTRING, SHORT_BINBYTES
    case 'U':
    case 'C':
      push_text(number(1));
      return true;
    case 'X':
    case 'T':
    case 'B':
      push_text(number(4));
      return true;
    case 0x8d:  // BINUNICODE8, BINBYTES8, BYTEARRAY8
    case 0x8e:
    case 0x96:
      push_text(number(8));
      return true;
    default:
      return false;
  }
}

bool Pickle::container(unsigned char opcode, const Take& take) {
  switch (opcode) {
    case '(':
      marks_.push_back(stack_.size());
      if (marks_.size() > limits_.values) fail("too many marks");
      return true;
    case ']':
    case ')':
    case '}':
      push_container(opcode == ']'   ? PickleKind::list
                     : opcode == ')' ? PickleKind::tuple
                                     : PickleKind::map,
                     stack_.size());
      return true;
    case 't':
      push_container(PickleKind::tuple, mark());
      return true;
    case 0x85:
    case 0x86:
    case 0x87: {
      const std::size_t count = opcode - std::size_t{0x84};
      if (stack_.size() < count) fail("a tuple of more values than there are");
      push_container(PickleKind::tuple, stack_.size() - count);
      return true;
    }
    case 'a':
      if (stack_.size() < 2) fail("APPEND without an item and its list");
      append(stack_.size() - 1, take);
      return true;
    case 'e':
      append(mark(), take);
      return true;
    case 's':
      if (stack_.size() < 3) fail("SETITEM without a key, its value and their map");
      set(stack_.size() - 2);
      return true;
    case 'u':
      set(mark());
      return true;
    default:
      return false;
  }
}

bool Pickle::memo(unsigned char opcode) {
  switch (opcode) {
    case 0x95:  // FRAME: what follows is framed, which tells a reader of streams nothing
      number(8);
      return true;
    case 'q':
      remember(number(1));
      return true;
    case 'r':
      remember(number(4));
      return true;
    case 0x94:
      remember(memo_.size());
      return true;
    case 'h':
      recall(number(1));
      return true;
    case 'j':
      recall(number(4));
      return true;
    default:
      return false;
  }
}

void Pickle::push(PickleValue value) {
  if (stack_.size() + held_ >= limits_.values) fail("too many values wait for what holds them");
  stack_.push_back(value);
}

void Pickle::push_long(std::uint64_t size) {
  if (size > 8) fail("a number beyond 64 bits");
  if (size == 0) return push(integer(0));
  auto value = number(static_cast<int>(size));
  const auto unused = 64 - 8 * static_cast<int>(size);
  push(integer(static_cast<std::int64_t>(value << unused) >> unused));
}

void Pickle::push_text(std::uint64_t size) {
  if (size > limits_.text) fail("a text of " + std::to_string(size) + " bytes");
  std::string text;
  for (std::uint64_t i = 0; i < size; ++i) text += static_cast<char>(byte());
  auto found = text_of_.find(text);
  if (found == text_of_.end()) {
    text_bytes_ += text.size() + 64;
    if (text_bytes_ > limits_.texts) fail("too many different texts");
    found = text_of_.emplace(std::move(text), texts_.size()).first;
    texts_.push_back(&found->first);
  }
  push({.kind = PickleKind::text, .index = found->second});
}

void Pickle::push_container(PickleKind kind, std::size_t from) {
  Container made;
  made.items.assign(stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
  stack_.resize(from);
  held_ += made.items.size() + 1;
  std::uint64_t index = containers_.size();
  if (spare_.empty()) {
    containers_.push_back(std::move(made));
  } else {
    index = spare_.back();
    spare_.pop_back();
    containers_[index] = std::move(made);
  }
  push({.kind = kind, .index = index});
}

void Pickle::remember(std::uint64_t slot) {
  if (stack_.empty()) fail("nothing to remember");
  if (slot > memo_.size() || slot >= limits_.memo) fail("the memo is too large, or has a gap");
  if (slot == memo_.size()) memo_.push_back(forgotten);
  const auto& value = stack_.back();
  if (value.kind == PickleKind::text) {
    memo_[slot] = static_cast<std::uint32_t>(value.index) | is_text;
    return;
  }
  if (value.kind < PickleKind::list) fail("a number is remembered");
  auto& container = containers_[value.index];
  if (container.memo >= 0) fail("a value is remembered twice");
  container.memo = static_cast<std::int64_t>(slot);
  // The memo keeps the kind, which only the value on the stack has.
  memo_[slot] =
      static_cast<std::uint32_t>(value.index << 2) |
      static_cast<std::uint32_t>(static_cast<int>(value.kind) - static_cast<int>(PickleKind::list));
}

void Pickle::recall(std::uint64_t slot) {
  if (slot >= memo_.size()) fail("memo " + std::to_string(slot) + " was never written");
  const auto word = memo_[slot];
  if (word == forgotten) return push({.kind = PickleKind::gone});
  if ((word & is_text) != 0) return push({.kind = PickleKind::text, .index = word & ~is_text});
  const std::uint64_t index = word >> 2;
  ++containers_[index].references;
  push({.kind = static_cast<PickleKind>(static_cast<int>(PickleKind::list) +
                                        static_cast<int>(word & 3)),
        .index = index});
}

std::size_t Pickle::mark() {
  if (marks_.empty()) fail("no mark is set");
  const auto at = marks_.back();
  marks_.pop_back();
  if (at > stack_.size()) fail("a mark above the stack");
  return at;
}

PickleValue& Pickle::below(std::size_t from, PickleKind kind) {
  if (from == 0 || (!marks_.empty() && marks_.back() >= from) || stack_[from - 1].kind != kind)
    fail(kind == PickleKind::list ? "items are appended to no list" : "keys are set in no map");
  return stack_[from - 1];
}

void Pickle::append(std::size_t from, const Take& take) {
  const auto list = below(from, PickleKind::list).index;
  for (auto i = from; i < stack_.size(); ++i)
    if (take(*this, stack_[i], list)) {
      forget(stack_[i]);
    } else {
      containers_[list].items.push_back(stack_[i]);
      ++held_;
    }
  stack_.resize(from);
}

void Pickle::set(std::size_t from) {
  const auto map = below(from, PickleKind::map).index;
  if ((stack_.size() - from) % 2 != 0) fail("a key without a value");
  auto& items = containers_[map].items;
  items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
  held_ += stack_.size() - from;
  stack_.resize(from);
}

// Counts one reference to a container less and forgets containers without references. A map of
// plain values inside of a taken item stays if it has a place in the memo, because later items may
// refer to it, as to the frames of call stacks.
void Pickle::forget(const PickleValue& value) {
  std::vector<PickleValue> gone{value};
  while (!gone.empty()) {
    const auto one = gone.back();
    gone.pop_back();
    if (one.kind < PickleKind::list || one.kind == PickleKind::gone) continue;
    auto& container = containers_[one.index];
    if (--container.references > 0) continue;
    const bool plain = std::ranges::all_of(
        container.items, [](const auto& item) { return item.kind < PickleKind::list; });
    if (one.index != value.index && one.kind == PickleKind::map && container.memo >= 0 && plain)
      continue;
    if (container.memo >= 0) memo_[static_cast<std::size_t>(container.memo)] = forgotten;
    held_ -= container.items.size() + 1;
    gone.insert(gone.end(), container.items.begin(), container.items.end());
    container = {};
    spare_.push_back(static_cast<std::uint32_t>(one.index));
  }
}

PickleValue Pickle::at(const PickleValue& map, std::string_view key) const {
  if (map.kind != PickleKind::map) return {};
  const auto& pairs = items(map);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i].kind == PickleKind::text && text(pairs[i]) == key) return pairs[i + 1];
  return {};
}

}  // namespace scenarios
