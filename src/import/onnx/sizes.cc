// SPDX-License-Identifier: Apache-2.0
//
// A form maps products of atoms, sorted, to their coefficients, and every form has one Dim. A
// quotient is exact if it is so term by term, else an atom itself. What overflows or has too many
// terms stays an expression of its own, which is as right and only less often recognized.

#include "import/onnx/sizes.h"

#include <algorithm>

namespace steelyard::onnx {
namespace {

// Larger forms are made by nobody; they stay expressions.
constexpr std::size_t kMostTerms = 24;
constexpr std::size_t kMostFactors = 12;

}  // namespace

Sizes::Polynomial Sizes::FormOf(Dim dim) const {
  if (dim.is_number()) return dim == Dim(0) ? Polynomial{} : Polynomial{{{}, dim.number()}};
  const auto found = forms_.find(dim.expression());
  return found != forms_.end() ? found->second : Polynomial{{{dim.expression()}, 1}};
}

bool Sizes::Add(Polynomial& to, const Monomial& monomial, std::int64_t coefficient) {
  std::int64_t& sum = to[monomial];
  if (__builtin_add_overflow(sum, coefficient, &sum)) return false;
  if (sum == 0) to.erase(monomial);
  return to.size() <= kMostTerms && monomial.size() <= kMostFactors;
}

std::optional<Dim> Sizes::DimOf(const Polynomial& form) {
  if (form.empty()) return Dim(0);
  const auto& [monomial, coefficient] = *form.begin();
  if (form.size() == 1 && monomial.empty()) {
    return Dim(coefficient).is_number() ? std::optional(Dim(coefficient)) : std::nullopt;
  }
  if (form.size() == 1 && monomial.size() == 1 && coefficient == 1) {
    return Dim::Expression(monomial[0]);
  }
  if (const auto known = dims_.find(form); known != dims_.end()) return known->second;
  Dim sum(0);
  for (const auto& [atoms, factor] : form) {
    Dim product(factor);
    if (!product.is_number()) return std::nullopt;
    for (const std::uint32_t atom : atoms) {
      const Dim next = Dim::Expression(atom);
      product = product == Dim(1) ? next : builder_.Compute(ExprOp::kMul, product, next);
    }
    sum = sum == Dim(0) ? product : builder_.Compute(ExprOp::kAdd, sum, product);
  }
  dims_.emplace(form, sum);
  if (sum.is_expression()) forms_.emplace(sum.expression(), form);
  return sum;
}

Dim Sizes::Sum(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  Polynomial form = FormOf(a);
  bool fits = true;
  for (const auto& [monomial, coefficient] : FormOf(b)) {
    fits = fits && Add(form, monomial, coefficient);
  }
  const std::optional<Dim> sum = fits ? DimOf(form) : std::nullopt;
  return sum ? *sum : Apply(ExprOp::kAdd, a, b);
}

Dim Sizes::Difference(Dim a, Dim b) { return Sum(a, Product(b, Dim(-1))); }

Dim Sizes::Product(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  Polynomial form;
  bool fits = true;
  for (const auto& [left, m] : FormOf(a)) {
    for (const auto& [right, n] : FormOf(b)) {
      Monomial both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::ranges::sort(both);
      std::int64_t product = 0;
      fits = fits && !__builtin_mul_overflow(m, n, &product) && Add(form, both, product);
      if (!fits) return Apply(ExprOp::kMul, a, b);
    }
  }
  const std::optional<Dim> product = DimOf(form);
  return product ? *product : Apply(ExprOp::kMul, a, b);
}

Dim Sizes::Product(std::span<const Dim> sizes) {
  Dim product(1);
  for (const Dim size : sizes) product = Product(product, size);
  return product;
}

// Of a sum by a product, term by term.
std::optional<Dim> Sizes::ExactQuotient(Dim a, Dim b) {
  const Polynomial divisor = FormOf(b);
  if (divisor.size() != 1) return std::nullopt;
  const auto& [atoms, by] = *divisor.begin();
  Polynomial form;
  for (const auto& [monomial, coefficient] : FormOf(a)) {
    if (by == 0 || coefficient % by != 0 || !std::ranges::includes(monomial, atoms)) {
      return std::nullopt;
    }
    Monomial rest;
    std::ranges::set_difference(monomial, atoms, std::back_inserter(rest));
    if (!Add(form, rest, coefficient / by)) return std::nullopt;
  }
  return DimOf(form);
}

Dim Sizes::Quotient(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  if (a == b && a != Dim(0)) return Dim(1);
  if (!a.is_number() || !b.is_number()) {
    if (const std::optional<Dim> exact = ExactQuotient(a, b)) return *exact;
  }
  return Apply(ExprOp::kFloorDiv, a, b);
}

Dim Sizes::CeilQuotient(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  if (!a.is_number() || !b.is_number()) {
    if (const std::optional<Dim> exact = ExactQuotient(a, b)) return *exact;
  }
  return Apply(ExprOp::kCeilDiv, a, b);
}

bool Sizes::IsNeverNegative(Dim dim) const {
  return std::ranges::all_of(FormOf(dim), [&](const auto& term) {
    return term.second >= 0 && std::ranges::none_of(term.first, [&](std::uint32_t atom) {
             return of_either_sign_.contains(atom);
           });
  });
}

Dim Sizes::TruncatedQuotient(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  const Dim down = Quotient(a, b);
  if (IsNeverNegative(a) && IsNeverNegative(b)) return down;
  const Dim up = CeilQuotient(a, b);
  if (down == up) return down;
  return Apply(ExprOp::kSelect, Apply(ExprOp::kLt, Product(a, b), Dim(0)), up, down);
}

Dim Sizes::Minimum(Dim a, Dim b) { return a == b ? a : Apply(ExprOp::kMin, a, b); }
Dim Sizes::Maximum(Dim a, Dim b) { return a == b ? a : Apply(ExprOp::kMax, a, b); }

Dim Sizes::Apply(ExprOp op, Dim a, Dim b, Dim c) {
  if (a.is_unknown() || b.is_unknown() || c.is_unknown()) return Dim::Unknown();
  const auto [known, added] =
      applied_.try_emplace(std::tuple(op, a.raw(), b.raw(), c.raw()), Dim(0));
  if (added) {
    known->second = builder_.Compute(op, a, b, c);
    const bool may_be_negative = !IsNeverNegative(a) || !IsNeverNegative(b) || !IsNeverNegative(c);
    if (may_be_negative && known->second.is_expression()) {
      of_either_sign_.insert(known->second.expression());
    }
  }
  return known->second;
}

}  // namespace steelyard::onnx
