// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels of activations, softmax, normalization, attention, slices and losses. The
// gradient comes first; what a kernel allocates besides its results follows its source in
// aten/src/ATen/native.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "ir/layout.h"
#include "ops/attention_blocks.h"
#include "ops/backward.h"
#include "ops/contents/words.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/releases.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/activation_backward.h"
#include "ops/gradients/image_backward.h"
#include "ops/gradients/loss_backward.h"
#include "ops/gradients/normalization_backward.h"
#include "ops/onednn/attention_gradient.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;
using Scratch = std::optional<Allocations::Scratch>;

// A kernel over elements of the gradient and of what was saved.
constexpr OpDef Pointwise(
    OpName name, std::string_view summary, Signature signature, std::string_view example,
    WorkFn work, DeviceAllocations allocations = allocations::Iterate<Promotion::kCommon, 0, 1>,
    ShapeFn shape = shape::Iterate<Promotion::kCommon, 0, 1>) {
  return Kernel(
      Family::kElementwise, {name, summary, signature, example},
      {shape, Fusion::kBroadcast, allocations, work, kGradientUnknown, precision::kFollow});
}

constexpr OpDef Kernel(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, Family family, Fusion fusion, ShapeFn shape,
                       DeviceAllocations allocations, WorkFn work) {
  return Kernel(family, {name, summary, signature, example},
                {shape, fusion, allocations, work, kGradientUnknown, precision::kFollow});
}

// The windows that were added up.
Tensor UnfoldedAgain(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::unfold", b.grad(), op.arg(2), op.arg(3), op.arg(4));
}
constexpr Gradient kUnfoldBackward{"UnfoldBackwardBackward0", {GradientOf(0, {}, UnfoldedAgain)}};

// A derivative that is a polynomial of the result; of gelu, one that computes it anew.
constexpr WorkFn kOfResult = work::PerOutput<PerElement{.alu = 3}>;
constexpr WorkFn kSelection = work::PerOutput<PerElement{.compare = 1, .move = 1}>;
constexpr WorkFn kSiluBackward = work::PerOutput<PerElement{.alu = 6, .special = 1}>;
constexpr WorkFn kGeluBackward = work::PerOutput<PerElement{.alu = 9, .special = 2}>;

// --- gelu ----------------------------------------------------------------------------------------

// oneDNN's kernel, of the exact gelu, reads a contiguous operand and a gradient that is made so; a
// result in the order of another gradient is computed contiguous first.
void GeluBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self(), self = op.tensor(1);
  const DType dtype = self.dtype();
  if (op.text(2) == "tanh" || gradient.dtype() != dtype || !self.is_contiguous() ||
      (dtype != DType::kFloat32 && dtype != DType::kBFloat16) ||
      !std::ranges::equal(gradient.sizes(), self.sizes())) {
    return allocations::Iterate<Promotion::kCommon, 0, 1>(op, memory);
  }
  memory.Output(0);
  if (gradient.is_contiguous()) return;
  const Allocations::Scratch copy = memory.Allocate(self.bytes());
  if (!op.output().is_contiguous()) memory.Free(memory.Allocate(self.bytes()));
  memory.Free(copy);
}

// --- softmax -------------------------------------------------------------------------------------

void SoftmaxBackwardShape(const OpView& op, Outputs& out) {
  // Half-precision operands that were widened get a gradient of their own width.
  const bool narrow = op.self().dtype() == DType::kFloat32 && op.dtype(3) == DType::kFloat16;
  out.Add(narrow ? DType::kFloat16 : op.self().dtype(), op.self().sizes());
}

// Gradient and result are read row by row: made contiguous where they are not.
void SoftmaxBackwardAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const Scratch gradient = allocations::Contiguous(op.self(), memory);
  const Scratch output = allocations::Contiguous(op.tensor(1), memory);
  allocations::Free(output, memory);
  allocations::Free(gradient, memory);
}

// On CUDA softmax's kernel is given the product of gradient and result, and reads it the same way.
void SoftmaxBackwardOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  constexpr std::array kFactors{0, 1};
  Outputs made;
  shape::IterateOver(op, Promotion::kCommon, kFactors, made);
  const Outputs::Meta& product = made.metas()[0];
  const std::int64_t bytes = allocations::Bytes(work::Elements(op.self()), product.dtype);
  const auto factor = memory.Allocate(bytes, "aten::mul");
  Scratch dense;
  if (!IsContiguous(product.sizes, product.strides)) dense = memory.Allocate(bytes, "aten::empty");
  const Scratch output = cuda::Contiguous(op.tensor(1), memory);
  allocations::Free(output, memory);
  allocations::Free(dense, memory);
  memory.Free(factor);
}
void LogSoftmaxBackwardOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const Scratch gradient = cuda::Contiguous(op.self(), memory);
  const Scratch output = cuda::Contiguous(op.tensor(1), memory);
  allocations::Free(output, memory);
  allocations::Free(gradient, memory);
}

// --- native_layer_norm_backward(grad, input, shape, mean, rstd, weight, bias, mask[3]) ----------

void LayerNormBackwardShape(const OpView& op, Outputs& out) {
  const std::vector<std::int64_t> mask = op.integers(7);
  const TensorView input = op.tensor(1), weight = op.tensor(5), bias = op.tensor(6);
  const auto wanted = [&](std::size_t i) { return i < mask.size() && mask[i] != 0; };
  wanted(0) ? out.Add(input.dtype(), input.sizes()) : out.AddNone();
  wanted(1) && weight.defined() ? out.Add(weight.dtype(), weight.sizes()) : out.AddNone();
  wanted(2) && bias.defined() ? out.Add(bias.dtype(), bias.sizes()) : out.AddNone();
}

// Input, weight and gradient are made contiguous; every thread sums the parameters' gradients in a
// row of its own.
void LayerNormBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.tensor(1), weight = op.tensor(5), bias = op.tensor(6);
  const Scratch dense = allocations::Contiguous(input, memory);
  const Scratch scale = weight.defined() ? allocations::Contiguous(weight, memory) : std::nullopt;
  const Scratch shift = bias.defined() ? allocations::Contiguous(bias, memory) : std::nullopt;
  for (int i = 0; i < 3; ++i) {
    if (op.output(i).defined()) memory.Output(i, "aten::empty");
  }
  const Scratch gradient = allocations::Contiguous(op.self(), memory);
  const bool sums_rows = op.output(1).defined() || op.output(2).defined();
  if (sums_rows && input.count() > 0) {
    const std::int64_t row = NumElements(op.ints(2)).value_or(0);
    const Count sums = Count(2) * op.target().threads * row;
    memory.Free(memory.Allocate(allocations::Bytes(sums, input.dtype()), "aten::resize_"));
  }
  for (const Scratch& copy : {gradient, shift, scale, dense}) allocations::Free(copy, memory);
}

// layer_norm_kernel.cu: of many short rows blocks of threads leave partial sums for the gradients
// of parameters, results 1 to `parameters`.
void PartialSums(const OpView& op, std::size_t parameters, DType dtype, Allocations& memory) {
  constexpr std::int64_t kManyRows = 65536, kWarp = 32, kMostSums = 32768;
  const std::int64_t width = NumElements(op.ints(2)).value_or(0);
  const std::int64_t rows = width == 0 ? 0 : op.tensor(1).count() / width;
  if (cuda::IsBefore(op.target(), cuda::kSumsArePartial)) return;
  if (rows <= kManyRows || width / kWarp >= op.target().multiprocessors / 2) return;
  const std::int64_t height =
      std::min(kMostSums / ((width + kWarp - 1) / kWarp), (rows + kWarp - 1) / kWarp);
  const std::array sizes{height, width};
  const std::array strides{width, std::int64_t{1}};
  std::array<Scratch, 2> partial;
  for (std::size_t i = 0; i < parameters; ++i) {
    if (op.output(static_cast<int>(i) + 1).defined())
      partial.at(i) =
          memory.Allocate(allocations::Bytes(Count(height) * width, dtype), "aten::empty");
  }
  // Each is summed into a new tensor, which takes the place of the gradient's own.
  for (std::size_t i = 0; i < parameters; ++i) {
    if (!partial.at(i)) continue;
    const auto sum = memory.Allocate(allocations::Bytes(width, dtype), "aten::sum");
    cuda::Stage(op, {sizes, strides}, dtype, 1, cuda::SumOf(dtype), memory);
    memory.Free(sum);
  }
  for (std::size_t i = partial.size(); i-- > 0;) allocations::Free(partial.at(i), memory);
}

void LayerNormBackwardOnCuda(const OpView& op, Allocations& memory) {
  const TensorView input = op.tensor(1), weight = op.tensor(5), bias = op.tensor(6);
  const Scratch dense = cuda::Contiguous(input, memory);
  const Scratch scale = weight.defined() ? cuda::Contiguous(weight, memory) : std::nullopt;
  const Scratch shift = bias.defined() ? cuda::Contiguous(bias, memory) : std::nullopt;
  for (int i = 0; i < 3; ++i) {
    if (op.output(i).defined()) memory.Output(i, "aten::empty");
  }
  const Scratch gradient = cuda::Contiguous(op.self(), memory);
  PartialSums(op, 2, weight.defined() ? weight.dtype() : input.dtype(), memory);
  for (const Scratch& copy : {gradient, shift, scale, dense}) allocations::Free(copy, memory);
}

// _fused_rms_norm_backward(grad, input, shape, rstd, weight, mask[2])
void RootNormBackwardShape(const OpView& op, Outputs& out) {
  const std::vector<std::int64_t> mask = op.integers(5);
  const TensorView input = op.tensor(1), weight = op.tensor(4);
  const auto wanted = [&](std::size_t i) { return i < mask.size() && mask[i] != 0; };
  wanted(0) ? out.Add(input.dtype(), input.sizes()) : out.AddNone();
  wanted(1) && weight.defined() ? out.Add(weight.dtype(), weight.sizes()) : out.AddNone();
}
void RootNormBackwardOnCuda(const OpView& op, Allocations& memory) {
  const TensorView input = op.tensor(1), weight = op.tensor(4);
  const Scratch dense = cuda::Contiguous(input, memory);
  const Scratch scale = weight.defined() ? cuda::Contiguous(weight, memory) : std::nullopt;
  for (int i = 0; i < 2; ++i) {
    if (op.output(i).defined()) memory.Output(i, "aten::empty");
  }
  const Scratch gradient = cuda::Contiguous(op.self(), memory);
  PartialSums(op, 1, weight.defined() ? weight.dtype() : input.dtype(), memory);
  for (const Scratch& copy : {gradient, scale, dense}) allocations::Free(copy, memory);
}
Work RootNormBackwardWork(const OpView& op) { return {.alu = work::Elements(op.tensor(1)) * 9}; }

Work LayerNormBackwardWork(const OpView& op) { return {.alu = work::Elements(op.tensor(1)) * 13}; }

// --- attention -----------------------------------------------------------------------------------

void FlashBackwardShape(const OpView& op, Outputs& out) {
  for (int i = 0; i <= 3; ++i) shape::RequireRank("an operand of attention", op.tensor(i), 4);
  for (int i = 1; i <= 3; ++i) {
    attention::AddHeadsLast(op.tensor(i).dtype(), Dims(op.tensor(i).sizes()), out);
  }
}

// The gradient of the output is copied unless its lengths lie outside its heads. Each thread has
// two blocks of scores, and a sum per query.
void FlashBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self(), query = op.tensor(1);
  for (int i = 0; i < 3; ++i) memory.Output(i, "aten::empty");
  Scratch copy;
  if (!attention::LiesHeadsLast(gradient)) {
    copy = memory.Allocate(allocations::Bytes(work::Elements(gradient), gradient.dtype()),
                           "aten::empty");
  }
  const Scratch mask = attention::PackedMask(op.tensor(8), memory);
  const DType wide = attention::WideType(query.dtype());
  const std::int64_t rows = attention::QueryRows(query.size(2));
  const Count scores =
      Count(2) * op.target().threads * rows * attention::KeyColumns(op.tensor(2).size(2));
  const Scratch block = memory.Allocate(allocations::Bytes(scores, wide), "aten::empty");
  Scratch narrow;
  if (wide != query.dtype()) {
    narrow = memory.Allocate(allocations::Bytes(scores, query.dtype()), "aten::empty");
  }
  const Scratch sums =
      memory.Allocate(allocations::Bytes(Count(op.target().threads) * rows, wide), "aten::empty");
  if (query.dtype() == DType::kBFloat16) {
    const double usual = 1 / std::sqrt(static_cast<double>(query.size(3)));
    const auto has_gaps = [](const TensorView& heads) {
      return heads.size(2) > 1 && heads.stride(2) != heads.size(3);
    };
    onednn::AllocateProducts(
        {.heads = query.size(0) * query.size(1),
         .queries = query.size(2),
         .keys = op.tensor(2).size(2),
         .size = query.size(3),
         .causal = op.boolean(7),
         .scaled = op.real(9, usual) != 1,
         .queries_have_gaps = has_gaps(query),
         .keys_have_gaps = has_gaps(op.tensor(2)),
         .gradient_has_gaps = copy ? gradient.size(1) > 1 : has_gaps(gradient)},
        op.target(), memory);
  }
  for (const Scratch& scratch : {sums, narrow, block, mask, copy})
    allocations::Free(scratch, memory);
}

// --- slices, losses ------------------------------------------------------------------------------

Work AddGradient(const OpView& op) { return {.alu = work::Elements(op.self())}; }

void SizesShape(const OpView& op, Outputs& out) { out.Add(op.self().dtype(), op.ints(1)); }

// grad, input_sizes, dim, size, step: windows that overlap are added up by the positions of what
// they cover.
void UnfoldBackwardAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  const std::int64_t size = op.integer(3), step = op.integer(4);
  if (step >= size) return;
  const TensorView out = op.output();
  const int dim = op.dim(2, out.rank());
  const std::int64_t windows = out.rank() > 0 ? op.self().size(dim) : 1;
  const Count reach = Count(windows - 1) * step + size;
  const std::int64_t positions = std::min(out.rank() > 0 ? out.size(dim) : 1, reach.value());
  memory.Free(memory.Allocate(allocations::Bytes(positions, DType::kInt64), "aten::resize_"));
}

// Row-major, whatever the operand is.
void LikeSecondShape(const OpView& op, Outputs& out) {
  out.Add(op.tensor(1).dtype(), op.tensor(1).sizes());
}

// A gradient is made like one of the operands, and again where the others make it larger.
constexpr std::array kPair{1, 2, 0};  // self, target, grad
bool IsBroadcast(const OpView& op, const TensorView& like) {
  return !std::ranges::equal(Sizes(shape::Broadcast({op.self(), op.tensor(1), op.tensor(2)})),
                             like.sizes());
}

// grad, self, target: of the dtype of self, row-major unless it is made again.
void PairBackwardShape(const OpView& op, Outputs& out) {
  if (!IsBroadcast(op, op.tensor(1))) return LikeSecondShape(op, out);
  Outputs common;
  shape::IterateOver(op, Promotion::kCommon, kPair, common);
  const Outputs::Meta& whole = common.metas()[0];
  out.Add(op.tensor(1).dtype(), whole.sizes, whole.strides);
}

// The iterator of operands of different dtypes computes in a buffer like the result, which is made
// again with it.
void PairBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.tensor(1), out = op.output();
  const DType common = ResultType({self, op.tensor(2), op.self()});
  const bool grows = out.count() > self.count(), buffered = common != self.dtype();
  Scratch first, buffer;
  if (grows) {
    first = memory.Allocate(self.bytes(), "aten::empty");
  } else {
    memory.Output(0, "aten::empty");
  }
  if (buffered) buffer = memory.Allocate(allocations::Bytes(self.count(), common), "aten::empty");
  std::array<Scratch, kPair.size()> casts;
  for (std::size_t i = 0; i < kPair.size(); ++i) {
    casts.at(i) = allocations::Cast(op.tensor(kPair.at(i)), common, memory);
  }
  if (grows && buffered) {
    const Scratch whole = memory.Allocate(allocations::Bytes(out.count(), common));
    allocations::Free(std::exchange(buffer, whole), memory);
  }
  if (grows) {
    const std::string_view label = buffered ? "aten::resize_" : "";
    memory.Output(0, label);
    memory.Free(*first, label);
  }
  allocations::Free(buffer, memory);
  for (std::size_t i = kPair.size(); i-- > 0;) allocations::Free(casts.at(i), memory);
}
// On CUDA nothing is cast.
void PairBackwardOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.tensor(1);
  Scratch first;
  if (op.output().count() > self.count()) first = memory.Allocate(self.bytes(), "aten::empty");
  memory.Output(0);
  allocations::Free(first, memory);
}
constexpr DeviceAllocations kPairBackward{PairBackwardAllocations, PairBackwardOnCuda};

// grad, self, buffer: like the gradient that arrives.
void LogSigmoidBackwardShape(const OpView& op, Outputs& out) {
  if (op.target().device == Device::kCuda) {  // which reads no buffer
    if (std::ranges::equal(op.self().sizes(), op.tensor(1).sizes())) return shape::Like<0>(op, out);
    return shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
  }
  if (!IsBroadcast(op, op.self())) return shape::Like<0>(op, out);
  shape::Iterate<Promotion::kCommon, 1, 2, 0>(op, out);
}
void LogSigmoidBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self();
  constexpr std::string_view kFactory = "aten::empty_strided";
  if (op.output().count() <= gradient.count()) return memory.Output(0, kFactory);
  const Scratch first = memory.Allocate(gradient.bytes(), kFactory);
  memory.Output(0);
  allocations::Free(first, memory);
}

// grad, self, target, weight, reduction, ignore_index, total_weight
void NllBackwardShape(const OpView& op, Outputs& out) {
  out.Add(op.tensor(1).dtype(), op.tensor(1).sizes());
}
Work NllBackwardWork(const OpView& op) {
  return {.alu = work::Elements(op.tensor(2)) * 2, .move = work::Elements(op.output())};
}

// Weight and target are made contiguous; losses that are not reduced read the target as it lies.
void NllBackward2dAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty_strided");
  const Scratch weight = op.given(3) ? allocations::Contiguous(op.tensor(3), memory) : std::nullopt;
  const bool reduced = op.integer(4, 1) != 0;
  const Scratch target = reduced ? allocations::Contiguous(op.tensor(2), memory) : std::nullopt;
  allocations::Free(target, memory);
  allocations::Free(weight, memory);
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr std::array kRows{
    Differentiable(gradients::kThresholdBackward,
                   Pointwise("aten::threshold_backward",
                             "The gradient where the operand is above `threshold`.",
                             "(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
                             "aten::threshold_backward(f32[2,8], f32[2,8], 0)", kSelection,
                             allocations::Iterate<Promotion::kCommon, 1, 0>,
                             shape::Iterate<Promotion::kCommon, 1, 0>)),
    Differentiable(
        gradients::kGeluBackward,
        Pointwise("aten::gelu_backward", "The gradient of gelu.",
                  "(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
                  "aten::gelu_backward(f32[2,8], f32[2,8])", kGeluBackward,
                  GeluBackwardAllocations)),
    Differentiable(gradients::kTanhBackward,
                   Pointwise("aten::tanh_backward", "The gradient of tanh.",
                             "(Tensor grad_output, Tensor output) -> Tensor",
                             "aten::tanh_backward(f32[2,8], f32[2,8])", kOfResult)),
    Differentiable(gradients::kSigmoidBackward,
                   Pointwise("aten::sigmoid_backward", "The gradient of sigmoid.",
                             "(Tensor grad_output, Tensor output) -> Tensor",
                             "aten::sigmoid_backward(f32[2,8], f32[2,8])", kOfResult)),
    Pointwise("aten::silu_backward", "The gradient of silu.",
              "(Tensor grad_output, Tensor self) -> Tensor",
              "aten::silu_backward(f32[2,8], f32[2,8])", kSiluBackward),
    Differentiable(
        gradients::kEluBackward,
        Pointwise(
            "aten::elu_backward", "The gradient of elu.",
            "(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
            "Tensor self_or_result) -> Tensor",
            "aten::elu_backward(f32[2,8], 1.0, 1, 1, False, f32[2,8])", kSiluBackward,
            allocations::Iterate<Promotion::kCommon, 0, 5>,
            shape::Iterate<Promotion::kCommon, 0, 5>)),
    Differentiable(
        gradients::kHardtanhBackward,
        Pointwise("aten::hardtanh_backward", "The gradient of hardtanh.",
                  "(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
                  "aten::hardtanh_backward(f32[2,8], f32[2,8], 0, 6)", kSelection,
                  allocations::IterateByFactory<Promotion::kCommon, 0, 1>)),
    Differentiable(gradients::kHardswishBackward,
                   CopyingOut(Pointwise("aten::hardswish_backward", "The gradient of hardswish.",
                                        "(Tensor grad_output, Tensor self) -> Tensor",
                                        "aten::hardswish_backward(f32[2,8], f32[2,8])", kSelection,
                                        allocations::IterateByFactory<Promotion::kCommon, 0, 1>))),
    Pointwise("aten::hardsigmoid_backward", "The gradient of hardsigmoid.",
              "(Tensor grad_output, Tensor self) -> Tensor",
              "aten::hardsigmoid_backward(f32[2,8], f32[2,8])", kSelection),
    Differentiable(gradients::kLeakyReluBackward,
                   Pointwise("aten::leaky_relu_backward", "The gradient of leaky_relu.",
                             "(Tensor grad_output, Tensor self, Scalar negative_slope, bool "
                             "self_is_result) -> Tensor",
                             "aten::leaky_relu_backward(f32[2,8], f32[2,8], 0.1, False)",
                             kSelection, allocations::Iterate<Promotion::kCommon, 1, 0>,
                             shape::Iterate<Promotion::kCommon, 1, 0>)),
    Differentiable(gradients::kHardshrinkBackward,
                   Pointwise("aten::hardshrink_backward", "The gradient of hardshrink.",
                             "(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
                             "aten::hardshrink_backward(f32[2,8], f32[2,8], 0.5)", kSelection)),
    Differentiable(gradients::kSoftshrinkBackward,
                   Pointwise("aten::softshrink_backward", "The gradient of softshrink.",
                             "(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
                             "aten::softshrink_backward(f32[2,8], f32[2,8], 0.5)", kSelection)),
    Differentiable(gradients::kGluBackward,
                   Pointwise("aten::glu_backward", "The gradient of a gated half.",
                             "(Tensor grad_output, Tensor self, int dim) -> Tensor",
                             "aten::glu_backward(f32[2,4], f32[2,8], -1)", kSiluBackward,
                             allocations::Via<"aten::resize_">, LikeSecondShape)),
    Differentiable(
        gradients::kSoftplusBackward,
        Pointwise("aten::softplus_backward", "The gradient of softplus.",
                  "(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
                  "aten::softplus_backward(f32[2,8], f32[2,8], 1, 20)", kSiluBackward)),
    Pointwise("aten::mish_backward", "The gradient of mish.",
              "(Tensor grad_output, Tensor self) -> Tensor",
              "aten::mish_backward(f32[2,8], f32[2,8])", kGeluBackward),
    Differentiable(
        gradients::kLogSigmoidBackward,
        Pointwise("aten::log_sigmoid_backward", "The gradient of log_sigmoid.",
                  "(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
                  "aten::log_sigmoid_backward(f32[2,8], f32[2,8], f32[2,8])", kSiluBackward,
                  {LogSigmoidBackwardAllocations, LogSigmoidBackwardAllocations},
                  LogSigmoidBackwardShape)),
    Differentiable(
        gradients::kSquaredErrorBackward,
        Kernel("aten::mse_loss_backward", "The gradient of the mean squared error.",
               "(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
               "aten::mse_loss_backward(f32[], f32[4,8], f32[4,8], 1)", Family::kLoss,
               Fusion::kBroadcast, PairBackwardShape, kPairBackward, kOfResult)),
    Differentiable(
        gradients::kSmoothErrorBackward,
        Kernel(
            "aten::smooth_l1_loss_backward", "The gradient of smooth absolute differences.",
            "(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor",
            "aten::smooth_l1_loss_backward(f32[], f32[4,8], f32[4,8], 1, 1.0)", Family::kLoss,
            Fusion::kBroadcast, PairBackwardShape, kPairBackward, kOfResult)),
    Differentiable(
        gradients::kHuberBackward,
        Kernel("aten::huber_loss_backward", "The gradient of the Huber loss.",
               "(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> "
               "Tensor",
               "aten::huber_loss_backward(f32[], f32[4,8], f32[4,8], 1, 1.0)", Family::kLoss,
               Fusion::kBroadcast, PairBackwardShape, kPairBackward, kOfResult)),
    Pointwise("aten::logit_backward", "The gradient of the logarithm of odds.",
              "(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
              "aten::logit_backward(f32[2,8], f32[2,8])", kSiluBackward),
    Differentiable(
        gradients::kSoftmaxBackward,
        Knowing(
            contents::SoftmaxGradient,
            Kernel("aten::_softmax_backward_data", "The gradient of softmax, from its result.",
                   "(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
                   "aten::_softmax_backward_data(f32[2,8], f32[2,8], -1, f32)",
                   Family::kNormalization, Fusion::kReduction, SoftmaxBackwardShape,
                   {SoftmaxBackwardAllocations, SoftmaxBackwardOnCuda},
                   work::PerOutput<PerElement{.alu = 4}>))),
    Differentiable(
        gradients::kLogSoftmaxBackward,
        Kernel("aten::_log_softmax_backward_data", "The gradient of log_softmax, from its result.",
               "(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
               "aten::_log_softmax_backward_data(f32[2,8], f32[2,8], -1, f32)",
               Family::kNormalization, Fusion::kReduction, SoftmaxBackwardShape,
               {SoftmaxBackwardAllocations, LogSoftmaxBackwardOnCuda},
               work::PerOutput<PerElement{.alu = 3, .special = 1}>)),
    Differentiable(
        gradients::kLayerNormBackward,
        CopyingOut(Kernel(
            "aten::native_layer_norm_backward", "The gradients of a layer norm.",
            "(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, "
            "Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
            "aten::native_layer_norm_backward(f32[2,3,8], f32[2,3,8], [8], f32[2,3,1], f32[2,3,1], "
            "f32[8], f32[8], [True, True, True])",
            Family::kNormalization, Fusion::kOpaque, LayerNormBackwardShape,
            {LayerNormBackwardAllocations, LayerNormBackwardOnCuda}, LayerNormBackwardWork))),
    Kernel("aten::_fused_rms_norm_backward", "The gradients of a root-mean-square norm on CUDA.",
           "(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight, "
           "bool[2] output_mask) -> (Tensor, Tensor)",
           "aten::_fused_rms_norm_backward(f32[2,3,8], f32[2,3,8], [8], f32[2,3,1], f32[8], [True, "
           "True])",
           Family::kNormalization, Fusion::kOpaque, RootNormBackwardShape,
           {allocations::OutputsOnly, RootNormBackwardOnCuda}, RootNormBackwardWork),
    Kernel("aten::_scaled_dot_product_flash_attention_for_cpu_backward",
           "The gradients of attention, block by block.",
           "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor "
           "logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? "
           "scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
           "aten::_scaled_dot_product_flash_attention_for_cpu_backward(f32[2,4,9,8], f32[2,4,9,8], "
           "f32[2,4,9,8], f32[2,4,9,8], f32[2,4,9,8], f32[2,4,9], 0.0, False)",
           Family::kAttention, Fusion::kOpaque, FlashBackwardShape, FlashBackwardAllocations,
           attention::FusedBackwardWork<8, 7>),
    Differentiable(
        gradients::OfViewBackward<"aten::slice.Tensor">("SliceBackwardBackward0"),
        CopyingOut(Kernel(
            "aten::slice_backward", "The gradient of a slice, zero elsewhere.",
            "(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt "
            "step) -> Tensor",
            "aten::slice_backward(f32[2,3], [2,8], 1, 0, 3, 1)", Family::kIndexing,
            Fusion::kInjective, SizesShape, allocations::Via<"aten::empty">, work::Move))),
    Differentiable(
        gradients::OfViewBackward<"aten::select.int">("SelectBackwardBackward0"),
        CopyingOut(Kernel(
            "aten::select_backward", "The gradient of one element of a dimension, zero elsewhere.",
            "(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
            "aten::select_backward(f32[2], [2,8], 1, 0)", Family::kIndexing, Fusion::kInjective,
            SizesShape, allocations::Via<"aten::empty">, work::Move))),
    Differentiable(
        gradients::OfViewBackward<"aten::diagonal">("DiagonalBackwardBackward0"),
        CopyingOut(Kernel(
            "aten::diagonal_backward", "The gradient of a diagonal, zero elsewhere.",
            "(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
            "aten::diagonal_backward(f32[4], [4,10], 1, 0, 1)", Family::kIndexing,
            Fusion::kInjective, SizesShape, allocations::Via<"aten::empty">, work::Move))),
    CopyingOut(Differentiable(
        kUnfoldBackward,
        Kernel("aten::unfold_backward", "The gradient of windows along a dimension.",
               "(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
               "aten::unfold_backward(f32[2,3,3], [2,8], 1, 3, 2)", Family::kIndexing,
               Fusion::kOpaque, SizesShape, {UnfoldBackwardAllocations, UnfoldBackwardAllocations},
               AddGradient))),
    Differentiable(
        gradients::kLikelihood2dBackward,
        Kernel("aten::nll_loss2d_backward",
               "The gradient of the negative log likelihood per pixel.",
               "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
               "SymInt "
               "ignore_index, Tensor total_weight) -> Tensor",
               "aten::nll_loss2d_backward(f32[], f32[2,7,3,3], i64[2,3,3], None, 1, -100, f32[])",
               Family::kLoss, Fusion::kOpaque, shape::Like<1>,
               {NllBackward2dAllocations, NllBackward2dAllocations}, NllBackwardWork)),
    Differentiable(
        gradients::kLikelihoodBackward,
        Kernel("aten::nll_loss_backward", "The gradient of the negative log likelihood.",
               "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
               "SymInt "
               "ignore_index, Tensor total_weight) -> Tensor",
               "aten::nll_loss_backward(f32[], f32[4,8], i64[4], None, 1, -100, f32[])",
               Family::kLoss, Fusion::kOpaque, NllBackwardShape,
               {allocations::OutputsOnly, cuda::OutputsThenCopies<2, 3>}, NllBackwardWork)),
};

}  // namespace

std::span<const OpDef> NetworkBackward() { return kRows; }

}  // namespace steelyard::ops
