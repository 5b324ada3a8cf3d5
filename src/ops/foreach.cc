// SPDX-License-Identifier: Apache-2.0
//
// Operators on lists of tensors. On the CPU each is a loop over the operator for one tensor
// (aten/src/ATen/native/ForeachOpsKernels.cpp); the fused ones are kernels, which allocate nothing
// (aten/src/ATen/native/Fused*.cpp).

#include "ops/gradients/foreach.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/releases.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/comparison.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/traffic.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

// --- Loops --------------------------------------------------------------------------------------

std::size_t LengthOf(const OpView& op) {
  std::optional<std::size_t> length;
  for (int i = 0; i < op.arg_count(); ++i) {
    if (op.arg(i).kind != ArgKind::kList) continue;
    const std::size_t count = op.program().list(op.arg(i).list).size();
    if (length && *length != count) Contradict("the lists are not of one length");
    length = count;
  }
  if (!length || *length == 0) Contradict("the list has no tensors");
  return *length;
}

// What the operator for one tensor is called with: of every list the k-th element, and what is no
// list as it is.
std::vector<Argument> ElementOf(const OpView& op, std::size_t k) {
  std::vector<Argument> args;
  for (int i = 0; i < op.arg_count(); ++i) {
    const Argument& arg = op.arg(i);
    args.push_back(arg.kind == ArgKind::kList ? op.program().list(arg.list)[k] : arg);
    args.back().name = kNoString;
  }
  return args;
}

template <Label kPart>
std::vector<Tensor> Each(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> results;
  const std::size_t length = LengthOf(op);
  results.reserve(length);
  for (std::size_t k = 0; k < length; ++k) {
    results.push_back(d.CallWith(kOpNamed<kPart>, ElementOf(op, k))[0]);
  }
  return results;
}

// The same for operators that overwrite and return nothing: each tensor gets a node of its own.
template <Label kPart>
std::vector<Tensor> EachInPlace(Dispatcher& d, const OpView& op) {
  std::vector<std::vector<Argument>> calls;
  const std::size_t length = LengthOf(op);
  calls.reserve(length);
  for (std::size_t k = 0; k < length; ++k) calls.push_back(ElementOf(op, k));
  d.CallEach(kOpNamed<kPart>, std::move(calls));
  return {};
}

// Norms of a list by one kernel: partial ones of chunks, and a table of where each tensor's begin;
// before there was one each tensor had as many as the longest.
std::vector<Tensor> NormsTogether(Dispatcher& d, const OpView& op) {
  constexpr std::int64_t kChunk = 65536;
  const std::vector<Tensor> tensors = d.tensors(op, 0);
  const DType dtype = tensors[0].dtype();
  const DType wide = BitsOf(dtype) < 32 ? DType::kFloat32 : dtype;
  const auto count = static_cast<std::int64_t>(tensors.size());
  const bool has_table = !cuda::IsBefore(d.target(), cuda::kNormsHaveTable);
  std::int64_t longest = 0, total = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t chunks = DivideUp(tensor.count(), kChunk);
    longest = std::max(longest, chunks);
    total += chunks;
  }
  Tensor table;
  if (has_table) table = d.Call("aten::empty.memory_format", Dims{count + 1}, DType::kInt64);
  Tensor partial = d.Call("aten::zeros", Dims{has_table ? total : count * longest}, wide);
  std::vector<Tensor> results;
  results.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    results.push_back(d.Call("aten::empty.memory_format", Dims{}, op.dtype(2).value_or(dtype)));
  d.CallWith("steelyard::stand_in", {});
  partial.reset();
  table.reset();
  return results;
}

// Whether the kernel computes them (can_use_fast_route and foreach_tensor_norm_cuda).
bool AreNormedTogether(const Dispatcher& d, const OpView& op, const std::vector<Tensor>& list) {
  const double order = op.real(1, 2);
  const bool has_kernel = order == 1 || order == 2 || order == HUGE_VAL;
  return d.target().device == Device::kCuda && has_kernel &&
         std::ranges::all_of(list, [&](const Tensor& t) {
           return IsFloating(t.dtype()) && t.dtype() == list[0].dtype() &&
                  IsNonOverlappingAndDense(t.sizes(), t.strides());
         });
}

std::vector<Tensor> Norms(Dispatcher& d, const OpView& op) {
  if (LengthOf(op) == 0) return {};
  const std::vector<Tensor> list = d.tensors(op, 0);
  if (AreNormedTogether(d, op, list)) return NormsTogether(d, op);
  std::vector<Tensor> results;
  for (const Tensor& tensor : d.tensors(op, 0)) {
    results.push_back(
        d.Call("aten::linalg_vector_norm", tensor, op.arg(1), Dims(), false, op.arg(2)));
  }
  return results;
}

constexpr OpDef List(OpName name, std::string_view summary, Signature signature,
                     std::string_view example, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return CopyingOut(Composite(name, summary, signature, example, Family::kElementwise, decompose,
                              precision::kFollow, grad));
}

// --- Fused optimizers ---------------------------------------------------------------------------

Count ElementsOf(const OpView& op, int list) {
  Count count = 0;
  for (const TensorView& tensor : op.tensors(list)) count += tensor.count();
  return count;
}

template <int kAlu, int kSpecial>
Work FusedWork(const OpView& op) {
  const Count count = ElementsOf(op, 0);
  return {.alu = count * kAlu, .special = count * kSpecial};
}

// Every list is read, and all but the gradients, which come second, are written.
Traffic FusedTraffic(const OpView& op) {
  Traffic traffic;
  for (int i = 0; i < op.arg_count() && op.arg(i).kind == ArgKind::kList; ++i) {
    Count bytes = 0;
    for (const TensorView& tensor : op.tensors(i)) bytes += traffic::Bytes(tensor);
    traffic.read += bytes;
    if (i != 1) traffic.written += bytes;
  }
  return traffic;
}

void NoOutputs(const OpView& op, Outputs&) {
  if (op.tensors(0).size() != op.tensors(1).size()) Contradict("the lists are not of one length");
}

constexpr OpDef Fused(OpName name, std::string_view summary, Signature signature,
                      std::string_view example, WorkFn work) {
  return Kernel(
      Family::kOptimizer, {name, summary, signature, example},
      {NoOutputs, Fusion::kOpaque, allocations::None, work, kNoGradient, precision::kFollow},
      Alias::kInPlace, FusedTraffic);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    List("aten::_foreach_neg", "Changes the sign of each.", "(Tensor[] self) -> Tensor[]",
         "aten::_foreach_neg([f32[2,8], f32[3]])", Each<"aten::neg">, gradients::kEachNeg),
    List("aten::_foreach_sqrt", "Square root of each.", "(Tensor[] self) -> Tensor[]",
         "aten::_foreach_sqrt([f32[2,8], f32[3]])", Each<"aten::sqrt">, gradients::kEachSqrt),
    List("aten::_foreach_sqrt_", "Square root of each, in place.", "(Tensor(a!)[] self) -> ()",
         "aten::_foreach_sqrt_([f32[2,8], f32[3]])", EachInPlace<"aten::sqrt_">),
    List("aten::_foreach_rsqrt_", "One over the square root of each, in place.",
         "(Tensor(a!)[] self) -> ()", "aten::_foreach_rsqrt_([f32[2,8], f32[3]])",
         EachInPlace<"aten::rsqrt_">),
    List("aten::_foreach_reciprocal_", "One over each, in place.", "(Tensor(a!)[] self) -> ()",
         "aten::_foreach_reciprocal_([f32[2,8], f32[3]])", EachInPlace<"aten::reciprocal_">),
    List("aten::_foreach_zero_", "Overwrites each with zeros.", "(Tensor(a!)[] self) -> ()",
         "aten::_foreach_zero_([f32[2,8], f32[3]])", EachInPlace<"aten::zero_">),
    List("aten::_foreach_clamp_min_.Scalar", "Limits each from below, in place.",
         "(Tensor(a!)[] self, Scalar scalar) -> ()",
         "aten::_foreach_clamp_min_.Scalar([f32[2,8], f32[3]], 0.5)",
         EachInPlace<"aten::clamp_min_">),
    List("aten::_foreach_clamp_max_.Scalar", "Limits each from above, in place.",
         "(Tensor(a!)[] self, Scalar scalar) -> ()",
         "aten::_foreach_clamp_max_.Scalar([f32[2,8], f32[3]], 0.5)",
         EachInPlace<"aten::clamp_max_">),
    List("aten::_foreach_maximum_.List", "The larger of two, in place.",
         "(Tensor(a!)[] self, Tensor[] other) -> ()",
         "aten::_foreach_maximum_.List([f32[2,8], f32[3]], [f32[2,8], f32[3]])",
         EachInPlace<"steelyard::maximum_">),
    Composite("steelyard::maximum_", "The larger of two, in place, inside an operator on lists.",
              "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
              "steelyard::maximum_(f32[2,8], f32[2,8])", Family::kElementwise,
              decompose::SameAs<"aten::clamp_min_.Tensor">, precision::kFollow, gradients::kMaximum,
              Alias::kInPlace),
    List("aten::_foreach_add.List", "Adds, the second operands scaled by `alpha`.",
         "(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]",
         "aten::_foreach_add.List([f32[2,8], f32[3]], [f32[2,8], f32[3]], alpha=0.5)",
         Each<"aten::add.Tensor">, gradients::kEachAdd),
    List("aten::_foreach_add_.List", "Adds into the first operands.",
         "(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()",
         "aten::_foreach_add_.List([f32[2,8], f32[3]], [f32[2,8], f32[3]])",
         EachInPlace<"aten::add_.Tensor">),
    List("aten::_foreach_sub_.List", "Subtracts from the first operands.",
         "(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()",
         "aten::_foreach_sub_.List([f32[2,8], f32[3]], [f32[2,8], f32[3]])",
         EachInPlace<"aten::sub_.Tensor">),
    List("aten::_foreach_add_.Scalar", "Adds a number into each.",
         "(Tensor(a!)[] self, Scalar scalar) -> ()",
         "aten::_foreach_add_.Scalar([f32[2,8], f32[3]], 1)", EachInPlace<"aten::add_.Scalar">),
    List("aten::_foreach_add_.ScalarList", "Adds to each a number of its own.",
         "(Tensor(a!)[] self, Scalar[] scalars) -> ()",
         "aten::_foreach_add_.ScalarList([f32[2,8], f32[3]], [0.5, 1.5])",
         EachInPlace<"aten::add_.Scalar">),
    List("aten::_foreach_add_.Tensor", "Adds a 0-dim tensor into each.",
         "(Tensor(a!)[] self, Tensor other, *, Scalar alpha=1) -> ()",
         "aten::_foreach_add_.Tensor([f32[2,8], f32[3]], f32[])", EachInPlace<"aten::add_.Tensor">),
    List("aten::_foreach_mul.List", "Multiplies.", "(Tensor[] self, Tensor[] other) -> Tensor[]",
         "aten::_foreach_mul.List([f32[2,8], f32[3]], [f32[2,8], f32[3]])",
         Each<"aten::mul.Tensor">, gradients::kEachMul),
    List("aten::_foreach_mul.ScalarList", "Multiplies each by a number of its own.",
         "(Tensor[] self, Scalar[] scalars) -> Tensor[]",
         "aten::_foreach_mul.ScalarList([f32[2,8], f32[3]], [0.5, 1.5])", Each<"aten::mul.Scalar">,
         gradients::kEachMulNumber),
    List("aten::_foreach_mul_.Scalar", "Multiplies each by a number, in place.",
         "(Tensor(a!)[] self, Scalar scalar) -> ()",
         "aten::_foreach_mul_.Scalar([f32[2,8], f32[3]], 0.5)", EachInPlace<"aten::mul_.Scalar">),
    List("aten::_foreach_mul_.ScalarList", "Multiplies each by a number of its own, in place.",
         "(Tensor(a!)[] self, Scalar[] scalars) -> ()",
         "aten::_foreach_mul_.ScalarList([f32[2,8], f32[3]], [0.5, 1.5])",
         EachInPlace<"aten::mul_.Scalar">),
    List("aten::_foreach_mul_.List", "Multiplies into the first operands.",
         "(Tensor(a!)[] self, Tensor[] other) -> ()",
         "aten::_foreach_mul_.List([f32[2,8], f32[3]], [f32[2,8], f32[3]])",
         EachInPlace<"aten::mul_.Tensor">),
    List("aten::_foreach_mul_.Tensor", "Multiplies each by a 0-dim tensor, in place.",
         "(Tensor(a!)[] self, Tensor other) -> ()",
         "aten::_foreach_mul_.Tensor([f32[2,8], f32[3]], f32[])", EachInPlace<"aten::mul_.Tensor">),
    List("aten::_foreach_div.List", "Divides.", "(Tensor[] self, Tensor[] other) -> Tensor[]",
         "aten::_foreach_div.List([f32[2,8], f32[3]], [f32[2,8], f32[3]])",
         Each<"aten::div.Tensor">, gradients::kEachDiv),
    List("aten::_foreach_div.Tensor", "Divides each by a 0-dim tensor.",
         "(Tensor[] self, Tensor other) -> Tensor[]",
         "aten::_foreach_div.Tensor([f32[2,8], f32[3]], f32[])", Each<"aten::div.Tensor">,
         gradients::kEachDivByOne),
    List("aten::_foreach_div_.ScalarList", "Divides each by a number of its own, in place.",
         "(Tensor(a!)[] self, Scalar[] scalars) -> ()",
         "aten::_foreach_div_.ScalarList([f32[2,8], f32[3]], [0.5, 1.5])",
         EachInPlace<"aten::div_.Scalar">),
    List("aten::_foreach_div_.List", "Divides the first operands, in place.",
         "(Tensor(a!)[] self, Tensor[] other) -> ()",
         "aten::_foreach_div_.List([f32[2,8], f32[3]], [f32[2,8], f32[3]])",
         EachInPlace<"aten::div_.Tensor">),
    List("aten::_foreach_lerp_.Scalar", "Goes a part of the way, in place.",
         "(Tensor(a!)[] self, Tensor[] tensors1, Scalar weight) -> ()",
         "aten::_foreach_lerp_.Scalar([f32[2,8], f32[3]], [f32[2,8], f32[3]], 0.1)",
         EachInPlace<"aten::lerp_.Scalar">),
    List("aten::_foreach_lerp_.ScalarList", "Each goes a part of its own of the way, in place.",
         "(Tensor(a!)[] self, Tensor[] tensors1, Scalar[] weight) -> ()",
         "aten::_foreach_lerp_.ScalarList([f32[2,8], f32[3]], [f32[2,8], f32[3]], [0.1, 0.2])",
         EachInPlace<"aten::lerp_.Scalar">),
    List("aten::_foreach_addcmul.Scalar", "Adds products of two tensors and a number.",
         "(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]",
         "aten::_foreach_addcmul.Scalar([f32[2,8], f32[3]], [f32[2,8], f32[3]], [f32[2,8], "
         "f32[3]], -1)",
         Each<"aten::addcmul">, gradients::kEachAddcmul),
    List("aten::_foreach_addcmul_.Scalar", "Adds products of two tensors and a number, in place.",
         "(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ()",
         "aten::_foreach_addcmul_.Scalar([f32[2,8], f32[3]], [f32[2,8], f32[3]], [f32[2,8], "
         "f32[3]])",
         EachInPlace<"aten::addcmul_">),
    List("aten::_foreach_addcdiv_.Scalar",
         "Adds quotients of two tensors times a number, in place.",
         "(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ()",
         "aten::_foreach_addcdiv_.Scalar([f32[2,8], f32[3]], [f32[2,8], f32[3]], [f32[2,8], "
         "f32[3]])",
         EachInPlace<"aten::addcdiv_">),
    List("aten::_foreach_addcdiv_.ScalarList",
         "Adds quotients of two tensors times numbers, in place.",
         "(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> ()",
         "aten::_foreach_addcdiv_.ScalarList([f32[2,8], f32[3]], [f32[2,8], f32[3]], [f32[2,8], "
         "f32[3]], [0.5, 1.5])",
         EachInPlace<"aten::addcdiv_">),
    List("aten::_foreach_norm.Scalar", "A norm of each.",
         "(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
         "aten::_foreach_norm.Scalar([f32[2,8], f32[3]])", Norms, gradients::kEachNorm),
    Fused("aten::_fused_sgd_", "A step of SGD.",
          "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float "
          "weight_decay, float momentum, float lr, float dampening, bool nesterov, bool maximize, "
          "bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
          "aten::_fused_sgd_([f32[2,8], f32[3]], [f32[2,8], f32[3]], [f32[2,8], f32[3]], "
          "weight_decay=0.0, momentum=0.9, lr=0.1, dampening=0.0, nesterov=False, maximize=False, "
          "is_first_step=False)",
          FusedWork<5, 0>),
    Fused("aten::_fused_adam_", "A step of Adam.",
          "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] "
          "exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float "
          "beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? "
          "grad_scale=None, Tensor? found_inf=None) -> ()",
          "aten::_fused_adam_([f32[2,8], f32[3]], [f32[2,8], f32[3]], [f32[2,8], f32[3]], "
          "[f32[2,8], f32[3]], [], [f32[], f32[]], lr=0.1, beta1=0.9, beta2=0.99, "
          "weight_decay=0.0, eps=1e-08, amsgrad=False, maximize=False)",
          FusedWork<13, 1>),
    Fused("aten::_fused_adamw_", "A step of AdamW.",
          "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] "
          "exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float "
          "beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? "
          "grad_scale=None, Tensor? found_inf=None) -> ()",
          "aten::_fused_adamw_([f32[2,8], f32[3]], [f32[2,8], f32[3]], [f32[2,8], f32[3]], "
          "[f32[2,8], f32[3]], [], [f32[], f32[]], lr=0.1, beta1=0.9, beta2=0.99, "
          "weight_decay=0.01, eps=1e-08, amsgrad=False, maximize=False)",
          FusedWork<14, 1>),
    Fused("aten::_fused_adagrad_", "A step of Adagrad.",
          "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor(d!)[] "
          "state_steps, *, float lr, float lr_decay, float weight_decay, float eps, bool maximize, "
          "Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
          "aten::_fused_adagrad_([f32[2,8], f32[3]], [f32[2,8], f32[3]], [f32[2,8], f32[3]], "
          "[f32[], f32[]], lr=0.1, lr_decay=0.0, weight_decay=0.0, eps=1e-08, maximize=False)",
          FusedWork<6, 1>),
};

}  // namespace

std::span<const OpDef> Foreach() { return kRows; }

}  // namespace steelyard::ops
