// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <locale>
#include <random>

#include "tests/catch.hpp"
#include "units/ceil_div.hpp"
#include "units/text.hpp"

namespace text_spec {

using namespace units;

TEST_CASE("bytes over a rate are seconds") {
  STATIC_REQUIRE(std::is_same_v<decltype(Bytes{} / BytesPerSecond{}), Seconds>);
  STATIC_REQUIRE(std::is_same_v<decltype(Bytes{} / Bytes{}), double>);
  CHECK((450.0_GB / 450.0_GBps) == 1.0_s);
  CHECK((700.0 * Watts{1.0} * 2.0_s) == Joules{1400.0});
}

TEST_CASE("quantities are scaled, added and taken away in their unit") {
  CHECK((Seconds{3} * 2.0).value == 6);
  CHECK((2.0 * Seconds{3}).value == 6);
  CHECK((Seconds{3} / 2.0).value == 1.5);
  CHECK((Seconds{3} - Seconds{2}).value == 1);
  Bytes left{10};
  left -= Bytes{4};
  CHECK(left.value == 6);
}

TEST_CASE("a literal is its number in base units") {
  const auto number = GENERATE(0.5L, 3.0L);  // not constants, so that literals are read at run time
  const auto n = static_cast<double>(number);
  CHECK(units::operator""_ms(number).value == n * 1e-3);
  CHECK(units::operator""_us(number).value == n * 1e-6);
  CHECK(units::operator""_MiB(number).value == n * 1048576);
  CHECK(units::operator""_GiB(number).value == n * 1073741824);
}

TEST_CASE("a quotient is rounded up to the next whole number") {
  const auto [a, b, quotient] = GENERATE(table<std::int64_t, std::int64_t, std::int64_t>(
      {{0, 3, 0}, {1, 3, 1}, {3, 3, 1}, {4, 3, 2}, {7, 1, 7}}));
  CHECK(ceil_div(a, b) == quotient);
}

TEST_CASE("a size is read with its unit: GB is 10^9, GiB is 2^30") {
  CHECK(parse_bytes("80 GiB").value == 80.0 * 1073741824);
  CHECK(parse_bytes("80 GB").value == 80e9);
  CHECK(parse_bytes("0.1 GB").value == 1e8);
  CHECK(parse_bytes("25MB").value == 25e6);
  CHECK(parse_bytes("1.5 KiB").value == 1536);
  CHECK(parse_bytes("2 TiB").value == 2199023255552);
  CHECK(parse_bytes("1 PiB").value == 1125899906842624);
  CHECK(parse_bytes("3 kB").value == 3000);
  CHECK(parse_bytes("3 KB").value == 3000);
  CHECK(parse_bytes("7 B").value == 7);
  CHECK(parse_bytes("1e3 PB").value == 1e18);
}

TEST_CASE("a bare number is in the base unit") {
  CHECK(parse_bytes("4096").value == 4096);
  CHECK(parse_bandwidth("25e9").value == 25e9);
  CHECK(parse_duration("-.5").value == -0.5);
  CHECK(parse_duration(" +2. ").value == 2);
  CHECK(parse_money("1500000").value == 1.5e6);
}

TEST_CASE(
    "only the characters that are given are read, and blanks around a number and its unit are "
    "not") {
  constexpr std::string_view longer = "4096789", exponents = "1e34";
  CHECK(parse_bytes(longer.substr(0, 4)).value == 4096);
  CHECK(parse_bytes(exponents.substr(0, 3)).value == 1000);
  CHECK(parse_bytes("  5   GB  ").value == 5e9);
  CHECK(parse_bytes("1e+3 B").value == 1000);
  CHECK(parse_money("3 ZAR").value == 3);
}

TEST_CASE("a bandwidth is read in bytes or in bits, eight to the byte") {
  CHECK(parse_bandwidth("25 GB/s").value == 25e9);
  CHECK(parse_bandwidth("400 Gbit/s").value == 50e9);
  CHECK(parse_bandwidth("1 Tbit/s").value == 125e9);
  CHECK(parse_bandwidth("100 Mbit/s").value == 12.5e6);
  CHECK(parse_bandwidth("8 kbit/s").value == 1000);
  CHECK(parse_bandwidth("8 bit/s").value == 1);
  CHECK(parse_bandwidth("1 GiB/s").value == 1073741824);
}

TEST_CASE("rates of computing, durations, powers and money are read with their units") {
  CHECK(parse_flop_rate("312 TFLOP/s").value == 312e12);
  CHECK(parse_flop_rate("989.4 TFLOPS").value == 989.4e12);
  CHECK(parse_flop_rate("2 PFLOP/s").value == 2e15);
  CHECK(parse_duration("5 us").value == 5e-6);
  CHECK(parse_duration("1.2us").value == 1.2e-6);
  CHECK(parse_duration("700 ns").value == 7e-7);
  CHECK(parse_duration("3 ms").value == 0.003);
  CHECK(parse_duration("10 minutes").value == 600);
  CHECK(parse_duration("1 min").value == 60);
  CHECK(parse_duration("50000 hours").value == 180'000'000);
  CHECK(parse_duration("2 h").value == 7200);
  CHECK(parse_duration("60 days").value == 5'184'000);
  CHECK(parse_duration("4 years").value == 126'144'000);
  CHECK(parse_power("700 W").value == 700);
  CHECK(parse_power("6 MW").value == 6e6);
  CHECK(parse_power("10.2 kW").value == 10200);
  CHECK(parse_power("5 mW").value == 0.005);
  CHECK(parse_money("300e3 USD").value == 300'000);
  for (const auto* two : {"2e12", "2T", "2 T tokens", "2 trillion", "2000 B tokens", "2e12 tokens"})
    CHECK(parse_tokens(two) == 2e12);
  CHECK(parse_tokens("300 million tokens") == 3e8);
  CHECK(parse_money("12.50 EUR").value == 12.5);
}

TEST_CASE("money is read in thousands, millions and billions of its currency") {
  for (const auto* five : {"5e6", "5e6 USD", "5M", "5 M USD", "5M USD", "5 million USD",
                           "5000 k USD", "5000 thousand USD", "0.005 B USD", "0.005 billion EUR"})
    CHECK(parse_money(five).value == 5e6);
  CHECK_THROWS_WITH(parse_money("5 X USD"),
                    "unknown amount of money '5 X USD'; write e.g. '300e3 USD'");
}

TEST_CASE("the currency of an amount is its three capitals") {
  CHECK(currency_of("3e5 EUR") == "EUR");
  CHECK(currency_of("5 M USD") == "USD");
  CHECK(currency_of("300e3EUR") == "EUR");
  for (const auto* none : {"5", "5 M", "2.5 usd", "6 MW", "80 GiB", "a USD", "USD", "1024 GPUS",
                           "-  USD", "5 USD/kWh"})
    CHECK(currency_of(none).empty());
}

TEST_CASE("a week has seven days, and a month has no fixed length") {
  CHECK(parse_duration("2 weeks").value == 14 * 86'400);
  CHECK_THROWS_WITH(
      parse_duration("3 months"),
      "unknown duration '3 months': a month has no fixed length; write e.g. '90 days'");
  CHECK_THROWS_WITH(parse_duration_like("3 fortnights", "60 days"),
                    "unknown duration '3 fortnights'; write e.g. '60 days'");
}

TEST_CASE("a misspelt unit is refused with the number in the nearest one") {
  CHECK_THROWS_WITH(parse_bandwidth("450 GBs"),
                    "unknown bandwidth '450 GBs'; write e.g. '450 GB/s'");
  CHECK_THROWS_WITH(parse_bandwidth("25 GBps"),
                    "unknown bandwidth '25 GBps'; write e.g. '25 GB/s'");
  CHECK_THROWS_WITH(parse_bytes("80 gib"), "unknown size '80 gib'; write e.g. '80 GiB'");
  CHECK_THROWS_WITH(parse_bytes("64 G"), "unknown size '64 G'; write e.g. '80 GiB'");
  CHECK_THROWS_WITH(parse_flop_rate("125 TFLOPs"),
                    "unknown computing rate '125 TFLOPs'; write e.g. '125 TFLOPS'");
  CHECK_THROWS_WITH(parse_duration("9 mins"), "unknown duration '9 mins'; write e.g. '9 min'");
  CHECK_THROWS_WITH(parse_power("700 w"), "unknown power '700 w'; write e.g. '700 W'");
  CHECK_THROWS_WITH(parse_money("300e3 usd"),
                    "unknown amount of money '300e3 usd'; write e.g. '300e3 USD'");
}

TEST_CASE("a small b in a rate is understood as bits") {
  CHECK_THROWS_WITH(parse_bandwidth("400 Gbps"),
                    "unknown bandwidth '400 Gbps'; write e.g. '400 Gbit/s'");
  CHECK_THROWS_WITH(parse_bandwidth("100 Gb/s"),
                    "unknown bandwidth '100 Gb/s'; write e.g. '100 Gbit/s'");
  CHECK_THROWS_WITH(parse_bandwidth("200 Gbits"),
                    "unknown bandwidth '200 Gbits'; write e.g. '200 Gbit/s'");
}

TEST_CASE("a unit of another kind is named as such") {
  CHECK_THROWS_WITH(parse_bandwidth("80 GiB"),
                    "'80 GiB' is a size, not a bandwidth; write e.g. '450 GB/s'");
  CHECK_THROWS_WITH(parse_bytes("25 GB/s"),
                    "'25 GB/s' is a bandwidth, not a size; write e.g. '80 GiB'");
  CHECK_THROWS_WITH(parse_duration("5 MW"), "'5 MW' is a power, not a duration; write e.g. '5 us'");
  CHECK_THROWS_WITH(parse_power("60 days"),
                    "'60 days' is a duration, not a power; write e.g. '700 W'");
  CHECK_THROWS_WITH(parse_power("3 USD"),
                    "'3 USD' is an amount of money, not a power; write e.g. '700 W'");
  CHECK_THROWS_WITH(parse_money("1 TFLOP/s"),
                    "'1 TFLOP/s' is a computing rate, not an amount of money; write e.g. '300e3 "
                    "USD'");
}

TEST_CASE("a text that is no finite number is refused") {
  for (const std::string text :
       {"",         " ",      "GiB",      "nan",       "inf",     "-inf",   "infinity GB",
        "nan(0) B", "-",      "+",        ".",         "+-3",     "--3 B",  "e5",
        "0x10",     "1,5 GB", "80 GiB x", "80 80 GiB", "80 GiB;", "1 e3 B", "eighty GiB"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_bytes(text), std::invalid_argument);
  }
  CHECK_THROWS_WITH(parse_bytes(""), "unknown size ''; write e.g. '80 GiB'");
  CHECK_THROWS_WITH(parse_bytes("nan"), "unknown size 'nan'; write e.g. '80 GiB'");
}

TEST_CASE("a number outside the range of a double is refused") {
  for (const std::string text : {"1e999", "-1e999 GB", "1e300 PB", "1e308 KiB", "1e-999 B",
                                 "1e99999999999999999999 B", "1e2147483647 GB"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_bytes(text), "size '" + text +
                                             "' is beyond what a number can hold; write e.g. "
                                             "'80 GiB'");
  }
}

namespace {

struct DecimalComma : std::numpunct<char> {
  DecimalComma() : std::numpunct<char>(1) {}  // one reference more than its users: never deleted
  char do_decimal_point() const override { return ','; }
};

}  // namespace

TEST_CASE("no locale changes how a number is read or written") {
  const DecimalComma comma;
  const auto usual = std::locale::global(std::locale(std::locale(), &comma));
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"})  // C's locale, where the machine has one
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  const auto read = parse_bytes("1.5 GB").value;
  const auto exact = exact_text(Bytes{1.5e9});
  const auto brief = short_text(1.5_s);
  const auto bare = significant(1.192, 3) + ' ' + fixed(2.25, 1) + ' ' + plain(0.5);
  std::setlocale(LC_ALL, "C");
  std::locale::global(usual);
  CHECK(read == 1.5e9);
  CHECK(exact == "1.5 GB");
  CHECK(brief == "1.50 s");
  CHECK(bare == "1.19 2.2 0.5");
}

TEST_CASE("numbers without a unit have the bytes of printf in the C locale") {
  const auto printed = [](const char* format, double number) {
    std::array<char, 400> text{};
    std::snprintf(text.data(), text.size(), format, number);
    return std::string(text.data());
  };
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> exponent(-12, 18);
  for (int i = 0; i < 2000; ++i) {
    const double number = (i % 2 == 0 ? 1 : -1) * std::pow(10.0, exponent(random));
    CHECK(significant(number, 3) == printed("%.3g", number));
    CHECK(significant(number, 6) == printed("%g", number));
    CHECK(fixed(number, 1) == printed("%.1f", number));
  }
  CHECK(significant(1.0 / 3, 3) == "0.333");
  CHECK(significant(1.23456e10, 4) == "1.235e+10");
  CHECK(significant(HUGE_VAL, 3) == "inf");
  CHECK(fixed(0.25, 0) == "0");
}

TEST_CASE("a plain number shows all digits of a whole number, and six of any other") {
  CHECK(plain(1048576) == "1,048,576");
  CHECK(plain(-12345) == "-12,345");
  CHECK(plain(0.5) == "0.5");
  CHECK(plain(1234.5678) == "1234.57");
  CHECK(plain(999'999'999'999'999) == "999,999,999,999,999");
  CHECK(plain(1e15) == "1e+15");
}

TEST_CASE("exact text uses the unit that makes the number short") {
  CHECK(exact_text(Bytes{80.0 * 1073741824}) == "80 GiB");
  CHECK(exact_text(Bytes{25e6}) == "25 MB");
  CHECK(exact_text(Bytes{500e6}) == "500 MB");
  CHECK(exact_text(Bytes{0}) == "0 B");
  CHECK(exact_text(Bytes{-1536}) == "-1.5 KiB");
  CHECK(exact_text(450.0_GBps) == "450 GB/s");
  CHECK(exact_text(BytesPerSecond{3.35e12}) == "3.35 TB/s");
  CHECK(exact_text(312.0_TFLOPps) == "312 TFLOP/s");
  CHECK(exact_text(Seconds{5e-6}) == "5 us");
  CHECK(exact_text(Seconds{86400}) == "1 day");
  CHECK(exact_text(Seconds{2 * 86400}) == "2 days");
  CHECK(exact_text(Seconds{365 * 86400.0}) == "1 year");
  CHECK(exact_text(Watts{10200}) == "10.2 kW");
  CHECK(exact_text(Money{300e3}) == "300000");
  CHECK(exact_text(Money{0.08}) == "0.08");
  CHECK(exact_text(Bytes{-500e6}) == "-500 MB");
  CHECK(exact_text(Seconds{0.5 * 365 * 86400}) == "0.5 years");  // not 4380 h
}

TEST_CASE("exact text has an exponent below 1e-4 and from 1e18 on") {
  CHECK(exact_text(Money{1e-4}) == "0.0001");
  CHECK(exact_text(Money{1e-5}) == "1e-5");
  CHECK(exact_text(Money{1.2e-5}) == "1.2e-5");
  CHECK(exact_text(Money{1e17}) == "100000000000000000");
  CHECK(exact_text(Money{1e18}) == "1e18");
}

TEST_CASE("an infinite quantity is written as such") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  CHECK(exact_text(Bytes{infinite}) == "inf");
  CHECK(exact_text(Money{infinite}) == "inf");
}

// Every exponent and sign is equally likely, not only the sizes that people write.
static double any_finite(std::mt19937_64& random) {
  for (;;) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

template <class Parse, class Of>
static void check_round_trip(double value, Parse parse, Of of) {
  const auto text = exact_text(of(value));
  INFO(text);
  CHECK(parse(text).value == value);
}

static void check_round_trips(double value) {
  check_round_trip(value, parse_bytes, [](double v) { return Bytes{v}; });
  check_round_trip(value, parse_bandwidth, [](double v) { return BytesPerSecond{v}; });
  check_round_trip(value, parse_flop_rate, [](double v) { return FlopsPerSecond{v}; });
  check_round_trip(value, parse_duration, [](double v) { return Seconds{v}; });
  check_round_trip(value, parse_power, [](double v) { return Watts{v}; });
  check_round_trip(value, parse_money, [](double v) { return Money{v}; });
}

TEST_CASE("exact text is read back as the same value") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) check_round_trips(any_finite(random));
  std::uniform_real_distribution<double> exponent(-12, 18);
  for (int i = 0; i < 2000; ++i) check_round_trips(std::pow(10.0, exponent(random)));
  std::uniform_int_distribution<std::int64_t> whole(0, 1'000'000);
  for (int i = 0; i < 2000; ++i) check_round_trips(static_cast<double>(whole(random)) * 0x1p20);
  for (const double edge : {0.0, 5e-324, 1.7976931348623157e308, -1.0, 0.1, 1e15, 1e-5})
    check_round_trips(edge);
}

TEST_CASE("short text has three or four significant digits and a fitting unit") {
  CHECK(short_text(Seconds{17.923}) == "17.9 s");
  CHECK(short_text(Seconds{0.0305}) == "30.5 ms");
  CHECK(short_text(Seconds{4.2e-6}) == "4.20 us");
  CHECK(short_text(Seconds{100}) == "100 s");
  CHECK(short_text(Seconds{600}) == "10.0 min");
  CHECK(short_text(Seconds{40 * 3600}) == "40.0 h");
  CHECK(short_text(Seconds{60 * 86400}) == "60.0 days");
  CHECK(short_text(Seconds{0}) == "0 s");
  CHECK(short_text(Seconds{-0.25}) == "-250 ms");
  CHECK(short_text(Seconds{9.996}) == "10.0 s");
  CHECK(short_text(Bytes{68.4 * 1073741824}) == "68.4 GiB");
  CHECK(short_text(Bytes{1023 * 1048576.0}) == "1023 MiB");
  CHECK(short_text(450.0_GBps) == "450 GB/s");
  CHECK(short_text(FlopsPerSecond{989.4e12}) == "989 TFLOP/s");
  CHECK(short_text(Watts{10200}) == "10.2 kW");
}

TEST_CASE("short text changes its unit and its digits at once where the next ones begin") {
  CHECK(short_text(Bytes{1024}) == "1.00 KiB");
  CHECK(short_text(Seconds{200}) == "3.33 min");
  CHECK(short_text(Seconds{9.994}) == "9.99 s");
  CHECK(short_text(Seconds{9.995}) == "10.0 s");
  CHECK(short_text(Seconds{99.94}) == "99.9 s");
  CHECK(short_text(Seconds{99.95}) == "100 s");
}

TEST_CASE("digits are grouped in threes, whatever their sign") {
  CHECK(units::with_commas("999") == "999");
  CHECK(units::with_commas("-999") == "-999");
  CHECK(units::with_commas("-1000") == "-1,000");
  CHECK(units::with_commas("1048576") == "1,048,576");
  CHECK(units::with_commas("-100000") == "-100,000");
}

TEST_CASE("lower case changes the letters A to Z and no other byte") {
  CHECK(lower_case("AdamW 8B_Zz@[") == "adamw 8b_zz@[");
  CHECK(lower_case("\xC3\x84\xE9") == "\xC3\x84\xE9");  // Ä in UTF-8, é in Latin-1
}

TEST_CASE("a precision is written by its name") {
  CHECK(to_text(Precision::bf16) == "bf16");
  CHECK(to_text(Precision::nvfp4) == "nvfp4");
}

}  // namespace text_spec
