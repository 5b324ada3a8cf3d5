// SPDX-License-Identifier: Apache-2.0
//
// Rows of kernels, with what most of them state alike.
#pragma once

#include <string_view>

#include "ops/op_def.h"
#include "ops/rules/traffic.h"

namespace steelyard {

// Who calls, as documents name it.
struct Words {
  OpName name;
  std::string_view summary;
  Signature signature;
  std::string_view example;
};

// The columns in which kernels of a family differ.
struct Columns {
  Stated<ShapeFn> shape;
  Stated<Fusion> fusion;
  Stated<DeviceAllocations> allocations;
  Stated<WorkFn> work;
  Stated<Gradient> grad;
  Stated<Precision> precision;
};

constexpr OpDef Kernel(Family family, const Words& words, const Columns& columns,
                       Alias alias = Alias::kNone, TrafficFn traffic = traffic::ReadAllWriteAll) {
  return OpDef{.name = words.name,
               .summary = words.summary,
               .signature = words.signature,
               .example = words.example,
               .family = family,
               .shape = columns.shape,
               .alias = alias,
               .fusion = columns.fusion,
               .decompose = kIsKernel,
               .allocations = columns.allocations,
               .work = columns.work,
               .traffic = traffic,
               .grad = columns.grad,
               .precision = columns.precision};
}

// A kernel that nothing joins.
constexpr OpDef OpaqueKernel(Family family, const Words& words, ShapeFn shape,
                             DeviceAllocations allocations, WorkFn work, Gradient grad,
                             Precision precision = precision::kFollow, Alias alias = Alias::kNone) {
  return Kernel(family, words, {shape, Fusion::kOpaque, allocations, work, grad, precision}, alias);
}

// A row that others make without one, with this gradient.
constexpr OpDef Differentiable(const Gradient& grad, OpDef row) {
  row.grad = grad;
  return row;
}

}  // namespace steelyard
