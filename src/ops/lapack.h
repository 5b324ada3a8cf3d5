// SPDX-License-Identifier: Apache-2.0
//
// What operators that LAPACK computes are written with: matrices that lie column by column,
// routines that overwrite them, and the question whether they found an error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "ops/dispatch/dispatcher.h"
#include "ops/rules/composite.h"

namespace steelyard::ops::lapack {

Dims ColumnMajor(std::span<const std::int64_t> sizes);
// MAGMA and cuSOLVER, which stand for LAPACK on CUDA, have workspaces of their own.
void RequireHost(const Target& target);
Tensor Made(Dispatcher& d, const Dims& sizes, const Dims& strides, DType dtype);
Tensor MadeByRows(Dispatcher& d, const Dims& sizes, DType dtype);
Tensor MadeByColumns(Dispatcher& d, const Dims& sizes, DType dtype);
void Run(Dispatcher& d, const Tensor& matrix, std::string_view routine, std::int64_t columns = 0);
void RequireMatrix(const TensorView& a);
void RequireSquare(const TensorView& a);
void RequireSameType(const TensorView& a, const TensorView& b);
Dims BatchOf(const TensorView& a);
Dims With(Dims batch, std::initializer_list<std::int64_t> last);
std::int64_t Lesser(const TensorView& a);
bool LiesByColumns(const Tensor& a);
Tensor CopyByColumns(Dispatcher& d, const Tensor& a);
void CheckErrors(Dispatcher& d, const Tensor& info, std::string_view name);
void TriangleOfCopy(Dispatcher& d, std::string_view cut, const TensorView& a);

// A row that calls LAPACK's.
constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kContraction, words, decompose, grad);
}

}  // namespace steelyard::ops::lapack

// Families besides those of registry.h.
namespace steelyard::ops {

std::span<const OpDef> Inverses();
std::span<const OpDef> Lu();
std::span<const OpDef> GeneralSpectra();
std::span<const OpDef> MatrixExponentials();
std::span<const OpDef> PolarFactorizations();

}  // namespace steelyard::ops
