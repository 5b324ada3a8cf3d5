// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/pointwise.h"

#include <array>

#include "ops/rules/promote.h"

namespace steelyard::pointwise {

void RequireReal(const OpView& op) {
  if (IsComplex(op.self().dtype())) Refuse("it is not defined for " + shape::Text(op.self()));
}

void RequireRealPair(const OpView& op) {
  for (int i : {0, 1}) {
    if (IsComplex(op.tensor(i).dtype())) Refuse("it is not defined for complex numbers");
  }
}

void RequireFloating(const OpView& op) {
  if (!IsFloating(op.self().dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(op.self()));
  }
}

void RealShape(const OpView& op, Outputs& out) {
  RequireReal(op);
  shape::Iterate<Promotion::kFloat, 0>(op, out);
}

void FloatingShape(const OpView& op, Outputs& out) {
  RequireFloating(op);
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}

void FloatingPairShape(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  const DType common = ResultType(pair);
  if (!IsFloating(common) && !IsComplex(common)) Refuse("floating-point tensors are needed");
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}

void InPlaceShape(const OpView& op, Outputs& out) {
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}

void RealInPlaceShape(const OpView& op, Outputs& out) {
  RequireReal(op);
  InPlaceShape(op, out);
}

void FloatingInPlaceShape(const OpView& op, Outputs& out) {
  RequireFloating(op);
  InPlaceShape(op, out);
}

void FunctionInPlaceShape(const OpView& op, Outputs& out) {
  if (!IsFloating(op.self().dtype()) && !IsComplex(op.self().dtype())) {
    Refuse("a result of float32 cannot be written into " + shape::Text(op.self()));
  }
  InPlaceShape(op, out);
}

void IntegralPairInPlaceShape(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  shape::RequireIntegral(pair);
  shape::Overwrite<Promotion::kCommon, 0, 1>(op, out);
}

void CastAllocations(const OpView& op, Allocations& memory) {
  const auto cast = allocations::Cast(op.self(), op.output().dtype(), memory);
  memory.Output(0);
  allocations::Free(cast, memory);
}

}  // namespace steelyard::pointwise
