// SPDX-License-Identifier: Apache-2.0
//
// Distances and similarities of vectors: one by one, of all of two lists, of all pairs of one
// (ATen/native/Distance.cpp). Where one of two lists is long, Euclidean distances are made by one
// product.

#include "ops/gradients/distance.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/distance_backward.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- cosine_similarity(x1, x2, dim, eps) --------------------------------------------------------

// A norm in memory of its own, for it will be limited in place.
Tensor NormOf(Dispatcher& d, const Tensor& x, const Argument& dim) {
  const Dims dims{dim.dim.number()};
  return d.Call("aten::clone", d.Call("aten::linalg_vector_norm", x, 2, dims, true));
}

std::vector<Tensor> CosineSimilarity(Dispatcher& d, const OpView& op) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  const DType common = ResultType(pair);
  if (!IsFloating(common)) Refuse("floating-point vectors are needed");
  const auto floating = [&](int i) {
    const bool whole = !IsFloating(op.tensor(i).dtype());
    return whole ? d.Call("aten::to.dtype", d.tensor(op, i), common) : d.tensor(op, i);
  };
  const Tensor own1 = floating(0), own2 = floating(1);
  const Dims sizes = shape::Broadcast({own1.view(), own2.view()});
  // Where one of them is expanded, both are, and autograd has a node for each (expand_outplace).
  const bool alike = std::ranges::equal(own1.sizes(), own2.sizes());
  const auto spread = [&](const Tensor& x) { return alike ? x : d.Call("aten::expand", x, sizes); };
  const Tensor x2 = spread(own2), x1 = spread(own1);
  const Tensor norm1 = NormOf(d, x1, op.arg(2));
  const Tensor norm2 = NormOf(d, x2, op.arg(2));
  const bool wide = common == DType::kFloat64;
  const Tensor least =
      d.Call("aten::scalar_tensor", op.arg(3), wide ? DType::kFloat64 : DType::kFloat32);
  {
    const Dispatcher::GradMode off(d, false);  // the limit is a matter of precision
    d.Call("aten::clamp_min_.Tensor", norm1, least);
    d.Call("aten::clamp_min_.Tensor", norm2, least);
  }
  const Tensor second = d.Call("aten::div.Tensor", x2, norm2);
  const Tensor first = d.Call("aten::div.Tensor", x1, norm1);
  const Tensor product = d.Call("aten::mul.Tensor", first, second);
  return {d.Call("aten::sum.dim_IntList", product, Dims{op.arg(2).dim.number()})};
}

// --- pairwise_distance(x1, x2, p, eps, keepdim), dist(self, other, p) ---------------------------

std::vector<Tensor> PairwiseDistance(Dispatcher& d, const OpView& op) {
  const int last = std::max(op.tensor(0).rank(), op.tensor(1).rank()) - 1;
  const Tensor difference = d.Call("aten::sub.Tensor", d.tensor(op, 0), d.tensor(op, 1));
  const Tensor shifted = d.Call("aten::add.Scalar", difference, op.arg(3));
  return {d.Call("aten::norm.ScalarOpt_dim", shifted, op.arg(2), Dims{last}, op.arg(4))};
}

std::vector<Tensor> Distance(Dispatcher& d, const OpView& op) {
  const Tensor difference = d.Call("aten::sub.Tensor", op.arg(0), op.arg(1));
  return {d.Call("aten::norm.Scalar", difference, op.arg(2))};
}

// --- cdist(x1, x2, p, compute_mode) -------------------------------------------------------------

// Batches of rows of the same length.
struct Rows {
  Dims batch;
  std::int64_t first = 0, second = 0, length = 0;
  Count batches() const { return work::Elements(batch); }
};

Rows RowsOf(const OpView& op) {
  const TensorView x1 = op.tensor(0), x2 = op.tensor(1);
  if (x1.rank() < 2 || x2.rank() < 2) Refuse("matrices of vectors are needed");
  if (!IsFloating(x1.dtype()) || x1.dtype() != x2.dtype()) {
    Refuse("vectors are floating-point and of one dtype");
  }
  shape::RequireEqual("lengths of the vectors", x1.size(-1), x2.size(-1));
  const auto leading = [](const TensorView& t) {
    return Sizes(t.sizes().first(t.sizes().size() - 2));
  };
  const std::optional<Dims> batch = BroadcastShapes(leading(x1), leading(x2));
  if (!batch) Refuse("the batches do not broadcast");
  return {*batch, x1.size(-2), x2.size(-2), x1.size(-1)};
}

Dims With(Dims batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

// More rows than this are multiplied with each other.
constexpr std::int64_t kFewRows = 25;

bool ByProduct(const OpView& op, const Rows& rows) {
  const std::int64_t mode = op.integer(3, 0);
  if (mode < 0 || mode > 2) Refuse("cdist has three modes");
  if (op.real(2) != 2) return false;
  return mode == 1 || (mode == 0 && (rows.first > kFewRows || rows.second > kFewRows));
}

// |a|^2 - 2ab + |b|^2 as one product: [-2a, |a|^2, 1] with [b, 1, |b|^2].
std::vector<Tensor> EuclideanDistance(Dispatcher& d, const OpView& op) {
  RowsOf(op);
  const Tensor x1 = d.tensor(op, 0), x2 = d.tensor(op, 1);
  const auto norm = [&](const Tensor& x) {
    return d.Call("aten::sum.dim_IntList", d.Call("aten::pow.Tensor_Scalar", x, 2), Dims{-1}, true);
  };
  const auto ones = [&](const Tensor& x) {
    return d.Call("aten::ones_like", x, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                  kContiguousFormat);
  };
  std::vector<Tensor> parts1(3), parts2(3);
  Tensor norm1 = norm(x1), ones1 = ones(norm1);
  Tensor norm2 = norm(x2), ones2 = ones(norm2);
  Tensor left, right;
  {
    parts1[0] = d.Call("aten::mul.Scalar", x1, -2);
    parts1[1] = std::move(norm1);
    parts1[2] = std::move(ones1);
    left = d.Call("aten::cat", parts1, -1);
    for (std::size_t i = parts1.size(); i-- > 0;) parts1[i].reset();
  }
  {
    parts2[0] = x2;
    parts2[1] = std::move(ones2);
    parts2[2] = std::move(norm2);
    right = d.Call("aten::cat", parts2, -1);
    for (std::size_t i = parts2.size(); i-- > 0;) parts2[i].reset();
  }
  const Tensor out = d.Call("aten::matmul", left, d.Call("aten::mT", right));
  d.Call("aten::clamp_min_", out, 0);
  d.Call("aten::sqrt_", out);
  right.reset();
  left.reset();
  return {out};
}

Work DistanceWork(const OpView& op) {
  const Rows rows = RowsOf(op);
  const Count distances = work::Elements(op.output());
  return {.alu = distances * rows.length * 3, .special = distances};
}

// cdist_impl: batches are spread and made one dimension.
std::vector<Tensor> DistancesOf(Dispatcher& d, const OpView& op) {
  const Rows rows = RowsOf(op);
  const Dims sizes = With(rows.batch, rows.first, rows.second);
  const auto flat = [&](int i, std::int64_t count) {
    const Tensor spread =
        d.Call("aten::expand", d.tensor(op, i), With(rows.batch, count, rows.length));
    return d.Call("aten::view", d.Call("aten::contiguous", spread),
                  Dims{rows.batches().value(), count, rows.length});
  };
  const Tensor x1 = flat(0, rows.first), x2 = flat(1, rows.second);
  if (rows.first == 0 || rows.second == 0 || rows.batches() == Count(0)) {
    return {d.Call("aten::empty.memory_format", sizes, op.self().dtype())};
  }
  if (rows.length == 0) return {d.Call("aten::zeros", sizes, op.self().dtype())};
  if (!ByProduct(op, rows)) {
    return {d.Call("steelyard::distances", x1, x2, Argument::OfFloat(op.real(2)), sizes)};
  }
  const bool one = rows.batches() == Count(1);
  const Tensor distance = one ? d.Call("aten::_euclidean_dist", d.tensor(op, 0), d.tensor(op, 1))
                              : d.Call("aten::_euclidean_dist", x1, x2);
  return {d.Call("aten::view", distance, sizes)};
}

void DistancesInsideShape(const OpView& op, Outputs& out) {
  RowsOf(op);
  out.Add(op.self().dtype(), op.ints(3));
}

std::vector<Tensor> Cdist(Dispatcher& d, const OpView& op) {
  const Rows rows = RowsOf(op);
  const bool empty = op.tensor(0).count() == 0 || op.tensor(1).count() == 0;
  if (!empty && ByProduct(op, rows)) return DistancesOf(d, op);
  return {d.Call("aten::_cdist_forward", d.tensor(op, 0), d.tensor(op, 1), op.arg(2), op.arg(3))};
}

// grad, x1, x2, p, cdist: vectors are spread over the batch.
std::vector<Tensor> DistancesBackward(Dispatcher& d, const OpView& op) {
  const TensorView x1 = op.tensor(1), x2 = op.tensor(2);
  if (x1.rank() < 2 || x2.rank() < 2) Refuse("matrices of vectors are needed");
  const auto leading = [](const TensorView& t) {
    return Sizes(t.sizes().first(t.sizes().size() - 2));
  };
  const std::optional<Dims> batch = BroadcastShapes(leading(x1), leading(x2));
  if (!batch) Refuse("the batches do not broadcast");
  if (x1.count() == 0 || x2.count() == 0) return {d.Call("aten::zeros_like", op.arg(1))};
  const auto spread = [&](int i) {
    const TensorView x = op.tensor(i);
    const Dims sizes = With(*batch, x.size(-2), x.size(-1));
    return d.Call("aten::contiguous", d.Call("aten::expand", op.arg(i), sizes));
  };
  const Tensor first = spread(1), second = spread(2);
  const Tensor grad = d.Call("aten::contiguous", op.arg(0));
  const Tensor distances = d.Call("aten::contiguous", op.arg(4));
  return {d.Call("steelyard::distance_gradients", grad, first, second, op.arg(3), distances)};
}

// On CUDA there is a part for every row of the other list, and their sum (DistanceKernel.cu).
void SumParts(const OpView& op, const Dims& parts, int dim, Allocations& memory) {
  const DType dtype = op.output().dtype();
  const auto buffer = memory.Allocate(allocations::Bytes(work::Elements(parts), dtype));
  const Dims strides = ContiguousStrides(parts);
  cuda::Stage(op, {parts, strides}, dtype, shape::DimSet{1} << dim, cuda::SumOf(dtype), memory);
  memory.Free(buffer);
}

void DistancesBackwardOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView x1 = op.tensor(1), x2 = op.tensor(2);
  if (op.real(3) == 0 || op.output().count() == 0) return;
  const std::int64_t batch = x1.count() / (x1.size(-2) * x1.size(-1));
  SumParts(op, {batch, x2.size(-2), x1.size(-2), x1.size(-1)}, 1, memory);
}

Work DistanceBackwardWork(const OpView& op) {
  const Count distances = work::Elements(op.self());
  return {.alu = distances * op.tensor(1).size(-1) * 4, .special = distances};
}

// --- pdist(self, p) -----------------------------------------------------------------------------

// Of each row to those behind it.
void PairDistanceShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  shape::RequireRank("the list of vectors", self, 2);
  if (!IsFloating(self.dtype())) Refuse("vectors are floating-point, not " + shape::Text(self));
  if (!self.is_contiguous()) Refuse("vectors must be contiguous");
  const Count pairs = Count(self.size(0)) * std::max<std::int64_t>(self.size(0) - 1, 0);
  if (pairs.overflowed()) Contradict("more pairs than 2^63");
  out.Add(self.dtype(), Dims{pairs.value() / 2});
}

Work PairDistanceWork(const OpView& op) {
  const Count distances = work::Elements(op.output());
  return {.alu = distances * op.self().size(1) * 3, .special = distances};
}

// grad, self, p, pdist
void PairDistanceBackwardShape(const OpView& op, Outputs& out) {
  const TensorView self = op.tensor(1), distances = op.tensor(3);
  shape::RequireRank("the list of vectors", self, 2);
  if (!self.is_contiguous() || !distances.is_contiguous()) Refuse("they must be contiguous");
  shape::RequireEqual("gradients and distances", op.self().count(), distances.count());
  out.Add(self.dtype(), self.sizes());
}

void PairDistanceBackwardOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.tensor(1);
  if (op.real(2) == 0 || op.self().count() == 0 || self.count() == 0) return;
  SumParts(op, {self.size(0) - 1, self.size(0), self.size(1)}, 0, memory);
}

Work PairDistanceBackwardWork(const OpView& op) {
  const Count distances = work::Elements(op.self());
  return {.alu = distances * op.tensor(1).size(1) * 4, .special = distances};
}

std::vector<Tensor> PairDistances(Dispatcher& d, const OpView& op) {
  shape::RequireRank("the list of vectors", op.self(), 2);
  const Tensor rows = d.Call("aten::contiguous", d.tensor(op, 0));
  return {d.Call("aten::_pdist_forward", rows, op.arg(1))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kReduction, words, decompose, grad);
}

constexpr std::array kRows{
    Casting(precision::kFullOnCuda,
            Call({"aten::cosine_similarity", "Cosines of the angles between vectors.",
                  "(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
                  "aten::cosine_similarity(f32[2,8], f32[8])"},
                 CosineSimilarity)),
    Call({"aten::pairwise_distance", "Distances of vectors of two lists, one by one.",
          "(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool "
          "keepdim=False) -> Tensor",
          "aten::pairwise_distance(f32[5,4], f32[5,4])"},
         PairwiseDistance),
    CopyingOut(
        Casting(precision::kFullOnCuda, Call({"aten::dist", "The norm of a difference.",
                                              "(Tensor self, Tensor other, Scalar p=2) -> Tensor",
                                              "aten::dist(f32[3,4], f32[3,4])"},
                                             Distance, gradients::kDistance))),
    Casting(precision::kFull,
            Call({"aten::cdist", "Distances of all vectors of two lists.",
                  "(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
                  "aten::cdist(f32[2,33,4], f32[7,4])"},
                 Cdist)),
    CopyingOut(Call({"aten::_cdist_forward", "Distances of all vectors of two lists.",
                     "(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
                     "aten::_cdist_forward(f32[2,5,4], f32[7,4], 1.0, None)"},
                    DistancesOf, gradients::kDistances)),
    CopyingOut(Call({"aten::_cdist_backward", "The gradient of distances.",
                     "(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
                     "aten::_cdist_backward(f32[2,5,7], f32[2,5,4], f32[7,4], 1.0, f32[2,5,7])"},
                    DistancesBackward, gradients::kDistancesBackward)),
    CopyingOut(
        OpaqueKernel(Family::kReduction,
                     {"aten::_pdist_forward", "Distances of all pairs of vectors.",
                      "(Tensor self, float p=2.) -> Tensor", "aten::_pdist_forward(f32[5,4])"},
                     PairDistanceShape, allocations::Via<"aten::resize_">, PairDistanceWork,
                     gradients::kPairDistances)),
    CopyingOut(OpaqueKernel(Family::kReduction,
                            {"aten::_pdist_backward", "The gradient of `_pdist_forward`.",
                             "(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor",
                             "aten::_pdist_backward(f32[10], f32[5,4], 2.0, f32[10])"},
                            PairDistanceBackwardShape,
                            {allocations::Via<"aten::empty">, PairDistanceBackwardOnCuda},
                            PairDistanceBackwardWork, gradients::kPairDistancesBackward)),
    Casting(precision::kFullOnCuda,
            Call({"aten::pdist", "Distances of all pairs of vectors.",
                  "(Tensor self, float p=2.) -> Tensor", "aten::pdist(f32[5,4])"},
                 PairDistances)),
    CopyingOut(
        Call({"aten::_euclidean_dist", "Distances of all vectors of two lists, by one product.",
              "(Tensor x1, Tensor x2) -> Tensor", "aten::_euclidean_dist(f32[2,5,4], f32[2,7,4])"},
             EuclideanDistance, gradients::kEuclideanDistance)),
    Kernel(
        Family::kReduction,
        {"steelyard::distance_gradients", "Gradients of distances, inside `_cdist_backward`.",
         "(Tensor grad, Tensor x1, Tensor x2, float p, Tensor distances) -> Tensor",
         "steelyard::distance_gradients(f32[2,5,7], f32[2,5,4], f32[2,7,4], 1.0, f32[2,5,7])"},
        {.shape = shape::Like<1>,
         .fusion = Fusion::kOpaque,
         .allocations = DeviceAllocations{allocations::Via<"aten::empty">, DistancesBackwardOnCuda},
         .work = DistanceBackwardWork,
         .grad = kGradientUnknown,
         .precision = precision::kFollow}),
    Kernel(Family::kReduction,
           {"steelyard::distances", "Distances, inside `_cdist_forward`.",
            "(Tensor x1, Tensor x2, float p, SymInt[] size) -> Tensor",
            "steelyard::distances(f32[2,5,4], f32[2,7,4], 1.0, [2,5,7])"},
           {.shape = DistancesInsideShape,
            .fusion = Fusion::kOpaque,
            .allocations = allocations::Via<"aten::empty">,
            .work = DistanceWork,
            .grad = kGradientUnknown,
            .precision = precision::kFollow}),
};

}  // namespace

std::span<const OpDef> Distance() { return kRows; }

}  // namespace steelyard::ops
