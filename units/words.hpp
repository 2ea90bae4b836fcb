// SPDX-License-Identifier: Apache-2.0
// The words by which files and reports call the values of an enum: one list per enum, which is
// read, shown and printed into schemas. The list of an enum E is `words_of(E)`, beside E's
// namespace.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "units/kernel.hpp"

namespace units {

// A word and what it stands for.
template <class E>
struct Named {
  std::string_view name;
  E value;
};

// A list of them: words<Precision>({{"fp32", fp32}, {"bf16", bf16}}).
template <class E, std::size_t N>
constexpr std::array<Named<E>, N> words(const Named<E> (&list)[N]) {
  return std::to_array(list);
}

// The word of a value; empty for a value that no word stands for. The argument of `words_of` only
// chooses the list.
template <class E>
constexpr std::string_view word(E value) requires requires {
  words_of(value);
}
{
  for (const auto& one : words_of(value))
    if (one.value == value) return one.name;
  return {};
}

constexpr auto words_of(Precision) {
  using enum Precision;
  return words<Precision>({{"fp32", fp32},
                           {"tf32", tf32},
                           {"fp16", fp16},
                           {"bf16", bf16},
                           {"fp8", fp8},
                           {"mxfp8", mxfp8},
                           {"nvfp4", nvfp4}});
}

}  // namespace units
