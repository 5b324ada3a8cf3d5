// SPDX-License-Identifier: Apache-2.0
//
// Arguments as PyTorch's dispatcher wants them: a stack of IValues, most of which never change.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "execute/engine_abi.h"

namespace steelyard::engine {

// The value of a call's argument that is a tensor, or holds some: where it stands in the stack.
struct Slot {
  std::size_t place;
  const c10::TypePtr type;            // null: one tensor; else a list of this kind
  std::vector<std::uint32_t> values;  // SY_NO_VALUE in a list: None
};

// The operands of one call, made once.
class Operands {
 public:
  // In the order of a schema, with its defaults. What makes tensors makes them on `device`,
  // whatever device the program was exported for. Throws c10::Error where they do not fit the
  // schema.
  Operands(const SyCall& call, const c10::FunctionSchema& schema, c10::Device device);
  // As they are, of a call that PyTorch has no schema for.
  explicit Operands(const SyCall& call);

  // Puts them on the stack, with the tensors that the values are now.
  void Push(const std::vector<c10::IValue>& values, torch::jit::Stack* stack) const;

 private:
  void Add(const SyArgument& argument, const c10::TypePtr& type);

  torch::jit::Stack constants_;
  std::vector<Slot> slots_;
};

}  // namespace steelyard::engine
