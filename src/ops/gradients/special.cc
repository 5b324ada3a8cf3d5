// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp with C++'s temporaries in C++'s order. A
// tie, of fmax or with a bound of `clamp` that is a tensor, gives each side half; what a formula
// cannot give, as that of sinc at 0, is masked as PyTorch does it.

#include "ops/gradients/special.h"

#include <limits>
#include <numbers>

namespace steelyard::gradients {
namespace {

constexpr std::int64_t kOne = 1;
constexpr double kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;

Tensor Times(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::mul.Tensor", a, b);
}

// 1 - t, written into a tensor like t.
Tensor OneLess(Dispatcher& d, const Tensor& t) {
  const Tensor ones = d.Call("aten::empty_like", t);
  d.Call("aten::fill_.Scalar", ones, kOne);
  return d.Call("aten::sub_.Tensor", ones, t);
}

double EpsilonOf(DType dtype) {
  if (dtype == DType::kFloat64) return std::numeric_limits<double>::epsilon();
  if (dtype == DType::kFloat16) return 0x1p-10;
  return dtype == DType::kBFloat16 ? 0x1p-7 : 0x1p-23;
}

// What minimum and maximum do, of a bound of `clamp`: half the gradient where the tensor is equal
// to it, none where `lost` holds.
Tensor ShareOfBound(Dispatcher& d, const Backward& b, int bound, OpName lost) {
  const Tensor none = d.Call(lost, b.saved(0), b.saved(bound));
  const Tensor half = d.Call("aten::div.Scalar", b.grad(), std::int64_t{2});
  const Tensor equal = d.Call("aten::eq.Tensor", b.saved(0), b.saved(bound));
  const Tensor share = d.Call("aten::where.self", equal, half, b.grad());
  return d.Call("aten::masked_fill_.Scalar", share, none, std::int64_t{0});
}

// Half the gradient where both are equal, the whole elsewhere.
Tensor HalfOfTies(Dispatcher& d, const Backward& b) {
  const Tensor half = d.Call("aten::div.Scalar", b.grad(), std::int64_t{2});
  const Tensor equal = d.Call("aten::eq.Tensor", b.saved(0), b.saved(1));
  return d.Call("aten::where.self", equal, half, b.grad());
}

// The share of fmax and fmin: `first` says where the first is chosen, numbers before what is none.
Tensor ShareOfNumbers(Dispatcher& d, const Backward& b, OpName first, bool negated) {
  const Tensor chosen = d.Call(first, b.saved(0), b.saved(1));
  const Tensor missing = d.Call("aten::isnan", b.saved(1));
  d.Call("aten::logical_or_", chosen, missing);
  if (negated) d.Call("aten::logical_not_", chosen);
  const Tensor share = HalfOfTies(d, b);
  return d.Call("aten::masked_fill_.Scalar", share, chosen, std::int64_t{0});
}

// grad / (1 + base ** (power - of))
Tensor ShareOfSum(Dispatcher& d, const Backward& b, const Tensor& power, const Tensor& of,
                  bool natural) {
  const Tensor difference = d.Call("aten::sub.Tensor", power, of);
  const Tensor ratio = natural ? d.Call("aten::exp", difference)
                               : d.Call("aten::pow.Scalar", std::int64_t{2}, difference);
  const Tensor sum = d.Call("aten::add.Scalar", ratio, kOne);
  return d.Call("aten::div.Tensor", b.grad(), Conjugate(d, sum));
}

}  // namespace

// grad * -((1 - self * self).rsqrt().conj())
Tensor Acos(Dispatcher& d, const Backward& b) {
  const Tensor minus = d.Call("aten::neg", b.saved(0));
  const Tensor square = Times(d, minus, b.saved(0));
  const Tensor rest = d.Call("aten::add.Scalar", square, kOne);
  const Tensor root = d.Call("aten::rsqrt", rest);
  return Times(d, b.grad(), d.Call("aten::neg", Conjugate(d, root)));
}

Tensor Asin(Dispatcher& d, const Backward& b) {
  const Tensor minus = d.Call("aten::neg", b.saved(0));
  const Tensor square = Times(d, minus, b.saved(0));
  const Tensor rest = d.Call("aten::add.Scalar", square, kOne);
  const Tensor root = d.Call("aten::rsqrt", rest);
  return Times(d, b.grad(), Conjugate(d, root));
}

Tensor Sinh(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), Conjugate(d, d.Call("aten::cosh", b.saved(0))));
}
Tensor Cosh(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), Conjugate(d, d.Call("aten::sinh", b.saved(0))));
}

// grad * (self * self - 1).rsqrt(), or grad * ((self + 1).rsqrt() * (self - 1).rsqrt()).conj()
Tensor Acosh(Dispatcher& d, const Backward& b) {
  if (IsComplex(b.saved(0).dtype())) {
    const Tensor below = d.Call("aten::sub.Scalar", b.saved(0), kOne);
    const Tensor right = d.Call("aten::rsqrt", below);
    const Tensor above = d.Call("aten::add.Scalar", b.saved(0), kOne);
    const Tensor left = d.Call("aten::rsqrt", above);
    return Times(d, b.grad(), Conjugate(d, Times(d, left, right)));
  }
  const Tensor square = Times(d, b.saved(0), b.saved(0));
  const Tensor less = d.Call("aten::sub.Scalar", square, kOne);
  const Tensor derivative = d.Call("aten::rsqrt", less);
  return Times(d, b.grad(), Conjugate(d, derivative));
}

// grad * (self ** 2 + 1).rsqrt()
Tensor Asinh(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor more = d.Call("aten::add.Scalar", square, kOne);
  const Tensor derivative = d.Call("aten::rsqrt", more);
  return Times(d, b.grad(), Conjugate(d, derivative));
}

// grad * 1 / (1 - self ** 2)
Tensor Atanh(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor rest = OneLess(d, square);
  const Tensor same = d.Call("aten::mul.Scalar", b.grad(), kOne);
  return d.Call("aten::div.Tensor", same, Conjugate(d, rest));
}

// grad * ((pi x cos(pi x) - sin(pi x)) / (pi x x)), 0 at 0 (sinc_backward)
Tensor Sinc(Dispatcher& d, const Backward& b) {
  const Tensor scaled = d.Call("aten::mul.Scalar", b.saved(0), std::numbers::pi);
  Tensor square = Times(d, b.saved(0), b.saved(0));
  const Tensor scaled_square = d.Call("aten::mul.Scalar", square, std::numbers::pi);
  square.reset();
  Tensor sine = d.Call("aten::sin", scaled);
  Tensor cosine = d.Call("aten::cos", scaled);
  Tensor product = Times(d, scaled, cosine);
  Tensor difference = d.Call("aten::sub.Tensor", product, sine);
  Tensor derivative = d.Call("aten::div.Tensor", difference, scaled_square);
  const Tensor out = Times(d, b.grad(), Conjugate(d, derivative));
  for (Tensor* t : {&derivative, &difference, &product, &cosine, &sine}) t->reset();
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  const Tensor at_zero = d.Call("aten::eq.Scalar", scaled_square, 0.0);
  return d.Call("aten::where.self", at_zero, zero, out);
}

// -2 / sqrt(pi) * exp(-(self ** 2)) * grad
Tensor Erfc(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor minus = d.Call("aten::neg", square);
  const Tensor bell = d.Call("aten::exp", minus);
  const Tensor derivative = d.Call("aten::mul.Scalar", bell, -kTwoOverRootPi);
  return Times(d, derivative, b.grad());
}

// sqrt(pi) / 2 * exp(erfinv(self) ** 2) * grad
Tensor Erfinv(Dispatcher& d, const Backward& b) {
  const Tensor inverse = d.Call("aten::erfinv", b.saved(0));
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", inverse, std::int64_t{2});
  const Tensor bell = d.Call("aten::exp", square);
  const Tensor derivative = d.Call("aten::mul.Scalar", bell, 1 / kTwoOverRootPi);
  return Times(d, derivative, b.grad());
}

Tensor Lgamma(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::digamma", b.saved(0)));
}
Tensor Digamma(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::polygamma", kOne, b.saved(0)));
}
Tensor Bessel(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::special_i1", b.saved(0)));
}

// n, self
Tensor PolygammaSelf(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::polygamma", b.op().integer(0) + 1, b.saved(1)));
}

// grad * (i0(self) - result / self), half of it near zero
Tensor BesselOne(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(0);
  const double epsilon = EpsilonOf(self.dtype());
  const Tensor tiny = d.Call("aten::le.Scalar", d.Call("aten::abs", self), epsilon);
  const Tensor safe =
      d.Call("aten::where.self", tiny, d.Call("aten::scalar_tensor", epsilon, self.dtype()), self);
  Tensor inverse = d.Call("aten::reciprocal", safe);
  Tensor ratio = Times(d, b.result(), inverse);
  Tensor zeroth = d.Call("aten::i0", safe);
  const Tensor derivative = d.Call("aten::sub.Tensor", zeroth, ratio);
  zeroth.reset();
  ratio.reset();
  inverse.reset();
  const Tensor half = d.Call("aten::scalar_tensor", 0.5, self.dtype());
  return Times(d, b.grad(), d.Call("aten::where.self", tiny, half, derivative));
}

// --- clamp(self, min, max) by tensors: a bound that the element is equal to shares its gradient -

namespace {

Tensor And(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::logical_and", a, b);
}
Tensor Or(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::logical_or", a, b);
}

// Half the gradient where `tie` holds, and none where `none` does.
Tensor Shared(Dispatcher& d, const Tensor& grad, const Tensor& half, const Tensor& tie,
              const Tensor& none) {
  const Tensor share = d.Call("aten::where.self", tie, half, grad);
  return d.Call("aten::masked_fill_.Scalar", share, none, std::int64_t{0});
}
Tensor Half(Dispatcher& d, const Tensor& grad) {
  return d.Call("aten::div.Scalar", grad, std::int64_t{2});
}

// The smaller bound has what is below it, and the larger what is above, unless they are crossed:
// then all is the larger's.
Tensor OfLowerBound(Dispatcher& d, const Backward& b, const Tensor& proper, const Tensor& equal) {
  const Tensor self = b.saved(0), min = b.saved(1);
  Tensor chosen;
  {
    const Tensor reached = d.Call("aten::le.Tensor", self, min);
    const Tensor when_proper = And(d, reached, proper);
    const Tensor below = d.Call("aten::lt.Tensor", self, min);
    const Tensor when_equal = And(d, below, equal);
    chosen = Or(d, when_equal, when_proper);
  }
  const Tensor none = d.Call("aten::logical_not", chosen);
  const Tensor half = Half(d, b.grad());
  return Shared(d, b.grad(), half, d.Call("aten::eq.Tensor", self, min), none);
}
Tensor OfUpperBound(Dispatcher& d, const Backward& b, const Tensor& proper, const Tensor& equal) {
  const Tensor self = b.saved(0), min = b.saved(1), max = b.saved(2);
  const Tensor crossed = d.Call("aten::lt.Tensor", max, min);
  Tensor chosen;
  {
    const Tensor reached = d.Call("aten::ge.Tensor", self, max);
    const Tensor when_proper = And(d, reached, proper);
    const Tensor rest = Or(d, when_proper, crossed);
    const Tensor above = d.Call("aten::gt.Tensor", self, max);
    const Tensor when_equal = And(d, above, equal);
    chosen = Or(d, when_equal, rest);
  }
  const Tensor none = d.Call("aten::logical_not", chosen);
  const Tensor half = Half(d, b.grad());
  const Tensor touching = d.Call("aten::eq.Tensor", self, max);
  return Shared(d, b.grad(), half, And(d, touching, proper), none);
}

}  // namespace

std::vector<Tensor> ClampBounds(Dispatcher& d, const Backward& b) {
  const Tensor min = b.saved(1), max = b.saved(2);
  if (!max.defined()) return {ShareOfBound(d, b, 1, "aten::gt.Tensor"), {}};
  if (!min.defined()) return {{}, ShareOfBound(d, b, 2, "aten::lt.Tensor")};
  const Tensor proper = d.Call("aten::lt.Tensor", min, max);
  const Tensor equal = d.Call("aten::eq.Tensor", min, max);
  std::vector<Tensor> out(2);
  if (b.needs(1)) out[0] = OfLowerBound(d, b, proper, equal);
  if (b.needs(2)) out[1] = OfUpperBound(d, b, proper, equal);
  return out;
}

Tensor ClampByTensors(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(0), min = b.saved(1), max = b.saved(2);
  if (!max.defined()) return ShareOfBound(d, b, 1, "aten::lt.Tensor");
  if (!min.defined()) return ShareOfBound(d, b, 2, "aten::gt.Tensor");
  const Tensor proper = d.Call("aten::lt.Tensor", min, max);
  Tensor tie, outside;
  {
    const Tensor at_max = d.Call("aten::eq.Tensor", self, max);
    const Tensor at_min = d.Call("aten::eq.Tensor", self, min);
    const Tensor at_one = Or(d, at_min, at_max);
    tie = And(d, at_one, proper);
  }
  {
    const Tensor below = d.Call("aten::lt.Tensor", self, min);
    const Tensor above = d.Call("aten::gt.Tensor", self, max);
    outside = Or(d, below, above);
  }
  return Shared(d, b.grad(), Half(d, b.grad()), tie, outside);
}

Tensor HardshrinkSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::hardshrink_backward", b.grad(), b.saved(0), b.op().arg(1));
}
Tensor SoftshrinkSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::softshrink_backward", b.grad(), b.saved(0), b.op().arg(1));
}

Tensor WhereFinite(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::isfinite", b.saved(0)));
}

// -grad * trunc(self / other)
Tensor FmodOther(Dispatcher& d, const Backward& b) {
  const Tensor times = d.Call("aten::div.Tensor_mode", b.saved(0), b.saved(1), d.Text("trunc"));
  const Tensor minus = d.Call("aten::neg", b.grad());
  return Times(d, minus, times);
}

Tensor FmaxSelf(Dispatcher& d, const Backward& b) {
  return ShareOfNumbers(d, b, "aten::ge.Tensor", true);
}
Tensor FmaxOther(Dispatcher& d, const Backward& b) {
  return ShareOfNumbers(d, b, "aten::gt.Tensor", false);
}
Tensor FminSelf(Dispatcher& d, const Backward& b) {
  return ShareOfNumbers(d, b, "aten::le.Tensor", true);
}
Tensor FminOther(Dispatcher& d, const Backward& b) {
  return ShareOfNumbers(d, b, "aten::lt.Tensor", false);
}

Tensor HypotSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::div.Tensor", Times(d, b.grad(), b.saved(0)), b.result());
}
Tensor HypotOther(Dispatcher& d, const Backward& b) {
  return d.Call("aten::div.Tensor", Times(d, b.grad(), b.saved(1)), b.result());
}

Tensor LogAddExpSelf(Dispatcher& d, const Backward& b) {
  return ShareOfSum(d, b, b.saved(1), b.saved(0), true);
}
Tensor LogAddExpOther(Dispatcher& d, const Backward& b) {
  return ShareOfSum(d, b, b.saved(0), b.saved(1), true);
}
Tensor LogAddExp2Self(Dispatcher& d, const Backward& b) {
  return ShareOfSum(d, b, b.saved(1), b.saved(0), false);
}
Tensor LogAddExp2Other(Dispatcher& d, const Backward& b) {
  return ShareOfSum(d, b, b.saved(0), b.saved(1), false);
}

// grad * (result / self), 0 at 0 (copysign_tensor_self_backward)
Tensor CopysignSelf(Dispatcher& d, const Backward& b) {
  const Tensor ratio = d.Call("aten::div.Tensor", b.result(), b.saved(0));
  {
    const Tensor zero = d.Call("aten::eq.Scalar", b.saved(0), std::int64_t{0});
    d.Call("aten::masked_fill_.Scalar", ratio, zero, std::int64_t{0});
  }
  return Times(d, b.grad(), ratio);
}
Tensor CopysignOther(Dispatcher& d, const Backward& b) {
  const TensorView other = b.op().tensor(1);
  return d.Call("aten::zeros", Dims(other.sizes()), other.dtype());
}

// self, end, weight
Tensor LerpByTensorSelf(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), Conjugate(d, OneLess(d, b.saved(2))));
}
Tensor LerpByTensorEnd(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), Conjugate(d, b.saved(2)));
}
Tensor LerpWeight(Dispatcher& d, const Backward& b) {
  const Tensor distance = d.Call("aten::sub.Tensor", b.saved(1), b.saved(0));
  return Times(d, b.grad(), Conjugate(d, distance));
}

}  // namespace steelyard::gradients
