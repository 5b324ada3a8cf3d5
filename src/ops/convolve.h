// SPDX-License-Identifier: Apache-2.0
//
// The operators around the kernels of convolutions: conv1d to conv3d end in `_convolution`, which
// chooses a kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/rules/convolution.h"

namespace steelyard::ops::convolve {

// --- What forward and backward decide alike ------------------------------------------------------

// The report says so where a kernel's buffers are estimated.
inline constexpr std::string_view kEstimated =
    "the private buffers of some convolutions are not known to the byte";

inline constexpr std::string_view kCudnnEstimated =
    "cuDNN chooses workspaces for its convolutions: they are taken to be empty";

enum class Backend : std::uint8_t { kOneDnn, kSlow2d, kSlow3d, kSlowDilated };
Backend ChooseBackend(const Tensor& input, const Tensor& weight, const convolution::Geometry& g,
                      int threads);
// The memory format of the operands, as `contiguous` takes it.
std::int64_t FormatFor(Backend backend, const Tensor& input, const Tensor& weight);
// The same on CUDA, where volumes have channels-last orders too.
std::int64_t CudaFormatFor(const Tensor& input, const Tensor& weight);
// Whether CUDA convolves with ATen's own kernel, in which each channel has kernels of its own;
// `cudnn`: whether it may ask cuDNN instead.
bool IsDepthwiseOnCuda(const Tensor& input, const Tensor& weight, const convolution::Geometry& g,
                       bool cudnn);
// Whether cuDNN has kernels of the dtypes on the device: of bfloat16 since Ampere.
bool HasCudnn(const Target& target, const Tensor& input, const Tensor& weight);
// Which of PyTorch's own kernels convolves on CUDA without cuDNN.
Backend BackendWithoutCudnn(const Tensor& weight, const convolution::Geometry& g);
// A one-dimensional convolution is one of images with a single row.
void AddRow(convolution::Geometry& g);
// One of equal parts of a dimension, dense in the order of the whole; undefined of an undefined
// one.
Tensor Part(Dispatcher& d, const Tensor& t, int dim, std::int64_t index, std::int64_t parts);
// Refuses what no convolution has gradients of: (grad_output, input, weight, ...).
void RequireOfConvolution(const OpView& op);
// Refuses more groups than anybody means.
void RequireFewGroups(std::int64_t groups);

// --- Rows ----------------------------------------------------------------------------------------

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
