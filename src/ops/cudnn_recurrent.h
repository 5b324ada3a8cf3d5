// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks over a sequence by cuDNN, as ATen has them on CUDA
// (ATen/native/cudnn/RNN.cpp). What cuDNN keeps for gradients is its own choice; it is taken to be
// what none can do without.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/op_def.h"

namespace steelyard::ops {

std::span<const OpDef> CudnnRecurrent();

// As cudnnRNNMode_t numbers them.
enum class CudnnCell : std::uint8_t { kRelu, kTanh, kLstm, kGru };

// Of `aten::lstm.input` and the like: input, hx, params, has_biases, num_layers, dropout, train,
// bidirectional, batch_first. Nothing where cuDNN does not take them; `cells` is undefined but of
// an LSTM.
std::optional<std::vector<Tensor>> RunInCudnn(Dispatcher& d, const OpView& op, CudnnCell cell,
                                              const Tensor& state, const Tensor& cells);

}  // namespace steelyard::ops
