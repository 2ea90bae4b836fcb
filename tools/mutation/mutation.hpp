// SPDX-License-Identifier: Apache-2.0
// Functions whose calls tools/mutation/mutate.py writes into the sources that it changes. Each
// takes the number of its mutant first, and does what the source did unless that mutant is on.
// STEPCAST_MUTANT chooses the mutant when the program starts, so one build holds them all. Constant
// expressions are never changed.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace mutation {

// The mutant that is on, and the mutants that a run came past, whose numbers it writes to the file
// that STEPCAST_REACHED names.
struct State {
  int on = std::getenv("STEPCAST_MUTANT") ? std::atoi(std::getenv("STEPCAST_MUTANT")) : -1;
  const char* file = std::getenv("STEPCAST_REACHED");
  std::vector<bool> reached = std::vector<bool>(file ? 1 << 20 : 0);
  ~State() {
    std::FILE* out = file ? std::fopen(file, "a") : nullptr;
    if (!out) return;
    for (std::size_t id = 0; id < reached.size(); ++id)
      if (reached[id]) std::fprintf(out, "%zu\n", id);
    std::fclose(out);
  }
};
inline State& state() {
  static State only;
  return only;
}
inline bool chosen(int id) {
  State& s = state();
  if (s.file) s.reached[static_cast<std::size_t>(id)] = true;
  return s.on == id;
}
constexpr bool on(int id) { return std::is_constant_evaluated() ? false : chosen(id); }

// A sum becomes a difference; a sum of texts, which have none, joins the second one twice.
template <class A, class B>
constexpr auto plus(int id, const A& a, const B& b) -> std::decay_t<decltype(a + b)> {
  if constexpr (requires { std::decay_t<decltype(a + b)>(a - b); }) {
    if (on(id)) return std::decay_t<decltype(a + b)>(a - b);
  } else {
    if (on(id)) return a + b + b;
  }
  return a + b;
}
template <class A, class B>
constexpr auto minus(int id, const A& a, const B& b) -> std::decay_t<decltype(a - b)> {
  if constexpr (requires { std::decay_t<decltype(a - b)>(a + b); }) {
    if (on(id)) return std::decay_t<decltype(a - b)>(a + b);
  } else if constexpr (requires { std::decay_t<decltype(a - b)>((a - b) + 1); }) {
    if (on(id)) return std::decay_t<decltype(a - b)>((a - b) + 1);  // of two pointers
  }
  return a - b;
}
// A product becomes a quotient where that has the same dimension, else twice the product.
template <class A, class B>
constexpr auto times(int id, const A& a, const B& b) -> std::decay_t<decltype(a * b)> {
  using Result = std::decay_t<decltype(a * b)>;
  if (!on(id)) return a * b;
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    return b == B{} ? Result{} : static_cast<Result>(a / b);
  } else {
    return a * b + a * b;
  }
}
template <class A, class B>
constexpr auto over(int id, const A& a, const B& b) -> std::decay_t<decltype(a / b)> {
  using Result = std::decay_t<decltype(a / b)>;
  if (!on(id)) return a / b;
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    return static_cast<Result>(a * b);
  } else {
    return a / b + a / b;
  }
}
template <class A, class B>
constexpr auto rest(int id, const A& a, const B& b) {
  return on(id) ? a / b : a % b;
}

#define STEPCAST_COMPARE(name, before, after)                   \
  template <class A, class B>                                   \
  constexpr bool name(int id, const A& a, const B& b) {         \
    if constexpr (requires { static_cast<bool>(a after b); }) { \
      if (on(id)) return static_cast<bool>(a after b);          \
    }                                                           \
    return static_cast<bool>(a before b);                       \
  }
STEPCAST_COMPARE(less, <, <=)
STEPCAST_COMPARE(at_most, <=, <)
STEPCAST_COMPARE(greater, >, >=)
STEPCAST_COMPARE(at_least, >=, >)
STEPCAST_COMPARE(equal, ==, !=)
STEPCAST_COMPARE(unequal, !=, ==)
#undef STEPCAST_COMPARE

template <class B>
constexpr bool both(int id, bool a, const B& b) {
  return on(id) ? a || b() : a && b();
}
template <class B>
constexpr bool either(int id, bool a, const B& b) {
  return on(id) ? a && b() : a || b();
}
constexpr bool unless(int id, bool condition) { return on(id) ? !condition : condition; }

template <class A, class B>
constexpr A& add_to(int id, A& a, const B& b) {
  if constexpr (requires { a -= b; }) {
    if (on(id)) return a -= b;
  } else {
    if (on(id)) a += b;
  }
  return a += b;
}
template <class A, class B>
constexpr A& take_from(int id, A& a, const B& b) {
  return on(id) ? a += b : a -= b;
}
template <class A, class B>
constexpr A& multiply(int id, A& a, const B& b) {
  return on(id) ? a /= b : a *= b;
}
template <class A, class B>
constexpr A& divide(int id, A& a, const B& b) {
  return on(id) ? a *= b : a /= b;
}

// A whole number becomes the next one, any other number its double.
template <class T>
constexpr T number(int id, T value) {
  if (!on(id)) return value;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value + 1);
  } else {
    return value == T{} ? T{1} : value * 2;
  }
}

template <class T>
constexpr T least(int id, const T& a, const T& b) {
  return on(id) ? std::max(a, b) : std::min(a, b);
}
template <class T>
constexpr T most(int id, const T& a, const T& b) {
  return on(id) ? std::min(a, b) : std::max(a, b);
}
template <class T>
constexpr T least(int id, std::initializer_list<T> all) {
  return on(id) ? std::max(all) : std::min(all);
}
template <class T>
constexpr T most(int id, std::initializer_list<T> all) {
  return on(id) ? std::min(all) : std::max(all);
}
template <class T>
auto up(int id, T x) {
  return on(id) ? std::floor(x) : std::ceil(x);
}
template <class T>
auto down(int id, T x) {
  return on(id) ? std::ceil(x) : std::floor(x);
}

}  // namespace mutation
