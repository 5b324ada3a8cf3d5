// SPDX-License-Identifier: Apache-2.0
//
// Exponentials of matrices: Taylor polynomials by few products, of a degree that follows from the
// norm, of a matrix that is halved until it is small and then squared as often (Bader, Blanes and
// Casas 2019; ATen/native/LinearAlgebra.cpp). Norms only the data tell: it is taken that degree 18
// is needed, whose buffers are the largest, and that no matrix is halved, which adds products but
// no memory.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/factorization.h"
#include "ops/lapack.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using namespace lapack;  // NOLINT(google-build-using-namespace)

// Polynomials of degree 18 are made of this many powers and as many sums of them.
constexpr std::int64_t kTerms = 5;
// Lower degrees, each for an interval of norms: 1, 2, 4, 8 and 12.
constexpr int kLowerDegrees = 5;

Tensor LargestColumnSum(Dispatcher& d, const Tensor& a) {
  const Tensor absolute = d.Call("aten::abs", a);
  const Tensor sums = d.Call("aten::sum.dim_IntList", absolute, Dims{-2});
  return d.CallMany("aten::max.dim", sums, -1)[0];
}

Tensor At(Dispatcher& d, const Tensor& buffer, std::int64_t i) {
  return d.Call("aten::select.int", buffer, 0, i);
}
void MultiplyInto(Dispatcher& d, const Tensor& out, const Tensor& a, const Tensor& b) {
  d.Call("aten::baddbmm_", out, a, b, 0, 1);
}

// Of matrices [b, n, n]; a part of a buffer of five times as much.
Tensor Polynomial(Dispatcher& d, const Tensor& a) {
  const Dims room{kTerms, a.size(0), a.size(1), a.size(2)};
  const Tensor powers = d.Call("aten::empty.memory_format", room, a.dtype());
  {
    const Tensor one = d.Call("aten::ones", Dims{1}, a.dtype());
    const Tensor ones = d.Call("aten::expand", one, Dims{a.size(0), a.size(1)});
    d.Call("aten::copy_", At(d, powers, 0), d.Call("aten::diag_embed", ones));
  }
  d.Call("aten::copy_", At(d, powers, 1), a);
  MultiplyInto(d, At(d, powers, 2), At(d, powers, 1), At(d, powers, 1));
  MultiplyInto(d, At(d, powers, 3), At(d, powers, 2), At(d, powers, 1));
  MultiplyInto(d, At(d, powers, 4), At(d, powers, 3), At(d, powers, 3));
  const Tensor sums = d.Call("aten::zeros", room, a.dtype());
  d.Call("steelyard::combine", sums, powers);
  MultiplyInto(d, At(d, powers, 3), At(d, sums, 0), At(d, sums, 4));
  d.Call("aten::add_.Tensor", At(d, sums, 3), At(d, powers, 3));
  d.Call("aten::add_.Tensor", At(d, sums, 2), At(d, sums, 3));
  MultiplyInto(d, At(d, powers, 3), At(d, sums, 2), At(d, sums, 3));
  d.Call("aten::add_.Tensor", At(d, sums, 1), At(d, powers, 3));
  return At(d, sums, 1);
}

// How often each is squared, in order, and of how many matrices that is.
struct Squarings {
  Tensor order, distinct, counts, last, most, steps, ends;
};
Squarings NoSquarings(Dispatcher& d, const Tensor& halvings) {
  Squarings out;
  std::vector<Tensor> sorted = d.CallMany("aten::sort", halvings, 0, false);
  out.order = std::move(sorted[1]);
  Tensor times = d.Call("aten::to.dtype", sorted[0], DType::kInt64);
  sorted.clear();
  {
    const std::vector<Tensor> runs =
        d.CallMany("steelyard::runs", times, true, true, times.count());
    out.distinct = d.Call("aten::narrow", runs[0], 0, 0, 1);
    out.counts = d.Call("aten::narrow", runs[2], 0, 0, 1);
  }
  times.reset();
  out.last = d.Call("aten::sub.Scalar", d.Call("aten::cumsum", out.counts, 0), 1);
  out.most = d.Call("aten::clamp", d.Call("aten::index_select", out.distinct, 0, out.last), 0);
  {
    const Tensor zero = d.Call("aten::new_zeros", out.most, Dims{1});
    out.steps = d.Call("aten::diff", out.most, 1, -1, zero);
  }
  out.ends = d.Call("aten::cat", std::vector<Tensor>{out.last, out.most}, 0);
  return out;
}

// Halved, approximated, squared and put back in order: matrices [b, n, n] of norms [b].
Tensor ScaledAndSquared(Dispatcher& d, const Tensor& a, const Tensor& norm) {
  constexpr double kLargestNorm = 3.0;
  Tensor halvings;
  {
    const Tensor ratio = d.Call("aten::div.Scalar", norm, kLargestNorm);
    const Tensor exact = d.Call("aten::log2", ratio);
    const Tensor whole = d.Call("aten::ceil", exact);
    halvings = d.Call("aten::clamp", whole, 0);
  }
  const Tensor factor = d.Call("aten::pow.Scalar", 2, d.Call("aten::neg", halvings));
  const Tensor scaled = d.Call("aten::mul.Tensor", a, d.Call("aten::view", factor, Dims{-1, 1, 1}));
  const Tensor approximated = Polynomial(d, scaled);
  const Squarings squarings = NoSquarings(d, halvings);
  const Tensor ordered = d.Call("aten::index_select", approximated, 0, squarings.order);
  const Tensor squared = d.Call("aten::cat", std::vector<Tensor>{ordered}, 0);
  const Tensor back = d.Call("aten::argsort", squarings.order);
  return d.Call("aten::index_select", squared, 0, back);
}

// A single matrix is asked for each degree whether it is the one.
Tensor OfOne(Dispatcher& d, const Tensor& a) {
  const Tensor norm = LargestColumnSum(d, a);
  const Tensor out = d.Call("aten::empty.memory_format", Dims(a.sizes()), a.dtype());
  for (int i = 0; i < kLowerDegrees; ++i) {
    const Tensor above = d.Call("aten::le.Scalar", norm, 1.0);
    const Tensor below = d.Call("aten::gt.Scalar", norm, 1.0);
    d.Call("aten::mul.Tensor", above, below);
  }
  Tensor found;
  {
    const Tensor large = d.Call("aten::ge.Scalar", norm, 1.0);
    found = d.Call("aten::squeeze.dim", d.Call("aten::nonzero", large), -1);
  }
  const Tensor matrix = d.Call("aten::index_select", a, 0, found);
  const Tensor its_norm = d.Call("aten::index_select", norm, 0, found);
  d.Call("aten::index_copy_", out, 0, found, ScaledAndSquared(d, matrix, its_norm));
  return out;
}

void RequireSquareFloating(const TensorView& a) {
  if (a.rank() < 2 || a.size(-1) != a.size(-2)) Refuse(shape::Text(a) + " is not square");
  if (!IsFloating(a.dtype()) && !IsComplex(a.dtype())) {
    Refuse("an exponential of matrices of the dtype of " + shape::Text(a));
  }
}

std::vector<Tensor> MatrixExponential(Dispatcher& d, const OpView& op) {
  RequireSquareFloating(op.self());
  const Tensor self = d.tensor(op, 0);
  const std::int64_t n = self.size(-1);
  if (self.count() == 0) return {d.Call("aten::empty_like", self)};
  if (n == 1) return {d.Call("aten::exp", self)};
  d.Note(
      "linalg_matrix_exp: the norm decides on the degree and on squarings; degree 18 is weighed "
      "and no squaring");
  if (d.target().device != Device::kCpu) {
    d.NoteEstimate("linalg_matrix_exp: on CUDA its steps are taken to be those on the CPU");
  }
  const Tensor flat = d.Call("aten::view", self, Dims{-1, n, n});
  const Dims sizes(self.sizes());
  if (flat.size(0) == 1) return {d.Call("aten::view", OfOne(d, flat), sizes)};
  const Tensor norm = LargestColumnSum(d, flat);
  return {d.Call("aten::view", ScaledAndSquared(d, flat, norm), sizes)};
}

// sums, terms: both [5, b, n, n]
void CombineShape(const OpView& op, Outputs& out) {
  if (!std::ranges::equal(op.self().sizes(), op.tensor(1).sizes())) {
    Refuse("there are as many sums as terms");
  }
  out.AddLike(op.self());
}
Work CombineWork(const OpView& op) { return {.alu = work::Elements(op.self()) * (2 * kTerms)}; }

constexpr std::array kRows{
    OnlyWithin(
        OpaqueKernel(Family::kContraction,
                     {"steelyard::combine", "Sums of multiples of matrices, over a second tensor.",
                      "(Tensor(a!) self, Tensor terms) -> Tensor(a!)",
                      "steelyard::combine(f32[5,1,3,3], f32[5,1,3,3])"},
                     CombineShape, allocations::None, CombineWork, kGradientUnknown,
                     precision::kFollow, Alias::kInPlace)),
    Call({"aten::linalg_matrix_exp", "Exponentials of matrices.", "(Tensor self) -> Tensor",
          "aten::linalg_matrix_exp(f32[2,3,3])"},
         MatrixExponential, gradients::kMatrixExponential),
    Call({"aten::matrix_exp", "Exponentials of matrices.", "(Tensor self) -> Tensor",
          "aten::matrix_exp(f32[3,3])"},
         decompose::SameAs<"aten::linalg_matrix_exp">),
};

}  // namespace

std::span<const OpDef> MatrixExponentials() { return kRows; }

}  // namespace steelyard::ops
