// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers: made of two real tensors, seen as two real tensors, and their conjugates
// (ATen/native/ComplexHelper.h, UnaryOps.cpp). A conjugate is a view with a bit; where the bit is
// applied, resolving.cc decides.

#include "ops/gradients/complex.h"

#include <array>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/view.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

DType OfParts(DType real) {
  if (!IsFloating(real) || BitsOf(real) < 16 || real == DType::kBFloat16) {
    Refuse("no complex numbers are made of " + std::string(NameOf(real)));
  }
  return ComplexOf(real);
}

// --- Views --------------------------------------------------------------------------------------

void AsComplexShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() == 0 || self.size(-1) != 2) {
    Refuse("the last dimension must be real and imaginary, not " + shape::Text(self));
  }
  if (self.stride(-1) != 1) Refuse("real and imaginary parts must lie side by side");
  Dims sizes, strides;
  for (int i = 0; i + 1 < self.rank(); ++i) {
    if (self.size(i) > 1 && self.stride(i) % 2 != 0) Refuse("strides must be whole pairs");
    sizes.push_back(self.size(i));
    strides.push_back(self.stride(i) / 2);
  }
  out.Add(OfParts(self.dtype()), sizes, strides);
}

void AsRealShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (!IsComplex(self.dtype())) Refuse("complex numbers are needed, not " + shape::Text(self));
  if (self.value().conjugated) Refuse("a conjugate must be resolved before it is seen as pairs");
  if (self.rank() >= Dims::kMaxRank) Refuse("too many dimensions");
  Dims sizes, strides;
  for (int i = 0; i < self.rank(); ++i) {
    sizes.push_back(self.size(i));
    std::int64_t stride = 0;
    if (__builtin_mul_overflow(self.stride(i), std::int64_t{2}, &stride)) {
      Refuse("the strides are too large");
    }
    strides.push_back(stride);
  }
  sizes.push_back(2);
  strides.push_back(1);
  out.Add(RealOf(self.dtype()), sizes, strides);
}

// Of what the conjugate is of.
Tensor Part(Dispatcher& d, const OpView& op, int which) {
  const Tensor self = d.tensor(op, 0);
  const Tensor stored = op.self().value().conjugated ? d.Call("aten::_conj", self) : self;
  return d.Call("aten::select.int", d.Call("aten::view_as_real", stored), -1, which);
}
std::vector<Tensor> Real(Dispatcher& d, const OpView& op) {
  if (!IsComplex(op.self().dtype())) return {d.tensor(op, 0)};
  return {Part(d, op, 0)};
}
std::vector<Tensor> Imaginary(Dispatcher& d, const OpView& op) {
  if (!IsComplex(op.self().dtype())) Refuse("a real tensor has no imaginary part");
  const Tensor part = Part(d, op, 1);
  return {op.self().value().conjugated ? d.Call("aten::_neg_view", part) : part};
}
std::vector<Tensor> Conjugate(Dispatcher& d, const OpView& op) {
  if (!IsComplex(op.self().dtype())) return {d.tensor(op, 0)};
  return {d.Call("aten::_conj", d.tensor(op, 0))};
}
std::vector<Tensor> ConjugateInMemory(Dispatcher& d, const OpView& op) {
  if (!IsComplex(op.self().dtype())) return {d.tensor(op, 0)};
  return {d.Call("aten::_conj_physical", d.tensor(op, 0))};
}
template <bool Value::*kBit>
std::vector<Tensor> Resolved(Dispatcher& d, const OpView& op) {
  if (!(op.self().value().*kBit)) return {d.tensor(op, 0)};
  return {d.Call("aten::clone", d.tensor(op, 0))};
}

void ConjugateShape(const OpView& op, Outputs& out) {
  if (!IsComplex(op.self().dtype())) Refuse("complex numbers are needed");
  out.AddLike(op.self());
  out.Conjugate();
}
void NegativeShape(const OpView& op, Outputs& out) {
  out.AddLike(op.self());
  out.Negate();
}

// Numbers are matrices of their own, too.
std::vector<Tensor> MatrixAdjoint(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 0) return Conjugate(d, op);
  if (op.self().rank() != 2) Refuse("a matrix is needed, not " + shape::Text(op.self()));
  const Tensor transposed = d.Call("aten::transpose.int", d.tensor(op, 0), 0, 1);
  return {IsComplex(op.self().dtype()) ? d.Call("aten::conj", transposed) : transposed};
}
std::vector<Tensor> Adjoint(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 0) return Conjugate(d, op);
  if (op.self().rank() < 2) Refuse("a matrix is needed, not " + shape::Text(op.self()));
  const Tensor transposed = d.Call("aten::transpose.int", d.tensor(op, 0), -2, -1);
  return {IsComplex(op.self().dtype()) ? d.Call("aten::conj", transposed) : transposed};
}

std::vector<Tensor> TimesImaginary(Dispatcher& d, const OpView& op) {
  return {gradients::TimesImaginary(d, d.tensor(op, 0))};
}

// --- Made of two --------------------------------------------------------------------------------

void PairShape(const OpView& op, Outputs& out) {
  if (op.self().dtype() != op.tensor(1).dtype()) Refuse("both parts must be of one dtype");
  const DType real = op.self().dtype();
  shape::AddIterated(OfParts(real), real, {{op.self(), op.tensor(1)}}, out);
}

// --- Angles -------------------------------------------------------------------------------------

void AngleShape(const OpView& op, Outputs& out) {
  const DType own = op.self().dtype();
  if (IsComplex(own)) return out.Add(RealOf(own), op.self().sizes());
  shape::AddIterated(FloatOf(own), FloatOf(own), {{op.self()}}, out);
}
// Of complex numbers it is computed as a complex tensor and then copied.
void AngleAllocations(const OpView& op, Allocations& memory) {
  if (!IsComplex(op.self().dtype())) {
    return allocations::IterateByFactory<Promotion::kFloat, 0>(op, memory);
  }
  const auto wide = memory.Allocate(allocations::Bytes(op.self().count(), op.self().dtype()));
  memory.Output(0);
  memory.Free(wide);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kView, words, decompose, grad);
}

constexpr std::array kRows{
    Casting(precision::kFullOnCpu,
            ViewKernel({"aten::view_as_complex", "Pairs of numbers as complex ones.",
                        "(Tensor(a) self) -> Tensor(a)", "aten::view_as_complex(f32[3,2])"},
                       AsComplexShape, gradients::kViewAsComplex)),
    ViewKernel({"aten::view_as_real", "Complex numbers as pairs.", "(Tensor(a) self) -> Tensor(a)",
                "aten::view_as_real(c64[3])"},
               AsRealShape, gradients::kViewAsReal),
    ViewKernel({"aten::_conj", "The conjugate, as a view.", "(Tensor(a) self) -> Tensor(a)",
                "aten::_conj(c64[3])"},
               ConjugateShape, gradients::kConj),
    ViewKernel({"aten::_neg_view", "The negative, as a view.", "(Tensor(a) self) -> Tensor(a)",
                "aten::_neg_view(f32[3])"},
               NegativeShape, gradients::kNegView),
    Call({"aten::conj", "The conjugate, as a view.", "(Tensor(a) self) -> Tensor(a)",
          "aten::conj(c64[3])"},
         Conjugate),
    Call({"aten::resolve_conj", "The tensor itself, once it is conjugated.",
          "(Tensor(a) self) -> Tensor(a)", "aten::resolve_conj(c64[3])"},
         Resolved<&Value::conjugated>),
    Call({"aten::resolve_neg", "The tensor itself, once its sign is changed.",
          "(Tensor(a) self) -> Tensor(a)", "aten::resolve_neg(c64[3])"},
         Resolved<&Value::negated>),
    Call({"aten::adjoint", "Matrices transposed and conjugated.", "(Tensor(a) self) -> Tensor(a)",
          "aten::adjoint(c64[2,3,4])"},
         Adjoint),
    Call({"aten::mH", "Matrices transposed and conjugated.", "(Tensor(a) self) -> Tensor(a)",
          "aten::mH(c64[2,3,4])"},
         Adjoint),
    Call({"aten::matrix_H", "A matrix transposed and conjugated.", "(Tensor(a) self) -> Tensor(a)",
          "aten::matrix_H(c64[3,4])"},
         MatrixAdjoint),
    Call({"aten::real", "The real parts.", "(Tensor(a) self) -> Tensor(a)", "aten::real(c64[3])"},
         Real),
    Call({"aten::imag", "The imaginary parts.", "(Tensor(a) self) -> Tensor(a)",
          "aten::imag(c64[3])"},
         Imaginary),
    Composite("steelyard::times_imaginary", "Times the imaginary unit, inside a convolution.",
              "(Tensor self) -> Tensor", "steelyard::times_imaginary(f32[2,3])",
              Family::kElementwise, TimesImaginary, precision::kFollow, gradients::kTimesImaginary),
    TakingBits(MathBits::kConjugate,
               CopyingOut(Kernel(Family::kElementwise,
                                 {"aten::_conj_physical", "The conjugate, as a copy.",
                                  "(Tensor self) -> Tensor", "aten::_conj_physical(c64[2,3])"},
                                 {.shape = shape::Like<0>,
                                  .fusion = Fusion::kElementwise,
                                  .allocations = allocations::Via<"aten::empty_strided">,
                                  .work = work::PerOutput<PerElement{.alu = 1}>,
                                  .grad = gradients::kConjPhysical,
                                  .precision = precision::kFollow}))),
    Call({"aten::conj_physical", "The conjugate, as a copy.", "(Tensor self) -> Tensor",
          "aten::conj_physical(c64[2,3])"},
         ConjugateInMemory),
    Kernel(Family::kElementwise,
           {"aten::complex", "Complex numbers of real and imaginary parts.",
            "(Tensor real, Tensor imag) -> Tensor", "aten::complex(f32[2,3], f32[3])"},
           {.shape = PairShape,
            .fusion = Fusion::kBroadcast,
            .allocations = allocations::OutputsOnly,
            .work = work::Move,
            .grad = gradients::kComplex,
            .precision = precision::kFollow}),
    Casting(precision::kFullOnCpu,
            Kernel(Family::kElementwise,
                   {"aten::polar", "Complex numbers of lengths and angles.",
                    "(Tensor abs, Tensor angle) -> Tensor", "aten::polar(f32[2,3], f32[3])"},
                   {.shape = PairShape,
                    .fusion = Fusion::kBroadcast,
                    .allocations = allocations::OutputsOnly,
                    .work = work::PerOutput<PerElement{.alu = 2, .special = 2}>,
                    .grad = gradients::kPolar,
                    .precision = precision::kFollow})),
    Kernel(Family::kElementwise,
           {"aten::angle", "The angles of complex numbers.", "(Tensor self) -> Tensor",
            "aten::angle(c64[2,3])"},
           {.shape = AngleShape,
            .fusion = Fusion::kElementwise,
            .allocations = AngleAllocations,
            .work = work::PerOutput<PerElement{.special = 1}>,
            .grad = gradients::kAngle,
            .precision = precision::kFollow}),
};

}  // namespace

std::span<const OpDef> Complex() { return kRows; }

}  // namespace steelyard::ops
