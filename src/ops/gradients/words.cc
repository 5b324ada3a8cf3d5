// SPDX-License-Identifier: Apache-2.0
//
// Words that formulas of many families share, each as the function that they stand for calls ATen.

#include "ops/gradients/words.h"

#include <array>
#include <optional>
#include <string>

#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"

namespace steelyard::gradients {

DType SelfType(const Backward& b) { return b.op().self().dtype(); }
DType OtherType(const Backward& b) { return b.op().tensor(1).dtype(); }

Tensor Times(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::mul.Tensor", a, b);
}

Tensor OneMinus(Dispatcher& d, const Tensor& t) {
  const Tensor ones = d.Call("aten::empty_like", t);
  d.Call("aten::fill_.Scalar", ones, std::int64_t{1});
  return d.Call("aten::sub_.Tensor", ones, t);
}

Argument ComplexNumber(Dispatcher& d, std::complex<double> number) {
  return Argument::OfComplex(d.AddArguments(
      std::array{Argument::OfFloat(number.real()), Argument::OfFloat(number.imag())}));
}

std::complex<double> ComplexOf(const OpView& op, int i) {
  const Argument& number = op.arg(i);
  if (number.kind != ArgKind::kComplex) return op.real(i, 1.0);
  const std::span<const Argument> parts = op.program().list(number.list);
  return {parts[0].real, parts[1].real};
}

Argument Factor(Dispatcher& d, const Backward& b, int i) {
  const Argument& number = b.op().arg(i);
  const bool is_complex = number.kind == ArgKind::kComplex;
  return is_complex ? ComplexNumber(d, std::conj(ComplexOf(b.op(), i))) : number;
}

Tensor MaybeMultiply(Dispatcher& d, const Tensor& t, const Argument& number) {
  const bool is_whole = number.kind == ArgKind::kInt || number.kind == ArgKind::kBool;
  const bool is_one =
      is_whole ? number.dim == Dim(1) : number.kind == ArgKind::kFloat && number.real == 1.0;
  return is_one ? t : d.Call("aten::mul.Scalar", t, number);
}

Tensor AsReal(Dispatcher& d, DType of, Tensor gradient) {
  if (IsComplex(of) || !IsComplex(gradient.dtype())) return gradient;
  return d.Call("aten::real", gradient);
}

Tensor Conjugate(Dispatcher& d, const Tensor& t) { return d.Call("aten::conj", t); }

Tensor RowMajorZeros(Dispatcher& d, const Tensor& like) {
  return d.Call("aten::zeros_like", like, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                kContiguousFormat);
}

Tensor SumTo(Dispatcher& d, const Tensor& gradient, std::span<const std::int64_t> sizes) {
  if (sizes.empty()) return d.Call("aten::sum", gradient);
  const int rank = static_cast<int>(sizes.size());
  const int leading = gradient.rank() - rank;
  Dims over;
  for (int i = 0; i < gradient.rank(); ++i) {
    const bool spread =
        i >= leading && sizes[static_cast<std::size_t>(i - leading)] == 1 && gradient.size(i) != 1;
    if (i < leading || spread) over.push_back(i);
  }
  const Tensor sum =
      over.empty() ? gradient : d.Call("aten::sum.dim_IntList", gradient, over, true);
  return leading > 0 ? d.Call("aten::view", sum, sizes) : sum;
}

Tensor Unreduce(Dispatcher& d, const Tensor& gradient, const OpView& op, int dims, bool kept) {
  const Dims sizes(op.self().sizes());
  if (sizes.empty()) return gradient;
  Tensor whole = gradient;
  const shape::DimSet reduced = shape::DimsOf(op, dims, sizes.size());
  for (int i = 0; !kept && i < sizes.size(); ++i) {
    if (shape::Has(reduced, i)) whole = d.Call("aten::unsqueeze", whole, i);
  }
  return d.Call("aten::expand", whole, sizes);
}

Tensor Same(Dispatcher&, const Backward& b) { return b.grad(); }

Tensor Negated(Dispatcher& d, const Backward& b) { return d.Call("aten::neg", b.grad()); }

Tensor Zeros(Dispatcher& d, const Backward& b) { return d.Call("aten::zeros_like", b.grad()); }

Tensor Reshaped(Dispatcher& d, const Backward& b) {
  return d.Call("aten::reshape", b.grad(), Dims(b.op().self().sizes()));
}

Tensor Nothing(Dispatcher&, const Backward&) { return {}; }

Tensor NotImplemented(Dispatcher&, const Backward& b) {
  Refuse("PyTorch has no derivative of " + std::string(b.op().def().name->text()));
}

}  // namespace steelyard::gradients
