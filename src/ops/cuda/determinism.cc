// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/determinism.h"

#include <fmt/core.h>

#include "ops/rules/allocations.h"

namespace steelyard::cuda {

void RefuseWhereDeterministic(const OpView& op) {
  if (op.target().device != Device::kCuda || !op.target().deterministic) return;
  Contradict(fmt::format("PyTorch has no deterministic kernel of {} on CUDA, and raises",
                         op.def().name->text()),
             "Weigh it without --deterministic.");
}

void FillResized(const OpView& op, std::int64_t elements, DType dtype, Allocations& memory) {
  if (!op.target().deterministic || elements == 0) return;
  memory.Free(memory.Allocate(allocations::Bytes(1, dtype)));
}

void Resized(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  FillResized(op, op.output().count(), op.output().dtype(), memory);
}

}  // namespace steelyard::cuda
