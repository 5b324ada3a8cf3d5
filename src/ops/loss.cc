// SPDX-License-Identifier: Apache-2.0
//
// Losses (ATen/native/LossNLL.cpp, LossNLL2d.cpp, Loss.cpp). Reductions are numbered as in
// ATen/core/Reduction.h.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/determinism.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/loss_backward.h"
#include "ops/gradients/network.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/reduce.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- nll_loss_forward and nll_loss2d_forward(self, target, weight, reduction, ignore_index) -----

void RequireWeight(const TensorView& weight, std::int64_t classes) {
  if (!weight.defined()) return;
  shape::RequireRank("the weight of the classes", weight, 1);
  shape::RequireEqual("classes", weight.size(0), classes);
}

void NllShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self(), target = op.tensor(1);
  if (input.rank() != 1 && input.rank() != 2) {
    Refuse(fmt::format("a loss of {}", shape::Text(input)), "Use nll_loss2d for images.");
  }
  const bool single = input.rank() == 1;
  if (!single || target.rank() != 0) shape::RequireRank("the target", target, 1);
  if (!single) shape::RequireEqual("batch sizes", target.size(0), input.size(0));
  RequireWeight(op.tensor(2), input.size(-1));
  const bool each = ReductionOf(op, 3) == LossReduction::kNone && !single;
  out.Add(input.dtype(), each ? Dims{input.size(0)} : Dims{});
  out.Add(input.dtype(), Dims{});
}

void Nll2dShape(const OpView& op, Outputs& out) {
  if (op.integer(3) != 0) cuda::RefuseWhereDeterministic(op);  // losses that are added up
  const TensorView input = op.self(), target = op.tensor(1);
  shape::RequireRank("the input", input, 4);
  shape::RequireRank("the target", target, 3);
  const Dims sizes{input.size(0), input.size(2), input.size(3)};
  if (!std::ranges::equal(target.sizes(), std::span<const std::int64_t>(sizes))) {
    Refuse(fmt::format("targets {} for images {}", shape::Text(target), shape::Text(input)));
  }
  RequireWeight(op.tensor(2), input.size(1));
  out.Add(input.dtype(), ReductionOf(op, 3) == LossReduction::kNone ? sizes : Dims{});
  out.Add(input.dtype(), Dims{});
}

// Operands are made contiguous; losses that are not reduced read input and target as they lie.
using Scratches = std::vector<std::optional<Allocations::Scratch>>;

void MakeContiguous(const OpView& op, Scratches& copies, Allocations& memory) {
  if (op.given(2)) copies.push_back(allocations::Contiguous(op.tensor(2), memory));
}

void MakePairContiguous(const OpView& op, Scratches& copies, Allocations& memory) {
  if (op.output().rank() > 0 || op.tensor(1).count() == 0) return;
  copies.push_back(allocations::Contiguous(op.self(), memory));
  copies.push_back(allocations::Contiguous(op.tensor(1), memory));
}

void FreeLastFirst(const Scratches& copies, Allocations& memory) {
  for (std::size_t i = copies.size(); i-- > 0;) allocations::Free(copies[i], memory);
}

void NllAllocations(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  Scratches copies;
  MakeContiguous(op, copies, memory);
  MakePairContiguous(op, copies, memory);
  FreeLastFirst(copies, memory);
}

void Nll2dAllocations(const OpView& op, Allocations& memory) {
  memory.Output(1, "aten::resize_");
  Scratches copies;
  MakeContiguous(op, copies, memory);
  memory.Output(0);
  MakePairContiguous(op, copies, memory);
  FreeLastFirst(copies, memory);
}

void Nll2dOnCuda(const OpView& op, Allocations& memory) {
  const bool each = ReductionOf(op, 3) == LossReduction::kNone;
  if (each) {
    memory.Output(1);
    memory.Output(0);
    return;
  }
  cuda::OutputsThenCopies<0, 1, 2>(op, memory);
}

// One class of each row is read, weighed and added up.
Work NllWork(const OpView& op) { return {.alu = work::Elements(op.tensor(1)) * 3}; }

template <Label kForward>
std::vector<Tensor> Nll(Dispatcher& d, const OpView& op) {
  return {d.Call(kOpNamed<kForward>, op.arg(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4))};
}

// Images of any rank become two-dimensional.
std::vector<Tensor> NllOfAnyRank(Dispatcher& d, const OpView& op) {
  const TensorView input = op.self(), target = op.tensor(1);
  if (input.rank() < 1) Refuse("a loss needs classes");
  const auto call = [&](OpName name, const Tensor& x, const Tensor& y) {
    return d.Call(name, x, y, op.arg(2), op.arg(3), op.arg(4));
  };
  if (input.rank() <= 2) return {call("aten::nll_loss", d.tensor(op, 0), d.tensor(op, 1))};
  if (input.rank() == 4) return {call("aten::nll_loss2d", d.tensor(op, 0), d.tensor(op, 1))};
  const std::int64_t batch = input.size(0), classes = input.size(1);
  const Count pixels = work::Elements(input.sizes().subspan(2));
  if (pixels.overflowed()) Contradict(fmt::format("a loss of {}", shape::Text(input)));
  const Tensor image = d.Call("aten::view", d.Call("aten::contiguous", op.arg(0)),
                              Dims{batch, classes, 1, pixels.value()});
  const Tensor labels =
      d.Call("aten::view", d.Call("aten::contiguous", op.arg(1)), Dims{batch, 1, pixels.value()});
  const Tensor loss = call("aten::nll_loss2d", image, labels);
  if (ReductionOf(op, 3) != LossReduction::kNone) return {loss};
  return {d.Call("aten::view", loss, Dims(target.sizes()))};
}

// --- cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing) ----------

struct CrossEntropy {
  int class_dim = 1;
  std::int64_t classes = 0;
  LossReduction reduction = LossReduction::kMean;
  double smoothing = 0.0;
};

// The weight of the classes as it broadcasts to the input.
Tensor WeightAlong(Dispatcher& d, const OpView& op, const CrossEntropy& c) {
  Dims sizes = Dims::Filled(op.self().rank(), 1);
  sizes[c.class_dim] = op.tensor(2).size(0);
  return d.Call("aten::view", op.arg(2), sizes);
}

// Targets are probabilities of all classes.
Tensor ByProbabilities(Dispatcher& d, const OpView& op, const CrossEntropy& c) {
  const Tensor input = d.Call("aten::log_softmax.int", op.arg(0), c.class_dim, op.self().dtype());
  Tensor target = d.tensor(op, 1);
  if (c.smoothing > 0.0) {
    target = d.Call("aten::add.Scalar", d.Call("aten::mul.Scalar", target, 1.0 - c.smoothing),
                    c.smoothing / static_cast<double>(c.classes));
  }
  const Tensor weight = op.given(2) ? WeightAlong(d, op, c) : Tensor();
  const Tensor product = d.Call("aten::mul.Tensor", input, target);
  const Tensor terms = weight.defined() ? d.Call("aten::mul.Tensor", product, weight) : product;
  if (c.reduction == LossReduction::kNone) {
    return d.Call("aten::neg", d.Call("aten::sum.dim_IntList", terms, Dims{c.class_dim}));
  }
  const Tensor sum = d.Call("aten::sum", terms);
  Tensor loss = d.Call("aten::neg", sum);
  if (c.reduction == LossReduction::kSum) return loss;
  const std::int64_t rows = input.count() / std::max<std::int64_t>(c.classes, 1);
  return d.Call("aten::div.Scalar", loss, rows);
}

// The mean over the targets that count, or over their weights.
Tensor SmoothMean(Dispatcher& d, const OpView& op, const Tensor& terms, const Tensor& ignored) {
  if (op.given(2)) {
    const Tensor counted = d.Call("aten::bitwise_not", ignored);
    const Tensor kept = d.Call("aten::masked_select", op.arg(1), counted);
    const Tensor weights =
        d.Call("aten::gather", op.arg(2), 0, d.Call("aten::flatten.using_ints", kept));
    const Tensor weight_sum = d.Call("aten::sum", weights);
    return d.Call("aten::div.Tensor", d.Call("aten::sum", terms), weight_sum);
  }
  const Tensor counted = d.Call("aten::bitwise_not", ignored);
  const Tensor count = d.Call("aten::sum", counted);
  return d.Call("aten::div.Tensor", d.Call("aten::sum", terms), count);
}

// A share of every target goes to all classes.
Tensor BySmoothedLabels(Dispatcher& d, const OpView& op, const CrossEntropy& c) {
  const Tensor input = d.Call("aten::log_softmax.int", op.arg(0), c.class_dim, op.self().dtype());
  const Tensor loss =
      d.Call("aten::nll_loss_nd", input, op.arg(1), op.arg(2), op.arg(3), op.arg(4));
  Tensor smooth;
  if (op.given(2)) {
    const Tensor weight = WeightAlong(d, op, c);
    smooth =
        d.Call("aten::neg", d.Call("aten::sum.dim_IntList",
                                   d.Call("aten::mul.Tensor", input, weight), Dims{c.class_dim}));
  } else {
    smooth = d.Call("aten::neg", d.Call("aten::sum.dim_IntList", input, Dims{c.class_dim}));
  }
  const Tensor ignored = d.Call("aten::eq.Scalar", op.arg(1), op.arg(4));
  d.Call("aten::masked_fill_.Scalar", smooth, ignored, 0.0);
  Tensor reduced;
  if (c.reduction == LossReduction::kMean) reduced = SmoothMean(d, op, smooth, ignored);
  if (c.reduction == LossReduction::kSum) reduced = d.Call("aten::sum", smooth);
  if (c.reduction == LossReduction::kNone) reduced = std::move(smooth);
  const double share = c.smoothing / static_cast<double>(c.classes);
  const Tensor spread = d.Call("aten::mul.Scalar", reduced, share);
  return d.Call("aten::add.Tensor", d.Call("aten::mul.Scalar", loss, 1.0 - c.smoothing), spread);
}

std::vector<Tensor> CrossEntropyLoss(Dispatcher& d, const OpView& op) {
  const TensorView input = op.self();
  if (input.rank() == 0) Refuse("a loss needs classes");
  const int class_dim = input.rank() == 1 ? 0 : 1;
  const CrossEntropy c{.class_dim = class_dim,
                       .classes = input.size(class_dim),
                       .reduction = ReductionOf(op, 3),
                       .smoothing = op.real(5)};
  RequireWeight(op.tensor(2), c.classes);
  if (std::ranges::equal(input.sizes(), op.tensor(1).sizes())) return {ByProbabilities(d, op, c)};
  if (c.smoothing > 0.0) return {BySmoothedLabels(d, op, c)};
  const Tensor logs = d.Call("aten::log_softmax.int", op.arg(0), class_dim, input.dtype());
  return {d.Call("aten::nll_loss_nd", logs, op.arg(1), op.arg(2), op.arg(3), op.arg(4))};
}

// --- Losses of pairs -----------------------------------------------------------------------------

// mse_loss and smooth_l1_loss reduce into a result that was made in the size of the operands, which
// keeps its storage; binary_cross_entropy does so too.
void ReducedInPlaceShape(const OpView& op, Outputs& out) { out.Add(op.self().dtype(), {}, {}); }

// The mean of `terms` within the storage of the result: their sum is divided by a boxed number;
// half-precision terms are added in float32.
void ReducedInPlaceAllocations(const OpView& op, Allocations& memory) {
  if (!op.boolean(2)) return;
  const DType dtype = op.self().dtype();
  const bool half = dtype == DType::kBFloat16 || dtype == DType::kFloat16;
  const DType wide = half ? DType::kFloat32 : dtype;
  const std::int64_t width = BitsOf(wide) / 8;
  Allocations::Scratch sum = 0;
  if (half) {
    sum = memory.Allocate(width, "aten::empty_strided");
    if (const auto cast = allocations::Cast(op.tensor(1), wide, memory)) {
      memory.Free(*cast, "aten::sum");
    }
  }
  const Allocations::Scratch box = memory.Allocate(8, "aten::div_");
  const Allocations::Scratch cast = memory.Allocate(width, "aten::empty_strided");
  memory.Free(cast, "aten::div_");
  memory.Free(box, "aten::div_");
  if (half) memory.Free(sum, "aten::mean");
}
void ReducedInPlaceOnCuda(const OpView& op, Allocations& memory) {
  const TensorView terms = op.tensor(1);
  if (terms.rank() == 0) return;  // they are one number already
  cuda::Stage(op, terms, ~shape::DimSet{0}, cuda::SumOf(terms.dtype()), memory);
}

Work ReducedInPlaceWork(const OpView& op) { return {.alu = work::Elements(op.tensor(1))}; }

void PairShape(const OpView& op, Outputs& out) {
  shape::IterateOver(op, Promotion::kCommon, std::array{0, 1}, out);
}

void CallerAllocations(const OpView&, Allocations& memory) {
  memory.Output(0, Allocations::kCaller);
}

// The result is made like the input, and again where the target broadcasts it.
void PairLikeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  Outputs pair;
  PairShape(op, pair);
  const Outputs::Meta& both = pair.metas()[0];
  if (std::ranges::equal(std::span<const std::int64_t>(both.sizes), self.sizes())) {
    return shape::Like(self, self.dtype(), out);
  }
  out.Add(self.dtype(), both.sizes, both.strides);
}

void PairLikeAllocations(const OpView& op, Allocations& memory) {
  constexpr std::string_view kFactory = "aten::empty_strided";
  const TensorView self = op.self();
  if (op.output().count() == self.count()) return memory.Output(0, kFactory);
  const Dims strides = EmptyLikeStrides(self.sizes(), self.strides());
  const Allocations::Scratch like =
      memory.Allocate(StorageBytes(self.dtype(), self.sizes(), strides), kFactory);
  memory.Output(0, Allocations::kCaller);
  memory.Free(like, Allocations::kCaller);
}

// The loss of pairs that is none: space for one.
constexpr std::string_view kSpace;

// mse_loss, smooth_l1_loss(self, target, reduction, ...).
std::vector<Tensor> PairLoss(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 2);
  const Argument of = d.Text(op.def().name->text());
  const double number = op.def().signature->params().size() > 3 ? op.real(3) : 0.0;
  if (reduction == LossReduction::kNone) {
    return {d.Call("steelyard::pair_terms", op.arg(0), op.arg(1), of, number)};
  }
  const Tensor out = d.Call("steelyard::pair_terms", op.arg(0), op.arg(1), d.Text(kSpace), 0.0);
  const Tensor terms = d.Call("steelyard::pair_buffer", op.arg(0), op.arg(1), of, number);
  return {d.Call("steelyard::reduce_in_place", out, terms, reduction == LossReduction::kMean)};
}

std::vector<Tensor> L1Loss(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 2);
  const Tensor difference = d.Call("aten::sub.Tensor", op.arg(0), op.arg(1));
  return {Reduce(d, d.Call("aten::abs", difference), reduction)};
}

std::vector<Tensor> HuberLoss(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 2);
  const Argument of = d.Text(op.def().name->text());
  return {
      Reduce(d, d.Call("steelyard::pair_like", op.arg(0), op.arg(1), of, op.real(3)), reduction)};
}

// binary_cross_entropy(self, target, weight, reduction).
std::vector<Tensor> BinaryCrossEntropy(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 3);
  const Argument of = d.Text(op.def().name->text());
  const Tensor terms = d.Call("steelyard::pair_like", op.arg(0), op.arg(1), of);
  if (op.given(2)) d.Call("aten::mul_.Tensor", terms, op.arg(2));
  if (reduction == LossReduction::kNone) return {terms};
  const Tensor reduced = Reduce(d, terms, reduction);
  return {d.Call("steelyard::reduce_in_place", terms, reduced, false)};
}

// grad_output, self, target: a gradient like `self`, which keeps its sizes where the others make it
// larger: only its storage grows.
Tensor GradientLikeInput(Dispatcher& d, const OpView& op) {
  const TensorView input = op.tensor(1);
  const Tensor self = d.Call("aten::squeeze", op.arg(1));
  const Tensor target = d.Call("aten::squeeze", op.arg(2));
  const Dims sizes = shape::Broadcast({op.self(), self.view(), target.view()});
  if (work::Elements(sizes) == input.count()) {
    return d.Call("steelyard::two_class_gradient", op.arg(0), op.arg(1), op.arg(2));
  }
  const Tensor wide = d.Call("aten::expand", target, sizes);
  return d.Call("aten::as_strided", d.Call("steelyard::pair_like", self, wide), Dims(input.sizes()),
                EmptyLikeStrides(input.sizes(), input.strides()));
}

// binary_cross_entropy_backward(grad_output, self, target, weight, reduction).
std::vector<Tensor> BinaryCrossEntropyBackward(Dispatcher& d, const OpView& op) {
  const Tensor gradient = GradientLikeInput(d, op);
  if (op.given(3)) d.Call("aten::mul_.Tensor", gradient, op.arg(3));
  if (ReductionOf(op, 4) == LossReduction::kMean) {
    d.Call("aten::div_.Scalar", gradient, op.tensor(1).count());
  }
  return {gradient};
}

// binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction).
std::vector<Tensor> BinaryCrossEntropyWithLogits(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 4);
  const Tensor logs = d.Call("aten::log_sigmoid", op.arg(0));
  if (op.given(3)) {
    Tensor less_one = d.Call("aten::sub.Scalar", op.arg(3), 1);
    const Tensor weight = d.Call("aten::mul.Tensor", less_one, op.arg(1));
    d.Call("aten::add_.Scalar", weight, 1);
    less_one.reset();
    d.Call("aten::mul_.Tensor", logs, weight);
  }
  // (1 - target) * input - logs
  const Tensor terms = d.Call("aten::empty_like", op.arg(1));
  d.Call("aten::fill_.Scalar", terms, 1);
  d.Call("aten::sub_.Tensor", terms, op.arg(1));
  d.Call("aten::mul_.Tensor", terms, op.arg(0));
  d.Call("aten::sub_.Tensor", terms, logs);
  if (op.given(2)) d.Call("aten::mul_.Tensor", terms, op.arg(2));
  return {Reduce(d, terms, reduction)};
}

// kl_div(self, target, reduction, log_target).
std::vector<Tensor> KlDivergence(Dispatcher& d, const OpView& op) {
  const LossReduction reduction = ReductionOf(op, 2);
  Tensor terms;
  if (op.boolean(3)) {
    const Tensor difference = d.Call("aten::sub.Tensor", op.arg(1), op.arg(0));
    terms = d.Call("aten::mul.Tensor", d.Call("aten::exp", op.arg(1)), difference);
  } else {
    const Tensor product = d.Call("aten::mul.Tensor", op.arg(1), op.arg(0));
    terms = d.Call("aten::sub.Tensor", d.Call("aten::xlogy.Tensor", op.arg(1), op.arg(1)), product);
  }
  return {Reduce(d, terms, reduction)};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef LossKernel(OpName name, std::string_view summary, Signature signature,
                           std::string_view example, Gradient grad, Fusion fusion, ShapeFn shape,
                           Alias alias, DeviceAllocations allocations, WorkFn work) {
  return Kernel(Family::kLoss, {name, summary, signature, example},
                {shape, fusion, allocations, work, grad, precision::kFollow}, alias);
}

constexpr OpDef LossOf(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, DecomposeFn decompose,
                       Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kLoss, decompose, precision::kFollow,
                   grad);
}

// A difference and its square; losses of pairs with more arithmetic are rare enough to share it.
constexpr WorkFn kPairWork = work::PerOutput<work::PerElement{.alu = 2}>;

constexpr std::array kRows{
    LossKernel("aten::nll_loss_forward",
               "Negative log likelihood of one class per row, with the sum of weights.",
               "(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) "
               "-> (Tensor output, Tensor total_weight)",
               "aten::nll_loss_forward(f32[4,7], i64[4], None, 1, -100)", gradients::kNllLoss,
               Fusion::kReduction, NllShape, Alias::kNone,
               {NllAllocations, cuda::OutputsThenCopies<0, 1, 2>}, NllWork),
    LossKernel("aten::nll_loss2d_forward",
               "Negative log likelihood of one class per pixel, with the sum of weights.",
               "(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) "
               "-> (Tensor output, Tensor total_weight)",
               "aten::nll_loss2d_forward(f32[2,7,3,3], i64[2,3,3], None, 0, -100)",
               gradients::kNllLoss2d, Fusion::kReduction, Nll2dShape, Alias::kNone,
               {Nll2dAllocations, Nll2dOnCuda}, NllWork),
    Casting(precision::kFull,
            LossOf("aten::nll_loss", "Negative log likelihood of one class per row.",
                   "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                   "ignore_index=-100) -> Tensor",
                   "aten::nll_loss(f32[4,7], i64[4])", Nll<"aten::nll_loss_forward">)),
    Casting(precision::kFull,
            LossOf("aten::nll_loss2d", "Negative log likelihood of one class per pixel.",
                   "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                   "ignore_index=-100) -> Tensor",
                   "aten::nll_loss2d(f32[2,7,3,3], i64[2,3,3])", Nll<"aten::nll_loss2d_forward">)),
    LossOf("aten::nll_loss_nd", "Negative log likelihood of one class per row or pixel.",
           "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
           "ignore_index=-100) -> Tensor",
           "aten::nll_loss_nd(f32[2,7,3], i64[2,3])", NllOfAnyRank),
    Casting(precision::kFullOnCpu,
            LossOf("aten::cross_entropy_loss", "Negative log likelihood after a softmax.",
                   "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                   "ignore_index=-100, float label_smoothing=0.) -> Tensor",
                   "aten::cross_entropy_loss(f32[4,7], i64[4], label_smoothing=0.1)",
                   CrossEntropyLoss)),
    LossKernel("steelyard::pair_terms",
               "A loss of each pair of elements, made by the operator that calls; space for it, "
               "where no loss is named.",
               "(Tensor self, Tensor target, str of=\"\", float number=0.) -> Tensor",
               "steelyard::pair_terms(f32[4,7], f32[4,7], \"aten::mse_loss\")", kNoGradient,
               Fusion::kBroadcast, PairShape, Alias::kNone, CallerAllocations, kPairWork),
    LossKernel("steelyard::pair_buffer", "A loss of each pair of elements, before it is reduced.",
               "(Tensor self, Tensor target, str of, float number) -> Tensor",
               "steelyard::pair_buffer(f32[4,7], f32[4,7], \"aten::smooth_l1_loss\", 1.)",
               kNoGradient, Fusion::kBroadcast, PairShape, Alias::kNone,
               allocations::IterateByFactory<Promotion::kCommon, 0, 1>, work::None),
    LossKernel("steelyard::pair_like",
               "A loss of each pair of elements in a tensor like the input.",
               "(Tensor self, Tensor target, str of=\"\", float number=0.) -> Tensor",
               "steelyard::pair_like(f32[4,7], f32[4,7], \"aten::huber_loss\", 1.)", kNoGradient,
               Fusion::kBroadcast, PairLikeShape, Alias::kNone,
               {PairLikeAllocations, PairLikeAllocations}, kPairWork),
    LossKernel("steelyard::two_class_gradient",
               "The gradient of each term of a cross entropy of two classes.",
               "(Tensor grad, Tensor self, Tensor target) -> Tensor",
               "steelyard::two_class_gradient(f32[], f32[4,7], f32[4,7])", kNoGradient,
               Fusion::kBroadcast, shape::Like<1>, Alias::kNone,
               allocations::Via<"aten::empty_strided">, kPairWork),
    LossKernel("steelyard::reduce_in_place",
               "One number in the storage of a tensor: a mean or a sum of terms.",
               "(Tensor(a) self, Tensor terms, bool mean) -> Tensor(a)",
               "steelyard::reduce_in_place(f32[4,7], f32[4,7], True)", kNoGradient,
               Fusion::kReduction, ReducedInPlaceShape, Alias::kView,
               {ReducedInPlaceAllocations, ReducedInPlaceOnCuda}, ReducedInPlaceWork),
    Casting(precision::kFull,
            LossOf("aten::mse_loss", "Squared differences.",
                   "(Tensor self, Tensor target, int reduction=1) -> Tensor",
                   "aten::mse_loss(f32[4,7], f32[4,7])", PairLoss, gradients::kMseLoss)),
    Casting(
        precision::kFull,
        LossOf("aten::smooth_l1_loss", "Absolute differences, squared where small.",
               "(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
               "aten::smooth_l1_loss(f32[4,7], f32[4,7], 2)", PairLoss, gradients::kSmoothL1Loss)),
    Casting(precision::kFull, LossOf("aten::l1_loss", "Absolute differences.",
                                     "(Tensor self, Tensor target, int reduction=1) -> Tensor",
                                     "aten::l1_loss(f32[4,7], f32[4,7])", L1Loss)),
    Casting(precision::kFull,
            LossOf("aten::huber_loss", "Squared differences, linear where large.",
                   "(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
                   "aten::huber_loss(f32[4,7], f32[4,7])", HuberLoss, gradients::kHuberLoss)),
    Casting(precision::kFullOrRefused,
            LossOf("aten::binary_cross_entropy", "Cross entropy of probabilities of two classes.",
                   "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
                   "aten::binary_cross_entropy(f32[4,7], f32[4,7])", BinaryCrossEntropy,
                   gradients::kBinaryCrossEntropy)),
    Differentiable(gradients::kCrossEntropyBackward,
                   LossOf("aten::binary_cross_entropy_backward",
                          "The gradient of a cross entropy of two classes.",
                          "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, "
                          "int reduction=1) "
                          "-> Tensor",
                          "aten::binary_cross_entropy_backward(f32[], f32[4,7], f32[4,7])",
                          BinaryCrossEntropyBackward, kGradientUnknown)),
    CopyingOut(Casting(
        precision::kFull,
        LossOf("aten::binary_cross_entropy_with_logits",
               "Cross entropy of two classes after a sigmoid.",
               "(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int "
               "reduction=1) -> Tensor",
               "aten::binary_cross_entropy_with_logits(f32[4,7], f32[4,7], None, f32[7])",
               BinaryCrossEntropyWithLogits, gradients::kBinaryCrossEntropyWithLogits))),
    Casting(
        precision::kFull,
        LossOf("aten::kl_div", "Divergence of two distributions.",
               "(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
               "aten::kl_div(f32[4,7], f32[4,7])", KlDivergence)),
};

}  // namespace

std::span<const OpDef> Loss() { return kRows; }

}  // namespace steelyard::ops
