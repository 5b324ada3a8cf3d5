// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/expression.h"

namespace steelyard::gradients {
namespace {

// `number op tensor` of what is not commutative: a new tensor is filled with the number, and
// overwritten.
Expression FilledWith(const Number& number, const Expression& like) {
  return Method("aten::fill_.Scalar", Method("aten::empty_like", like), number);
}

// number op tensor, inside the operator: what it makes on the way goes with it.
Expression NumberFirst(OpName op, const Number& number, const Expression& tensor) {
  return Expression([=](Dispatcher& d, Expression::Temporaries& temporaries) {
    const Tensor part = tensor.Part(d, temporaries);
    return Method(op, FilledWith(number, part), part).Value(d);
  });
}

}  // namespace

Tensor Expression::Value(Dispatcher& d) const {
  Temporaries temporaries;
  Tensor value = run_(d, temporaries);
  while (!temporaries.empty()) temporaries.pop_back();
  return value;
}

Tensor Expression::Part(Dispatcher& d, Temporaries& temporaries) const {
  Tensor value = run_(d, temporaries);
  if (!is_named_) temporaries.push_back(value);
  return value;
}

Expression operator*(const Expression& a, const Expression& b) {
  return Function("aten::mul.Tensor", a, b);
}
Expression operator/(const Expression& a, const Expression& b) {
  return Function("aten::div.Tensor", a, b);
}
Expression operator+(const Expression& a, const Expression& b) {
  return Function("aten::add.Tensor", a, b);
}
Expression operator-(const Expression& a, const Expression& b) {
  return Function("aten::sub.Tensor", a, b);
}
Expression operator*(const Expression& a, const Number& b) {
  return Method("aten::mul.Scalar", a, b);
}
Expression operator*(const Number& a, const Expression& b) { return b * a; }
Expression operator/(const Expression& a, const Number& b) {
  return Method("aten::div.Scalar", a, b);
}
Expression operator/(const Number& a, const Expression& b) {
  return NumberFirst("aten::div_.Tensor", a, b);
}
Expression operator+(const Expression& a, const Number& b) {
  return Method("aten::add.Scalar", a, b);
}
Expression operator+(const Number& a, const Expression& b) { return b + a; }
Expression operator-(const Expression& a, const Number& b) {
  return Method("aten::sub.Scalar", a, b);
}
Expression operator-(const Number& a, const Expression& b) {
  return NumberFirst("aten::sub_.Tensor", a, b);
}
Expression operator-(const Expression& a) { return Method("aten::neg", a); }
Expression operator<(const Expression& a, const Number& b) {
  return Method("aten::lt.Scalar", a, b);
}
Expression operator>=(const Expression& a, const Number& b) {
  return Method("aten::ge.Scalar", a, b);
}

Expression SumOver(const Expression& a, std::int64_t dim, bool keep) {
  return Method("aten::sum.dim_IntList", a, Dims{dim}, keep);
}
Expression Power(const Expression& a, const Number& exponent) {
  return Method("aten::pow.Tensor_Scalar", a, exponent);
}
Expression Sigmoid(const Expression& a) { return Method("aten::sigmoid", a); }
Expression TypedAs(const Expression& a, const Expression& like) {
  return Method("aten::type_as", a, like);
}
Expression AddInto(const Expression& a, const Expression& b) {
  return Method("aten::add_.Tensor", a, b);
}
Expression SubtractFrom(const Expression& a, const Expression& b) {
  return Method("aten::sub_.Tensor", a, b);
}
Expression DivideInto(const Expression& a, const Number& b) {
  return Method("aten::div_.Scalar", a, b);
}
Expression MultiplyInto(const Expression& a, const Number& b) {
  return Method("aten::mul_.Scalar", a, b);
}

}  // namespace steelyard::gradients
