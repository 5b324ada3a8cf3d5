// SPDX-License-Identifier: Apache-2.0
//
// Formulas of torch/csrc/autograd/FunctionsManual.cpp. An imaginary unit is a number that is boxed,
// and a conjugate a view, unless the operator wrote one into memory. In the gradient of a transform
// from real numbers the half that was left out is zeros; in that of one to real numbers, what
// stands for two counts twice.

#include "ops/gradients/complex.h"

#include <cstdint>

#include "ops/dispatch/autograd.h"

namespace steelyard::gradients {

Tensor TimesImaginary(Dispatcher& d, const Tensor& t, double number) {
  const Dispatcher::Inside frame(d, "aten::mul");
  const Tensor unit = d.Call("steelyard::box_imaginary", number);
  return d.Call("aten::mul.Tensor", t, unit);
}

Tensor OfImaginary(Dispatcher& d, const Backward& b) {
  return AsReal(d, b.op().self().dtype(), TimesImaginary(d, b.grad(), -1.0));
}

Tensor Conjugated(Dispatcher& d, const Backward& b) { return d.Call("aten::conj", b.grad()); }

Tensor ConjugatedInMemory(Dispatcher& d, const Backward& b) {
  return d.Call("aten::conj_physical", b.grad());
}

Tensor OfPairs(Dispatcher& d, const Backward& b) {
  return d.Call("aten::view_as_complex", d.Call("aten::contiguous", b.grad()));
}

Tensor OfComplexView(Dispatcher& d, const Backward& b) {
  const Tensor dense = d.Call("aten::contiguous", b.grad());
  const Tensor resolved = d.Call("aten::resolve_conj", dense);
  return d.Call("aten::view_as_real", resolved);
}

// real, imag
Tensor RealPart(Dispatcher& d, const Backward& b) { return d.Call("aten::real", b.grad()); }
Tensor ImaginaryPart(Dispatcher& d, const Backward& b) { return d.Call("aten::imag", b.grad()); }

// abs, angle: real(conj(grad) * sgn(result)) and real(conj(grad) * (result * 1j))
std::vector<Tensor> Polar(Dispatcher& d, const Backward& b) {
  const Tensor grad = d.Call("aten::conj", b.grad());
  std::vector<Tensor> out;
  {
    const Tensor direction = d.Call("aten::sgn", b.result());
    const Tensor product = d.Call("aten::mul.Tensor", grad, direction);
    out.push_back(d.Call("aten::real", product));
  }
  const Tensor turned = TimesImaginary(d, b.result());
  const Tensor product = d.Call("aten::mul.Tensor", grad, turned);
  out.push_back(d.Call("aten::real", product));
  return out;
}

// Where self is not 0: grad * self / abs(self)^2 * 1j; a real angle is a step.
Tensor Angle(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(0);
  if (!IsComplex(self.dtype())) return d.Call("aten::zeros_like", self);
  const Tensor length = d.Call("aten::abs", self);
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", length, std::int64_t{2});
  const Tensor product = d.Call("aten::mul.Tensor", b.grad(), self);
  const Tensor ratio = d.Call("aten::div.Tensor", product, square);
  const Tensor derivative = TimesImaginary(d, ratio);
  const Tensor zero = d.Call("aten::full", Dims(), 0.0, self.dtype());
  const Tensor nowhere = d.Call("aten::eq.Scalar", self, 0.0);
  return d.Call("aten::where.self", nowhere, zero, derivative);
}

// (grad - sgn * sgn * conj(grad)) / (2 * abs), 0 where abs is; of real numbers a tensor without
// memory.
Tensor SgnSelf(Dispatcher& d, const Backward& b) {
  if (!IsComplex(b.grad().dtype())) {
    return d.autograd().ZerosWithoutMemory(Dims(b.result().sizes()), b.result().dtype());
  }
  const Tensor length = d.Call("aten::abs", b.saved(0));
  const Tensor twice = d.Call("aten::mul.Scalar", length, 2.0);
  const Tensor conjugate = d.Call("aten::conj", b.grad());
  const Tensor square = d.Call("aten::mul.Tensor", b.result(), b.result());
  const Tensor mirrored = d.Call("aten::mul.Tensor", square, conjugate);
  const Tensor across = d.Call("aten::sub.Tensor", b.grad(), mirrored);
  const Tensor derivative = d.Call("aten::div.Tensor", across, twice);
  const Tensor nowhere = d.Call("aten::eq.Scalar", length, 0.0);
  return d.Call("aten::masked_fill_.Scalar", derivative, nowhere, 0.0);
}

// self, dim, normalization, forward
Tensor TransformedBack(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::_fft_c2c", b.grad(), op.arg(1), op.arg(2), !op.boolean(3));
}

// self, dim, normalization, onesided: the half that was left out is zeros (fft_r2c_backward)
Tensor OfRealTransform(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Dims dims = op.ints(1);
  const std::int64_t given = dims[dims.size() - 1];
  const int last = static_cast<int>(given < 0 ? given + b.grad().rank() : given);
  const std::int64_t half = b.grad().size(last);
  Tensor whole = b.grad();
  if (op.self().size(last) > half) {
    Dims sizes(b.grad().sizes());
    sizes[last] = op.self().size(last);
    whole = d.Call("aten::new_zeros", b.grad(), sizes);
    const Tensor part = d.Call("aten::slice.Tensor", whole, last, std::int64_t{0}, half);
    d.Call("aten::copy_", part, b.grad());
  }
  const Tensor back = d.Call("aten::_fft_c2c", whole, op.arg(1), op.arg(2), false);
  return d.Call("aten::real", back);
}

// self, dim, normalization, last_dim_size: what stands for two counts twice (fft_c2r_backward)
Tensor OfTransformToReal(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Dims dims = op.ints(1);
  const std::int64_t given = dims[dims.size() - 1];
  const int last = static_cast<int>(given < 0 ? given + b.grad().rank() : given);
  Tensor out = d.Call("aten::_fft_r2c", b.grad(), op.arg(1), op.arg(2), true);
  const std::int64_t twice = b.grad().size(last) - out.size(last);
  if (twice > 0) {
    const Tensor part = d.Call("aten::narrow", out, last, std::int64_t{1}, twice);
    d.Call("aten::mul_.Scalar", part, std::int64_t{2});
  }
  return out;
}

}  // namespace steelyard::gradients
