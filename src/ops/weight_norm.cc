// SPDX-License-Identifier: Apache-2.0
//
// Weights scaled to norms: directions to given lengths, parts along a dimension to at most a number
// (ATen/native/WeightNorm.cpp, Normalization.cpp). Norms are kept for the first or last dimension;
// another one takes the place of the first.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/normalization.h"
#include "ops/gradients/reduction.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- _weight_norm(v, g, dim) --------------------------------------------------------------------

void RequireNormed(const OpView& op) {
  if (!IsFloating(op.self().dtype())) Refuse("weights are floating-point");
}

void WeightNormShape(const OpView& op, Outputs& out) {
  RequireNormed(op);
  const TensorView v = op.self(), g = op.tensor(1);
  const int dim = op.dim(2, v.rank());
  if (dim != 0 && dim != v.rank() - 1) Refuse("norms are kept for the first or last dimension");
  const bool half = g.dtype() == DType::kBFloat16 || g.dtype() == DType::kFloat16;
  const DType norm = half ? DType::kFloat32 : g.dtype();
  out.Add(v.dtype(), v.sizes());
  out.Add(norm, g.sizes(), g.strides());
}

// For the last dimension the squares are summed by thread first.
void WeightNormAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  memory.Output(1, "aten::empty_strided");
  const TensorView v = op.self();
  const int dim = op.dim(2, v.rank());
  if (dim == 0) return;
  const Count sums = Count(v.size(dim)) * op.target().threads;
  memory.Free(memory.Allocate(allocations::Bytes(sums, op.output(1).dtype())));
}

Work WeightNormWork(const OpView& op) {
  return {.alu = work::Elements(op.self()) * 3, .special = work::Elements(op.output(1))};
}

// grad_w, saved_v, saved_g, saved_norms, dim
void WeightNormBackwardShape(const OpView& op, Outputs& out) {
  const TensorView grad = op.self(), v = op.tensor(1), g = op.tensor(2), norms = op.tensor(3);
  const bool fits = std::ranges::equal(grad.sizes(), v.sizes()) &&
                    std::ranges::equal(g.sizes(), norms.sizes()) && grad.dtype() == v.dtype() &&
                    grad.is_contiguous() && v.is_contiguous() && g.is_contiguous();
  const int dim = op.dim(4, v.rank());
  if (!fits) Refuse("the operands do not fit each other");
  if (dim != 0 && dim != v.rank() - 1) Refuse("norms are kept for the first or last dimension");
  out.Add(v.dtype(), v.sizes());
  out.Add(g.dtype(), g.sizes());
}

// For the last dimension three sums are made by thread first.
void WeightNormBackwardAllocations(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kSums = 3;
  memory.Output(0, "aten::empty");
  memory.Output(1, "aten::empty");
  const TensorView v = op.tensor(1);
  const int dim = op.dim(4, v.rank());
  if (dim == 0) return;
  const Count sums = Count(v.size(dim)) * kSums * op.target().threads;
  memory.Free(memory.Allocate(allocations::Bytes(sums, op.tensor(3).dtype())));
}

Work WeightNormBackwardWork(const OpView& op) { return {.alu = work::Elements(op.self()) * 5}; }

std::vector<Tensor> WeightNorm(Dispatcher& d, const OpView& op) {
  const Tensor v = d.Call("aten::contiguous", d.tensor(op, 0));
  const Tensor g = d.Call("aten::contiguous", d.tensor(op, 1));
  const std::int64_t dim = op.integer(2);
  if (dim == 0 || dim == v.rank() - 1) {
    return {d.CallMany("aten::_weight_norm_interface", v, g, dim)[0]};
  }
  const Tensor norm = d.Call("aten::norm_except_dim", v, 2, dim);
  return {d.Call("aten::mul.Tensor", v, d.Call("aten::div.Tensor", g, norm))};
}

// --- norm_except_dim(v, pow, dim) ---------------------------------------------------------------

// As of the first dimension, which takes its place.
std::vector<Tensor> OfMiddleDim(Dispatcher& d, const OpView& op) {
  const Tensor turned = d.Call("aten::transpose.int", d.tensor(op, 0), 0, op.arg(2));
  const Tensor norms = d.Call("aten::norm_except_dim", turned, op.arg(1), 0);
  return {d.Call("aten::transpose.int", norms, 0, op.arg(2))};
}

std::vector<Tensor> NormExceptDim(Dispatcher& d, const OpView& op) {
  RequireNormed(op);
  const TensorView v = op.self();
  const std::int64_t dim = op.integer(2);
  const Tensor self = d.tensor(op, 0);
  if (dim == -1) return {d.Call("aten::norm.Scalar", self, op.arg(1))};
  if (op.dim(2, v.rank()) != dim) return OfMiddleDim(d, op);
  Dims sizes = Dims::Filled(v.rank(), 1);
  sizes[static_cast<int>(dim)] = v.size(static_cast<int>(dim));
  const std::int64_t kept = v.size(static_cast<int>(dim));
  if (dim == 0 || dim == v.rank() - 1) {
    const Dims flat = dim == 0 ? Dims{kept, -1} : Dims{-1, kept};
    const Tensor rows = d.Call("aten::view", d.Call("aten::contiguous", self), flat);
    const Tensor norms =
        d.Call("aten::norm.ScalarOpt_dim", rows, op.arg(1), Dims{dim == 0 ? 1 : 0});
    return {d.Call("aten::view", norms, sizes)};
  }
  return OfMiddleDim(d, op);
}

// --- renorm(self, p, dim, maxnorm) --------------------------------------------------------------

// self, p, dim, maxnorm: norms of half precision are float32, those of complex numbers are real,
// and what they scale by is cast back
std::vector<Tensor> Renorm(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (!IsFloating(self.dtype()) && !IsComplex(self.dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(self));
  }
  if (self.rank() < 2) Refuse("two dimensions or more are needed, not " + shape::Text(self));
  if (op.real(1) <= 0) Refuse("a norm of an order that is not positive");
  if (op.real(3) < 0) Refuse("a norm below zero");
  const int dim = op.dim(2, self.rank());
  const Dims sizes(self.sizes());
  Dims others;
  for (int i = 0; i < self.rank(); ++i) {
    if (i != dim) others.push_back(i);
  }
  const Tensor out = d.Call("steelyard::result", sizes, ContiguousStrides(sizes), self.dtype());
  const bool is_half = BitsOf(RealOf(self.dtype())) < 32;
  const bool is_cast = is_half || IsComplex(self.dtype());
  const Tensor norms =
      is_half
          ? d.Call("aten::linalg_vector_norm", op.arg(0), op.arg(1), others, true, DType::kFloat32)
          : d.Call("aten::linalg_vector_norm", op.arg(0), op.arg(1), others, true);
  Tensor scale = norms;
  if (is_cast) {
    scale = d.Call("aten::empty.memory_format", Dims(norms.sizes()), self.dtype());
    if (d.target().device == Device::kCpu) {  // a kernel of CUDA casts by itself
      d.Call("aten::empty.memory_format", Dims(norms.sizes()), norms.dtype());
    }
  }
  d.Call("steelyard::product_into", out, op.arg(0), scale);
  return {out};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Composite(
        Family::kReduction,
        {"aten::_weight_norm", "Directions scaled to lengths.",
         "(Tensor v, Tensor g, int dim=0) -> Tensor", "aten::_weight_norm(f32[3,4,5], f32[3,1,1])"},
        WeightNorm),
    CopyingOut(
        Kernel(Family::kNormalization,
               {"aten::_weight_norm_interface", "Directions scaled to lengths, with the norms.",
                "(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
                "aten::_weight_norm_interface(f32[3,4,5], f32[3,1,1])"},
               {.shape = WeightNormShape,
                .fusion = Fusion::kOpaque,
                .allocations = WeightNormAllocations,
                .work = WeightNormWork,
                .grad = gradients::kWeightNorm,
                .precision = precision::kFollow})),
    CopyingOut(Kernel(
        Family::kNormalization,
        {"aten::_weight_norm_interface_backward", "The gradients of directions and lengths.",
         "(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> "
         "(Tensor, Tensor)",
         "aten::_weight_norm_interface_backward(f32[3,4,5], f32[3,4,5], f32[3,1,1], f32[3,1,1], "
         "0)"},
        {.shape = WeightNormBackwardShape,
         .fusion = Fusion::kOpaque,
         .allocations = WeightNormBackwardAllocations,
         .work = WeightNormBackwardWork,
         .grad = kGradientUnknown,
         .precision = precision::kFollow})),
    Composite(
        Family::kReduction,
        {"aten::norm_except_dim", "Norms over all dimensions but one.",
         "(Tensor v, int pow=2, int dim=0) -> Tensor", "aten::norm_except_dim(f32[3,4,5], 2, 1)"},
        NormExceptDim),
    Casting(
        precision::kFullOnCuda,
        Composite(Family::kReduction,
                  {"aten::renorm", "Parts along a dimension, scaled to norms of at most a number.",
                   "(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
                   "aten::renorm(f32[4,3], 2, 0, 1.0)"},
                  Renorm, gradients::kRenorm)),
};

}  // namespace

std::span<const OpDef> WeightNorm() { return kRows; }

}  // namespace steelyard::ops
