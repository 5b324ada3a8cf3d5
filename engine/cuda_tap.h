// SPDX-License-Identifier: Apache-2.0
//
// Hears of every allocation and free of CUDA's caching allocator, in all threads.
#pragma once

namespace steelyard::engine {

// Once CUDA has been initialised: from now on sessions hear of its memory, for the rest of the
// process. False where this process has no CUDA, or PyTorch's headers did not tell of it.
bool BeginCudaTap();

}  // namespace steelyard::engine
