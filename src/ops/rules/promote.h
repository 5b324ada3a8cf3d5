// SPDX-License-Identifier: Apache-2.0
//
// Type promotion: the dtype in which operands of different dtypes meet (c10/core/ScalarType.h,
// aten/src/ATen/native/TypeProperties.cpp).
#pragma once

#include <initializer_list>
#include <span>

#include "ops/op_def.h"

namespace steelyard {

// The dtype of a Python float, and of what integers become in a division.
inline constexpr DType kDefaultFloat = DType::kFloat32;

// What two dtypes promote to; refused where PyTorch has no answer (float8 with another float8).
DType PromoteTypes(DType a, DType b);

// The common dtype: tensors with dimensions decide before 0-dim tensors, those before wrapped
// Python numbers, unless the weaker is of a higher category (bool, integral, floating, complex).
DType ResultType(std::span<const TensorView> operands);
DType ResultType(std::initializer_list<TensorView> operands);
// Of a tensor and Python numbers that were not boxed; None is skipped.
DType ResultType(const TensorView& tensor, std::initializer_list<Argument> numbers);

// The dtype a Python number has once it is boxed: int64, float64, bool.
DType BoxedType(const Argument& number);

// `dtype` itself if it is floating or complex, else the default float.
DType FloatOf(DType dtype);
// Whether numbers are floating-point and of two bytes: float16, bfloat16.
constexpr bool IsHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }
// The dtype of the parts of a complex number; others as they are.
DType RealOf(DType dtype);
// The complex dtype whose parts are of a floating dtype; of a complex one itself.
DType ComplexOf(DType dtype);

}  // namespace steelyard
