// SPDX-License-Identifier: Apache-2.0
//
// How reduced dimensions come back, by views one after another or by one reshape, follows each
// function of FunctionsManual.cpp, as the temporaries do. Elements that are equally extreme share
// the gradient, the order of a norm chooses its formula, and products count as if no factor were 0,
// which a note says.

#include "ops/gradients/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ops/gradients/words.h"
#include "ops/rules/promote.h"

namespace steelyard::gradients {
namespace {

// How many elements one result is made from.
std::int64_t Reduced(const OpView& op, int dims) {
  const shape::DimSet set = shape::DimsOf(op, dims, op.self().rank());
  return shape::Fan(op.self().sizes(), set).value();
}

// The dimensions of a list, counted from the front.
Dims DimsGiven(const OpView& op, int dims) {
  const int rank = std::max(op.self().rank(), 1);
  Dims out;
  for (const std::int64_t dim : op.ints(dims)) out.push_back(dim < 0 ? dim + rank : dim);
  return out;
}

// Puts dimensions of size 1 where these were reduced (unsqueeze_multiple).
Tensor UnsqueezeAll(Dispatcher& d, const Tensor& t, const Dims& dims) {
  Dims sorted;
  for (int i = 0; i < Dims::kMaxRank; ++i) {
    if (std::ranges::find(dims, i) != dims.end()) sorted.push_back(i);
  }
  Tensor whole = t;
  for (const std::int64_t dim : sorted) whole = d.Call("aten::unsqueeze", whole, dim);
  return whole;
}

// The same by one reshape (restore_reduced_dims).
Tensor RestoreDims(Dispatcher& d, const Tensor& t, const Dims& dims, bool kept) {
  if (kept) return t;
  Dims sizes = Dims::Filled(t.rank() + dims.size(), 0);
  for (const std::int64_t dim : dims) sizes[static_cast<int>(dim)] = 1;
  int next = 0;
  for (const std::int64_t size : t.sizes()) {
    while (sizes[next] == 1) ++next;
    sizes[next++] = size;
  }
  return d.Call("aten::reshape", t, sizes);
}

// (grad / mask.sum(dims, true)) * mask
Tensor ShareAmong(Dispatcher& d, const Tensor& grad, const Tensor& mask, const Dims& dims) {
  const Tensor count = d.Call("aten::sum.dim_IntList", mask, dims, true);
  const Tensor share = d.Call("aten::div.Tensor", grad, count);
  return d.Call("aten::mul.Tensor", share, mask);
}

Tensor Reversed(Dispatcher& d, const Tensor& t, int dim) {
  return d.Call("aten::flip", t, Dims{dim});
}

// self * |self|^(p - 2), or, where p is below 2, sgn(self) * |self|^(p - 1).
Tensor ScaledSelf(Dispatcher& d, const Tensor& self, double p) {
  const Tensor power = d.Call("aten::abs", self);
  d.Call("aten::pow_.Scalar", power, p < 2.0 ? p - 1 : p - 2);
  if (p >= 2.0) return d.Call("aten::mul.Tensor", self, power);
  Tensor zero;
  if (p < 1.0) {
    zero = d.Call("aten::eq.Scalar", self, std::int64_t{0});
    d.Call("aten::masked_fill_.Scalar", power, zero, std::int64_t{0});
  }
  const Tensor sign = d.Call("aten::sgn", self);
  return d.Call("aten::mul.Tensor", sign, power);
}

// The largest elements share the gradient.
Tensor MaximumNorm(Dispatcher& d, const Tensor& self, const Tensor& grad, const Tensor& norm,
                   const Dims& dims) {
  const Tensor size = d.Call("aten::abs", self);
  Tensor equal = d.Call("aten::eq.Tensor", size, norm);
  Tensor missing = d.Call("aten::isnan", size);
  const Tensor mask = d.Call("aten::logical_or", equal, missing);
  missing.reset();
  equal.reset();
  const Tensor count = d.Call("aten::sum.dim_IntList", mask, dims, true);
  const Tensor share = d.Call("aten::div.Tensor", grad, count);
  const Tensor shares = d.Call("aten::mul.Tensor", share, mask);
  const Tensor sign = d.Call("aten::sgn", self);
  return d.Call("aten::mul.Tensor", sign, shares);
}

void NoteNoZeros(Dispatcher& d) { d.Note("products are differentiated as if no factor were 0"); }

}  // namespace

Tensor NormBackward(Dispatcher& d, const Tensor& self, const Tensor& grad, const Tensor& norm,
                    double p, const Dims& dims) {
  if (p == 0.0) return {};
  if (p == 1.0) {
    const Tensor sign = d.Call("aten::sgn", self);
    return d.Call("aten::mul.Tensor", sign, grad);
  }
  if (p == 2.0) {
    const Tensor direction = d.Call("aten::div.Tensor", self, norm);
    const Tensor zero = d.Call("aten::eq.Scalar", norm, std::int64_t{0});
    d.Call("aten::masked_fill_.Scalar", direction, zero, std::int64_t{0});
    return d.Call("aten::mul.Tensor", grad, direction);
  }
  if (std::isinf(p)) return MaximumNorm(d, self, grad, norm, dims);
  const Tensor scaled = ScaledSelf(d, self, p);
  if (p < 1.0) {
    const Tensor power = d.Call("aten::pow.Tensor_Scalar", norm, 1 - p);
    const Tensor product = d.Call("aten::mul.Tensor", scaled, grad);
    return d.Call("aten::mul.Tensor", product, power);
  }
  Tensor power = d.Call("aten::pow.Tensor_Scalar", norm, p - 1);
  const Tensor scale = d.Call("aten::div.Tensor", grad, power);
  power.reset();
  Tensor zero = d.Call("aten::eq.Scalar", norm, std::int64_t{0});
  d.Call("aten::masked_fill_.Scalar", scale, zero, std::int64_t{0});
  zero.reset();
  return d.Call("aten::mul.Tensor", scaled, scale);
}

Tensor SumSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::expand", b.grad(), Dims(b.op().self().sizes()));
}

// self, dim, keepdim
Tensor SumDimSelf(Dispatcher& d, const Backward& b) {
  return Unreduce(d, b.grad(), b.op(), 1, b.op().boolean(2));
}

// sum_backward(grad.to(self)) * self.isnan().logical_not()
Tensor NanSumSelf(Dispatcher& d, const Backward& b) {
  const Tensor grad = d.Call("aten::to.dtype", b.grad(), b.op().self().dtype());
  const Tensor whole = Unreduce(d, grad, b.op(), 1, b.op().boolean(2));
  const Tensor missing = d.Call("aten::isnan", b.saved(0));
  return d.Call("aten::mul.Tensor", whole, d.Call("aten::logical_not", missing));
}

Tensor MeanSelf(Dispatcher& d, const Backward& b) {
  const Tensor whole = d.Call("aten::expand", b.grad(), Dims(b.op().self().sizes()));
  return d.Call("aten::div.Scalar", whole, b.op().self().count());
}

Tensor MeanDimSelf(Dispatcher& d, const Backward& b) {
  const Tensor whole = Unreduce(d, b.grad(), b.op(), 1, b.op().boolean(2));
  return d.Call("aten::div.Scalar", whole, Reduced(b.op(), 1));
}

// --- Moments: self, dim, correction, keepdim ----------------------------------------------------

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 2 / (count - correction) * grad * (self - self.mean(dim, true)) (var_backward)
Tensor VarianceBackward(Dispatcher& d, const Backward& b, Tensor grad) {
  const OpView& op = b.op();
  const Tensor self = b.saved(0);
  const bool all = !op.given(1) || self.rank() == 0;
  // Autograd counts one element where the list of dimensions is empty, which stands for all.
  const std::int64_t given = op.given(1) && op.ints(1).empty() ? 1 : Reduced(op, 1);
  const std::int64_t count = all ? self.count() : given;
  const double freedom = static_cast<double>(count) - op.real(2, 1.0);
  if (all && freedom <= 0) {
    const Tensor mean = d.Call("aten::mean", self);
    const Tensor same = d.Call("aten::eq.Tensor", self, mean);
    const Tensor no_number = d.Call("aten::where.Scalar", same, kNan, kInfinity);
    return d.Call("aten::mul.Tensor", grad, no_number);
  }
  if (!all && !op.boolean(3) && self.rank() > 1) grad = UnsqueezeAll(d, grad, DimsGiven(op, 1));
  const Tensor mean =
      all ? d.Call("aten::mean", self) : d.Call("aten::mean.dim", self, op.arg(1), true);
  const Tensor difference = d.Call("aten::sub.Tensor", self, mean);
  const Tensor scaled = d.Call("aten::mul.Scalar", grad, 2.0 / freedom);
  return d.Call("aten::mul.Tensor", scaled, difference);
}

// (grad / (result * 2)).masked_fill_(result == 0, 0)
Tensor DeviationBackward(Dispatcher& d, const Backward& b, const Tensor& grad) {
  Tensor of_variance;
  {
    const Tensor twice = d.Call("aten::mul.Scalar", b.result(), std::int64_t{2});
    of_variance = d.Call("aten::div.Tensor", grad, twice);
    const Tensor zero = d.Call("aten::eq.Scalar", b.result(), std::int64_t{0});
    d.Call("aten::masked_fill_.Scalar", of_variance, zero, std::int64_t{0});
  }
  return VarianceBackward(d, b, of_variance);
}

Tensor MeanBackward(Dispatcher& d, const Backward& b, const Tensor& grad) {
  const OpView& op = b.op();
  const bool all = !op.given(1) || op.ints(1).empty();
  const Tensor whole = all ? d.Call("aten::expand", grad, Dims(op.self().sizes()))
                           : Unreduce(d, grad, op, 1, op.boolean(3));
  return d.Call("aten::div.Scalar", whole, all ? op.self().count() : Reduced(op, 1));
}

Tensor WithMean(Dispatcher& d, const Backward& b, Tensor derivative) {
  if (!b.grad(1).defined()) return derivative;
  Tensor of_mean = MeanBackward(d, b, b.grad(1));
  if (!derivative.defined()) return of_mean;
  derivative = d.Call("aten::add.Tensor", derivative, of_mean);
  return derivative;
}

}  // namespace

Tensor VarSelf(Dispatcher& d, const Backward& b) { return VarianceBackward(d, b, b.grad()); }

Tensor StdSelf(Dispatcher& d, const Backward& b) { return DeviationBackward(d, b, b.grad()); }

Tensor VarMeanSelf(Dispatcher& d, const Backward& b) {
  return WithMean(d, b, b.grad().defined() ? VarianceBackward(d, b, b.grad()) : Tensor());
}

Tensor StdMeanSelf(Dispatcher& d, const Backward& b) {
  return WithMean(d, b, b.grad().defined() ? DeviationBackward(d, b, b.grad()) : Tensor());
}

// grad * (self - result).exp().conj(), both with the reduced dimensions (logsumexp_backward)
Tensor LogSumExpSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  Tensor grad = b.grad(), result = b.result();
  if (!op.boolean(2) && op.self().rank() > 0) {
    grad = UnsqueezeAll(d, grad, DimsGiven(op, 1));
    result = UnsqueezeAll(d, result, DimsGiven(op, 1));
  }
  const Tensor power = d.Call("aten::sub.Tensor", b.saved(0), result);
  const Tensor derivative = d.Call("aten::exp", power);
  return d.Call("aten::mul.Tensor", grad, Conjugate(d, derivative));
}

// self, dim
Tensor SoftmaxSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::_softmax_backward_data", b.grad(), b.result(), b.op().arg(1),
                b.op().self().dtype());
}

Tensor LogSoftmaxSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::_log_softmax_backward_data", b.grad(), b.result(), b.op().arg(1),
                b.op().self().dtype());
}

// grad * (result / self); zeros are looked for first (prod_backward).
Tensor ProdSelf(Dispatcher& d, const Backward& b) {
  const Tensor self = d.Call("aten::to.dtype", b.saved(0), b.grad().dtype());
  if (self.rank() == 0) return b.grad();
  NoteNoZeros(d);
  d.Call("aten::eq.Scalar", self, std::int64_t{0});
  const Tensor derivative = d.Call("aten::div.Tensor", b.result(), self);
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative));
}

// self, dim, keepdim
Tensor ProdDimSelf(Dispatcher& d, const Backward& b) {
  const Tensor self = d.Call("aten::to.dtype", b.saved(0), b.grad().dtype());
  if (self.rank() == 0) return b.grad();
  NoteNoZeros(d);
  const int dim = b.op().dim(1, self.rank());
  const bool kept = b.op().boolean(2);
  const Tensor grad = kept ? b.grad() : d.Call("aten::unsqueeze", b.grad(), dim);
  const Tensor result = kept ? b.result() : d.Call("aten::unsqueeze", b.result(), dim);
  const Tensor zeros = d.Call("aten::eq.Scalar", self, std::int64_t{0});
  const Tensor counts = d.Call("aten::sum.dim_IntList", zeros, Dims{dim}, true);
  d.Call("aten::sum", counts);
  const Tensor derivative = d.Call("aten::div.Tensor", result, self);
  return d.Call("aten::mul.Tensor", grad, Conjugate(d, derivative));
}

// self, dim, keepdim: elements that are equally large share the gradient.
Tensor ExtremeOfDims(Dispatcher& d, const Backward& b) {
  const Dims dims = DimsGiven(b.op(), 1);
  const bool kept = b.op().boolean(2);
  const Tensor result = RestoreDims(d, b.result(), dims, kept);
  const Tensor mask = d.Call("aten::eq.Tensor", result, b.saved(0));
  return ShareAmong(d, RestoreDims(d, b.grad(), dims, kept), mask, dims);
}

// self, dim, keepdim; the smallest and the largest: as amin and amax, and both added up
Tensor ExtremesSelf(Dispatcher& d, const Backward& b) {
  Dims dims;
  const int rank = b.op().self().rank();
  if (b.op().given(1) && rank > 0) dims.push_back(b.op().dim(1, rank));
  const bool kept = b.op().boolean(2);
  Tensor derivative;
  for (int i = 0; i < 2; ++i) {
    if (!b.grad(i).defined()) continue;
    const Tensor result = RestoreDims(d, b.result(i), dims, kept);
    const Tensor mask = d.Call("aten::eq.Tensor", result, b.saved(0));
    Tensor share = ShareAmong(d, RestoreDims(d, b.grad(i), dims, kept), mask, dims);
    if (derivative.defined()) {
      d.Call("aten::add_.Tensor", derivative, share);
    } else {
      derivative = std::move(share);
    }
  }
  return derivative;
}

// evenly_distribute_backward
Tensor ExtremeOfAll(Dispatcher& d, const Backward& b) {
  if (d.target().device == Device::kCuda) {  // which asks for no number
    const Tensor missing = d.Call("aten::isnan", b.saved(0));
    const Tensor none = d.Call("aten::isnan", b.result());
    const Tensor mask = d.Call("aten::eq.Tensor", b.saved(0), b.result());
    d.Call("aten::logical_and_", missing, none);
    d.Call("aten::logical_or_", mask, missing);
    const Tensor count = d.Call("aten::sum", mask);
    return d.Call("aten::mul.Tensor", mask, d.Call("aten::div.Tensor", b.grad(), count));
  }
  Tensor missing = d.Call("aten::isnan", b.result());
  const Tensor mask = d.Call("aten::eq.Tensor", b.saved(0), b.result());
  missing.reset();
  const Tensor zeros =
      d.Call("aten::new_zeros", b.grad(), Dims(b.op().self().sizes()), b.op().self().dtype());
  const Tensor count = d.Call("aten::sum", mask);
  const Tensor share = d.Call("aten::div.Tensor", b.grad(), count);
  return d.Call("aten::masked_fill_.Tensor", zeros, mask, share);
}

// self, ord, dim, keepdim
Tensor VectorNormSelf(Dispatcher& d, const Backward& b) {
  const Dims dims = b.op().given(2) ? DimsGiven(b.op(), 2) : Dims();
  const bool kept = b.op().boolean(3) || b.op().self().rank() == 0 || dims.empty();
  const Tensor grad = kept ? b.grad() : UnsqueezeAll(d, b.grad(), dims);
  const Tensor norm = kept ? b.result() : UnsqueezeAll(d, b.result(), dims);
  return NormBackward(d, b.saved(0), grad, norm, b.op().real(1, 2.0), dims);
}

// self, p, dim, keepdim, dtype
Tensor NormAsSelf(Dispatcher& d, const Backward& b) {
  const Dims dims = DimsGiven(b.op(), 2);
  const Tensor self = d.Call("aten::to.dtype", b.saved(0), b.grad().dtype());
  const bool kept = b.op().boolean(3) || self.rank() == 0;
  const Tensor grad = kept ? b.grad() : UnsqueezeAll(d, b.grad(), dims);
  const Tensor norm = kept ? b.result() : UnsqueezeAll(d, b.result(), dims);
  return NormBackward(d, self, grad, norm, b.op().real(1, 2.0), dims);
}
// self, p
Tensor NormOfAllSelf(Dispatcher& d, const Backward& b) {
  return NormBackward(d, b.saved(0), b.grad(), b.result(), b.op().real(1, 2.0), Dims());
}
// self, p, dtype
Tensor NormOfAllAsSelf(Dispatcher& d, const Backward& b) {
  const Tensor self = d.Call("aten::to.dtype", b.saved(0), b.grad().dtype());
  return NormBackward(d, self, b.grad(), b.result(), b.op().real(1, 2.0), Dims());
}

// self, p, dim, maxnorm (renorm_backward)
Tensor RenormSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Tensor self = b.saved(0);
  // In at::toAccumulateType, which on the host is wider than float.
  const bool on_host = d.target().device == Device::kCpu, is_complex = IsComplex(self.dtype());
  const bool is_double = self.dtype() == DType::kFloat64 || self.dtype() == DType::kComplex128;
  const DType wide = on_host || is_double ? DType::kFloat64 : DType::kFloat32;
  const DType dtype = BitsOf(self.dtype()) < 32 ? DType::kFloat32 : wide;
  Dims others;
  for (int i = 0; i < self.rank(); ++i) {
    if (i != op.dim(2, self.rank())) others.push_back(i);
  }
  const Tensor norm = d.Call("aten::linalg_vector_norm", self, op.arg(1), others, true,
                             is_complex ? steelyard::ComplexOf(dtype) : dtype);
  Tensor by_norm;
  {
    Tensor grad;
    {
      const Tensor product = d.Call("aten::mul.Tensor", Conjugate(d, self), b.grad());
      grad = d.Call("aten::sum.dim_IntList", AsReal(d, dtype, product), others, true, dtype);
    }
    by_norm = NormBackward(d, self, grad, norm, op.real(1), others);
  }
  const Tensor inverse = [&] {
    const Tensor shifted = d.Call("aten::add.Scalar", norm, 1e-7);
    return d.Call("aten::reciprocal", shifted);
  }();
  const Tensor scaled = [&] {
    const Tensor along = d.Call("aten::mul.Tensor", inverse, by_norm);
    const Tensor across = d.Call("aten::sub.Tensor", b.grad(), along);
    const Tensor scale = d.Call("aten::mul.Scalar", inverse, op.arg(3));
    return d.Call("aten::mul.Tensor", scale, across);
  }();
  const Tensor cast = d.Call("aten::to.dtype", scaled, b.grad().dtype());
  const Tensor above = d.Call("aten::gt.Scalar", norm, op.arg(3));
  return d.Call("aten::where.self", above, cast, b.grad());
}

// self, dim: the sum from the other end.
Tensor CumsumSelf(Dispatcher& d, const Backward& b) {
  Tensor grad = d.Call("aten::to.dtype", b.grad(), b.op().self().dtype());
  const int rank = grad.rank();
  if (grad.count() <= 1 || grad.size(b.op().dim(1, rank)) == 1) return grad;
  const int dim = b.op().dim(1, rank);
  const Tensor reversed = Reversed(d, grad, dim);
  const Tensor sum = d.Call("aten::cumsum", reversed, dim);
  return Reversed(d, sum, dim);
}

namespace {

// exp(log(sum of exp(t - result) from the end) + self)
Tensor ExpOfReverse(Dispatcher& d, const Backward& b, const Tensor& t) {
  const int dim = b.op().dim(1, t.rank());
  const Tensor difference = d.Call("aten::sub.Tensor", t, b.result());
  Tensor reversed = Reversed(d, difference, dim);
  Tensor sums = d.Call("aten::logcumsumexp", reversed, dim);
  const Tensor from_end = Reversed(d, sums, dim);
  sums.reset();
  reversed.reset();
  const Tensor power = d.Call("aten::add.Tensor", from_end, b.saved(0));
  return d.Call("aten::exp", power);
}

double LeastOf(DType dtype) {
  if (dtype == DType::kFloat64) return std::numeric_limits<double>::lowest();
  return dtype == DType::kFloat16 ? -65504.0
                                  : static_cast<double>(std::numeric_limits<float>::lowest());
}

}  // namespace

// self, dim: positive and negative gradients apart, as logarithms.
Tensor LogCumSumExpSelf(Dispatcher& d, const Backward& b) {
  const Tensor& grad = b.grad();
  if (grad.rank() == 0 || grad.count() == 0) return grad;
  if (IsComplex(grad.dtype())) {
    const Tensor logarithms = d.Call("aten::log", Conjugate(d, grad));
    return Conjugate(d, ExpOfReverse(d, b, logarithms));
  }
  const Tensor least = d.Call("aten::scalar_tensor", LeastOf(grad.dtype()), grad.dtype());
  const Tensor logarithms = d.Call("aten::log", d.Call("aten::abs", grad));
  const auto where = [&](OpName sign) {
    return d.Call("aten::where.self", d.Call(sign, grad, std::int64_t{0}), logarithms, least);
  };
  const Tensor positive = where("aten::gt.Scalar");
  const Tensor negative = where("aten::lt.Scalar");
  const Tensor added = ExpOfReverse(d, b, positive);
  const Tensor taken = ExpOfReverse(d, b, negative);
  return d.Call("aten::sub.Tensor", added, taken);
}

Tensor CumprodSelf(Dispatcher& d, const Backward& b) {
  const Tensor grad = d.Call("aten::to.dtype", b.grad(), b.op().self().dtype());
  return d.Call("aten::cumprod_backward", grad, b.saved(0), b.op().arg(1), b.result());
}

}  // namespace steelyard::gradients
