// SPDX-License-Identifier: Apache-2.0
//
// Gradients of bags of embeddings and of alignments.
#pragma once

#include "ops/gradient.h"

namespace steelyard::gradients {

Tensor BagWeights(Dispatcher& d, const Backward& b);
Tensor BagTable(Dispatcher& d, const Backward& b);
Tensor CtcProbabilities(Dispatcher& d, const Backward& b);

inline constexpr Gradient kEmbeddingBag{
    "EmbeddingBagBackward0",
    {GradientOf(6, {0, 1, 2, ResultAt(1)}, BagWeights),
     GradientOf(0, {1, 2, 6, ResultAt(1), ResultAt(2), ResultAt(3)}, BagTable)}};
inline constexpr Gradient kCtcLoss =
    Gradient("CtcLossBackward0",
             {GradientOf(0, {0, 1, ResultAt(0), ResultAt(1)}, CtcProbabilities)})
        .OnlyOf({0});

}  // namespace steelyard::gradients
