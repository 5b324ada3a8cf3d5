// SPDX-License-Identifier: Apache-2.0
//
// The operators around the kernels of convolutions: conv1d to conv3d end in `_convolution`, which
// chooses a kernel.
#pragma once

#include <vector>

#include "ops/dispatcher.h"

namespace steelyard::ops::convolve {

// aten::_convolution, aten::convolution.
std::vector<Tensor> Choose(Dispatcher& d, const OpView& op);
std::vector<Tensor> Any(Dispatcher& d, const OpView& op);

// aten::_convolution_mode.
std::vector<Tensor> Mode(Dispatcher& d, const OpView& op);

// aten::conv1d to conv3d, the same with a named padding, and transposed. `rank`: spatial
// dimensions.
std::vector<Tensor> OfRank(Dispatcher& d, const OpView& op, int rank);
std::vector<Tensor> ByName(Dispatcher& d, const OpView& op, int rank);
std::vector<Tensor> Transposed(Dispatcher& d, const OpView& op, int rank);

template <int kRank>
std::vector<Tensor> OfRank(Dispatcher& d, const OpView& op) {
  return OfRank(d, op, kRank);
}
template <int kRank>
std::vector<Tensor> ByName(Dispatcher& d, const OpView& op) {
  return ByName(d, op, kRank);
}
template <int kRank>
std::vector<Tensor> Transposed(Dispatcher& d, const OpView& op) {
  return Transposed(d, op, kRank);
}

}  // namespace steelyard::ops::convolve
