// SPDX-License-Identifier: Apache-2.0
//
// Gradients of cells whose gates one kernel computes.
#pragma once

#include <vector>

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

// input_gates, hidden_gates, the state, input_bias, hidden_bias; what a differentiable gradient
// would need is saved, too.
std::vector<Tensor> GruCell(Dispatcher& d, const Backward& b);
std::vector<Tensor> LstmCell(Dispatcher& d, const Backward& b);

inline constexpr Gradient kGruCell =
    Gradient("ThnnFusedGruCellBackward0",
             {GradientsOf({0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, ResultAt(1)}, GruCell)})
        .OnlyOf({0});
inline constexpr Gradient kLstmCell =
    Gradient("ThnnFusedLstmCellBackward0",
             {GradientsOf({0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, ResultAt(1), ResultAt(2)}, LstmCell)})
        .OnlyOf({0, 1});

}  // namespace steelyard::gradients
