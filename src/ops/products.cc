// SPDX-License-Identifier: Apache-2.0
//
// Products of vectors, of chains of matrices, of three tensors at once, and of all elements with
// each other (ATen/native/LinearAlgebra.cpp, Linear.cpp). A chain is multiplied in the cheapest
// order.

#include "ops/products.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/einsum.h"
#include "ops/gradients/products.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/product.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Vectors ------------------------------------------------------------------------------------

// The first one's complex conjugate is taken.
std::vector<Tensor> ConjugateDot(Dispatcher& d, const OpView& op) {
  if (!IsComplex(op.self().dtype())) return {d.Call("aten::dot", op.arg(0), op.arg(1))};
  return {d.Call("aten::dot", d.Call("aten::conj", op.arg(0)), op.arg(1))};
}

// x, y, *, dim
std::vector<Tensor> VectorDot(Dispatcher& d, const OpView& op) {
  const TensorView x = op.self(), y = op.tensor(1);
  if (!IsFloating(x.dtype()) && !IsComplex(x.dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(x));
  }
  if (x.dtype() != y.dtype()) Refuse("both operands must be of one dtype");
  if (x.rank() == 1 && y.rank() == 1) return {d.Call("aten::vdot", op.arg(0), op.arg(1))};
  const Tensor conjugate = d.Call("aten::conj", op.arg(0));
  const Tensor products = d.Call("aten::mul.Tensor", conjugate, op.arg(1));
  const std::int64_t dim = op.integer(2, -1);
  return {d.Call("aten::sum.dim_IntList", products, Dims{dim})};
}

// self, vec1, vec2, *, beta, alpha
std::vector<Tensor> AddOuter(Dispatcher& d, const OpView& op) {
  const TensorView first = op.tensor(1), second = op.tensor(2);
  shape::RequireRank("the first vector", first, 1);
  shape::RequireRank("the second vector", second, 1);
  const Dims sizes{first.size(0), second.size(0)};
  const DType common = ResultType({op.self(), first, second});
  const auto cast = [&](const Tensor& t) {
    const bool is_read = t.dtype() == common || d.target().device == Device::kCuda;
    return is_read ? t : d.Call("aten::to.dtype", t, common);
  };
  const Tensor column = d.Call("aten::reshape", op.arg(1), Dims{first.size(0), 1});
  const Tensor a = cast(d.Call("aten::expand", op.arg(0), sizes));
  const Tensor b = cast(column);
  const Tensor c = cast(d.tensor(op, 2));
  return {d.Call("steelyard::add_outer", a, b, c, op.arg(3), op.arg(4))};
}
// In place it is addr() that casts, into what it is given.
std::vector<Tensor> AddOuterInPlace(Dispatcher& d, const OpView& op) {
  shape::RequireRank("the first vector", op.tensor(1), 1);
  shape::RequireRank("the second vector", op.tensor(2), 1);
  const Tensor column = d.Call("aten::reshape", op.arg(1), Dims{op.tensor(1).size(0), 1});
  return {
      d.Call("steelyard::add_outer_", d.tensor(op, 0), column, op.arg(2), op.arg(3), op.arg(4))};
}
void AddOuterInPlaceAllocations(const OpView& op, Allocations& memory) {
  allocations::OverwriteFrom(op, Promotion::kCommon, std::array{0, 1, 2}, memory, "aten::addr");
}

// --- Chains of matrices -------------------------------------------------------------------------

// Where to cut each stretch of a chain so that it takes the fewest multiplications (Cormen,
// Leiserson, Rivest, Stein: Introduction to Algorithms, 15.2).
using Cuts = std::vector<std::vector<std::size_t>>;
Cuts CheapestCuts(const std::vector<Tensor>& chain) {
  const std::size_t n = chain.size();
  const auto edge = [&](std::size_t i) { return i < n ? chain[i].size(0) : chain[n - 1].size(1); };
  std::vector<std::vector<std::int64_t>> least(n, std::vector<std::int64_t>(n, 0));
  Cuts cuts(n, std::vector<std::size_t>(n, 0));
  for (std::size_t length = 1; length < n; ++length) {
    for (std::size_t i = 0; i + length < n; ++i) {
      const std::size_t j = i + length;
      least[i][j] = std::numeric_limits<std::int64_t>::max();
      for (std::size_t k = i; k < j; ++k) {
        const Count cost =
            Count(edge(i)) * edge(k + 1) * edge(j + 1) + least[i][k] + least[k + 1][j];
        if (cost.overflowed()) Contradict("a product of more than 2^63 multiplications");
        if (cost.value() < least[i][j]) {
          least[i][j] = cost.value();
          cuts[i][j] = k;
        }
      }
    }
  }
  return cuts;
}

Tensor MultiplyStretch(Dispatcher& d, const std::vector<Tensor>& chain, const Cuts& cuts,
                       std::size_t first, std::size_t last) {
  if (first == last) return chain[first];
  const std::size_t cut = cuts[first][last];
  const Tensor right = MultiplyStretch(d, chain, cuts, cut + 1, last);
  const Tensor left = MultiplyStretch(d, chain, cuts, first, cut);
  return d.Call("aten::mm", left, right);
}

// Three matrices a x b, b x c, c x d are compared directly: ties go to the left.
Tensor MultiplyThree(Dispatcher& d, const std::vector<Tensor>& chain) {
  const std::int64_t a = chain[0].size(0), b = chain[1].size(0), c = chain[2].size(0),
                     e = chain[2].size(1);
  const Count from_left = Count(a) * c * (Count(b) + e);
  const Count from_right = Count(b) * e * (Count(a) + c);
  if (from_left.overflowed() || from_right.overflowed())
    Contradict("a product of more than 2^63 multiplications");
  if (from_left.value() > from_right.value()) {
    const Tensor right = d.Call("aten::mm", chain[1], chain[2]);
    return d.Call("aten::mm", chain[0], right);
  }
  const Tensor left = d.Call("aten::mm", chain[0], chain[1]);
  return d.Call("aten::mm", left, chain[2]);
}

// A vector at either end is a row or a column, which the result does not have.
std::vector<Tensor> MultiplyChain(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> chain = d.tensors(op, 0);
  if (chain.size() < 2) Refuse("a chain has two matrices or more");
  Dims sizes;
  const bool from_vector = chain.front().rank() == 1, to_vector = chain.back().rank() == 1;
  if (from_vector) chain.front() = d.Call("aten::unsqueeze", chain.front(), 0);
  if (to_vector) chain.back() = d.Call("aten::unsqueeze", chain.back(), -1);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    shape::RequireRank(fmt::format("factor {}", i), chain[i].view(), 2);
    if (chain[i].dtype() != chain[0].dtype()) Refuse("all factors must be of one dtype");
    if (i > 0) shape::RequireEqual("inner dimensions", chain[i - 1].size(1), chain[i].size(0));
  }
  if (!from_vector) sizes.push_back(chain.front().size(0));
  if (!to_vector) sizes.push_back(chain.back().size(1));
  const Tensor product = chain.size() == 2 ? d.Call("aten::mm", chain[0], chain[1])
                         : chain.size() == 3
                             ? MultiplyThree(d, chain)
                             : MultiplyStretch(d, chain, CheapestCuts(chain), 0, chain.size() - 1);
  return {d.Call("aten::view", product, sizes)};
}
std::vector<Tensor> OldMultiplyChain(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> chain = d.tensors(op, 0);
  if (chain.empty()) Refuse("a chain has a matrix or more");
  for (const Tensor& matrix : chain) shape::RequireRank("a factor", matrix.view(), 2);
  if (chain.size() == 1) return {d.Call("aten::clone", chain[0])};
  return MultiplyChain(d, op);
}

// --- Three tensors ------------------------------------------------------------------------------

shape::DimSet SetOf(const OpView& op, int i, int rank) {
  shape::DimSet set = 0;
  for (const std::int64_t dim : op.integers(i)) {
    set |= shape::DimSet{1} << shape::WrapDim(dim, rank);
  }
  return set;
}

// i1, i2, i3, with the dimensions that each lacks, and those that are summed.
struct Three {
  std::array<Tensor, 3> factors;
  std::array<bool, 3> unrolled{};  // whether the factor has the dimension that is gone through
  shape::DimSet first_sums = 0, second_sums = 0;
  Dims sizes;
  std::int64_t steps = 0;
};

Three AlignThree(Dispatcher& d, const OpView& op, int rank, int unroll) {
  Three out;
  const shape::DimSet summed = SetOf(op, 6, rank);
  for (int i = 0; i < 3; ++i) {
    Tensor& factor = out.factors[static_cast<std::size_t>(i)];
    factor = d.tensor(op, i);
    const shape::DimSet missing = SetOf(op, 3 + i, rank);
    out.unrolled[static_cast<std::size_t>(i)] = !shape::Has(missing, unroll);
    for (int dim = 0; dim < rank; ++dim) {
      if (shape::Has(missing, dim)) factor = d.Call("aten::unsqueeze", factor, dim);
    }
    if (factor.rank() != rank) Refuse("the factors' dimensions do not meet");
  }
  const shape::DimSet third_lacks = SetOf(op, 5, rank);
  for (int dim = 0; dim < rank; ++dim) {
    std::int64_t size = 1;
    for (int i = 0; i < 3; ++i) {
      const std::int64_t own = out.factors[static_cast<std::size_t>(i)].size(dim);
      if (!shape::Has(SetOf(op, 3 + i, rank), dim)) size = own;
    }
    if (dim == unroll) out.steps = size;
    out.sizes.push_back(shape::Has(summed, dim) ? 1 : size);
    if (!shape::Has(summed, dim) || dim == unroll) continue;
    const shape::DimSet bit = shape::DimSet{1} << dim;
    (shape::Has(third_lacks, dim) ? out.first_sums : out.second_sums) |= bit;
  }
  return out;
}

// A dimension that one of both does not have is summed before.
Tensor MultiplySpread(Dispatcher& d, const Tensor& left, const Tensor& right,
                      shape::DimSet summed) {
  const auto alone = [&](const Tensor& t, const Tensor& other) {
    Tensor out = t;
    for (int dim = 0; dim < t.rank(); ++dim) {
      if (!shape::Has(summed, dim) || t.size(dim) == 1 || other.size(dim) != 1) continue;
      out = d.Call("aten::sum.dim_IntList", out, Dims{dim}, true);
    }
    return out;
  };
  const Tensor a = alone(left, right), b = alone(right, left);
  return MultiplyPair(d, a, b, summed);
}

// One index of the dimension `unroll_dim` after the other.
std::vector<Tensor> Trilinear(Dispatcher& d, const OpView& op) {
  const int rank = op.self().rank() + static_cast<int>(op.integers(3).size());
  if (rank > Dims::kMaxRank) Refuse(fmt::format("{} dimensions are too many", rank));
  const int unroll = static_cast<int>(op.integer(7, 1));
  if (unroll < 0 || unroll >= rank) Refuse("a dimension that is not there");
  const Three three = AlignThree(d, op, rank, unroll);
  const shape::DimSet summed = SetOf(op, 6, rank);
  Tensor out = d.Call("aten::zeros", three.sizes, op.self().dtype());
  bool empty = false;
  for (const Tensor& factor : three.factors) empty |= factor.count() == 0;
  const auto part = [&](std::size_t i, std::int64_t step) {
    return d.Call("aten::narrow", three.factors[i], unroll, three.unrolled[i] ? step : 0, 1);
  };
  for (std::int64_t step = 0; !empty && step < three.steps; ++step) {
    Tensor product = MultiplySpread(d, part(0, step), part(1, step), three.first_sums);
    product = MultiplySpread(d, product, part(2, step), three.second_sums);
    const Tensor target =
        shape::Has(summed, unroll) ? out : d.Call("aten::narrow", out, unroll, step, 1);
    d.Call("aten::add_.Tensor", target, product);
  }
  for (int dim = rank - 1; dim >= 0; --dim) {
    if (shape::Has(summed, dim)) out = d.Call("aten::squeeze.dim", out, dim);
  }
  return {out};
}

// input1, input2, weight, bias
std::vector<Tensor> Bilinear(Dispatcher& d, const OpView& op) {
  const TensorView first = op.self(), second = op.tensor(1), weight = op.tensor(2);
  product::RequireSameDType(first, second);
  product::RequireSameDType(first, weight);
  if (op.given(3)) product::RequireSummandOf(op.tensor(3), first);
  shape::RequireRank("the weight", weight, 3);
  shape::RequireEqual("dimensions of the inputs", first.rank(), second.rank());
  if (first.rank() == 0) Refuse("an input without dimensions");
  for (int dim = 0; dim + 1 < first.rank(); ++dim) {
    shape::RequireEqual("sizes of the inputs", first.size(dim), second.size(dim));
  }
  shape::RequireEqual("features of the first input", first.size(-1), weight.size(1));
  shape::RequireEqual("features of the second input", second.size(-1), weight.size(2));
  Dims sizes(first.sizes().first(static_cast<std::size_t>(first.rank() - 1)));
  sizes.push_back(weight.size(0));
  const Tensor rows = d.Call("aten::reshape", op.arg(0), Dims{-1, first.size(-1)});
  const Tensor other = d.Call("aten::reshape", op.arg(1), Dims{-1, second.size(-1)});
  Tensor out = d.Call("aten::_trilinear", rows, op.arg(2), other, Dims{1, 3}, Dims{0}, Dims{1, 2},
                      Dims{2, 3});
  out = d.Call("aten::reshape", out, sizes);
  if (op.given(3)) {
    shape::RequireEqual("the bias and the weight's rows", op.tensor(3).size(0), weight.size(0));
    out = d.Call("aten::add.Tensor", out, op.arg(3));
  }
  return {out};
}

// --- Kronecker products -------------------------------------------------------------------------

std::vector<Tensor> Kron(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self(), b = op.tensor(1);
  const int rank = std::max(a.rank(), b.rank());
  if (2 * rank > Dims::kMaxRank) Refuse("too many dimensions");
  Dims of_a, of_b, merged;
  for (int i = 0; i < rank; ++i) {
    const int in_a = i - (rank - a.rank()), in_b = i - (rank - b.rank());
    const std::int64_t size_a = in_a < 0 ? 1 : a.size(in_a);
    const std::int64_t size_b = in_b < 0 ? 1 : b.size(in_b);
    of_a.push_back(size_a);
    of_a.push_back(1);
    of_b.push_back(1);
    of_b.push_back(size_b);
    merged.push_back((Count(size_a) * size_b).value());
  }
  const Tensor first = d.Call("aten::_unsafe_view", d.tensor(op, 0), of_a);
  const Tensor second = d.Call("aten::_unsafe_view", d.tensor(op, 1), of_b);
  return {d.Call("aten::_unsafe_view", d.Call("aten::mul.Tensor", first, second), merged)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kContraction, words, decompose, grad);
}

constexpr std::array kRows{
    TakingBits(
        MathBits::kConjugate,
        CopyingOut(Casting(
            precision::kPromoteOnCuda,
            Call({"aten::vdot", "Inner product of two vectors, the first of them conjugated.",
                  "(Tensor self, Tensor other) -> Tensor", "aten::vdot(f32[8], f32[8])"},
                 ConjugateDot, gradients::kVdot)))),
    Casting(precision::kLow, Call({"aten::linalg_vecdot", "Inner products along a dimension.",
                                   "(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
                                   "aten::linalg_vecdot(f32[4,8], f32[8])"},
                                  VectorDot)),
    Casting(
        precision::kLowOnCuda,
        Call({"aten::addr", "Outer product of two vectors plus a matrix.",
              "(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
              "aten::addr(f32[4,8], f32[4], f32[8])"},
             AddOuter, gradients::kAddr)),
    Kernel(Family::kContraction,
           {"steelyard::add_outer", "A column times a row, plus a matrix.",
            "(Tensor self, Tensor column, Tensor row, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
            "steelyard::add_outer(f32[4,8], f32[4,1], f32[8])"},
           {.shape = shape::Iterate<Promotion::kCommon, 0, 1, 2>,
            .fusion = Fusion::kBroadcast,
            .allocations = allocations::IterateByFactory<Promotion::kCommon, 0, 1, 2>,
            .work = work::PerOutput<work::PerElement{.alu = 4}>,
            .grad = kGradientUnknown,
            .precision = precision::kFollow}),
    Call({"aten::addr_", "Adds the outer product of two vectors, in place.",
          "(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> "
          "Tensor(a!)",
          "aten::addr_(f32[4,8], f32[4], f32[8])"},
         AddOuterInPlace, gradients::kAddr),
    Kernel(Family::kContraction,
           {"steelyard::add_outer_", "Adds a column times a row, in place.",
            "(Tensor(a!) self, Tensor column, Tensor row, *, Scalar beta=1, Scalar alpha=1) -> "
            "Tensor(a!)",
            "steelyard::add_outer_(f32[4,8], f32[4,1], f32[8])"},
           {.shape = shape::Overwrite<Promotion::kCommon, 0, 1, 2>,
            .fusion = Fusion::kBroadcast,
            .allocations = AddOuterInPlaceAllocations,
            .work = work::PerOutput<work::PerElement{.alu = 4}>,
            .grad = kGradientUnknown,
            .precision = precision::kFollow},
           Alias::kInPlace),
    Casting(precision::kLowOnCuda,
            Call({"aten::linalg_multi_dot", "Product of several matrices, in the cheapest order.",
                  "(Tensor[] tensors) -> Tensor",
                  "aten::linalg_multi_dot([f32[4,8], f32[8,3], f32[3,5], f32[5,2]])"},
                 MultiplyChain)),
    Casting(precision::kLowOnCuda,
            Call({"aten::chain_matmul", "Product of several matrices, in the cheapest order.",
                  "(Tensor[] matrices) -> Tensor",
                  "aten::chain_matmul([f32[4,8], f32[8,3], f32[3,5]])"},
                 OldMultiplyChain)),
    CopyingOut(Call(
        {"aten::_trilinear", "Products of three tensors, summed over dimensions.",
         "(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] "
         "sumdim, int unroll_dim=1) -> Tensor",
         "aten::_trilinear(f32[4,3], f32[2,3,5], f32[4,5], [1,3], [0], [1,2], [2,3])"},
        Trilinear, gradients::kTrilinear)),
    Casting(precision::kPromoteOnCuda,
            Call({"aten::bilinear", "A form that is linear in two inputs, plus a bias.",
                  "(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
                  "aten::bilinear(f32[4,3], f32[4,5], f32[2,3,5], f32[2])"},
                 Bilinear)),
    Composite(Family::kView,
              {"aten::kron", "Every element of one tensor times the whole other.",
               "(Tensor self, Tensor other) -> Tensor", "aten::kron(f32[2,3], f32[4,5])"},
              Kron),
};

}  // namespace

std::span<const OpDef> Products() { return kRows; }

}  // namespace steelyard::ops
