// SPDX-License-Identifier: Apache-2.0
//
// Losses that rank, embed or count (ATen/native/Loss.cpp). They are
// written with other operators, whose gradients are theirs.

#include <array>
#include <vector>

#include "ops/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/reduce.h"

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

// input, target, log_input, full, eps, reduction
std::vector<Tensor> PoissonNll(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 5);
  if (op.boolean(3)) Refuse("Stirling's term of a loss is not modelled");
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
  return {Reduce(d, terms, reduction)};
}

constexpr OpDef LossOf(const Words& words, DecomposeFn decompose) {
  return Composite(words.name, words.summary, words.signature, words.example, Family::kLoss,
                   decompose, precision::kFull);
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
};

}  // namespace

std::span<const OpDef> PairLosses() { return kRows; }

}  // namespace steelyard::ops
