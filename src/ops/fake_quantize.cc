// SPDX-License-Identifier: Apache-2.0
//
// Rounded as if quantized, as networks are trained that will be: by given numbers, by those of
// tensors, by learnt ones (ATen/native/quantized/FakeQuantPerTensorAffine.cpp and
// FakeQuantPerChannelAffine.cpp), and by what an observer sees (cpu/fused_obs_fake_quant.cpp).

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/backward.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Sizes ---------------------------------------------------------------------------------------

void RequireFloat32(std::string_view what, const TensorView& t) {
  if (t.dtype() != DType::kFloat32) Refuse(fmt::format("{} float32, not {}", what, shape::Text(t)));
}

// self, scale, zero_point of the whole tensor: each one number, which a device does not look at.
void RequireOfTensor(const OpView& op) {
  if (op.target().device != Device::kCpu) return;
  for (const int i : {1, 2}) {
    if (op.tensor(i).count() == 1) continue;
    Refuse("a scale and a zero point are one number, not " + shape::Text(op.tensor(i)));
  }
}

// self, scale, zero_point, axis
void RequireOfChannels(const OpView& op) {
  const std::int64_t channels = op.self().size(op.dim(3, op.self().rank()));
  if (op.target().device == Device::kCpu) RequireFloat32("scales are", op.tensor(1));
  for (const int i : {1, 2}) {
    shape::RequireRank("scales and zero points", op.tensor(i), 1);
    shape::RequireEqual("scales and channels", op.tensor(i).size(0), channels);
  }
}

void WithMaskShape(const OpView& op, Outputs& out) {
  if (!IsFloating(op.self().dtype())) Refuse("what is quantized is floating-point");
  shape::Like(op.self(), op.self().dtype(), out);
  shape::Like(op.self(), DType::kBool, out);
}
void OfTensorShape(const OpView& op, Outputs& out) {
  RequireOfTensor(op);
  WithMaskShape(op, out);
}
void OfChannelsShape(const OpView& op, Outputs& out) {
  RequireOfChannels(op);
  const DType dtype = op.tensor(2).dtype();
  if (dtype != DType::kInt32 && dtype != DType::kFloat32 && dtype != DType::kFloat16) {
    Refuse("zero points are int32, float32 or float16, not " + shape::Text(op.tensor(2)));
  }
  WithMaskShape(op, out);
}
// grad, self, scale, zero_point: those of self, scale and zero point. What is narrower than float32
// is widened.
template <bool kOfEachChannel>
void LearntBackwardShape(const OpView& op, Outputs& out) {
  for (const int i : {0, 1}) {
    if (op.tensor(i).dtype() != DType::kBFloat16)
      RequireFloat32("gradients and operands are", op.tensor(i));
  }
  shape::Like(op.tensor(1), DType::kFloat32, out);
  const std::int64_t count = kOfEachChannel ? op.self().size(op.dim(4, op.self().rank())) : 1;
  for (const int i : {2, 3}) {
    if (!kOfEachChannel) break;
    shape::RequireRank("scales and zero points", op.tensor(i), 1);
    shape::RequireEqual("scales and channels", op.tensor(i).size(0), count);
  }
  for (int i = 0; i < 2; ++i) out.Add(DType::kFloat32, Dims{count});
}

// --- Allocations ---------------------------------------------------------------------------------

// The least and the largest of these numbers, to see whether they are in range.
void FindLimits(const OpView& op, const Layout& numbers, DType dtype, Allocations& memory) {
  const std::int64_t width = allocations::Bytes(1, dtype);
  const bool on_cpu = op.target().device == Device::kCpu;
  const bool copied = on_cpu && !IsContiguous(numbers.sizes, numbers.strides);
  std::array<Allocations::Scratch, 2> limits{};
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    limits.at(i) = memory.Allocate(width, "aten::empty");
    if (copied) {
      const auto bytes = allocations::Bytes(numbers.sizes[0], dtype);
      memory.Free(memory.Allocate(bytes, "aten::empty"), i == 0 ? "aten::min" : "aten::max");
    }
    if (!on_cpu) cuda::Stage(op, numbers, dtype, shape::DimSet{1}, {.bytes = width}, memory);
  }
  memory.Free(limits[1]);
  memory.Free(limits[0]);
}

void OfChannelsAllocations(const OpView& op, Allocations& memory) {
  const TensorView zero_point = op.tensor(2);
  if (!IsFloating(zero_point.dtype())) {
    FindLimits(op, {zero_point.sizes(), zero_point.strides()}, zero_point.dtype(), memory);
  }
  allocations::Via<"aten::empty_strided">(op, memory);
}

// grad, self, scale, zero_point, axis of channels: gradients of scale and zero point are sums of
// what each element gives.
template <bool kOfEachChannel>
void LearntBackwardAllocations(const OpView& op, Allocations& memory) {
  std::array<std::optional<Allocations::Scratch>, 4> casts;
  for (const int i : {1, 0, 2, 3}) {
    casts.at(static_cast<std::size_t>(i)) =
        allocations::Cast(op.tensor(i), DType::kFloat32, memory);
  }
  std::optional<Allocations::Scratch> rounded;
  if (kOfEachChannel) {
    static constexpr std::array<std::int64_t, 1> kDense{1};
    const auto bytes = allocations::Bytes(op.tensor(3).count(), DType::kFloat32);
    rounded = memory.Allocate(bytes, "aten::round");
    FindLimits(op, {op.tensor(3).sizes(), kDense}, DType::kFloat32, memory);
  }
  memory.Output(0, "aten::empty_strided");
  const TensorView each = op.output(0);
  shape::DimSet summed = (shape::DimSet{1} << each.rank()) - 1;
  if (kOfEachChannel) summed &= ~(shape::DimSet{1} << op.dim(4, each.rank()));
  const auto bytes = allocations::Bytes(each.count(), DType::kFloat32);
  const auto of_scale = memory.Allocate(bytes, "aten::empty_strided");
  const auto of_zero_point = memory.Allocate(bytes, "aten::empty_strided");
  for (const int i : {1, 2}) {
    memory.Output(i, "aten::sum");
    if (op.target().device == Device::kCpu) continue;
    cuda::Stage(op, each, summed, cuda::SumOf(DType::kFloat32), memory);
  }
  memory.Free(of_zero_point);
  memory.Free(of_scale);
  allocations::Free(rounded, memory);
  for (const std::size_t i : {3U, 2U, 0U, 1U}) allocations::Free(casts.at(i), memory);
}

// --- Composites ----------------------------------------------------------------------------------

constexpr OpName kByTensors = "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams";
constexpr OpName kByChannels = "aten::fake_quantize_per_channel_affine_cachemask";

std::vector<Tensor> ByNumbers(Dispatcher& d, const OpView& op) {
  return {d.CallMany("aten::fake_quantize_per_tensor_affine_cachemask", d.tensor(op, 0), op.arg(1),
                     op.arg(2), op.arg(3), op.arg(4))[0]};
}

// self, scale, zero_point, quant_min, quant_max
std::vector<Tensor> ByTensors(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> both;
  {
    const Tensor enabled = d.Call("aten::ones", Dims{1}, DType::kInt64);
    both = d.CallMany(kByTensors, op.arg(0), op.arg(1), op.arg(2), enabled, op.arg(3), op.arg(4));
  }
  return {both[0]};
}

// self, scale, zero_point, axis, quant_min, quant_max
std::vector<Tensor> ByChannels(Dispatcher& d, const OpView& op) {
  return {
      d.CallMany(kByChannels, op.arg(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4), op.arg(5))[0]};
}

// self, scale, zero_point, quant_min, quant_max: read as numbers, which only the data tell.
std::vector<Tensor> ByLearnt(Dispatcher& d, const OpView& op) {
  for (const int i : {1, 2}) {
    if (op.tensor(i).rank() == 0)
      Refuse("a scale and a zero point that are learnt have a dimension");
  }
  d.CallWith("steelyard::stand_in", {});
  return {d.CallMany("aten::fake_quantize_per_tensor_affine_cachemask", d.tensor(op, 0), 1.0,
                     std::int64_t{0}, op.arg(3), op.arg(4))[0]};
}

// self, scale, zero_point, axis, quant_min, quant_max
std::vector<Tensor> ByLearntOfChannels(Dispatcher& d, const OpView& op) {
  Tensor rounded = d.Call("aten::round", d.tensor(op, 2));
  d.Call("aten::clamp_", rounded, op.arg(4), op.arg(5));
  const Tensor zero_point = d.Call("aten::to.dtype", rounded, DType::kInt32);
  rounded.reset();
  return {d.CallMany(kByChannels, op.arg(0), op.arg(1), zero_point, op.arg(3), op.arg(4),
                     op.arg(5))[0]};
}

// --- By an observer: self, observer_on, fake_quant_on, running_min, running_max, scale,
// zero_point, averaging_const, quant_min, quant_max, ch_axis, per_row_fake_quant, symmetric_quant
// ---------------

constexpr int kObserverOn = 1, kRoundingOn = 2, kLowest = 3, kScale = 5, kZeroPoint = 6,
              kLimits = 8, kAxis = 10, kPerRow = 11;

// What is seen: the least and the largest element, of each row or of all. On a device a flag is
// read there, as int64.
void Observe(Dispatcher& d, const OpView& op, const Tensor& self) {
  const bool on_device = d.target().device != Device::kCpu;
  const Tensor flag = d.tensor(op, kObserverOn);
  {
    const bool flat = !op.boolean(kPerRow) || self.rank() <= 2;
    const Tensor rows = flat ? self : d.Call("aten::flatten.using_ints", d.tensor(op, 0), 1, -1);
    const Tensor number = on_device ? d.Call("aten::to.dtype", flag, DType::kInt64) : flag;
    if (op.boolean(kPerRow)) {
      d.CallMany("aten::aminmax", rows, 1);
    } else {
      d.CallMany("aten::aminmax", rows);
    }
  }
  if (on_device) d.Call("aten::to.dtype", op.arg(kRoundingOn), DType::kInt64);  // for the scale
}

// The scale and the zero point follow from what was seen so far. Observer and rounding are on, as
// in training.
std::vector<Tensor> ByObserved(Dispatcher& d, const OpView& op) {
  const bool on_device = d.target().device != Device::kCpu;
  const Tensor self = on_device ? d.Call("aten::contiguous", op.arg(0)) : d.tensor(op, 0);
  RequireFloat32("what is observed is", op.self());
  if (op.boolean(kPerRow) && op.dim(kAxis, op.self().rank()) != 0) {
    Refuse("channels that are observed are the first dimension");
  }
  d.CallWith("steelyard::stand_in", {});
  Observe(d, op, self);
  if (!op.boolean(kPerRow)) {
    const Tensor enabled = on_device ? d.Call("aten::to.dtype", op.arg(kRoundingOn), DType::kInt64)
                                     : d.Call("aten::ones", Dims{1}, DType::kInt64);
    return d.CallMany(kByTensors, op.arg(0), op.arg(kScale), op.arg(kZeroPoint), enabled,
                      op.arg(kLimits), op.arg(kLimits + 1));
  }
  Tensor scale = d.tensor(op, kScale), zero_point = d.tensor(op, kZeroPoint);
  if (op.tensor(kLowest).count() == 0) {
    d.NoteEstimate(
        fmt::format("{}: the first call makes room for what it sees of each channel, "
                    "which is not counted",
                    op.def().label()));
    scale = d.Call("aten::expand", scale, Dims{self.size(0)});
    zero_point = d.Call("aten::expand", zero_point, Dims{self.size(0)});
  }
  return d.CallMany(kByChannels, op.arg(0), scale, zero_point, std::int64_t{0}, op.arg(kLimits),
                    op.arg(kLimits + 1));
}

constexpr OpName kObserved = "aten::_fused_moving_avg_obs_fq_helper";

std::vector<Tensor> ObservedAlone(Dispatcher& d, const OpView& op) {
  std::vector<Argument> args;
  args.reserve(static_cast<std::size_t>(op.arg_count()));
  for (int i = 0; i < op.arg_count(); ++i) args.push_back(op.arg(i));
  return {d.CallWith(kObserved, args)[0]};
}

// What is overwritten otherwise is copied, and given.
std::vector<Tensor> ObservedFunctional(Dispatcher& d, const OpView& op) {
  std::vector<Argument> args;
  std::vector<Tensor> copies;
  for (int i = 0; i < op.arg_count(); ++i) {
    const bool overwritten = i >= kLowest && i <= kZeroPoint;
    if (overwritten) copies.push_back(d.Call("aten::clone", op.arg(i)));
    args.push_back(overwritten ? Argument::OfValue(copies.back().id()) : op.arg(i));
  }
  std::vector<Tensor> out = d.CallWith(kObserved, args);
  out.insert(out.end(), copies.begin(), copies.end());
  return out;
}

// --- Gradients -----------------------------------------------------------------------------------

// The gradient where nothing was cut off.
Tensor WithinRange(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), b.result(1));
}
constexpr Gradient PassingWithinRange(std::string_view node) {
  return {node, {GradientOf(0, {ResultAt(1)}, WithinRange)}};
}

template <Label kBackward>
std::vector<Tensor> LearntGradients(Dispatcher& d, const Backward& b) {
  std::vector<Argument> args{Argument::OfValue(b.grad().id())};
  std::vector<Tensor> saved;
  for (int i = 0; i < 3; ++i) {
    saved.push_back(b.saved(i));
    args.push_back(Argument::OfValue(saved.back().id()));
  }
  for (int i = 3; i < b.op().arg_count(); ++i) args.push_back(b.op().arg(i));
  return d.CallWith(kOpNamed<kBackward>, args);
}
template <Label kBackward>
constexpr Gradient OfLearnt(std::string_view node) {
  return {node, {GradientsOf({0, 1, 2}, {0, 1, 2}, LearntGradients<kBackward>)}};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef Rounding(const Words& words, ShapeFn shape, DeviceAllocations allocations,
                         std::string_view node, Precision precision = precision::kFollow) {
  return CopyingOut(Kernel(Family::kElementwise, words,
                           {.shape = shape,
                            .fusion = Fusion::kElementwise,
                            .allocations = allocations,
                            .work = work::PerOutput<work::PerElement{.alu = 4, .compare = 2}>,
                            .grad = PassingWithinRange(node),
                            .precision = precision}));
}

template <bool kOfEachChannel>
constexpr OpDef LearntBackward(const Words& words) {
  return CopyingOut(OpaqueKernel(
      Family::kElementwise, words, LearntBackwardShape<kOfEachChannel>,
      {LearntBackwardAllocations<kOfEachChannel>, LearntBackwardAllocations<kOfEachChannel>},
      work::PerOutput<work::PerElement{.alu = 12, .compare = 4}>, kGradientUnknown));
}

constexpr std::array kRows{
    Rounding({"aten::fake_quantize_per_tensor_affine_cachemask",
              "Rounded as if quantized, with what was in range.",
              "(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> (Tensor "
              "output, Tensor mask)",
              "aten::fake_quantize_per_tensor_affine_cachemask(f32[2,8], 0.1, 0, -128, 127)"},
             WithMaskShape, allocations::Via<"aten::empty_strided">,
             "FakeQuantizePerTensorAffineCachemaskBackward0"),
    Rounding({kByTensors, "Rounded as if quantized by numbers in tensors, with what was in range.",
              "(Tensor self, Tensor scale, Tensor zero_point, Tensor fake_quant_enabled, int "
              "quant_min, int quant_max) -> (Tensor output, Tensor mask)",
              "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(f32[2,8], f32[1], "
              "i32[1], i64[1], -128, 127)"},
             OfTensorShape, allocations::Via<"aten::empty_strided">,
             "FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0"),
    Rounding({kByChannels, "Each channel rounded as if quantized, with what was in range.",
              "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int "
              "quant_max) -> (Tensor output, Tensor mask)",
              "aten::fake_quantize_per_channel_affine_cachemask(f32[2,8], f32[8], i32[8], 1, -128, "
              "127)"},
             OfChannelsShape, {OfChannelsAllocations, OfChannelsAllocations},
             "FakeQuantizePerChannelAffineCachemaskBackward0"),
    Casting(
        precision::kFullOnCpu,
        Composite(
            "aten::fake_quantize_per_tensor_affine", "Rounded as if quantized.",
            "(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor",
            "aten::fake_quantize_per_tensor_affine(f32[2,8], 0.1, 0, -128, 127)",
            Family::kElementwise, ByNumbers, precision::kFollow)),
    Composite(Family::kElementwise,
              {"aten::fake_quantize_per_tensor_affine.tensor_qparams",
               "Rounded as if quantized by numbers in tensors.",
               "(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> "
               "Tensor",
               "aten::fake_quantize_per_tensor_affine.tensor_qparams(f32[2,8], f32[1], i32[1], "
               "-128, 127)"},
              ByTensors),
    Composite(Family::kElementwise,
              {"aten::fake_quantize_per_channel_affine", "Each channel rounded as if quantized.",
               "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int "
               "quant_max) -> Tensor",
               "aten::fake_quantize_per_channel_affine(f32[2,8], f32[8], i32[8], 1, -128, 127)"},
              ByChannels),
    CopyingOut(Composite(
        Family::kElementwise,
        {"aten::_fake_quantize_learnable_per_tensor_affine",
         "Rounded as if quantized by a scale that is learnt.",
         "(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max, float "
         "grad_factor=1.) -> Tensor",
         "aten::_fake_quantize_learnable_per_tensor_affine(f32[2,8], f32[1], f32[1], -128, 127)"},
        ByLearnt,
        OfLearnt<"aten::_fake_quantize_learnable_per_tensor_affine_backward">(
            "FakeQuantizeLearnablePerTensorAffineBackward0"))),
    LearntBackward<false>(
        {"aten::_fake_quantize_learnable_per_tensor_affine_backward",
         "The gradients of what is rounded and of its scale and zero point.",
         "(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, int quant_min, "
         "int quant_max, float grad_factor=1.) -> (Tensor, Tensor, Tensor)",
         "aten::_fake_quantize_learnable_per_tensor_affine_backward(f32[2,8], f32[2,8], "
         "f32[1], f32[1], -128, 127)"}),
    CopyingOut(Composite(
        Family::kElementwise,
        {"aten::_fake_quantize_learnable_per_channel_affine",
         "Each channel rounded as if quantized by a scale that is learnt.",
         "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max, "
         "float grad_factor=1.) -> Tensor",
         "aten::_fake_quantize_learnable_per_channel_affine(f32[2,8], f32[8], f32[8], 1, -128, "
         "127)"},
        ByLearntOfChannels,
        OfLearnt<"aten::_fake_quantize_learnable_per_channel_affine_backward">(
            "FakeQuantizeLearnablePerChannelAffineBackward0"))),
    LearntBackward<true>(
        {"aten::_fake_quantize_learnable_per_channel_affine_backward",
         "The gradients of what is rounded and of each channel's scale and zero point.",
         "(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, int axis, int "
         "quant_min, int quant_max, float grad_factor=1.) -> (Tensor, Tensor, Tensor)",
         "aten::_fake_quantize_learnable_per_channel_affine_backward(f32[2,8], "
         "f32[2,8], f32[8], f32[8], 1, -128, 127)"}),
    Composite(
        Family::kElementwise,
        {kObserved, "Rounded as if quantized by what was seen so far, with what was in range.",
         "(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min, "
         "Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float "
         "averaging_const, int quant_min, int quant_max, int ch_axis, bool "
         "per_row_fake_quant=False, bool symmetric_quant=False) -> (Tensor output, Tensor "
         "mask)",
         "aten::_fused_moving_avg_obs_fq_helper(f32[2,8], bool[1], bool[1], f32[2], f32[2], "
         "f32[2], i32[2], 0.01, -128, 127, 0, True)"},
        ByObserved, PassingWithinRange("FusedMovingAvgObsFqHelperBackward0")),
    Composite(
        Family::kElementwise,
        {"aten::_fused_moving_avg_obs_fq_helper_functional",
         "The same, with copies of what was seen.",
         "(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor running_min, Tensor "
         "running_max, Tensor scale, Tensor zero_point, float averaging_const, int "
         "quant_min, int quant_max, int ch_axis, bool per_row_fake_quant=False, bool "
         "symmetric_quant=False) -> (Tensor output, Tensor mask, Tensor running_min_out, "
         "Tensor running_max_out, Tensor scale_out, Tensor zero_point_out)",
         "aten::_fused_moving_avg_obs_fq_helper_functional(f32[2,8], bool[1], bool[1], f32[1], "
         "f32[1], f32[1], i32[1], 0.01, -128, 127, 0)"},
        ObservedFunctional),
    Composite(Family::kElementwise,
              {"aten::fused_moving_avg_obs_fake_quant",
               "Rounded as if quantized by what was seen so far.",
               "(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min, "
               "Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float "
               "averaging_const, int quant_min, int quant_max, int ch_axis, bool "
               "per_row_fake_quant=False, bool symmetric_quant=False) -> Tensor",
               "aten::fused_moving_avg_obs_fake_quant(f32[2,8], bool[1], bool[1], f32[1], f32[1], "
               "f32[1], i32[1], 0.01, -128, 127, 0)"},
              ObservedAlone),
};

}  // namespace

std::span<const OpDef> FakeQuantize() { return kRows; }

}  // namespace steelyard::ops
