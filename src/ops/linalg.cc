// SPDX-License-Identifier: Apache-2.0
//
// Products of tensors: matmul, linear, einsum and their relatives decide which kernel of products
// (blas.cc) runs on which views and copies (ATen/native/LinearAlgebra.cpp, Linear.cpp).

#include "ops/gradients/linalg.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/einsum.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/product.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

std::int64_t ProductOf(std::span<const std::int64_t> sizes) {
  const std::optional<std::int64_t> count = NumElements(sizes);
  if (!count) Contradict(fmt::format("{} has more than 2^63 elements", shape::Text(sizes)));
  return *count;
}

Dims Batch(const Tensor& t) {
  return Dims(t.sizes().first(static_cast<std::size_t>(std::max(t.rank() - 2, 0))));
}

// Whether the batch of the larger factor becomes rows of one matrix, so that mm or mv replaces bmm:
// if that needs no copy, or if it spares a gradient the size of the expanded smaller factor
// (LinearAlgebra.cpp, should_fold).
bool FoldsBatch(const Tensor& a, const Tensor& b) {
  const bool a_is_larger = a.rank() >= b.rank();
  const Tensor& larger = a_is_larger ? a : b;
  const Tensor& smaller = a_is_larger ? b : a;
  if (larger.rank() < 3 || smaller.rank() > 2) return false;
  if (smaller.requires_grad()) return true;
  if (a.rank() == 2) return false;
  const int last = larger.rank() - 1;
  Dims sizes(larger.sizes()), strides(larger.strides());
  if (!a_is_larger) {
    std::swap(sizes[last - 1], sizes[last]);
    std::swap(strides[last - 1], strides[last]);
  }
  for (int i = 0; i + 1 < last; ++i) {
    const bool joins = sizes[i] == 1 || Count(strides[i]) == Count(strides[i + 1]) * sizes[i + 1];
    if (!joins) return ProductOf(sizes) == 0;
  }
  return true;
}

Tensor MultiplyFolded(Dispatcher& d, const Tensor& a, const Tensor& b) {
  const bool transposed = b.rank() > a.rank();
  const Tensor larger = transposed ? d.Call("aten::mT", b) : a;
  const Tensor smaller = !transposed ? b : a.rank() == 2 ? d.Call("aten::t", a) : a;
  Dims sizes(larger.sizes().first(static_cast<std::size_t>(larger.rank() - 1)));
  const std::int64_t rows = ProductOf(sizes);
  const Tensor folded = d.Call("aten::reshape", larger, Dims{rows, larger.size(-1)});
  if (smaller.rank() == 1) {
    return d.Call("aten::_unsafe_view", d.Call("aten::mv", folded, smaller), sizes);
  }
  sizes.push_back(smaller.size(1));
  const Tensor out = d.Call("aten::_unsafe_view", d.Call("aten::mm", folded, smaller), sizes);
  return transposed ? d.Call("aten::contiguous", d.Call("aten::mT", out)) : out;
}

Tensor MultiplyBatched(Dispatcher& d, const Tensor& a, const Tensor& b) {
  const std::int64_t rows = a.rank() > 1 ? a.size(-2) : 1;
  const std::int64_t columns = b.rank() > 1 ? b.size(-1) : 1;
  const Dims batch_a = Batch(a), batch_b = Batch(b);
  const std::optional<Dims> batch = BroadcastShapes(batch_a, batch_b);
  if (!batch) {
    Contradict(fmt::format("batch dimensions do not broadcast: {} and {}", shape::Text(batch_a),
                           shape::Text(batch_b)));
  }
  const std::int64_t count = ProductOf(*batch);
  const auto with = [&](std::initializer_list<std::int64_t> tail) {
    Dims sizes = *batch;
    for (std::int64_t size : tail) sizes.push_back(size);
    return sizes;
  };
  const std::int64_t inner = b.rank() > 1 ? b.size(-2) : b.size(0);
  const Tensor left = d.Call("aten::reshape", d.Call("aten::expand", a, with({rows, a.size(-1)})),
                             Dims{count, rows, a.size(-1)});
  Dims sizes = *batch;
  if (a.rank() > 1) sizes.push_back(rows);
  if (b.rank() == 1) {
    const Tensor vectors =
        d.Call("aten::reshape", d.Call("aten::expand", b, with({inner})), Dims{count, inner});
    const Tensor right = d.Call("aten::unsqueeze", vectors, 2);
    return d.Call("aten::_unsafe_view",
                  d.Call("aten::squeeze.dim", d.Call("aten::bmm", left, right), -1), sizes);
  }
  sizes.push_back(columns);
  const Tensor right = d.Call("aten::reshape", d.Call("aten::expand", b, with({inner, columns})),
                              Dims{count, inner, columns});
  return d.Call("aten::_unsafe_view", d.Call("aten::bmm", left, right), sizes);
}

Tensor Multiply(Dispatcher& d, const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) {
    Refuse(fmt::format("matmul needs at least one dimension: {} and {}", shape::Text(a.view()),
                       shape::Text(b.view())));
  }
  if (a.rank() == 1 && b.rank() == 1) return d.Call("aten::dot", a, b);
  if (a.rank() == 2 && b.rank() == 1) return d.Call("aten::mv", a, b);
  if (a.rank() == 1 && b.rank() == 2) {
    return d.Call("aten::squeeze_.dim", d.Call("aten::mm", d.Call("aten::unsqueeze", a, 0), b), 0);
  }
  if (a.rank() == 2 && b.rank() == 2) return d.Call("aten::mm", a, b);
  if (FoldsBatch(a, b)) return MultiplyFolded(d, a, b);
  // A batch of one that will be broadcast is dropped where that spares an expanded gradient.
  if (a.rank() == 3 && b.rank() == 3 && a.size(0) != b.size(0)) {
    if (a.size(0) == 1 && a.requires_grad())
      return Multiply(d, d.Call("aten::squeeze.dim", a, 0), b);
    if (b.size(0) == 1 && b.requires_grad())
      return Multiply(d, a, d.Call("aten::squeeze.dim", b, 0));
  }
  return MultiplyBatched(d, a, b);
}

std::vector<Tensor> Matmul(Dispatcher& d, const OpView& op) {
  return {Multiply(d, d.tensor(op, 0), d.tensor(op, 1))};
}

// tensordot(self, other, dims_self, dims_other): matrices with the dimensions that are summed
// inside (ATen/native/Linear.cpp). A size of 1 stands for any: the other side is summed alone.
Tensor Contract(Dispatcher& d, Tensor a, Tensor b, const Dims& of_a, const Dims& of_b) {
  if (of_a.size() != of_b.size()) Refuse("both sides sum over as many dimensions");
  shape::DimSet summed_a = 0, summed_b = 0;
  Dims order_a, order_b, sizes, summed, of_rows, of_columns;
  const auto wrap = [](std::int64_t dim, int rank) {
    if (dim < -rank || dim >= rank) Refuse("a sum over a dimension that is not there");
    return static_cast<int>(dim < 0 ? dim + rank : dim);
  };
  for (int i = 0; i < of_a.size(); ++i) {
    const int at = wrap(of_a[i], a.rank()), bt = wrap(of_b[i], b.rank());
    if (b.size(bt) == 1) {
      a = d.Call("aten::sum.dim_IntList", a, Dims{at}, true, a.dtype());
    } else if (a.size(at) == 1) {
      b = d.Call("aten::sum.dim_IntList", b, Dims{bt}, true, b.dtype());
    }
    shape::RequireEqual("sizes that are summed over", a.size(at), b.size(bt));
    summed_a |= shape::DimSet{1} << at;
    summed_b |= shape::DimSet{1} << bt;
    summed.push_back(a.size(at));
    order_b.push_back(bt);
  }
  for (int i = 0; i < a.rank(); ++i) {
    if (shape::Has(summed_a, i)) continue;
    order_a.push_back(i);
    sizes.push_back(a.size(i));
    of_rows.push_back(a.size(i));
  }
  for (const std::int64_t dim : of_a) order_a.push_back(wrap(dim, a.rank()));
  for (int i = 0; i < b.rank(); ++i) {
    if (shape::Has(summed_b, i)) continue;
    order_b.push_back(i);
    sizes.push_back(b.size(i));
    of_columns.push_back(b.size(i));
  }
  const std::int64_t rows = ProductOf(of_rows), columns = ProductOf(of_columns);
  const std::int64_t inner = ProductOf(summed);
  const bool number = rows == 1 && columns == 1;
  const Tensor left = d.Call("aten::reshape", d.Call("aten::permute", a, order_a),
                             number ? Dims{inner} : Dims{rows, inner});
  const Tensor right = d.Call("aten::reshape", d.Call("aten::permute", b, order_b),
                              number ? Dims{inner} : Dims{inner, columns});
  const OpName product = number ? OpName("aten::dot") : OpName("aten::mm");
  return d.Call("aten::reshape", d.Call(product, left, right), sizes);
}
// Autocast on the CPU has no rule for it, and it asks before a product could cast.
std::vector<Tensor> Tensordot(Dispatcher& d, const OpView& op) {
  product::RequireSameDType(op.self(), op.tensor(1));
  return {Contract(d, d.tensor(op, 0), d.tensor(op, 1), op.ints(2), op.ints(3))};
}
// Over the last dimension of each.
std::vector<Tensor> Inner(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 0 || op.tensor(1).rank() == 0) {
    return {d.Call("aten::mul.Tensor", op.arg(0), op.arg(1))};
  }
  return {d.Call("aten::tensordot", op.arg(0), op.arg(1), Dims{-1}, Dims{-1})};
}

// The product with a bias in one kernel, on the input as a matrix.
Tensor LinearOnRows(Dispatcher& d, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  Dims sizes(input.sizes().first(static_cast<std::size_t>(input.rank() - 1)));
  const Tensor rows = d.Call("aten::reshape", input, Dims{ProductOf(sizes), input.size(-1)});
  const Tensor result = d.Call("aten::addmm", bias, rows, d.Call("aten::t", weight));
  sizes.push_back(result.size(1));
  return d.Call("aten::_unsafe_view", result, sizes);
}

std::vector<Tensor> Linear(Dispatcher& d, const OpView& op) {
  const Tensor input = d.tensor(op, 0), weight = d.tensor(op, 1), bias = d.tensor(op, 2);
  if (input.rank() == 0 || weight.rank() == 0 || weight.rank() > 2) {
    Refuse(
        fmt::format("linear needs an input with dimensions and a weight with one or two: {} and {}",
                    shape::Text(input.view()), shape::Text(weight.view())));
  }
  shape::RequireEqual("inner dimensions", input.size(-1), weight.size(-1),
                      "Is the weight transposed?");
  if (bias.defined() && input.rank() == 2) {
    return {d.Call("aten::addmm", bias, input, d.Call("aten::t", weight))};
  }
  const bool fused =
      bias.defined() && bias.rank() == 1 && bias.is_contiguous() && input.is_contiguous();
  if (fused) return {LinearOnRows(d, input, weight, bias)};
  const Tensor out = d.Call("aten::matmul", input, d.Call("aten::t", weight));
  if (bias.defined()) d.Call("aten::add_.Tensor", out, bias);
  return {out};
}

std::vector<Tensor> Outer(Dispatcher& d, const OpView& op) {
  shape::RequireRank("the first vector", op.self(), 1);
  shape::RequireRank("the second vector", op.tensor(1), 1);
  const Tensor column = d.Call("aten::reshape", d.tensor(op, 0), Dims{op.self().size(0), 1});
  return {d.Call("aten::mul.Tensor", column, d.tensor(op, 1))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Casting(precision::kLow,
            Composite("aten::matmul",
                      "Product of vectors, matrices or batches of them, as their ranks say.",
                      "(Tensor self, Tensor other) -> Tensor",
                      "aten::matmul(f32[2,4,3,5]{60,5,20,1}, f32[2,1,5,7])", Family::kContraction,
                      Matmul, precision::kFollow)),
    Casting(precision::kLow,
            Composite("aten::linear", "Product with a transposed weight, plus a bias.",
                      "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
                      "aten::linear(f32[2,3,8], f32[5,8], f32[5])", Family::kContraction, Linear,
                      precision::kFollow)),
    CopyingOut(Casting(
        precision::kPromoteOnCuda,
        Composite("aten::tensordot", "Sums of products over dimensions of both.",
                  "(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
                  "aten::tensordot(f32[2,3,4], f32[3,4,5], [1,2], [0,1])", Family::kContraction,
                  Tensordot, precision::kFollow))),
    Composite("aten::inner", "Sums of products over the last dimensions.",
              "(Tensor self, Tensor other) -> Tensor", "aten::inner(f32[2,3], f32[5,3])",
              Family::kContraction, Inner, precision::kFollow),
    Composite("aten::outer", "Products of all pairs of two vectors' elements.",
              "(Tensor self, Tensor vec2) -> Tensor", "aten::outer(f32[2], f32[3])",
              Family::kContraction, Outer, precision::kFollow),
    Composite("aten::ger", "Products of all pairs of two vectors' elements.",
              "(Tensor self, Tensor vec2) -> Tensor", "aten::ger(f32[2], f32[3])",
              Family::kContraction, Outer, precision::kFollow),
    Casting(precision::kLowOnCuda,
            Composite("aten::einsum", "Sum of products over named dimensions.",
                      "(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
                      "aten::einsum('bqhd,bkhd->bhqk', [f32[2,9,4,8], f32[2,7,4,8]])",
                      Family::kContraction, Einsum, precision::kFollow)),
};

}  // namespace

std::span<const OpDef> Linalg() { return kRows; }

}  // namespace steelyard::ops
