// SPDX-License-Identifier: Apache-2.0
//
// Rows of views, and what their shape functions are written with.
#pragma once

#include "ops/op_def.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard {

// A view of argument 0: nothing is allocated and nothing moved.
constexpr OpDef ViewKernel(const Words& words, ShapeFn shape, Gradient grad,
                           Alias alias = Alias::kView) {
  return Kernel(Family::kView, words,
                {shape, Fusion::kView, allocations::None, work::None, grad, precision::kFollow},
                alias, traffic::None);
}

// Argument 0 itself, which is another view from then on.
constexpr OpDef ViewInPlace(const Words& words, ShapeFn shape, Gradient grad) {
  return ViewKernel(words, shape, grad, Alias::kInPlace);
}

// What other operators make a view of argument 0, or a copy where there is none.
constexpr OpDef ViewComposite(const Words& words, DecomposeFn decompose,
                              Gradient grad = kGradientFromParts) {
  return Composite(words.name, words.summary, words.signature, words.example, Family::kView,
                   decompose, precision::kFollow, grad, Alias::kView);
}

namespace shape {

struct Geometry {
  Dims sizes, strides;
};

inline Geometry GeometryOf(const TensorView& t) { return {Dims(t.sizes()), Dims(t.strides())}; }

inline void AddView(const TensorView& t, const Geometry& g, Outputs& out) {
  out.Add(t.dtype(), g.sizes, g.strides);
}

}  // namespace shape
}  // namespace steelyard
