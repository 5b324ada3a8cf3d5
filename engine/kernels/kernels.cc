// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels.h"

namespace steelyard::engine {

Kernel KernelOf(std::string_view op) {
  for (const auto& family : {ConvolutionKernels(), GeneralKernels(), IndexingKernels(),
                             NetworkKernels(), PairKernels()}) {
    for (const KernelRow& row : family) {
      if (row.op == op) return row.kernel;
    }
  }
  return nullptr;
}

}  // namespace steelyard::engine
