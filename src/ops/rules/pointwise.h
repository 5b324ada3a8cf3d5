// SPDX-License-Identifier: Apache-2.0
//
// What rows of operators on each element have in common. A kernel is one TensorIterator of one
// operand (unary) or two that broadcast (binary); integers may become float32 in it, and operands
// of another dtype are cast. In place its result must fit into the first operand. Overloads for a
// Python number box it and call the overload for tensors, as ATen's do.
#pragma once

#include "ops/op_def.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::pointwise {

// --- Work: one operation for each element of the result -----------------------------------------

inline constexpr WorkFn kAlu = work::PerOutput<work::PerElement{.alu = 1}>;
inline constexpr WorkFn kSpecial = work::PerOutput<work::PerElement{.special = 1}>;
inline constexpr WorkFn kCompare = work::PerOutput<work::PerElement{.compare = 1}>;
// Rounding and taking the sign away change the form of a number, as a cast does.
inline constexpr WorkFn kMove = work::PerOutput<work::PerElement{.move = 1}>;

// --- Shapes, and the operands that they take ----------------------------------------------------

// Refuse argument 0, or one of both, where it is complex; argument 0 where it is not
// floating-point.
void RequireReal(const OpView& op);
void RequireRealPair(const OpView& op);
void RequireFloating(const OpView& op);

// Real numbers; integers become float32.
void RealShape(const OpView& op, Outputs& out);
void FloatingShape(const OpView& op, Outputs& out);
template <Promotion kPromotion>
void RealPairShape(const OpView& op, Outputs& out) {
  RequireRealPair(op);
  shape::Iterate<kPromotion, 0, 1>(op, out);
}
// Of which at least one is floating-point or complex.
void FloatingPairShape(const OpView& op, Outputs& out);

// Argument 0 as it is, written over; of real numbers; of floating-point ones; and of those or
// complex ones, since what a function gives is no integer.
void InPlaceShape(const OpView& op, Outputs& out);
void RealInPlaceShape(const OpView& op, Outputs& out);
void FloatingInPlaceShape(const OpView& op, Outputs& out);
void FunctionInPlaceShape(const OpView& op, Outputs& out);
template <Promotion kPromotion>
void RealPairInPlaceShape(const OpView& op, Outputs& out) {
  RequireRealPair(op);
  shape::Overwrite<kPromotion, 0, 1>(op, out);
}
void IntegralPairInPlaceShape(const OpView& op, Outputs& out);

// --- Allocations --------------------------------------------------------------------------------

// Argument 0 is cast to the dtype of the result.
void CastAllocations(const OpView& op, Allocations& memory);

// --- Rows of kernels ----------------------------------------------------------------------------

template <Promotion kPromotion>
constexpr OpDef Unary(const Words& words, Gradient grad, WorkFn work) {
  return Kernel(Family::kElementwise, words,
                {shape::Iterate<kPromotion, 0>, Fusion::kElementwise,
                 allocations::Iterate<kPromotion, 0>, work, grad, precision::kFollow});
}

// A mathematical function, which takes integers, too; and one that is of real numbers alone.
constexpr OpDef MathFunction(const Words& words, Gradient grad) {
  return Unary<Promotion::kFloat>(words, grad, kSpecial);
}
constexpr OpDef RealFunction(const Words& words, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {RealShape, Fusion::kElementwise, allocations::Iterate<Promotion::kFloat, 0>,
                 kSpecial, grad, precision::kFollow});
}
// Of floating-point numbers, integers being refused.
constexpr OpDef FloatingUnary(const Words& words, Gradient grad, WorkFn work) {
  return Kernel(Family::kElementwise, words,
                {FloatingShape, Fusion::kElementwise, allocations::OutputsOnly, work, grad,
                 precision::kFollow});
}

constexpr OpDef UnaryInPlace(const Words& words, ShapeFn shape, Gradient grad, WorkFn work) {
  return Kernel(Family::kElementwise, words,
                {shape, Fusion::kElementwise, allocations::None, work, grad, precision::kFollow},
                Alias::kInPlace);
}
constexpr OpDef MathFunctionInPlace(const Words& words, Gradient grad) {
  return UnaryInPlace(words, FunctionInPlaceShape, grad, kSpecial);
}
constexpr OpDef RealFunctionInPlace(const Words& words, Gradient grad) {
  return UnaryInPlace(words, FloatingInPlaceShape, grad, kSpecial);
}

template <Promotion kPromotion>
constexpr OpDef Binary(const Words& words, Gradient grad, WorkFn work = kAlu,
                       ShapeFn shape = shape::Iterate<kPromotion, 0, 1>) {
  return Kernel(Family::kElementwise, words,
                {shape, Fusion::kBroadcast, allocations::Iterate<kPromotion, 0, 1>, work, grad,
                 precision::kFollow});
}
template <Promotion kPromotion>
constexpr OpDef RealBinary(const Words& words, Gradient grad, WorkFn work = kAlu) {
  return Binary<kPromotion>(words, grad, work, RealPairShape<kPromotion>);
}

template <Promotion kPromotion>
constexpr OpDef BinaryInPlace(const Words& words, Gradient grad, WorkFn work = kAlu,
                              ShapeFn shape = shape::Overwrite<kPromotion, 0, 1>) {
  return Kernel(Family::kElementwise, words,
                {shape, Fusion::kBroadcast, allocations::Overwrite<kPromotion, 0, 1>, work, grad,
                 precision::kFollow},
                Alias::kInPlace);
}
template <Promotion kPromotion>
constexpr OpDef RealBinaryInPlace(const Words& words, Gradient grad) {
  return BinaryInPlace<kPromotion>(words, grad, kAlu, RealPairInPlaceShape<kPromotion>);
}

// --- Rows of composites -------------------------------------------------------------------------

constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kElementwise, words, decompose, grad);
}

}  // namespace steelyard::pointwise
