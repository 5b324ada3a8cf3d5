// SPDX-License-Identifier: Apache-2.0
//
// A row that states every column, one on each line. check_rows.py takes the lines away in turn.
#include "ops/op_def.h"

namespace steelyard {
namespace {

[[maybe_unused]] constexpr OpDef kRow{
    .name = "aten::relu",
    .summary = "Negative elements become zero.",
    .signature = "(Tensor self) -> Tensor",
    .example = "aten::relu(f32[2,8])",
    .family = Family::kElementwise,
    .shape = [](const OpView& op, Outputs& out) { out.Add(op.self().dtype(), op.self().sizes()); },
    .alias = Alias::kNone,
    .fusion = Fusion::kElementwise,
    .decompose = kIsKernel,
    .allocations = +[](const OpView&, Allocations& memory) { memory.Output(0); },
    .work = [](const OpView& op) { return Work{.compare = op.self().count()}; },
    .traffic = [](const OpView& op) { return Traffic{op.self().bytes(), op.self().bytes()}; },
    .grad = kNoGradient,
    .precision = precision::kFollow,
};

}  // namespace
}  // namespace steelyard
