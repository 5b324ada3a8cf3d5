// SPDX-License-Identifier: Apache-2.0
//
// Generations of devices by their compute capability, 10 x major + minor.
#pragma once

namespace steelyard::cuda {

inline constexpr int kAmpere = 80, kDesktopAmpere = 86, kDesktopAda = 89, kHopper = 90,
                     kDesktopBlackwell = 120;

// Whether a multiprocessor has less shared memory than those of the data centre's devices.
constexpr bool HasSmallMultiprocessors(int capability) {
  return capability == kDesktopAmpere || capability == kDesktopAda ||
         capability >= kDesktopBlackwell;
}

}  // namespace steelyard::cuda
