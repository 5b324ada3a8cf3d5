// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/determinism.h"

#include <fmt/core.h>

namespace steelyard::cuda {

void RefuseWhereDeterministic(const OpView& op) {
  if (op.target().device != Device::kCuda || !op.target().deterministic) return;
  Contradict(fmt::format("PyTorch has no deterministic kernel of {} on CUDA, and raises",
                         op.def().name->text()),
             "Weigh it without --deterministic.");
}

}  // namespace steelyard::cuda
