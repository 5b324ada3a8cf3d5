// SPDX-License-Identifier: Apache-2.0
//
// Connectionist temporal classification: the loss of all alignments of a sequence with its target
// (ATen/native/LossCTC.cpp). Where lengths are tensors only the data tell them: rows take every
// target to be as long as there is room for.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/cuda/determinism.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/bags.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/reduce.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- The kernels: log_probs, targets, input_lengths, target_lengths, blank, zero_infinity -------

std::int64_t LongestTarget(const OpView& op, int i) {
  std::int64_t longest = 0;
  for (const std::int64_t length : op.integers(i)) {
    if (length < 0) Refuse("a target of negative length");
    longest = std::max(longest, length);
  }
  return longest;
}

void RequireAlignment(const TensorView& chances, const OpView& op, int lengths) {
  shape::RequireRank("the probabilities", chances, 3);
  if (chances.dtype() != DType::kFloat32 && chances.dtype() != DType::kFloat64) {
    Refuse("probabilities are float32 or float64, not " + shape::Text(chances));
  }
  for (int i : {lengths, lengths + 1}) {
    const auto count = static_cast<std::int64_t>(op.integers(i).size());
    shape::RequireEqual("sequences and lengths", chances.size(1), count);
  }
}

// The loss of each sequence, and the chance to be at each place of its target at each time.
void CtcShape(const OpView& op, Outputs& out) {
  const TensorView chances = op.self();
  RequireAlignment(chances, op, 2);
  const Count places = Count(LongestTarget(op, 3)) * 2 + 1;
  out.Add(chances.dtype(), Dims{chances.size(1)});
  out.Add(chances.dtype(), Dims{chances.size(1), chances.size(0), places.value()});
}
void CtcAllocations(const OpView&, Allocations& memory) {
  memory.Output(1, "aten::empty");
  memory.Output(0, "aten::empty");
}
// On CUDA the lengths, and where each target begins, lie in so many int64 tensors.
constexpr std::size_t kLists = 3;
void CtcOnCuda(const OpView& op, Allocations& memory) {
  std::array<Allocations::Scratch, kLists> lists{};
  const std::int64_t bytes = allocations::Bytes(op.self().size(1), DType::kInt64);
  for (Allocations::Scratch& list : lists) list = memory.Allocate(bytes);
  CtcAllocations(op, memory);
  for (const auto list : lists) memory.Free(list);
}
// Each place is reached from three, by sums of exponentials.
Work OfPlaces(const TensorView& places) {
  return work::Times({.alu = 5, .special = 4, .compare = 2}, work::Elements(places));
}
Work CtcWork(const OpView& op) { return OfPlaces(op.output(1)); }

// grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank,
// zero_infinity -> the gradient, and log_beta: the same as log_alpha from the end
void CtcBackwardShape(const OpView& op, Outputs& out) {
  RequireAlignment(op.tensor(1), op, 3);
  out.Add(op.tensor(1).dtype(), op.tensor(1).sizes());
  out.Add(op.tensor(6).dtype(), op.tensor(6).sizes());
}
void CtcBackwardAllocations(const OpView&, Allocations& memory) {
  memory.Output(0, "aten::empty");
  memory.Output(1, "aten::empty");
}
void CtcBackwardOnCuda(const OpView&, Allocations& memory) {
  memory.Output(1);
  memory.Output(0);
}
Work CtcBackwardWork(const OpView& op) {
  return OfPlaces(op.tensor(6)) +
         work::Times({.alu = 2, .special = 1}, work::Elements(op.output()));
}

// Whether CUDA gathers the blank's gradient by itself, as between many labels or of long sequences
// (ctc_loss_backward_gpu_template in cuda/LossCTC.cu).
bool GathersBlank(const TensorView& chances) {
  constexpr std::int64_t kLarge = 450;
  return 2 * chances.size(0) + 24 * chances.size(1) / 10 + 2 * chances.size(2) / 10 > kLarge;
}

// The blank stands at every other place.
void GatherBlank(Dispatcher& d, const OpView& op, const Tensor& gradient, const Tensor& beta) {
  const auto blanks = [&](const Tensor& places) {
    const TensorView view = places.view();
    const Dims strides{view.stride(0), view.stride(1), 2 * view.stride(2)};
    const Dims sizes{places.size(0), places.size(1), places.size(2) / 2 + 1};
    return d.Call("aten::as_strided", places, sizes, strides, 0);
  };
  const Tensor blank = d.Call("aten::narrow", gradient, 2, op.arg(7), 1);
  const Tensor sum = d.Call("aten::add.Tensor", blanks(d.tensor(op, 6)), blanks(beta));
  const Tensor in_time = d.Call("aten::permute", sum, Dims{1, 0, 2});
  d.Call("aten::copy_", blank, d.Call("aten::logsumexp", in_time, Dims{2}, true));
}

std::vector<Tensor> CtcBackward(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> lists;
  if (d.target().device == Device::kCuda) {
    const Dims batch{op.tensor(1).size(1)};
    for (std::size_t i = 0; i < kLists; ++i) {
      lists.push_back(d.Call("aten::empty.memory_format", batch, DType::kInt64));
    }
  }
  std::vector<Tensor> results =
      d.CallMany("steelyard::ctc_gradients", op.arg(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4),
                 op.arg(5), op.arg(6), op.arg(7), op.arg(8));
  if (!lists.empty() && GathersBlank(op.tensor(1))) GatherBlank(d, op, results[0], results[1]);
  results.pop_back();
  for (Tensor& list : lists) list.reset();
  return results;
}

// --- ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)

std::vector<Tensor> Loss(Dispatcher& d, const OpView& op, std::span<const std::int64_t> inputs,
                         std::span<const std::int64_t> lengths, bool are_known) {
  const LossReduction reduction = ReductionOf(op, 5);
  const TensorView given = op.self();
  const bool batched = given.rank() == 3;
  const Tensor chances = batched ? d.tensor(op, 0) : d.Call("aten::unsqueeze", op.arg(0), 1);
  Tensor loss;
  {
    // CUDA looks whether cuDNN takes them.
    if (d.target().device == Device::kCuda) d.Call("aten::contiguous", op.arg(1));
    const Tensor targets = d.Call("aten::to.dtype", op.arg(1), DType::kInt64);
    std::vector<Tensor> results =
        d.CallMany("aten::_ctc_loss", chances, targets, inputs, lengths, op.arg(4), op.arg(6));
    if (!are_known) d.CallWith("steelyard::stand_in", {});
    loss = std::move(results[0]);
  }
  if (op.boolean(6)) {
    const Tensor zero = d.Call("aten::zeros", Dims(), loss.dtype());
    const Tensor infinite =
        d.Call("aten::eq.Scalar", loss, std::numeric_limits<double>::infinity());
    loss = d.Call("aten::where.self", infinite, zero, loss);
  }
  if (reduction == LossReduction::kMean) {
    Tensor divisors = d.Call("steelyard::numbers", lengths, loss.dtype());
    divisors = d.Call("aten::clamp_min", divisors, 1);
    return {d.Call("aten::mean", d.Call("aten::div.Tensor", loss, divisors))};
  }
  if (reduction == LossReduction::kSum) return {d.Call("aten::sum", loss)};
  return {batched ? loss : d.Call("aten::squeeze.dim", loss, 0)};
}

std::vector<Tensor> LossOfLists(Dispatcher& d, const OpView& op) {
  return Loss(d, op, op.integers(2), op.integers(3), true);
}

std::vector<Tensor> LossOfTensors(Dispatcher& d, const OpView& op) {
  const TensorView chances = op.self(), targets = op.tensor(1);
  if (chances.rank() != 2 && chances.rank() != 3) Refuse("probabilities in time are needed");
  const auto batch = static_cast<std::size_t>(chances.rank() == 3 ? chances.size(1) : 1);
  for (int i : {2, 3}) {
    shape::RequireEqual("sequences and lengths", static_cast<std::int64_t>(batch),
                        op.tensor(i).count());
  }
  Tensor inputs, lengths;
  if (d.target().device == Device::kCpu) {  // where they are read
    inputs = d.Call("aten::contiguous", d.Call("aten::to.dtype", op.arg(2), DType::kInt64));
    lengths = d.Call("aten::contiguous", d.Call("aten::to.dtype", op.arg(3), DType::kInt64));
  }
  d.Note("aten::ctc_loss is weighed as if every target were as long as there is room for");
  const std::int64_t longest = targets.rank() > 0 ? targets.size(-1) : 0;
  return Loss(d, op, std::vector<std::int64_t>(batch, chances.size(0)),
              std::vector<std::int64_t>(batch, longest), false);
}

void NumbersShape(const OpView& op, Outputs& out) {
  const std::size_t count = op.program().list(op.arg(0).list).size();
  out.Add(*op.dtype(1), Dims{static_cast<std::int64_t>(count)});
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Composite("aten::ctc_loss.IntList", "The loss of all alignments of sequences with targets.",
              "(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
              "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
              "aten::ctc_loss.IntList(f32[10,2,5], i64[2,3], [10,10], [3,2])", Family::kLoss,
              LossOfLists, precision::kFullOnCpu),
    Composite("aten::ctc_loss.Tensor", "The loss of all alignments of sequences with targets.",
              "(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int "
              "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
              "aten::ctc_loss.Tensor(f32[10,2,5], i64[2,3], i64[2], i64[2])", Family::kLoss,
              LossOfTensors, precision::kFullOnCpu),
    CopyingOut(
        Kernel(Family::kLoss,
               {"aten::_ctc_loss", "The loss of all alignments of each sequence with its target.",
                "(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
                "blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
                "aten::_ctc_loss(f32[10,2,5], i64[2,3], [10,10], [3,2])"},
               {CtcShape, Fusion::kOpaque, DeviceAllocations{CtcAllocations, CtcOnCuda}, CtcWork,
                gradients::kCtcLoss, precision::kFollow})),
    CopyingOut(Composite(
        Family::kLoss,
        {"aten::_ctc_loss_backward", "The gradient of probabilities in time.",
         "(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
         "target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool "
         "zero_infinity=False) -> Tensor",
         "aten::_ctc_loss_backward(f32[2], f32[10,2,5], i64[2,3], [10,10], [3,2], f32[2], "
         "f32[2,10,7], 0)"},
        CtcBackward, kGradientUnknown)),
    Kernel(Family::kLoss,
           {"steelyard::ctc_gradients",
            "The gradient of probabilities in time, and the chances from the end, inside "
            "`_ctc_loss_backward`.",
            "(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
            "target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool "
            "zero_infinity=False) -> (Tensor, Tensor)",
            "steelyard::ctc_gradients(f32[2], f32[10,2,5], i64[2,3], [10,10], [3,2], f32[2], "
            "f32[2,10,7], 0)"},
           {cuda::Unordered<CtcBackwardShape>, Fusion::kOpaque,
            DeviceAllocations{CtcBackwardAllocations, CtcBackwardOnCuda}, CtcBackwardWork,
            kGradientUnknown, precision::kFollow}),
    Kernel(Family::kFactory,
           {"steelyard::numbers", "A tensor of numbers that an operator has in a list.",
            "(Scalar[] numbers, ScalarType dtype) -> Tensor", "steelyard::numbers([3,2], f32)"},
           {NumbersShape, Fusion::kElementwise,
            DeviceAllocations{allocations::Via<"aten::empty">, allocations::Via<"aten::empty">},
            work::None, kNoGradient, precision::kFollow},
           Alias::kNone, traffic::None),
};

}  // namespace

std::span<const OpDef> CtcLoss() { return kRows; }

}  // namespace steelyard::ops
