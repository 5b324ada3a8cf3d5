// SPDX-License-Identifier: Apache-2.0
//
// Allocation rules that several kernels share: where the storage of the outputs comes from and
// which temporaries a kernel needs, in PyTorch's order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ops/op_def.h"
#include "ops/rules/label.h"
#include "ops/rules/shape.h"

namespace steelyard::allocations {

// A view, or a kernel that overwrites its argument and needs nothing else.
void None(const OpView& op, Allocations& memory);

// Every output in order, under the kernel's own label.
void OutputsOnly(const OpView& op, Allocations& memory);

// Every output in order, made by another operator: "aten::empty", "aten::resize_".
template <Label kLabel>
void Via(const OpView& op, Allocations& memory) {
  for (int i = 0; i < op.output_count(); ++i) memory.Output(i, kLabel.view());
}

// A TensorIterator: each operand of another dtype is cast first, then the output is made; the casts
// die last first.
void IterateOver(const OpView& op, Promotion promotion, std::span<const int> operands,
                 Allocations& memory);
template <Promotion kPromotion, int... kOperands>
void Iterate(const OpView& op, Allocations& memory) {
  static constexpr std::array<int, sizeof...(kOperands)> kList = {kOperands...};
  IterateOver(op, kPromotion, kList, memory);
}

// The same for kernels whose iterator makes the output itself, by `empty` or, in other orders of
// the dimensions than the two that `empty` knows, by `empty_strided`.
void IterateByFactoryOver(const OpView& op, Promotion promotion, std::span<const int> operands,
                          Allocations& memory);
template <Promotion kPromotion, int... kOperands>
void IterateByFactory(const OpView& op, Allocations& memory) {
  static constexpr std::array<int, sizeof...(kOperands)> kList = {kOperands...};
  IterateByFactoryOver(op, kPromotion, kList, memory);
}

// The same for an operator that overwrites argument 0: where that is not of the common dtype, the
// result is computed in a buffer and copied. `label` is that of whoever lets them go.
void OverwriteFrom(const OpView& op, Promotion promotion, std::span<const int> operands,
                   Allocations& memory, std::string_view label = {});
template <Promotion kPromotion, int... kOperands>
void Overwrite(const OpView& op, Allocations& memory) {
  static constexpr std::array<int, sizeof...(kOperands)> kList = {kOperands...};
  OverwriteFrom(op, kPromotion, kList, memory);
}

// --- Words --------------------------------------------------------------------------------------

// Bytes of `count` elements. Refused when they do not fit.
std::int64_t Bytes(Count count, DType dtype);
// Bytes of the box of a Python number.
std::int64_t BoxBytes(const Argument& number);

// `tensor.to(dtype)` within a kernel, which keeps the strides of dense tensors and compacts others;
// nothing if it has the dtype.
std::optional<Allocations::Scratch> Cast(const TensorView& tensor, DType dtype,
                                         Allocations& memory);
// `tensor.contiguous()` within a kernel; nothing if it is.
std::optional<Allocations::Scratch> Contiguous(const TensorView& tensor, Allocations& memory);
// The scratch of copying `from` into a tensor of its sizes with those strides and that dtype: a
// large transposed matrix goes through a block.
void CopyBlock(const TensorView& from, std::span<const std::int64_t> strides, DType dtype,
               Allocations& memory);
// The scratch of `sum` over all but `sums` numbers: half-precision ones are widened and added up
// in float32.
void SumScratch(const TensorView& of, Count sums, Allocations& memory);
void Free(std::optional<Allocations::Scratch> scratch, Allocations& memory,
          std::string_view label = {});

}  // namespace steelyard::allocations
