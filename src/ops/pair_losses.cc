// SPDX-License-Identifier: Apache-2.0
//
// Losses that rank, embed or count (ATen/native/Loss.cpp). They are
// written with other operators, whose gradients are theirs; margins between classes have kernels.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/backward.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/loss_backward.h"
#include "ops/gradients/network.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/reduce.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// input1, input2, target, margin, reduction: (-target * (input1 - input2) + margin) above 0
std::vector<Tensor> MarginRanking(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 4);
  Tensor terms;
  {
    const Tensor difference = d.Call("aten::sub.Tensor", op.arg(0), op.arg(1));
    const Tensor sign = d.Call("aten::neg", op.arg(2));
    const Tensor product = d.Call("aten::mul.Tensor", sign, difference);
    terms = d.Call("aten::add.Scalar", product, op.real(3, 0.0));
  }
  d.Call("aten::clamp_min_", terms, std::int64_t{0});
  return {Reduce(d, terms, reduction)};
}

// self, target, margin, reduction
std::vector<Tensor> HingeEmbedding(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 3);
  const Tensor self = d.tensor(op, 0), target = d.tensor(op, 1);
  const Tensor zeros = d.Call("aten::zeros_like", self, std::nullopt, std::nullopt, std::nullopt,
                              std::nullopt, kContiguousFormat);
  const Tensor margin = d.Call("aten::empty_like", self);
  d.Call("aten::fill_.Scalar", margin, op.real(2, 1.0));
  d.Call("aten::sub_.Tensor", margin, self);
  d.Call("aten::clamp_min_", margin, std::int64_t{0});
  const auto where = [&](std::int64_t is_not, const Tensor& then) {
    const Tensor mask = d.Call("aten::ne.Scalar", target, is_not);
    return d.Call("aten::where.self", mask, then, zeros);
  };
  const Tensor away = where(1, margin);
  const Tensor near = where(-1, self);
  const Tensor terms = d.Call("aten::add.Tensor", away, near);
  return {Reduce(d, terms, reduction)};
}

// anchor, positive, negative, margin, p, eps, swap, reduction
std::vector<Tensor> TripletMargin(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 7);
  const auto distance = [&](int a, int b) {
    return d.Call("aten::pairwise_distance", op.arg(a), op.arg(b), op.real(4, 2.0),
                  op.real(5, 1e-6));
  };
  const Tensor near = distance(0, 1);
  Tensor away = distance(0, 2);
  if (op.boolean(6)) {
    const Tensor other = distance(1, 2);
    away = d.Call("aten::min.other", away, other);
  }
  Tensor terms;
  {
    const Tensor bound = d.Call("aten::add.Scalar", near, op.real(3, 1.0));
    const Tensor difference = d.Call("aten::sub.Tensor", bound, away);
    terms = d.Call("aten::clamp_min", difference, std::int64_t{0});
  }
  return {Reduce(d, terms, reduction)};
}

// An approximation of a factorial's logarithm: n log n - n + log(2 pi n) / 2
Tensor StirlingTerm(Dispatcher& d, const Tensor& n) {
  const Tensor circle = d.Call("aten::mul.Scalar", n, 2 * std::numbers::pi);
  const Tensor logarithm = d.Call("aten::log", circle);
  const Tensor half = d.Call("aten::mul.Scalar", logarithm, 0.5);
  const Tensor own = d.Call("aten::log", n);
  const Tensor product = d.Call("aten::mul.Tensor", n, own);
  const Tensor difference = d.Call("aten::sub.Tensor", product, n);
  return d.Call("aten::add.Tensor", difference, half);
}

// input, target, log_input, full, eps, reduction
std::vector<Tensor> PoissonNll(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 5);
  const Tensor input = d.tensor(op, 0), target = d.tensor(op, 1);
  Tensor terms;
  if (op.boolean(2)) {
    const Tensor product = d.Call("aten::mul.Tensor", target, input);
    const Tensor power = d.Call("aten::exp", input);
    terms = d.Call("aten::sub.Tensor", power, product);
  } else {
    const Tensor bound = d.Call("aten::add.Scalar", input, op.real(4));
    const Tensor logarithm = d.Call("aten::log", bound);
    const Tensor product = d.Call("aten::mul.Tensor", target, logarithm);
    terms = d.Call("aten::sub.Tensor", input, product);
  }
  if (op.boolean(3)) {
    const Tensor stirling = StirlingTerm(d, target);
    const Tensor small = d.Call("aten::le.Scalar", target, std::int64_t{1});
    const Tensor masked = d.Call("aten::masked_fill.Scalar", stirling, small, std::int64_t{0});
    d.Call("aten::add_.Tensor", terms, masked);
  }
  return {Reduce(d, terms, reduction)};
}

// input1, input2, target, margin, reduction: one minus the cosine, or what is above a margin
std::vector<Tensor> CosineEmbedding(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 4);
  const Tensor a = d.tensor(op, 0), b = d.tensor(op, 1), target = d.tensor(op, 2);
  if (target.rank() > 1 || a.rank() != target.rank() + 1 || b.rank() != target.rank() + 1) {
    Refuse("a target is one sign for each pair of vectors");
  }
  constexpr double kEpsilon = 1e-12;
  const auto sum = [&](const Tensor& x, const Tensor& y) {
    const Tensor product = d.Call("aten::mul.Tensor", x, y);
    return d.Call("aten::sum.dim_IntList", product, Dims{target.rank()});
  };
  const auto size = [&](const Tensor& x) {
    const Tensor product = d.Call("aten::mul.Tensor", x, x);
    const Tensor square = d.Call("aten::sum.dim_IntList", product, Dims{target.rank()});
    return d.Call("aten::add.Scalar", square, kEpsilon);
  };
  const Tensor dot = sum(a, b);
  const Tensor first = size(a);
  const Tensor second = size(b);
  const Tensor length = d.Call("aten::mul.Tensor", first, second);
  d.Call("aten::sqrt_", length);
  const Tensor cosine = d.Call("aten::div.Tensor", dot, length);
  const Tensor zeros = d.Call("aten::zeros_like", cosine, std::nullopt, std::nullopt, std::nullopt,
                              std::nullopt, kContiguousFormat);
  const Tensor away = d.Call("aten::empty_like", cosine);
  d.Call("aten::fill_.Scalar", away, std::int64_t{1});
  d.Call("aten::sub_.Tensor", away, cosine);
  const Tensor near = d.Call("aten::sub.Scalar", cosine, op.real(3, 0.0));
  d.Call("aten::clamp_min_", near, std::int64_t{0});
  const auto where = [&](std::int64_t is, const Tensor& then) {
    const Tensor mask = d.Call("aten::eq.Scalar", target, is);
    return d.Call("aten::where.self", mask, then, zeros);
  };
  const Tensor of_alike = where(1, away);
  const Tensor of_unlike = where(-1, near);
  const Tensor terms = d.Call("aten::add.Tensor", of_alike, of_unlike);
  return {Reduce(d, terms, reduction)};
}

// self, target, reduction: log(1 + exp(-target * self)), in one tensor, of which the result stays
std::vector<Tensor> SoftMargin(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 2);
  const Tensor terms = d.Call("aten::neg", op.arg(0));
  d.Call("aten::mul_.Tensor", terms, op.arg(1));
  d.Call("aten::exp_", terms);
  d.Call("aten::log1p_", terms);
  if (reduction == LossReduction::kNone) return {terms};
  const Tensor reduced = Reduce(d, terms, reduction);
  const Tensor out = d.Call("aten::as_strided", terms, Dims(), Dims());
  d.Call("aten::copy_", out, reduced);
  return {out};
}
// grad_output, self, target, reduction
std::vector<Tensor> SoftMarginBackward(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 3);
  const auto count = static_cast<double>(std::max<std::int64_t>(op.tensor(1).count(), 1));
  Tensor power;
  {
    const Tensor minus = d.Call("aten::neg", op.arg(2));
    const Tensor product = d.Call("aten::mul.Tensor", minus, op.arg(1));
    power = d.Call("aten::exp", product);
  }
  const Tensor gradient = d.Call("aten::mul.Tensor", op.arg(2), power);
  d.Call("aten::mul_.Scalar", gradient, reduction == LossReduction::kMean ? -1.0 / count : -1.0);
  d.Call("aten::add_.Scalar", power, std::int64_t{1});
  d.Call("aten::div_.Tensor", gradient, power);
  d.Call("aten::mul_.Tensor", gradient, op.arg(0));
  return {gradient};
}

// --- Margins between classes: self, target, p, margin, weight, reduction ------------------------

void MultiMarginShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self(), target = op.tensor(1);
  const LossReduction reduction = ReductionOf(op, 5);
  if (self.rank() > 2 || target.rank() > 1 || target.dtype() != DType::kInt64) {
    Refuse("classes of rows are needed");
  }
  if (!IsFloating(self.dtype())) Refuse("a floating-point tensor is needed");
  const std::int64_t rows = self.rank() == 2 ? self.size(0) : 1;
  shape::RequireEqual("rows and classes", rows, target.count());
  const bool each = reduction == LossReduction::kNone && target.rank() > 0;
  out.Add(self.dtype(), each ? Dims{rows} : Dims());
}
void MultiMarginAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  const auto self = allocations::Contiguous(op.self(), memory);
  const auto target = allocations::Contiguous(op.tensor(1), memory);
  allocations::Free(target, memory);
  allocations::Free(self, memory);
}
// The sum of what each row of a batch loses (MultiMarginLoss.cu, MultiLabelMarginCriterion.cu).
void SumRows(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  const Dims sizes{self.size(0)};
  constexpr shape::DimSet kFirst = 1;
  cuda::Stage(op, {sizes, ContiguousStrides(sizes)}, self.dtype(), kFirst,
              cuda::SumOf(self.dtype()), memory);
}
void MultiMarginOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  if (self.count() == 0) return;
  std::vector<std::optional<Allocations::Scratch>> scratch;
  for (const int i : {0, 1, 4}) {
    if (op.given(i)) scratch.push_back(cuda::Contiguous(op.tensor(i), memory));
  }
  if (self.rank() > 1 && ReductionOf(op, 5) != LossReduction::kNone) {
    scratch.emplace_back(memory.Allocate(allocations::Bytes(self.size(0), self.dtype())));
    SumRows(op, memory);
  }
  for (std::size_t i = scratch.size(); i-- > 0;) allocations::Free(scratch[i], memory);
}
constexpr WorkFn kMargins = work::PerInput<work::PerElement{.alu = 4, .compare = 1}>;

void BackwardShape(const OpView& op, Outputs& out) {
  out.Add(op.tensor(1).dtype(), op.tensor(1).sizes());
}
void MultiMarginBackwardAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  const auto self = allocations::Contiguous(op.tensor(1), memory);
  const auto target = allocations::Contiguous(op.tensor(2), memory);
  allocations::Free(target, memory);
  allocations::Free(self, memory);
}

constexpr OpDef Margins(const Words& words, ShapeFn shape, DeviceAllocations allocations,
                        Gradient grad, Precision precision) {
  return OpaqueKernel(Family::kLoss, words, shape, allocations, kMargins, grad, precision);
}

// --- Margins between several classes a row: self, target, reduction ------------------------------

void RequireLabels(const TensorView& self, const TensorView& target) {
  if (self.rank() > 2 || target.dtype() != DType::kInt64) Refuse("classes of rows are needed");
  if (!IsFloating(self.dtype())) Refuse("a floating-point tensor is needed");
  const auto sizes_of = [](const TensorView& t) {
    return t.rank() > 0 ? Dims(t.sizes()) : Dims{1};
  };
  if (!std::ranges::equal(std::span<const std::int64_t>(sizes_of(self)),
                          std::span<const std::int64_t>(sizes_of(target)))) {
    Refuse(fmt::format("classes {} of {}", shape::Text(target), shape::Text(self)));
  }
}
void MultiLabelShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self(), target = op.tensor(1);
  RequireLabels(self, target);
  if (self.count() == 0 && op.target().device == Device::kCuda) {  // it returns at once
    for (int i = 0; i < 2; ++i) out.Add(self.dtype(), Dims{0});
    return;
  }
  const bool each = ReductionOf(op, 2) == LossReduction::kNone && target.rank() > 1;
  out.Add(self.dtype(), each ? Dims{self.size(0)} : Dims());
  out.Add(self.dtype(), target.sizes());
}
// The least and the largest are looked at, each in a copy that is dense.
void AskForLimits(const TensorView& of, Allocations& memory) {
  for (const std::string_view limit : {"aten::min", "aten::max"}) {
    const auto number = memory.Allocate(BitsOf(of.dtype()) / 8, "aten::empty");
    if (const auto copy = allocations::Contiguous(of, memory)) memory.Free(*copy, limit);
    memory.Free(number);
  }
}
void MultiLabelAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  memory.Output(1, "aten::resize_");
  if (op.self().count() == 0) return;
  AskForLimits(op.tensor(1), memory);
  const auto self = allocations::Contiguous(op.self(), memory);
  const auto target = allocations::Contiguous(op.tensor(1), memory);
  allocations::Free(target, memory);
  allocations::Free(self, memory);
}
// grad_output, self, target, reduction, is_target
void MultiLabelBackwardAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  if (op.tensor(1).count() == 0) return;
  AskForLimits(op.tensor(2), memory);
  const auto self = allocations::Contiguous(op.tensor(1), memory);
  const auto target = allocations::Contiguous(op.tensor(2), memory);
  const auto marks = allocations::Contiguous(op.tensor(4), memory);
  for (int i = 0; i < 2; ++i)
    memory.Free(memory.Allocate(BitsOf(op.tensor(4).dtype()) / 8, "aten::empty"));
  allocations::Free(marks, memory);
  allocations::Free(target, memory);
  allocations::Free(self, memory);
}
// MultiLabelMarginCriterion.cu: a sum over rows of what each row misses.
void MultiLabelOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  if (self.count() == 0) return allocations::OutputsOnly(op, memory);
  const auto dense = cuda::Contiguous(self, memory);
  const auto target = cuda::Contiguous(op.tensor(1), memory);
  memory.Output(1);
  std::optional<Allocations::Scratch> rows;
  if (self.rank() > 1 && ReductionOf(op, 2) != LossReduction::kNone) {
    rows = memory.Allocate(allocations::Bytes(self.size(0), self.dtype()));
  }
  memory.Output(0);
  if (rows) SumRows(op, memory);
  for (const auto& scratch : {rows, target, dense}) allocations::Free(scratch, memory);
}
Tensor MultiLabelSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::multilabel_margin_loss_backward", b.grad(), b.saved(0), b.saved(1),
                b.op().arg(2), b.result(1));
}
constexpr Gradient kMultiLabel =
    Gradient("MultilabelMarginLossBackward0", {GradientOf(0, {0, 1, ResultAt(1)}, MultiLabelSelf)})
        .OnlyOf({0});
std::vector<Tensor> MultiLabel(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::multilabel_margin_loss_forward", op.arg(0), op.arg(1), op.arg(2))};
}

constexpr OpDef LossOf(const Words& words, DecomposeFn decompose,
                       Gradient grad = kGradientFromParts, Precision precision = precision::kFull) {
  return Composite(Family::kLoss, words, decompose, grad, precision);
}

constexpr std::array kRows{
    LossOf({"aten::margin_ranking_loss", "How far pairs are from their order, less a margin.",
            "(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> "
            "Tensor",
            "aten::margin_ranking_loss(f32[4], f32[4], f32[4], 0.5)"},
           MarginRanking),
    LossOf({"aten::hinge_embedding_loss", "Distances, or how far they are below a margin.",
            "(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
            "aten::hinge_embedding_loss(f32[4,8], f32[4,8])"},
           HingeEmbedding),
    LossOf({"aten::triplet_margin_loss", "How much nearer a positive is than a negative.",
            "(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float "
            "eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
            "aten::triplet_margin_loss(f32[4,8], f32[4,8], f32[4,8])"},
           TripletMargin),
    LossOf({"aten::poisson_nll_loss", "Negative log likelihood of counts.",
            "(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> "
            "Tensor",
            "aten::poisson_nll_loss(f32[4,8], f32[4,8], True, False, 1e-8, 1)"},
           PoissonNll),
    LossOf({"aten::cosine_embedding_loss",
            "How far the angles of pairs are from what they are to "
            "be.",
            "(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> "
            "Tensor",
            "aten::cosine_embedding_loss(f32[4,8], f32[4,8], f32[4])"},
           CosineEmbedding),
    LossOf({"aten::soft_margin_loss", "Logistic losses of signs.",
            "(Tensor self, Tensor target, int reduction=1) -> Tensor",
            "aten::soft_margin_loss(f32[4,8], f32[4,8])"},
           SoftMargin, gradients::kSoftMargin),
    Differentiable(
        gradients::kSoftMarginBackward,
        LossOf({"aten::soft_margin_loss_backward", "The gradient of logistic losses of signs.",
                "(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
                "aten::soft_margin_loss_backward(f32[], f32[4,8], f32[4,8], 1)"},
               SoftMarginBackward, kGradientUnknown, precision::kFollow)),
    Margins({"aten::multi_margin_loss", "How far other classes come near the right one.",
             "(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
             "reduction=1) -> Tensor",
             "aten::multi_margin_loss(f32[4,8], i64[4])"},
            MultiMarginShape, {MultiMarginAllocations, MultiMarginOnCuda}, gradients::kMultiMargin,
            precision::kFull),
    Margins({"aten::multi_margin_loss_backward",
             "The gradient of how far other classes come near the right one.",
             "(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? "
             "weight=None, int reduction=1) -> Tensor",
             "aten::multi_margin_loss_backward(f32[], f32[4,8], i64[4], 1, 1)"},
            BackwardShape, {MultiMarginBackwardAllocations, cuda::OutputsThenCopies<1, 0, 2, 5>},
            kGradientUnknown, precision::kFollow),
    LossOf({"aten::multilabel_margin_loss", "How far other classes come near the right ones.",
            "(Tensor self, Tensor target, int reduction=1) -> Tensor",
            "aten::multilabel_margin_loss(f32[4,8], i64[4,8])"},
           MultiLabel),
    Margins({"aten::multilabel_margin_loss_forward",
             "How far other classes come near the right ones, and which those are.",
             "(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)",
             "aten::multilabel_margin_loss_forward(f32[4,8], i64[4,8], 1)"},
            MultiLabelShape, {MultiLabelAllocations, MultiLabelOnCuda}, kMultiLabel,
            precision::kFullOnCpu),
    Margins({"aten::multilabel_margin_loss_backward",
             "The gradient of how far other classes come near the right ones.",
             "(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor is_target) -> "
             "Tensor",
             "aten::multilabel_margin_loss_backward(f32[], f32[4,8], i64[4,8], 1, f32[4,8])"},
            BackwardShape, {MultiLabelBackwardAllocations, cuda::OutputsThenCopies<1, 2, 4, 0>},
            kGradientUnknown, precision::kFollow),
};

}  // namespace

std::span<const OpDef> PairLosses() { return kRows; }

}  // namespace steelyard::ops
