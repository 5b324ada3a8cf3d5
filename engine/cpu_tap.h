// SPDX-License-Identifier: Apache-2.0
//
// Hears of every allocation and free of the CPU's memory, in all threads, and leaves the place
// where PyTorch's own profiler listens to that profiler.
#pragma once

#include <cstdint>

namespace steelyard::engine {

// False where another allocator has been put in PyTorch's place that cannot be listened to.
bool BeginTap();
void EndTap();

// From now on it is heard when this c10::StorageImpl frees its memory, if it has PyTorch's own.
void HearOf(void* storage);

}  // namespace steelyard::engine
