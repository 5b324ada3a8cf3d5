// SPDX-License-Identifier: Apache-2.0
//
// SY_ASSERT(condition, "why it must hold"): for defects of our own. No input may ever reach one;
// what can go wrong because of an input returns a `Result`. It stays on in release builds, because
// a wrong number is worse than none, so keep it out of inner loops.
#pragma once

namespace steelyard {

// Writes one line to standard error and aborts. It aborts rather than exits so that a debugger or a
// core file shows the place; the command line turns SIGABRT into exit status 70.
[[noreturn]] void AssertFailed(const char* condition, const char* why, const char* file, int line);

}  // namespace steelyard

// __FILE_NAME__ rather than __FILE__: the name alone, not a path of the machine that built it.
#define SY_ASSERT(condition, why) \
  (static_cast<bool>(condition)   \
       ? static_cast<void>(0)     \
       : ::steelyard::AssertFailed(#condition, why, __FILE_NAME__, __LINE__))

// Marks a place that cannot be reached, such as the end of a function after an exhaustive switch.
#define SY_UNREACHABLE(why) ::steelyard::AssertFailed("unreachable", why, __FILE_NAME__, __LINE__)
