// SPDX-License-Identifier: Apache-2.0
//
// Normalizations. The native_* kernels also give the statistics that a gradient needs; the
// operators around them drop those (ATen/native/layer_norm.cpp, Normalization.cpp,
// group_norm.cpp).

#include "ops/gradients/normalization.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/batch_norm.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/releases.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/network.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/normalization.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using normalization::AccumulateType;
using normalization::ChannelsAreAdjacent;
using normalization::IsDenseImage;
using normalization::StatisticsType;

void RequireChannels(std::string_view name, const TensorView& t, std::int64_t channels) {
  if (t.defined()) shape::RequireEqual(name, Count(work::Elements(t)).value(), channels);
}

// --- native_layer_norm(input, normalized_shape, weight, bias, eps) ------------------------------

void RequireNormalized(const TensorView& input, const Dims& normalized) {
  const int lead = input.rank() - normalized.size();
  if (normalized.empty() || lead < 0 ||
      !std::ranges::equal(input.sizes().subspan(static_cast<std::size_t>(lead)),
                          std::span<const std::int64_t>(normalized))) {
    Refuse(fmt::format("{} does not end in the normalized shape {}", shape::Text(input),
                       shape::Text(normalized)));
  }
}

// Groups of elements that are normalized together.
Count RowsOf(const OpView& op) {
  const int lead = op.self().rank() - op.ints(1).size();
  return work::Elements(op.self().sizes().first(static_cast<std::size_t>(lead)));
}

void LayerNormShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self(), weight = op.tensor(2), bias = op.tensor(3);
  const Dims normalized = op.ints(1);
  RequireNormalized(input, normalized);
  for (const TensorView& parameter : {weight, bias}) {
    if (parameter.defined() &&
        !std::ranges::equal(parameter.sizes(), std::span<const std::int64_t>(normalized))) {
      Refuse(fmt::format("a parameter {} for the normalized shape {}", shape::Text(parameter),
                         shape::Text(normalized)));
    }
  }
  Dims statistics(input.sizes());
  for (int i = input.rank() - normalized.size(); i < input.rank(); ++i) statistics[i] = 1;
  const DType dtype = op.target().device == Device::kCuda ? AccumulateType(input.dtype())
                                                          : StatisticsType(input, {weight, bias});
  out.Add(input.dtype(), input.sizes());
  out.Add(dtype, statistics);
  out.Add(dtype, statistics);
}

void LayerNormAllocations(const OpView& op, Allocations& memory) {
  std::array<std::optional<Allocations::Scratch>, 3> copies;
  const std::array operands{op.self(), op.tensor(2), op.tensor(3)};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].defined()) copies[i] = allocations::Contiguous(operands[i], memory);
  }
  allocations::Via<"aten::empty">(op, memory);
  for (std::size_t i = operands.size(); i-- > 0;) allocations::Free(copies[i], memory);
}

constexpr DeviceAllocations kLayerNormAllocations{LayerNormAllocations,
                                                  cuda::CopiesThenOutputs<0, 2, 3>};

// Per element: two sums for mean and variance, subtract, square, scale, multiply by the weight and
// add the bias; per row: two divisions, an addition of eps and a reciprocal root.
Work LayerNormWork(const OpView& op) {
  const Count elements = work::Elements(op.self());
  const Count rows = RowsOf(op);
  return {.alu = elements * 7 + rows * 3, .special = rows};
}

std::vector<Tensor> LayerNorm(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::native_layer_norm", op.arg(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4))};
}

// --- native_batch_norm(input, weight, bias, mean, variance, training, momentum, eps) ------------

DType BatchStatisticsType(const OpView& op) {
  if (op.target().device == Device::kCuda) return AccumulateType(op.self().dtype());
  return StatisticsType(op.self(), {op.tensor(1), op.tensor(2), op.tensor(3), op.tensor(4)});
}

void BatchNormShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self();
  if (input.rank() < 2) Refuse(fmt::format("{} has no channels", shape::Text(input)));
  const std::int64_t channels = input.size(1);
  RequireChannels("channels of the weight", op.tensor(1), channels);
  RequireChannels("channels of the bias", op.tensor(2), channels);
  RequireChannels("channels of the running mean", op.tensor(3), channels);
  RequireChannels("channels of the running variance", op.tensor(4), channels);
  // On CUDA those of an image that is not normalized by them are the running ones.
  const bool on_cuda = op.target().device == Device::kCuda;
  const Dims statistics{op.boolean(5) || on_cuda ? channels : 0};
  const DType dtype = BatchStatisticsType(op);
  out.Add(input.dtype(), input.sizes(),
          on_cuda ? EmptyLikeStrides(input.sizes(), input.strides())
                  : window::StridesLike(input, input.sizes()));
  out.Add(dtype, statistics);
  out.Add(dtype, statistics);
}

// Adjacent channels are added up in one buffer per thread, unless there are so few elements that
// each thread takes some of the channels; half-precision ones always.
std::int64_t SumsBytes(const OpView& op) {
  const TensorView input = op.self();
  const std::int64_t per_channel = input.count() / std::max<std::int64_t>(input.size(1), 1);
  const bool direct = !IsHalf(input.dtype()) && per_channel <= op.target().threads;
  if (!ChannelsAreAdjacent(input) || direct) return 0;
  return allocations::Bytes(Count(input.size(1)) * op.target().threads,
                            AccumulateType(input.dtype()));
}

bool ParametersAreContiguous(const OpView& op) {
  constexpr std::array kParameters{1, 2, 3, 4};
  return std::ranges::all_of(kParameters,
                             [&](int i) { return !op.given(i) || op.tensor(i).is_contiguous(); });
}

// Two tensors of one number per channel that live only here.
void AllocatePair(std::int64_t bytes, Allocations& memory, std::int64_t buffer = 0) {
  const Allocations::Scratch first = memory.Allocate(bytes, "aten::empty");
  const Allocations::Scratch second = memory.Allocate(bytes, "aten::empty");
  memory.Free(memory.Allocate(buffer, "aten::empty"));
  memory.Free(second);
  memory.Free(first);
}

// What an operator with a Python number gives, if not in place, after the number's box and its cast
// to `dtype`, which die with the operator.
Allocations::Scratch AllocateWithNumber(std::string_view label, DType number, DType dtype,
                                        std::int64_t bytes, Allocations& memory) {
  const Allocations::Scratch box = memory.Allocate(BitsOf(number) / 8, label);
  const std::int64_t cast_bytes = dtype == number ? 0 : BitsOf(dtype) / 8;
  const Allocations::Scratch cast = memory.Allocate(cast_bytes, "aten::empty_strided");
  const Allocations::Scratch result = memory.Allocate(bytes, label);
  memory.Free(cast, label);
  memory.Free(box, label);
  return result;
}

// The mean of each channel, as `mean` makes it: sums divided by a number, in the accumulation
// dtype.
void AllocateMean(const OpView& op, Allocations& memory) {
  const TensorView input = op.self();
  const DType wide = AccumulateType(input.dtype());
  memory.Output(1, "aten::mean");
  Allocations::Scratch sums = memory.Allocate(0);
  if (BatchStatisticsType(op) != wide) {
    sums = memory.Allocate(allocations::Bytes(input.size(1), wide), "aten::empty_strided");
  }
  if (input.dtype() != wide) {
    const std::int64_t bytes = allocations::Bytes(work::Elements(input), wide);
    memory.Free(memory.Allocate(bytes, "aten::empty_strided"), "aten::sum");
  }
  AllocateWithNumber("aten::div_", DType::kInt64, wide, 0, memory);
  memory.Free(sums, "aten::mean");
}

// In training the mean of each channel and its variance. Of images in no dense order the mean is an
// operator of its own.
void BatchStatisticsAllocations(const OpView& op, Allocations& memory) {
  if (!IsDenseImage(op.self())) {
    AllocateMean(op, memory);
    return memory.Output(2, "aten::empty");
  }
  memory.Output(1, "aten::empty");
  memory.Output(2, "aten::empty");
  // Of float16, not of bfloat16, the sums are float32.
  const bool widened = op.self().dtype() == DType::kFloat16;
  const DType dtype = widened ? DType::kFloat32 : BatchStatisticsType(op);
  AllocatePair(allocations::Bytes(op.self().size(1), dtype), memory, SumsBytes(op));
}

// Where something does not lie densely, the steps from the running variance to its reciprocal root
// are operators, and a missing weight or bias is a number.
void StridedScaleAllocations(const OpView& op, Allocations& memory) {
  const DType dtype = BatchStatisticsType(op);
  Allocations::Scratch root = memory.Allocate(0);
  if (!op.boolean(5)) {
    const std::int64_t bytes = allocations::Bytes(op.self().size(1), dtype);
    const Allocations::Scratch sum =
        AllocateWithNumber("aten::add", DType::kFloat64, dtype, bytes, memory);
    const Allocations::Scratch square_root = memory.Allocate(bytes, "aten::sqrt");
    root = memory.Allocate(bytes, "aten::empty_strided");
    memory.Free(square_root);
    memory.Free(sum);
  }
  std::vector<Allocations::Scratch> numbers;
  for (int parameter : {1, 2}) {
    if (!op.given(parameter)) numbers.push_back(memory.Allocate(BitsOf(dtype) / 8));
  }
  for (std::size_t i = numbers.size(); i-- > 0;) memory.Free(numbers[i]);
  memory.Free(root);
}

void BatchNormAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.self();
  memory.Output(0, "aten::empty");
  if (op.boolean(5)) BatchStatisticsAllocations(op, memory);
  if (!IsDenseImage(input) || !ParametersAreContiguous(op)) {
    return StridedScaleAllocations(op, memory);
  }
  // What each channel is multiplied by and what is added to it.
  AllocatePair(allocations::Bytes(input.size(1), AccumulateType(input.dtype())), memory);
}

// In training two sums, a subtraction and the scaling per element; otherwise only the scaling. Per
// channel the scale and shift, in training also the running statistics.
Work BatchNormWork(const OpView& op) {
  const Count elements = work::Elements(op.self());
  const Count channels = op.self().size(1);
  if (op.boolean(5)) return {.alu = elements * 5 + channels * 17, .special = channels};
  return {.alu = elements * 2 + channels * 5, .special = channels};
}

std::vector<Tensor> BatchNorm(Dispatcher& d, const OpView& op) {
  if (normalization::UsesCudnn(op)) {
    std::array<Tensor, 5> dense;
    for (std::size_t i = 0; i < dense.size(); ++i) {
      const int at = static_cast<int>(i);
      if (op.given(at))
        dense.at(i) = d.Call("aten::contiguous", op.arg(at),
                             at == 0 ? SuggestedFormat(op.self()) : kContiguousFormat);
    }
    std::vector<Tensor> out = d.CallMany("aten::cudnn_batch_norm", dense[0], dense[1], dense[2],
                                         dense[3], dense[4], op.arg(5), op.arg(6), op.arg(7));
    for (Tensor& t : dense) t.reset();
    return {out[0]};
  }
  return {d.Call("aten::native_batch_norm", op.arg(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4),
                 op.arg(5), op.arg(6), op.arg(7))};
}

std::vector<Tensor> BatchNormInference(Dispatcher& d, const OpView& op) {
  return d.CallMany("aten::_native_batch_norm_legit", op.arg(0), op.arg(1), op.arg(2), op.arg(3),
                    op.arg(4), false, op.arg(5), op.arg(6));
}

// The running statistics are updated in copies, which are outputs too.
std::vector<Tensor> BatchNormFunctional(Dispatcher& d, const OpView& op) {
  const Tensor mean = d.Call("aten::clone", op.arg(3)), variance = d.Call("aten::clone", op.arg(4));
  std::vector<Tensor> out = d.CallMany("aten::_native_batch_norm_legit", op.arg(0), op.arg(1),
                                       op.arg(2), mean, variance, op.arg(5), op.arg(6), op.arg(7));
  out.push_back(mean);
  out.push_back(variance);
  return out;
}

// input, weight, bias, training, momentum, eps: the rules of a call without running statistics.
template <class Rule>
auto OfBatch(const OpView& op, const Rule& rule) {
  if (!op.boolean(3)) Refuse("without running statistics there is only training");
  const std::array arguments{op.arg(0),        op.arg(1), op.arg(2), Argument::None(),
                             Argument::None(), op.arg(3), op.arg(4), op.arg(5)};
  std::vector<ValueId> outputs;
  outputs.reserve(static_cast<std::size_t>(op.output_count()));
  for (int i = 0; i < op.output_count(); ++i) outputs.push_back(op.output(i).id());
  return rule(OpView(op.program(), op.def(), arguments, outputs, op.target(), op.known()));
}
void BatchNormOfBatchShape(const OpView& op, Outputs& out) {
  OfBatch(op, [&](const OpView& call) { BatchNormShape(call, out); });
}
void BatchNormOfBatchAllocations(const OpView& op, Allocations& memory) {
  OfBatch(op, [&](const OpView& call) { BatchNormAllocations(call, memory); });
}
void BatchNormOfBatchOnCuda(const OpView& op, Allocations& memory) {
  OfBatch(op, [&](const OpView& call) { cuda::BatchNorm(call, memory); });
}
Work BatchNormOfBatchWork(const OpView& op) { return OfBatch(op, BatchNormWork); }

// instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
// cudnn_enabled): batch_norm of one image that has the channels of all.
std::vector<Tensor> InstanceNorm(Dispatcher& d, const OpView& op) {
  const TensorView input = op.self();
  if (input.rank() < 3) Refuse(fmt::format("{} has no pixels", shape::Text(input)));
  const Dims batch{input.size(0)};
  const Count channels = Count(input.size(0)) * input.size(1);
  if (channels.overflowed()) Contradict(fmt::format("the channels of {}", shape::Text(input)));
  std::array<Tensor, 4> repeated;
  for (std::size_t i = 0; i < repeated.size(); ++i) {
    const int at = static_cast<int>(i) + 1;
    if (op.given(at)) repeated[i] = d.Call("aten::repeat", op.arg(at), batch);
  }
  Dims sizes{1, channels.value()};
  for (std::int64_t size : window::Spatial(input.sizes())) sizes.push_back(size);
  const Tensor image = d.Call("aten::view", d.Call("aten::contiguous", op.arg(0)), sizes);
  const Tensor out = d.Call("aten::batch_norm", image, repeated[0], repeated[1], repeated[2],
                            repeated[3], op.arg(5), op.arg(6), op.arg(7), op.arg(8));
  for (int i : {3, 4}) {
    if (!op.given(i) || !op.boolean(5)) continue;
    const Tensor rows = d.Call("aten::view", repeated[static_cast<std::size_t>(i - 1)],
                               Dims{input.size(0), input.size(1)});
    d.Call("aten::copy_", op.arg(i), d.Call("aten::mean.dim", rows, Dims{0}, false));
  }
  return {d.Call("aten::view", out, Dims(input.sizes()))};
}

// --- native_group_norm(input, weight, bias, N, C, HxW, group, eps) -------------------------------

void GroupNormShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self();
  const std::int64_t groups = op.integer(6);
  if (input.rank() < 2 || groups <= 0 || input.size(1) % groups != 0) {
    Refuse(fmt::format("the channels of {} in {} groups", shape::Text(input), groups));
  }
  RequireChannels("channels of the weight", op.tensor(1), input.size(1));
  RequireChannels("channels of the bias", op.tensor(2), input.size(1));
  const Dims statistics{input.size(0), groups};
  const bool on_cuda = op.target().device == Device::kCuda;
  const DType dtype = on_cuda ? input.dtype() : StatisticsType(input, {op.tensor(1), op.tensor(2)});
  out.Add(input.dtype(), input.sizes(), window::StridesLike(input, input.sizes()));
  out.Add(dtype, statistics);
  out.Add(dtype, statistics);
}

// group_norm_kernel.cu: what each channel of each image is multiplied by and what is added to it.
void GroupNormOnCuda(const OpView& op, Allocations& memory) {
  const TensorView input = op.self();
  allocations::Via<"aten::empty">(op, memory);
  std::optional<Allocations::Scratch> copy;
  if (!IsDenseImage(input)) copy = cuda::Contiguous(input, memory);
  std::vector<Allocations::Scratch> factors;
  const bool is_older = cuda::IsBefore(op.target(), cuda::kGroupNormKeepsOrder);
  for (const int i : {1, 2}) {
    if (op.given(i) && !is_older) {  // whose caller has made them dense
      if (const auto dense = cuda::Contiguous(op.tensor(i), memory)) factors.push_back(*dense);
    }
  }
  // Statistics of half precision are read as float32.
  const DType wide = AccumulateType(input.dtype());
  const bool widens = wide != input.dtype() && !is_older;
  for (int i = 1; i <= 2 && widens; ++i) {
    factors.push_back(memory.Allocate(allocations::Bytes(op.output(i).count(), wide)));
  }
  if (op.integer(5) != 1 && (op.given(1) || op.given(2))) {
    const std::int64_t bytes =
        allocations::Bytes(Count(input.size(0)) * input.size(1), AccumulateType(input.dtype()));
    for (int i = 0; i < 2; ++i) factors.push_back(memory.Allocate(bytes, "aten::empty"));
  }
  for (std::size_t i = factors.size(); i-- > 0;) memory.Free(factors[i]);
  allocations::Free(copy, memory);
}

void GroupNormAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.self();
  allocations::Via<"aten::empty">(op, memory);
  std::array<std::optional<Allocations::Scratch>, 3> copies;
  // Strides that suggest no order of channels are read by rows, of one image too.
  const bool adjacent = IsChannelsLast(input.sizes(), input.strides());
  const bool dense = input.is_contiguous() || (adjacent && IsDenseImage(input));
  if (!dense) copies[0] = allocations::Contiguous(input, memory);
  for (const int i : {1, 2}) {
    const TensorView parameter = op.tensor(i);
    if (parameter.defined())
      copies[static_cast<std::size_t>(i)] = allocations::Contiguous(parameter, memory);
  }
  if (adjacent && !input.is_contiguous()) {
    // Adjacent channels, of the copy too: sums and squares of each channel of each image.
    const Count sums = Count(input.size(0)) * input.size(1) * 2;
    memory.Free(
        memory.Allocate(allocations::Bytes(sums, AccumulateType(input.dtype())), "aten::empty"));
  }
  for (std::size_t i = copies.size(); i-- > 0;) allocations::Free(copies[i], memory);
}

// As layer_norm, with a row for each group of each image.
Work GroupNormWork(const OpView& op) {
  const Count rows = Count(op.self().size(0)) * op.integer(6);
  return {.alu = work::Elements(op.self()) * 7 + rows * 3, .special = rows};
}

std::vector<Tensor> GroupNorm(Dispatcher& d, const OpView& op) {
  const TensorView input = op.self();
  if (input.rank() < 2) Refuse(fmt::format("{} has no channels", shape::Text(input)));
  const Count pixels = work::Elements(window::Spatial(input.sizes()));
  std::array operands{d.tensor(op, 0), d.tensor(op, 2), d.tensor(op, 3)};
  if (cuda::IsBefore(d.target(), cuda::kGroupNormKeepsOrder)) {
    for (Tensor& operand : operands) {
      if (operand.defined()) operand = d.Call("aten::contiguous", operand);
    }
  }
  return {d.Call("aten::native_group_norm", operands[0], operands[1], operands[2], input.size(0),
                 input.size(1), pixels.value(), op.arg(1), op.arg(4))};
}

// --- rms_norm(input, normalized_shape, weight, eps) ----------------------------------------------

// layer_norm_kernel.cu's, with the reciprocal roots.
void RootNormShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self();
  const Dims normalized = op.ints(1);
  RequireNormalized(input, normalized);
  Dims roots(input.sizes());
  for (int i = input.rank() - normalized.size(); i < input.rank(); ++i) roots[i] = 1;
  out.Add(input.dtype(), input.sizes());
  out.Add(AccumulateType(input.dtype()), roots);
}

Work RootNormWork(const OpView& op) {
  const Count rows = RowsOf(op);
  return {.alu = work::Elements(op.self()) * 4 + rows * 2, .special = rows};
}

// What torch.finfo gives of the dtype that it is computed in, where none is given.
double EpsOf(const OpView& op) {
  const bool wide = BitsOf(RealOf(op.self().dtype())) == 64;
  return op.real(3, wide ? 0x1p-52 : 0x1p-23);
}

// The result and the reciprocal roots it was scaled by, of several operators.
std::vector<Tensor> NormalizeInSteps(Dispatcher& d, const OpView& op) {
  const Dims normalized = op.ints(1);
  RequireNormalized(op.self(), normalized);
  Dims dims;
  for (int i = op.self().rank() - normalized.size(); i < op.self().rank(); ++i) dims.push_back(i);
  const double eps = EpsOf(op);
  Tensor input = d.Call("aten::to.dtype", op.arg(0), AccumulateType(op.self().dtype()));
  const Tensor root = d.Call(
      "aten::rsqrt",
      d.Call("aten::add_.Scalar",
             d.Call("aten::mean.dim", d.Call("aten::pow.Tensor_Scalar", input, 2), dims, true),
             eps));
  Tensor out = d.Call("aten::mul.Tensor", input, root);
  if (op.given(2)) out = d.Call("aten::mul.Tensor", out, op.arg(2));
  out = d.Call("aten::contiguous", out);
  input.reset();
  return {d.Call("aten::to.dtype", out, op.self().dtype()), root};
}

// The same, on CUDA of one kernel.
std::vector<Tensor> NormalizeByRoot(Dispatcher& d, const OpView& op) {
  if (d.target().device == Device::kCuda && !IsComplex(op.self().dtype())) {
    return d.CallMany("steelyard::rms_norm", op.arg(0), op.arg(1), op.arg(2), op.arg(3));
  }
  return NormalizeInSteps(d, op);
}

// In the dtype of the input. What makes it is one expression, whose parts live to its end.
Tensor ScaledByRoot(Dispatcher& d, const Tensor& input, const Dims& dims, double eps) {
  const Tensor squares = d.Call("aten::pow.Tensor_Scalar", input, 2);
  const Tensor mean = d.Call("aten::mean.dim", squares, dims, true);
  return d.Call("aten::mul.Tensor", input,
                d.Call("aten::rsqrt", d.Call("aten::add_.Scalar", mean, eps)));
}

// What it was until it became a kernel.
std::vector<Tensor> RootNormByParts(Dispatcher& d, const OpView& op) {
  const Dims normalized = op.ints(1);
  RequireNormalized(op.self(), normalized);
  Dims dims;
  for (int i = op.self().rank() - normalized.size(); i < op.self().rank(); ++i) dims.push_back(i);
  if (cuda::IsBefore(d.target(), cuda::kRootNormIsWide)) {
    const Tensor out = ScaledByRoot(d, d.tensor(op, 0), dims, EpsOf(op));
    return {op.given(2) ? d.Call("aten::mul.Tensor", out, op.arg(2)) : out};
  }
  Tensor input = d.Call("aten::to.dtype", op.arg(0), AccumulateType(op.self().dtype()));
  Tensor root = d.Call(
      "aten::rsqrt",
      d.Call("aten::add_.Scalar",
             d.Call("aten::mean.dim", d.Call("aten::pow.Tensor_Scalar", input, 2), dims, true),
             EpsOf(op)));
  Tensor out = d.Call("aten::mul.Tensor", input, root);
  if (op.given(2)) out = d.Call("aten::mul.Tensor", out, op.arg(2));
  root.reset();
  input.reset();
  return {d.Call("aten::to.dtype", out, op.self().dtype())};
}

std::vector<Tensor> RmsNorm(Dispatcher& d, const OpView& op) {
  if (cuda::IsBefore(d.target(), cuda::kRootNormIsKernel)) return RootNormByParts(d, op);
  const bool mixed = op.given(2) && op.tensor(2).dtype() != op.self().dtype();
  if (mixed || IsComplex(op.self().dtype())) return {NormalizeInSteps(d, op)[0]};
  return {d.Call("aten::_fused_rms_norm", op.arg(0), op.arg(1), op.arg(2), op.arg(3))};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef NormalizationKernel(OpName name, std::string_view summary, Signature signature,
                                    std::string_view example, Gradient grad, ShapeFn shape,
                                    DeviceAllocations allocations, WorkFn work) {
  return Kernel(Family::kNormalization, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, work, grad, precision::kFollow});
}

constexpr OpDef NormalizationOf(OpName name, std::string_view summary, Signature signature,
                                std::string_view example, DecomposeFn decompose,
                                Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kNormalization, decompose,
                   precision::kFollow, grad);
}

constexpr std::array kRows{
    CopyingOut(
        Casting(precision::kFullOnCuda,
                NormalizationKernel(
                    "aten::native_layer_norm", "Rows scaled to mean 0 and variance 1, with both.",
                    "(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
                    "float eps) -> (Tensor, Tensor, Tensor)",
                    "aten::native_layer_norm(f32[2,3,8], [8], f32[8], f32[8], 1e-05)",
                    gradients::kLayerNorm, LayerNormShape, kLayerNormAllocations, LayerNormWork))),
    Casting(precision::kFullOnCuda,
            NormalizationOf("aten::layer_norm", "Rows scaled to mean 0 and variance 1.",
                            "(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
                            "Tensor? bias=None, float "
                            "eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
                            "aten::layer_norm(f32[2,3,8]{8,16,1}, [3,8])", LayerNorm)),
    NormalizationKernel(
        "aten::native_batch_norm", "Channels scaled to mean 0 and variance 1, with both.",
        "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
        "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        "aten::native_batch_norm(f32[2,3,4,4], f32[3], f32[3], f32[3], f32[3], True, 0.1, 1e-05)",
        gradients::kBatchNorm, BatchNormShape, {BatchNormAllocations, cuda::BatchNorm},
        BatchNormWork),
    NormalizationKernel(
        "aten::_native_batch_norm_legit", "As native_batch_norm; says what it overwrites.",
        "(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
        "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        "aten::_native_batch_norm_legit(bf16[2,3], f32[3], f32[3], f32[3], f32[3], True, 0.1, "
        "1e-05)",
        gradients::kBatchNormLegit, BatchNormShape, {BatchNormAllocations, cuda::BatchNorm},
        BatchNormWork),
    NormalizationKernel(
        "aten::_native_batch_norm_legit.no_stats",
        "As native_batch_norm, by the statistics of the batch.",
        "(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> "
        "(Tensor, Tensor, Tensor)",
        "aten::_native_batch_norm_legit.no_stats(f32[2,3,4,4], f32[3], f32[3], True, 0.1, 1e-05)",
        gradients::kBatchNormOfBatch, BatchNormOfBatchShape,
        {BatchNormOfBatchAllocations, BatchNormOfBatchOnCuda}, BatchNormOfBatchWork),
    CopyingOut(NormalizationOf(
        "aten::_native_batch_norm_legit_no_training", "Channels scaled by the running statistics.",
        "(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor "
        "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        "aten::_native_batch_norm_legit_no_training(f32[2,3,4,4], None, None, f32[3], "
        "f32[3], 0.1, 1e-05)",
        BatchNormInference)),
    NormalizationOf("aten::_native_batch_norm_legit_functional",
                    "As native_batch_norm, with new running statistics.",
                    "(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor "
                    "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, "
                    "Tensor, Tensor running_mean_out, Tensor running_var_out)",
                    "aten::_native_batch_norm_legit_functional(f32[2,3,4,4], f32[3], f32[3], "
                    "f32[3], f32[3], True, 0.1, 1e-05)",
                    BatchNormFunctional, gradients::kBatchNormLegit),
    NormalizationOf(
        "aten::batch_norm", "Channels scaled to mean 0 and variance 1, or by running statistics.",
        "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
        "bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
        "aten::batch_norm(f32[2,3,4,4], f32[3], f32[3], f32[3], f32[3], True, 0.1, 1e-05, True)",
        BatchNorm),
    NormalizationOf(
        "aten::instance_norm", "Channels of each image scaled to mean 0 and variance 1.",
        "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
        "bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
        "aten::instance_norm(f32[2,3,4,4], f32[3], f32[3], None, None, True, 0.1, 1e-05, False)",
        InstanceNorm),
    CopyingOut(NormalizationKernel(
        "aten::native_group_norm", "Groups of channels scaled to mean 0 and variance 1, with both.",
        "(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt "
        "HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
        "aten::native_group_norm(f32[2,6,4], f32[6], f32[6], 2, 6, 4, 3, 1e-05)",
        gradients::kGroupNorm, GroupNormShape, {GroupNormAllocations, GroupNormOnCuda},
        GroupNormWork)),
    Casting(precision::kFullOnCuda,
            NormalizationOf(
                "aten::group_norm", "Groups of channels scaled to mean 0 and variance 1.",
                "(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
                "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
                "aten::group_norm(f32[2,6,4], 3, f32[6], f32[6])", GroupNorm)),
    OnlyWithin(NormalizationKernel(
        "steelyard::rms_norm", "Rows scaled to mean square 1, with the scales, on CUDA.",
        "(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
        "steelyard::rms_norm(bf16[2,3,8], [8], bf16[8], 1e-06)", gradients::kRootNorm,
        RootNormShape, {allocations::OutputsOnly, cuda::CopiesThenOutputs<0, 2>}, RootNormWork)),
    NormalizationOf(
        "aten::_fused_rms_norm", "Rows scaled to mean square 1, with the scales.",
        "(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
        "aten::_fused_rms_norm(bf16[2,3,8], [8], bf16[8], 1e-06)", NormalizeByRoot),
    Casting(precision::kFullOnNewCuda,
            NormalizationOf("aten::rms_norm", "Rows scaled to mean square 1.",
                            "(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? "
                            "eps=None) -> Tensor",
                            "aten::rms_norm(f32[2,3,8], [8], f32[8])", RmsNorm)),
};

}  // namespace

std::span<const OpDef> Normalization() { return kRows; }

}  // namespace steelyard::ops
