// SPDX-License-Identifier: Apache-2.0
// Laws over random inputs take some 20 times longer under sanitizers, where they are tried on fewer
// inputs.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STEPCAST_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define STEPCAST_SANITIZED 1
#endif

namespace tests {

#ifdef STEPCAST_SANITIZED
inline constexpr unsigned fewer = 16;  // numbers of random inputs are divided by it
#else
inline constexpr unsigned fewer = 1;
#endif

}  // namespace tests
