// SPDX-License-Identifier: Apache-2.0
//
// Calls of overloads that write their results into tensors that they are given: "aten::add.out".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/dispatch/bind_arguments.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard {

// The row that stands for the overload, its arguments, and where among those that are given the
// tensors are.
struct OutCall {
  const OpDef* def = nullptr;
  BoundArguments bound;
  std::vector<std::size_t> places;
};

// How much of the built program was there before a call.
struct Before {
  std::size_t values = 0;
  StorageId storages = 0;
  explicit Before(const Program& program)
      : values(program.values.size()), storages(program.storage_count) {}
};

// Returns nothing where the operator has no row that takes these arguments but for the tensors.
std::optional<OutCall> FindOutCall(Program& program, std::string_view name,
                                   std::span<const Argument> given);

// Of a call that gave `result`, who copies it, or writes it there: the operator that was called, or
// a part of it that computes apart.
const OpDef* CopierOf(const Program& program, const OpDef* called, const Tensor& result);

// The result in `out`, whose memory it takes if its own was made after `before`.
// `autograd` is that of a program that trains.
Tensor PutInto(Dispatcher& d, Program& program, Autograd* autograd, const Tensor& out,
               Tensor result, const Before& before);

}  // namespace steelyard
