// SPDX-License-Identifier: Apache-2.0
// Numbers that know their dimension.
#pragma once
#include <cmath>
#include <compare>

namespace units {

// seconds^T · bytes^B · flops^F · joules^E · money^M. Adding unlike quantities does not compile;
// dividing bytes by a rate yields seconds. The value is in the SI base unit (bytes, FLOP, …).
template <int T, int B, int F, int E = 0, int M = 0>
struct Quantity {
  double value = 0.0;
  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(double k, Quantity q) { return {k * q.value}; }
  friend constexpr Quantity operator*(Quantity q, double k) { return {k * q.value}; }
  friend constexpr Quantity operator/(Quantity q, double k) { return {q.value / k}; }
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value -= other.value;
    return *this;
  }
};

template <int T, int B, int F, int E, int M, int U, int C, int G, int H, int N>
constexpr auto operator*(Quantity<T, B, F, E, M> a, Quantity<U, C, G, H, N> b) {
  return Quantity<T + U, B + C, F + G, E + H, M + N>{a.value * b.value};
}
// Like over like is a plain number; anything else keeps its dimension.
template <int T, int B, int F, int E, int M, int U, int C, int G, int H, int N>
constexpr auto operator/(Quantity<T, B, F, E, M> a, Quantity<U, C, G, H, N> b) {
  return Quantity<T - U, B - C, F - G, E - H, M - N>{a.value / b.value};
}
template <int T, int B, int F, int E, int M>
constexpr double operator/(Quantity<T, B, F, E, M> a, Quantity<T, B, F, E, M> b) {
  return a.value / b.value;
}

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1>;
using Joules = Quantity<0, 0, 0, 1>;
using Watts = Quantity<-1, 0, 0, 1>;
using Money = Quantity<0, 0, 0, 0, 1>;

inline namespace literals {
constexpr Seconds operator""_s(long double v) { return {static_cast<double>(v)}; }
constexpr Seconds operator""_ms(long double v) { return {static_cast<double>(v) * 1e-3}; }
constexpr Seconds operator""_us(long double v) { return {static_cast<double>(v) * 1e-6}; }
constexpr Bytes operator""_B(long double v) { return {static_cast<double>(v)}; }
constexpr Bytes operator""_MiB(long double v) { return {static_cast<double>(v) * 0x1p20}; }
constexpr Bytes operator""_GiB(long double v) { return {static_cast<double>(v) * 0x1p30}; }
constexpr Bytes operator""_GB(long double v) { return {static_cast<double>(v) * 1e9}; }
constexpr BytesPerSecond operator""_GBps(long double v) { return {static_cast<double>(v) * 1e9}; }
constexpr FlopsPerSecond operator""_TFLOPps(long double v) {
  return {static_cast<double>(v) * 1e12};
}
}  // namespace literals
}  // namespace units
