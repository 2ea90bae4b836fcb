// SPDX-License-Identifier: Apache-2.0
// The main() of every specification under Catch2 version 2; version 3 brings its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
