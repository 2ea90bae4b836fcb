// SPDX-License-Identifier: Apache-2.0
// Catch2, version 2 or 3: the specifications use only what both know.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
// Version 3 has another name for version 2's string matcher Contains.
#define STEPCAST_HOLDS Catch::Matchers::ContainsSubstring
#else
#include <catch2/catch.hpp>
#define STEPCAST_HOLDS Catch::Matchers::Contains
#endif
