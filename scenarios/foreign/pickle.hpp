// SPDX-License-Identifier: Apache-2.0
// Python's pickles, protocols 2 to 4, as far as they are plain values: None, truths, numbers,
// texts, lists, tuples and maps. Opcodes that would run code (GLOBAL, REDUCE, BUILD and the like)
// are refused.
//
// A pickle is a program for a stack machine, which may refer to every container and text that came
// before (its memo). A list's items are offered to the caller as they are appended; items that it
// takes are forgotten, and later references to them refused, so that each taken item costs only 4
// bytes of memo.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace scenarios {

// A mistake in a pickle; `at` is the number of bytes before it.
struct PickleMistake : std::runtime_error {
  PickleMistake(std::uint64_t where, const std::string& what)
      : std::runtime_error(what), at(where) {}
  std::uint64_t at;
};

struct PickleLimits {
  std::uint64_t bytes = std::uint64_t{8} << 30;
  std::size_t text = std::size_t{1} << 20;    // bytes of one text
  std::size_t texts = std::size_t{64} << 20;  // bytes of all different texts
  std::size_t memo = std::size_t{1} << 26;    // entries
  std::size_t values = std::size_t{1} << 23;  // on the stack and in containers, not yet taken
};

struct PickleValue {
  enum class Kind : std::uint8_t { none, truth, integer, real, text, list, tuple, map, gone };
  Kind kind = Kind::none;
  union {
    std::int64_t integer = 0;  // also of a truth: 0 or 1
    double real;
    std::uint64_t index;  // place of a text or container
  };
};

using PickleKind = PickleValue::Kind;

class Pickle {
 public:
  // Called with an item of the list numbered `list`; returns whether it takes the item.
  using Take = std::function<bool(const Pickle&, const PickleValue& item, std::uint64_t list)>;

  explicit Pickle(std::streambuf& in, const PickleLimits& limits = {}) : in_(in), limits_(limits) {}

  // Reads the whole pickle. Throws PickleMistake.
  PickleValue read(const Take& take);

  const std::string& text(const PickleValue& value) const { return *texts_[value.index]; }
  // The items of a list or tuple; for a map, its keys and values in turn.
  const std::vector<PickleValue>& items(const PickleValue& value) const {
    return containers_[value.index].items;
  }
  // Returns the value of a map at a key; none if it has no such key, or is no map.
  PickleValue at(const PickleValue& map, std::string_view key) const;
  std::uint64_t offset() const { return begin_; }  // byte of the current opcode

 private:
  struct Container {
    std::vector<PickleValue> items;
    std::int64_t memo = -1;       // where it is remembered
    std::int64_t references = 1;  // on the stack and in containers
  };
  static constexpr std::uint32_t forgotten = 0xffffffffu, is_text = 0x80000000u;

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void refuse(unsigned char opcode) const;
  unsigned char byte();
  std::uint64_t number(int bytes);
  void step(unsigned char opcode, const Take& take);
  bool plain(unsigned char opcode);
  bool container(unsigned char opcode, const Take& take);
  bool memo(unsigned char opcode);
  void push(PickleValue value);
  void push_text(std::uint64_t size);
  void push_long(std::uint64_t size);
  void push_container(PickleKind kind, std::size_t from);
  void remember(std::uint64_t slot);
  void recall(std::uint64_t slot);
  std::size_t mark();
  PickleValue& below(std::size_t from, PickleKind kind);
  void append(std::size_t from, const Take& take);
  void set(std::size_t from);
  void forget(const PickleValue& value);

  std::streambuf& in_;
  PickleLimits limits_;
  std::uint64_t read_ = 0, begin_ = 0;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Container> containers_;
  std::vector<std::uint32_t> spare_;
  std::map<std::string, std::uint64_t, std::less<>> text_of_;
  std::vector<const std::string*> texts_;
  std::vector<std::uint32_t> memo_;
  std::size_t text_bytes_ = 0, held_ = 0;
};

}  // namespace scenarios
