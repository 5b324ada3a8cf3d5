// SPDX-License-Identifier: Apache-2.0
//
// The operands of a step, as its kernel reads them: one after another, front to back.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/Scalar.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace steelyard::engine {

using c10::IValue;
using torch::jit::Stack;
using Sizes = std::vector<std::int64_t>;

class Taken {
 public:
  // Leaves the stack empty, for the results.
  explicit Taken(Stack* stack) : values_(std::move(*stack)) { stack->clear(); }

  at::Tensor Tensor() { return Next().toTensor(); }
  std::optional<at::Tensor> Optional() {
    const IValue value = Next();
    return value.isNone() ? std::optional<at::Tensor>() : value.toTensor();
  }
  Sizes Integers() { return Next().toIntVector(); }
  std::int64_t Integer() { return Next().toInt(); }
  at::ScalarType DType() { return Next().toScalarType(); }
  bool Bool() { return Next().toBool(); }
  std::string Text() { return Next().toStringRef(); }
  std::vector<double> Numbers() {
    const IValue list = Next();
    if (list.isDoubleList()) return list.toDoubleVector();
    const Sizes integers = list.toIntVector();
    return {integers.begin(), integers.end()};
  }
  at::Scalar Number() { return Next().toScalar(); }
  std::optional<at::Scalar> OptionalNumber() {
    const IValue value = Next();
    return value.isNone() ? std::optional<at::Scalar>() : value.toScalar();
  }
  // One that is shorter asks for no more.
  std::array<bool, 3> Mask() {
    const c10::List<bool> list = Next().toBoolList();
    return {list.get(0), list.get(1), list.size() > 2 && list.get(2)};
  }

 private:
  IValue Next() { return values_.at(next_++); }

  Stack values_;
  std::size_t next_ = 0;
};

}  // namespace steelyard::engine
