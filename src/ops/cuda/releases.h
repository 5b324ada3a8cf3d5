// SPDX-License-Identifier: Apache-2.0
//
// What releases of PyTorch do differently on CUDA. Each number is the minor of the first of
// `TorchReleases` that does what is said; those before it were run as well (2.4.1, 2.7.1 and 2.9.1,
// over stand-ins for the driver).
#pragma once

#include "steelyard/op.h"

namespace steelyard::cuda {

inline constexpr int kHeadsAreGrouped = 7;      // scaled_dot_product_attention has enable_gqa
inline constexpr int kProductsAreWide = 7;      // attention by products: half precision in float32,
                                                // rows that are masked entirely become 0
inline constexpr int kFlashKeepsState = 7;      // flash attention: the generator's, on the device
inline constexpr int kMaskIsChosen = 7;         // masks of booleans become numbers by `where`
inline constexpr int kRootNormIsWide = 7;       // rms_norm: half precision is computed in float32
inline constexpr int kRootNormIsKernel = 9;     // before it is a composite
inline constexpr int kSumsArePartial = 9;       // layer_norm: gradients of many short rows
inline constexpr int kLtKeepsWorkspace = 9;     // of cuBLASLt: one for all calls
inline constexpr int kWorkspacesAreFreed = 15;  // of cuBLAS and cuBLASLt, after each call
inline constexpr int kLargeSinceBlackwell = 15;  // cuBLAS's workspace, on devices after Hopper
inline constexpr int kCudnnIsFirst = 15;         // of the kernels of attention
inline constexpr int kEfficientIsGrouped = 15;   // memory-efficient attention takes grouped heads
inline constexpr int kEfficientKeepsState = 15;  // the generator's, on the device
inline constexpr int kGroupNormKeepsOrder = 15;  // of channels; and half precision's statistics are
                                                 // read as float32
inline constexpr int kNormsHaveTable = 15;       // norms of a list by one kernel
inline constexpr int kAdagradIsFused = 15;
inline constexpr int kMatricesAreAddedInLt = 15;  // to products of half precision (pull 191706)

// Whether the device is CUDA's, with code of a release before this one.
constexpr bool IsBefore(const Target& target, int minor) {
  return target.device == Device::kCuda && target.torch_minor < minor;
}

}  // namespace steelyard::cuda
