// SPDX-License-Identifier: Apache-2.0
//
// The memory of a program as eager PyTorch runs it: every kernel's allocations in its own order, a
// storage freed when its last reference dies, the outputs held by the caller to the end.
#pragma once

#include <cstdint>

#include "steelyard/op.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

// Whether libraries have what they keep for all their calls, where they keep something.
enum class LibraryMemory : std::uint8_t {
  kNotYet,  // the program's first calls of them take it
  kThere,   // it is resident
};

// `kernels` is a program that `decompose` gave. Parameters, buffers and inputs are resident; each
// storage once.
Timeline RunEager(const Program& kernels, const Target& target,
                  LibraryMemory libraries = LibraryMemory::kNotYet);

}  // namespace steelyard
