// SPDX-License-Identifier: Apache-2.0
//
// The gradients of recurrent networks by cuDNN: those of all weights lie in one buffer.
#pragma once

#include <vector>

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

std::vector<Tensor> CudnnRnn(Dispatcher& d, const Backward& b);

// input, weight, weight_stride0, weight_buf, hx, cx, mode, hidden_size, proj_size, num_layers,
// batch_first, dropout, train, bidirectional, batch_sizes, dropout_state
inline constexpr Gradient kCudnnRnn =
    Gradient(
        "CudnnRnnBackward0",
        {GradientsOf({0, 4, 5, 1}, {0, 1, 4, 5, 15, kResult, ResultAt(3), ResultAt(4)}, CudnnRnn)})
        .OnlyOf({0, 1, 2});

}  // namespace steelyard::gradients
