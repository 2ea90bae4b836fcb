// SPDX-License-Identifier: Apache-2.0
// Pickles, byte by byte.
#include <sstream>
#include <string>
#include <string_view>

#include "scenarios/foreign/pickle.hpp"
#include "tests/catch.hpp"

namespace pickle_spec {

using scenarios::Pickle;
using scenarios::PickleKind;
using scenarios::PickleLimits;
using scenarios::PickleMistake;
using scenarios::PickleValue;
using namespace std::string_literals;

bool takes_none(const Pickle&, const PickleValue&, std::uint64_t) { return false; }

// The value as Python shows it.
std::string shown(const Pickle& pickle, const PickleValue& value) {
  switch (value.kind) {
    case PickleKind::none:
      return "None";
    case PickleKind::truth:
      return value.integer == 1 ? "True" : "False";
    case PickleKind::integer:
      return std::to_string(value.integer);
    case PickleKind::real:
      return std::to_string(value.real);
    case PickleKind::text:
      return "'" + pickle.text(value) + "'";
    case PickleKind::gone:
      return "gone";
    default:
      break;
  }
  const bool map = value.kind == PickleKind::map;
  std::string text;
  const auto& items = pickle.items(value);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += map && i % 2 == 1 ? ": " : ", ";
    text += shown(pickle, items[i]);
  }
  const std::string_view brackets = map ? "{}" : value.kind == PickleKind::list ? "[]" : "()";
  return brackets[0] + text + brackets[1];
}

std::string read(const std::string& bytes, const PickleLimits& limits = {},
                 const Pickle::Take& take = takes_none) {
  std::istringstream in("\x80\x02"s + bytes);
  Pickle pickle(*in.rdbuf(), limits);
  try {
    const auto value = pickle.read(take);
    return shown(pickle, value);
  } catch (const PickleMistake& mistake) {
    return std::to_string(mistake.at) + ": " + mistake.what();
  }
}

TEST_CASE("numbers, truths and texts are read as they are written") {
  CHECK(read("N.") == "None");
  CHECK(read("\x88.") == "True");
  CHECK(read("K\xff.") == "255");
  CHECK(read("M\x01\x02.") == "513");
  CHECK(read("J\xfe\xff\xff\xff.") == "-2");
  CHECK(read("\x8a\x00."s) == "0");
  CHECK(read("\x8a\x02\x00\xff."s) == "-256");
  CHECK(read("\x8a\x06\x00\x00\x00\x00\x00\x7f."s) == std::to_string(std::int64_t{0x7f} << 40));
  CHECK(read("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s) == "1.500000");
  CHECK(read("X\x02\x00\x00\x00hi."s) == "'hi'");
  CHECK(read("\x8c\x02hi.") == "'hi'");
  CHECK(read("\x96\x02\x00\x00\x00\x00\x00\x00\x00hi\x94."s) == "'hi'");  // a bytearray
}

TEST_CASE("lists, tuples and maps hold the values put into them") {
  CHECK(read("](K\x01K\x02"
             "e(K\x03"
             "e.") == "[1, 2, 3]");
  CHECK(read("]K\x01"
             "a.") == "[1]");
  CHECK(read("}(\x8c\x01"
             "aK\x01\x8c\x01"
             "b]u.") == "{'a': 1, 'b': []}");
  CHECK(read("}K\x01K\x02s.") == "{1: 2}");
  CHECK(read(").") == "()");
  CHECK(read("K\x01K\x02\x86.") == "(1, 2)");
  CHECK(read("(K\x01K\x02K\x03t.") == "(1, 2, 3)");
}

TEST_CASE("a remembered value can be referred to") {
  CHECK(read("](]q\x00h\x00"
             "e."s) == "[[], []]");
  CHECK(read("](\x8c\x01x\x94h\x00"
             "e."s) == "['x', 'x']");
  CHECK(read("](\x8c\x01xr\x00\x00\x00\x00j\x00\x00\x00\x00"
             "e."s) == "['x', 'x']");
  CHECK(read("\x95\x03\x00\x00\x00\x00\x00\x00\x00]\x94."s) == "[]");
}

TEST_CASE("a pickle that would run code is refused by name, with the byte where it stands") {
  const std::string why =
      " is no plain value; only numbers, texts, lists, tuples and maps are read";
  CHECK(read("cos\nsystem\n.") == "2: opcode GLOBAL" + why);
  CHECK(read("N\x93.") == "3: opcode STACK_GLOBAL" + why);
  CHECK(read("NNR.") == "4: opcode REDUCE" + why);
  CHECK(read("NNb.") == "4: opcode BUILD" + why);
  CHECK(read("(ios\nsystem\n.") == "3: opcode INST" + why);
  CHECK(read("(No.") == "4: opcode OBJ" + why);
  CHECK(read("NN\x81.") == "4: opcode NEWOBJ" + why);
  CHECK(read("NNN\x92.") == "5: opcode NEWOBJ_EX" + why);
  CHECK(read("\x82\x01.") == "2: opcode EXT1" + why);
  CHECK(read("Px\n.") == "2: opcode PERSID" + why);
  CHECK(read("NQ.") == "3: opcode BINPERSID" + why);
  CHECK(read("\x97.") == "2: opcode NEXT_BUFFER" + why);
  CHECK(read("\xfe.") == "2: opcode 0xfe is not known; a pickle of protocol 2 to 5 was expected");
}

TEST_CASE("a damaged pickle is refused with the byte where it is damaged") {
  CHECK(read("") == "2: the pickle ends before its STOP");
  CHECK(read("K") == "2: the pickle ends before its STOP");
  CHECK(read(".") == "2: STOP leaves no single value");
  CHECK(read("NN.") == "4: STOP leaves no single value");
  CHECK(read("N(.") == "4: STOP leaves no single value");
  CHECK(read("e.") == "2: no mark is set");
  CHECK(read("N(e.") == "4: items are appended to no list");
  CHECK(read("](u.") == "4: keys are set in no map");
  CHECK(read("}(Nu.") == "5: a key without a value");
  CHECK(read("](Na.") == "5: items are appended to no list");
  CHECK(read("h\x03.") == "2: memo 3 was never written");
  CHECK(read("Nq\x00."s) == "3: a number is remembered");
  CHECK(read("]q\x05."s) == "3: the memo is too large, or has a gap");
  CHECK(read("]q\x00q\x01."s) == "5: a value is remembered twice");
  CHECK(read("\x8a\x09.") == "2: a number beyond 64 bits");
}

TEST_CASE("an item taken out of a list is forgotten, and a reference to it says so") {
  const auto takes_lists = [](const Pickle&, const PickleValue& item, std::uint64_t) {
    return item.kind == PickleKind::list;
  };
  // The pickle is [[], the same again]: the first item is taken when the list ends, and the second
  // referred to it before.
  CHECK(read("]]q\x00"
             "ah\x00"
             "a."s,
             {}, takes_lists) == "[gone]");
  // A map of plain values inside of a list that is taken stays.
  CHECK(read("](]}q\x00K\x01K\x02sa"
             "eh\x00"
             "a."s,
             {}, takes_lists) == "[{1: 2}]");
}

TEST_CASE("memory for values that are not taken is bounded") {
  CHECK(read("](NNNN", {.values = 4}) == "6: too many values wait for what holds them");
  CHECK(read("\x8c\x02hi.", {.text = 1}) == "2: a text of 2 bytes");
  CHECK(read("\x8c\x01"
             "a\x8c\x01"
             "b.",
             {.texts = 100}) == "5: too many different texts");
  CHECK(read("]\x94]\x94.", {.memo = 1}) == "5: the memo is too large, or has a gap");
  CHECK(read("NNNN", {.bytes = 4}) == "4: the pickle is larger than what is read");
}

}  // namespace pickle_spec
