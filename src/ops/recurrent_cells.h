// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks step by step, as ATen runs them where no library does
// (aten/src/ATen/native/RNN.cpp). Lifetimes follow its C++.
#pragma once

#include <cstddef>
#include <vector>

#include "ops/dispatch/dispatcher.h"

namespace steelyard::recurrent {

// What a cell keeps from step to step; `c` only of an LSTM.
struct Hidden {
  Tensor h, c;
};

// The weights of a cell; biases and the projection may be undefined.
struct Weights {
  Tensor input, state, input_bias, state_bias, projection;
};

// What a cell is given at a step: the input, or its product with the input's weight.
struct StepInput {
  Tensor tensor;
  bool is_product = false;
};

using Cell = Hidden (*)(Dispatcher& d, const StepInput& input, const Hidden& hidden,
                        const Weights& w);

// Layers above each other, each in one or two directions.
struct Stack {
  std::size_t layers = 1, directions = 1;
  Argument dropout;
  bool drops = false;  // between layers
};

struct Sequence {
  Tensor output;
  std::vector<Hidden> last;  // by layer and direction
};
// `input` is [time, batch, size].
Sequence Run(Dispatcher& d, Cell cell, const Tensor& input, std::vector<Hidden> first,
             const std::vector<Weights>& weights, const Stack& stack);

Hidden LstmStep(Dispatcher& d, const StepInput& input, const Hidden& hidden, const Weights& w);

}  // namespace steelyard::recurrent
