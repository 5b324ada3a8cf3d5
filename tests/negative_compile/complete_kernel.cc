// SPDX-License-Identifier: Apache-2.0
//
// What the maker of kernels asks for, with every column on a line of its own.
#include "ops/rules/kernel.h"

namespace steelyard {
namespace {

constexpr Columns kColumns{
    .shape = [](const OpView& op, Outputs& out) { out.AddLike(op.self()); },
    .fusion = Fusion::kElementwise,
    .allocations = +[](const OpView&, Allocations& memory) { memory.Output(0); },
    .work = [](const OpView& op) { return Work{.compare = op.self().count()}; },
    .grad = kNoGradient,
    .precision = precision::kFollow,
};

[[maybe_unused]] constexpr OpDef kRow = Kernel(Family::kElementwise,
                                               {"aten::relu", "Negative elements become zero.",
                                                "(Tensor self) -> Tensor", "aten::relu(f32[2])"},
                                               kColumns);

}  // namespace
}  // namespace steelyard
