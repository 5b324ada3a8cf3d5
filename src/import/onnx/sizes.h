// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of sizes that may be symbolic. Sums and products have a normal form, polynomials over
// symbols and over what is no polynomial (quotients, minima), so that sizes which are equal for
// every value of the symbols are mostly the same Dim: 2 * (batch * seq) / seq is 2 * batch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "steelyard/builder.h"

namespace steelyard::onnx {

class Sizes {
 public:
  explicit Sizes(Builder& builder) : builder_(builder) {}

  Dim Sum(Dim a, Dim b);
  Dim Difference(Dim a, Dim b);
  Dim Product(Dim a, Dim b);
  Dim Product(std::span<const Dim> sizes);
  // Rounded down; without a rest where the form shows it.
  Dim Quotient(Dim a, Dim b);
  Dim CeilQuotient(Dim a, Dim b);
  // Rounded towards zero, as a cast to an integer does.
  Dim TruncatedQuotient(Dim a, Dim b);
  Dim Minimum(Dim a, Dim b);
  Dim Maximum(Dim a, Dim b);
  // Any other operation.
  Dim Apply(ExprOp op, Dim a, Dim b = Dim(0), Dim c = Dim(0));

 private:
  // Atoms of a product, sorted: indices of expressions.
  using Monomial = std::vector<std::uint32_t>;
  using Polynomial = std::map<Monomial, std::int64_t>;

  Polynomial FormOf(Dim dim) const;
  // Nothing where a coefficient overflows or there are too many terms.
  std::optional<Dim> DimOf(const Polynomial& form);
  static bool Add(Polynomial& to, const Monomial& monomial, std::int64_t coefficient);
  std::optional<Dim> ExactQuotient(Dim a, Dim b);
  // Whether no values of the symbols, which are sizes, make it negative.
  bool IsNeverNegative(Dim dim) const;

  Builder& builder_;
  std::unordered_map<std::uint32_t, Polynomial> forms_;  // by expression; others are atoms
  std::map<Polynomial, Dim> dims_;
  std::unordered_set<std::uint32_t> of_either_sign_;  // atoms
  std::map<std::tuple<ExprOp, std::int64_t, std::int64_t, std::int64_t>, Dim> applied_;
};

}  // namespace steelyard::onnx
