// SPDX-License-Identifier: Apache-2.0
//
// Words for the column `contents`: what is known of a result from what is known of the operands.
#pragma once

#include "ops/contents/contents.h"
#include "ops/contents/known_contents.h"
#include "ops/op_def.h"

namespace steelyard::contents {

// Of an argument: a tensor's, or a number everywhere. Unknown where it is neither.
Contents Of(const OpView& op, int i);

// Each element from those at its place in the first arguments.
template <Segment kSegment, int kOperands = 2>
Contents Pointwise(const OpView& op) {
  static_assert(kOperands >= 1 && kOperands <= 3);
  const Contents first = Of(op, 0), second = kOperands > 1 ? Of(op, 1) : Contents(),
                 third = kOperands > 2 ? Of(op, 2) : Contents();
  const auto sizes = op.output().sizes();
  if constexpr (kOperands == 1) return steelyard::Pointwise(sizes, {&first}, kSegment);
  if constexpr (kOperands == 2) return steelyard::Pointwise(sizes, {&first, &second}, kSegment);
  return steelyard::Pointwise(sizes, {&first, &second, &third}, kSegment);
}

// A sum or difference whose third argument scales the second.
template <Segment kSegment>
Contents Scaled(const OpView& op) {
  return op.real(2, 1.0) == 1.0 ? Pointwise<kSegment>(op) : Contents();
}

// Zeros, ones; argument `kAt` everywhere.
template <int kNumber>
Contents Everywhere(const OpView& op) {
  return Contents::Constant(op.output().rank(), kNumber);
}
template <int kAt>
Contents Number(const OpView& op) {
  return Of(op, kAt).uniform() ? Contents::Constant(op.output().rank(), *Of(op, kAt).uniform())
                               : Contents();
}
// From argument `kStart` on in steps of argument `kStep`; kNone: from 0 on, by 1.
inline constexpr int kNone = -1;
template <int kStart, int kStep>
Contents Range(const OpView& op) {
  return Contents::Range(op.output().count(), kStart == kNone ? 0 : op.real(kStart),
                         kStep == kNone ? 1 : op.real(kStep, 1.0));
}

// Those of argument `kAt`, in the shape and dtype of the result.
template <int kAt>
Contents Same(const OpView& op) {
  return Of(op, kAt);
}

// Views: the dimensions that they change are those of the arguments.
Contents Reshaped(const OpView& op);
Contents Transposed(const OpView& op);  // arguments 1 and 2
Contents TransposedLast(const OpView& op);
Contents Permuted(const OpView& op);
Contents Expanded(const OpView& op);
Contents Sliced(const OpView& op);
Contents Narrowed(const OpView& op);
Contents Selected(const OpView& op);

Contents Concatenated(const OpView& op);
Contents Looked(const OpView& op);
Contents SummedUp(const OpView& op);
Contents LowerTriangle(const OpView& op);
Contents UpperTriangle(const OpView& op);
Contents Softmax(const OpView& op);
Contents SoftmaxGradient(const OpView& op);
Contents DividedDown(const OpView& op);  // rounding_mode 'floor'

}  // namespace steelyard::contents
