// SPDX-License-Identifier: Apache-2.0
//
// Numbers of few bits: quantized and back as torch.ao writes it in Python
// (torch/ao/quantization/fx/_decomposed.py), products with packed weights, products of float8
// (ATen/native/cpu/int8mm_kernel.cpp, Blas.cpp).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/affine.h"
#include "ops/cuda/copies.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/not_implemented.h"
#include "ops/gradients/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/product.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- quantized_decomposed ------------------------------------------------------------------------

// Python adds a number: it is boxed outside the operator that takes it.
Tensor WithBox(Dispatcher& d, OpName op, const Tensor& t, double number, bool whole) {
  const Tensor box =
      d.Box(whole ? Argument::OfInt(static_cast<std::int64_t>(number)) : Argument::OfFloat(number));
  return d.Call(op, t, box);
}

// Rounded, limited and cast: input, ..., quant_min, quant_max, dtype
std::vector<Tensor> Narrowed(Dispatcher& d, const OpView& op, Tensor t, int limits_at) {
  Tensor limited = d.Call("aten::clamp", t, op.arg(limits_at), op.arg(limits_at + 1));
  t.reset();
  return {d.Call("aten::to.dtype", limited, AskedType(op, limits_at + 2))};
}

// The scale and the zero point, arguments 1 and 2. Those in tensors are known when they run.
struct Affine {
  double scale = 1;
  double zero_point = 1;
};
Affine AffineOf(Dispatcher& d, const OpView& op) {
  if (op.arg(1).kind != ArgKind::kValue) {
    return {op.real(1), static_cast<double>(op.integer(2))};
  }
  d.UseStandIns();
  return {};
}

// input, scale, zero_point, quant_min, quant_max, dtype
std::vector<Tensor> Quantize(Dispatcher& d, const OpView& op) {
  RequireFloat(op.self());
  const Affine affine = AffineOf(d, op);
  const Tensor wide = op.self().dtype() == DType::kFloat32
                          ? d.tensor(op, 0)
                          : d.Call("aten::to.dtype", d.tensor(op, 0), DType::kFloat32);
  Tensor t = WithBox(d, "aten::mul.Tensor", wide, 1 / affine.scale, false);
  t = d.Call("aten::round", t);
  t = WithBox(d, "aten::add.Tensor", t, affine.zero_point, true);
  return Narrowed(d, op, std::move(t), 3);
}

// input, scale, zero_point, quant_min, quant_max, dtype, *, out_dtype
std::vector<Tensor> Dequantize(Dispatcher& d, const OpView& op) {
  const DType type = op.dtype(6).value_or(DType::kFloat32);
  if (op.self().dtype() != AskedType(op, 5)) Refuse("the dtype is not what the call says");
  const Affine affine = AffineOf(d, op);
  Tensor t = d.Call("aten::to.dtype", d.tensor(op, 0), type);
  t = WithBox(d, "aten::sub.Tensor", t, affine.zero_point, true);
  return {WithBox(d, "aten::mul.Tensor", t, affine.scale, false)};
}

// Scales and zero points as long as one dimension, which is moved to the front.
Tensor AtFront(Dispatcher& d, const Tensor& t, int axis) {
  Dims order;
  for (int i = 0; i < t.rank(); ++i) order.push_back(i);
  order[0] = axis;
  order[axis] = 0;
  return d.Call("aten::permute", t, order);
}
Tensor Column(Dispatcher& d, const Tensor& t, int rank) {
  Dims sizes = Dims::Filled(rank, 1);
  sizes[0] = -1;
  return d.Call("aten::view", t, sizes);
}

// input, scales, zero_points, axis, quant_min, quant_max, dtype
std::vector<Tensor> QuantizeChannels(Dispatcher& d, const OpView& op) {
  RequireFloat(op.self());
  const int axis = op.dim(3, op.self().rank());
  Tensor wide = op.self().dtype() == DType::kFloat32
                    ? d.tensor(op, 0)
                    : d.Call("aten::to.dtype", d.tensor(op, 0), DType::kFloat32);
  Tensor front = AtFront(d, wide, axis);
  const Tensor scales = Column(d, d.tensor(op, 1), front.rank());
  const Tensor zeros = Column(d, d.tensor(op, 2), front.rank());
  Tensor inverse = d.Call("aten::reciprocal", scales);
  inverse = WithBox(d, "aten::mul.Tensor", inverse, 1, false);
  Tensor t = d.Call("aten::mul.Tensor", front, inverse);
  inverse.reset();
  t = d.Call("aten::round", t);
  t = d.Call("aten::add.Tensor", t, zeros);
  t = d.Call("aten::clamp", t, op.arg(4), op.arg(5));
  const Tensor back = AtFront(d, t, axis);
  t.reset();
  Tensor out = d.Call("aten::to.dtype", back, AskedType(op, 6));
  // Python's variables end in the order in which they are declared.
  wide.reset();
  front.reset();
  return {out};
}

// input, scales, zero_points, axis, quant_min, quant_max, dtype, *, out_dtype
std::vector<Tensor> DequantizeChannels(Dispatcher& d, const OpView& op) {
  const DType type = op.dtype(7).value_or(DType::kFloat32);
  const int axis = op.dim(3, op.self().rank());
  const Tensor front = AtFront(d, d.tensor(op, 0), axis);
  const Tensor scales = Column(d, d.tensor(op, 1), front.rank());
  Tensor t;
  if (op.given(2)) {
    t = d.Call("aten::sub.Tensor", front, Column(d, d.tensor(op, 2), front.rank()));
    t = d.Call("aten::mul.Tensor", t, scales);
  } else {
    t = d.Call("aten::mul.Tensor", front, scales);
  }
  t = d.Call("aten::to.dtype", t, type);
  return {AtFront(d, t, axis)};
}

// input, scales, zero_points, quant_min, quant_max, dtype
std::vector<Tensor> QuantizeTokens(Dispatcher& d, const OpView& op) {
  Tensor inverse = d.Call("aten::reciprocal", d.tensor(op, 1));
  inverse = WithBox(d, "aten::mul.Tensor", inverse, 1, false);
  Tensor t = d.Call("aten::mul.Tensor", d.tensor(op, 0), inverse);
  inverse.reset();
  t = d.Call("aten::add.Tensor", t, d.tensor(op, 2));
  t = d.Call("aten::round", t);
  return Narrowed(d, op, std::move(t), 3);
}
// input, scales, zero_points, quant_min, quant_max, dtype, output_dtype
std::vector<Tensor> DequantizeTokens(Dispatcher& d, const OpView& op) {
  Tensor t = d.Call("aten::sub.Tensor", d.tensor(op, 0), d.tensor(op, 2));
  t = d.Call("aten::mul.Tensor", t, d.tensor(op, 1));
  return {d.Call("aten::to.dtype", t, AskedType(op, 6))};
}
// input, scales, zero_points, quant_min, quant_max, dtype, group_size, output_dtype
std::vector<Tensor> DequantizeGroups(Dispatcher& d, const OpView& op) {
  const std::int64_t group = op.integer(6);
  if (group < 2 || op.self().rank() == 0 || op.self().size(-1) % group != 0) {
    Refuse(fmt::format("{} in groups of {}", shape::Text(op.self()), group));
  }
  const Tensor rows = d.Call("aten::reshape", d.tensor(op, 0), Dims{-1, group});
  const Tensor scales = d.Call("aten::reshape", d.tensor(op, 1), Dims{-1, 1});
  Tensor zeros;
  if (op.given(2)) {
    zeros = d.Call("aten::reshape", d.tensor(op, 2), Dims{-1, 1});
  } else {
    zeros = d.Call("aten::zeros", Dims{}, DType::kInt32);
  }
  Tensor t = d.Call("aten::sub.Tensor", rows, zeros);
  t = d.Call("aten::mul.Tensor", t, scales);
  t = d.Call("aten::reshape_as", t, d.tensor(op, 0));
  return {d.Call("aten::to.dtype", t, AskedType(op, 7))};
}

// --- Products with packed weights ----------------------------------------------------------------

// self [rows, inner], weight [columns, inner]
void Int8PackedShape(const OpView& op, Outputs& out) {
  const TensorView a = op.self(), b = op.tensor(1);
  shape::RequireRank("the rows", a, 2);
  shape::RequireRank("the weight", b, 2);
  if (b.dtype() != DType::kInt8) Refuse("the weight is int8, not " + shape::Text(b));
  const bool reads_any = op.target().device == Device::kCuda;
  if (!reads_any && (!a.is_contiguous() || !b.is_contiguous())) {
    Refuse("rows and weight must be contiguous");
  }
  shape::RequireEqual("inner dimensions", a.size(1), b.size(1));
  shape::RequireRank("the scales", op.tensor(2), 1);
  shape::RequireEqual("scales and columns", op.tensor(2).size(0), b.size(0));
  out.Add(a.dtype(), Dims{a.size(0), b.size(0)});
}
// On CUDA it is computed in float32.
void Int8PackedOnCuda(const OpView& op, Allocations& memory) {
  const auto rows = allocations::Cast(op.self(), DType::kFloat32, memory);
  const auto weight = cuda::Contiguous(op.tensor(1), memory);
  const auto scales = allocations::Cast(op.tensor(2), DType::kFloat32, memory);
  const bool casts = op.output().dtype() != DType::kFloat32;
  const auto sums =
      memory.Allocate(casts ? allocations::Bytes(op.output().count(), DType::kFloat32) : 0);
  memory.Output(0);
  memory.Free(sums);
  for (const auto& copy : {scales, weight, rows}) allocations::Free(copy, memory);
}
Work PackedWork(const OpView& op) {
  return {.mac = work::Elements(op.output()) * op.self().size(1)};
}

// self [rows, inner], packed [columns, inner / 2]
void Int4PackedShape(const OpView& op, Outputs& out) {
  const TensorView a = op.self(), b = op.tensor(1), scales = op.tensor(3);
  shape::RequireRank("the rows", a, 2);
  shape::RequireRank("the weight", b, 2);
  shape::RequireRank("scales and zeros", scales, 3);
  if (b.dtype() != DType::kUInt8) Refuse("two numbers of four bits are packed in uint8");
  shape::RequireEqual("inner dimensions", a.size(1), 2 * b.size(1));
  out.Add(a.dtype(), Dims{a.size(0), b.size(0)});
}

// input [..., inner], weight [columns, inner], of which the program knows how it is packed
void PackedLinearShape(const OpView& op, Outputs& out) {
  const TensorView x = op.self(), weight = op.tensor(1);
  shape::RequireRank("the weight", weight, 2);
  if (x.rank() == 0) Refuse("an input without dimensions");
  shape::RequireEqual("inner dimensions", x.size(-1), weight.size(1));
  if (op.given(2)) {
    shape::RequireRank("the bias", op.tensor(2), 1);
    shape::RequireEqual("bias and columns", op.tensor(2).size(0), weight.size(0));
  }
  Dims sizes(x.sizes());
  sizes[x.rank() - 1] = weight.size(0);
  out.Add(x.dtype(), sizes);
}
// Each number is scaled once as it is unpacked.
Work PackedLinearWork(const OpView& op) {
  const Count bias = op.given(2) ? work::Elements(op.output()) : Count(0);
  return {.mac = work::Elements(op.output()) * op.self().size(-1),
          .alu = work::Elements(op.tensor(1)) + bias};
}

// Of a weight its packed bytes are read.
std::int64_t StoredBytes(const Program& program, const TensorView& weight) {
  const auto named = std::ranges::find(program.parameters, weight.id(), &NamedTensor::value);
  return named == program.parameters.end() ? weight.bytes() : program.stored_bytes(*named);
}
Traffic PackedLinearTraffic(const OpView& op) {
  Count read = op.self().bytes();
  if (op.given(2)) read += op.tensor(2).bytes();
  read += StoredBytes(op.program(), op.tensor(1));
  return {.read = read, .written = op.output().bytes()};
}

// input [rows, inner], weight [experts, columns, inner], where each expert's rows end
void PackedExpertsShape(const OpView& op, Outputs& out) {
  const TensorView x = op.self(), weight = op.tensor(1), offsets = op.tensor(2);
  shape::RequireRank("the rows", x, 2);
  shape::RequireRank("the weights", weight, 3);
  shape::RequireRank("the offsets", offsets, 1);
  shape::RequireEqual("inner dimensions", x.size(1), weight.size(2));
  shape::RequireEqual("experts", offsets.size(0), weight.size(0));
  out.Add(x.dtype(), Dims{x.size(0), weight.size(1)});
}
// As many rows belong to at most as many experts: the weights of others are not unpacked.
std::int64_t MostExperts(const OpView& op) {
  return std::min(op.self().size(0), op.tensor(1).size(0));
}
Work PackedExpertsWork(const OpView& op) {
  const Count matrix = Count(op.tensor(1).size(1)) * op.tensor(1).size(2);
  return {.mac = matrix * op.self().size(0), .alu = matrix * MostExperts(op)};
}
Traffic PackedExpertsTraffic(const OpView& op) {
  const std::int64_t experts = std::max<std::int64_t>(op.tensor(1).size(0), 1);
  const std::int64_t all = StoredBytes(op.program(), op.tensor(1));
  Count read = op.self().bytes();
  read += op.tensor(2).bytes();
  read += Count(all / experts) * MostExperts(op);
  return {.read = read, .written = op.output().bytes()};
}

// input [..., inner], numbers of few bits and their scales, zero points, bias, inner, columns
void BitsLinearShape(const OpView& op, Outputs& out) {
  const TensorView x = op.self();
  const std::int64_t columns = op.integer(6);
  if (x.rank() == 0 || columns < 0) Refuse("an input without dimensions, or no columns");
  shape::RequireEqual("inner dimensions", x.size(-1), op.integer(5));
  Dims sizes(x.sizes());
  sizes[x.rank() - 1] = columns;
  out.Add(x.dtype(), sizes);
}
Work BitsLinearWork(const OpView& op) {
  const Count bias = op.given(4) ? work::Elements(op.output()) : Count(0);
  return {.mac = work::Elements(op.output()) * op.integer(5),
          .alu = Count(op.integer(5)) * op.integer(6) + bias};
}

// int8 or uint8 by int8, summed in int32
void IntProductShape(const OpView& op, Outputs& out) {
  const TensorView a = op.self(), b = op.tensor(1);
  shape::RequireRank("self", a, 2);
  shape::RequireRank("mat2", b, 2);
  if ((a.dtype() != DType::kInt8 && a.dtype() != DType::kUInt8) || b.dtype() != DType::kInt8) {
    Refuse("factors are int8, or the first one uint8, not " + shape::Text(a));
  }
  shape::RequireEqual("inner dimensions", a.size(1), b.size(0));
  out.Add(DType::kInt32, Dims{a.size(0), b.size(1)});
}

// --- _scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum) -----

// Of a whole factor, or of each of its rows (columns of the second).
void RequireScale(const TensorView& scale, const Dims& lines) {
  if (scale.dtype() != DType::kFloat32) Refuse("scales are float32, not " + shape::Text(scale));
  if (scale.count() == 1) return;
  if (!std::ranges::equal(scale.sizes(), std::span<const std::int64_t>(lines))) {
    Refuse(fmt::format("scales {} are neither a number nor {}", shape::Text(scale),
                       shape::Text(lines)));
  }
}

// A factor in float32 and scaled. One scale is read as a number.
Tensor Unscaled(Dispatcher& d, const Tensor& factor, const Tensor& scale) {
  const Tensor wide = d.Call("aten::to.dtype", factor, DType::kFloat32);
  if (scale.count() > 1) return d.Call("aten::mul.Tensor", wide, scale);
  d.CallWith("steelyard::stand_in", {});
  return d.Call("aten::mul.Scalar", wide, 1.0);
}

// Processors without matrix units for float8 multiply in float32 (_scaled_mm_out_cpu_emulated).
std::vector<Tensor> ScaledProduct(Dispatcher& d, const OpView& op) {
  if (d.target().device != Device::kCpu) Refuse("scaled products are not modelled on CUDA");
  const TensorView a = op.self(), b = op.tensor(1);
  shape::RequireRank("the first factor", a, 2);
  shape::RequireRank("the second factor", b, 2);
  shape::RequireEqual("inner dimensions", a.size(1), b.size(0));
  for (const TensorView& factor : {a, b}) {
    if (BitsOf(factor.dtype()) != 8 || !IsFloating(factor.dtype())) {
      Refuse("factors are float8, not " + shape::Text(factor));
    }
  }
  RequireScale(op.tensor(2), {a.size(0), 1});
  RequireScale(op.tensor(3), {1, b.size(1)});
  if (op.given(5)) RequireScale(op.tensor(5), {1});
  const Tensor second = d.Call("aten::contiguous", d.tensor(op, 1));
  const Tensor first = d.Call("aten::contiguous", d.tensor(op, 0));
  const DType dtype = op.dtype(6).value_or(a.dtype());
  const Dims sizes{a.size(0), b.size(1)};
  const Tensor out = d.Call("steelyard::result", sizes, ContiguousStrides(sizes), dtype);
  const Tensor left = Unscaled(d, first, d.tensor(op, 2));
  const Tensor right = Unscaled(d, second, d.tensor(op, 3));
  Tensor product = d.Call("aten::matmul", left, right);
  if (op.given(4)) d.Call("aten::add_.Tensor", product, d.tensor(op, 4));
  product = d.Call("aten::to.dtype", product, dtype);
  d.Call("aten::copy_", out, product);
  return {out};
}

// --- Rows ---------------------------------------------------------------------------------------

// Copies of the factors that cuBLASLt cannot read where they lie (cuda/Blas.cpp).
void IntProductOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  product::FactorCopies copies(memory);
  for (const int i : {1, 0}) {  // a row-major product is computed transposed
    const TensorView factor = op.tensor(i);
    if (!product::BlasReads(factor)) copies.Add(work::Elements(factor), factor.dtype());
  }
  copies.FreeAll();
}

constexpr OpDef Product(const Words& words, ShapeFn shape, WorkFn work,
                        TrafficFn traffic = traffic::ReadAllWriteAll, Gradient grad = kNoGradient,
                        DeviceAllocations allocations = allocations::Via<"aten::empty">) {
  return Kernel(Family::kContraction, words,
                {.shape = shape,
                 .fusion = Fusion::kOutFusable,
                 .allocations = allocations,
                 .work = work,
                 .grad = grad,
                 .precision = precision::kFollow},
                Alias::kNone, traffic);
}
// Scale and zero point are read as numbers: PyTorch warns that no gradient gets to them.
constexpr Gradient kNumbersOfTensors{
    "torch::autograd::WarnNotImplemented",
    {GradientOf(1, {}, gradients::Nothing), GradientOf(2, {}, gradients::Nothing)},
    InPython{.context = {}}};

constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kElementwise, words, decompose, grad);
}

constexpr std::array kRows{
    Call({"quantized_decomposed::quantize_per_tensor", "Scaled, rounded and limited to few bits.",
          "(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType "
          "dtype) -> Tensor",
          "quantized_decomposed::quantize_per_tensor(f32[2,8], 0.1, 0, -128, 127, i8)"},
         Quantize),
    Call({"quantized_decomposed::quantize_per_tensor.tensor",
          "Scaled, rounded and limited to few bits.",
          "(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, "
          "ScalarType dtype) -> Tensor",
          "quantized_decomposed::quantize_per_tensor.tensor(f32[2,8], f32[], i64[], -128, 127, "
          "i8)"},
         Quantize),
    Call({"quantized_decomposed::dequantize_per_tensor", "Few bits scaled back.",
          "(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType "
          "dtype, *, ScalarType? out_dtype=None) -> Tensor",
          "quantized_decomposed::dequantize_per_tensor(i8[2,8], 0.1, 0, -128, 127, i8)"},
         Dequantize),
    Call({"quantized_decomposed::dequantize_per_tensor.tensor", "Few bits scaled back.",
          "(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, "
          "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
          "quantized_decomposed::dequantize_per_tensor.tensor(i8[2,8], f32[], i64[], -128, 127, "
          "i8)"},
         Dequantize, kNumbersOfTensors),
    Call({"quantized_decomposed::quantize_per_channel", "Each channel by a scale of its own.",
          "(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int "
          "quant_max, ScalarType dtype) -> Tensor",
          "quantized_decomposed::quantize_per_channel(f32[2,8], f32[2], i64[2], 0, -128, 127, "
          "i8)"},
         QuantizeChannels),
    Call({"quantized_decomposed::dequantize_per_channel", "Each channel scaled back.",
          "(Tensor input, Tensor scales, Tensor? zero_points, int axis, int quant_min, int "
          "quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
          "quantized_decomposed::dequantize_per_channel(i8[2,8], f32[2], i64[2], 0, -128, 127, "
          "i8)"},
         DequantizeChannels),
    Call({"quantized_decomposed::quantize_per_token", "Each row by a scale of its own.",
          "(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, "
          "ScalarType dtype) -> Tensor",
          "quantized_decomposed::quantize_per_token(f32[2,8], f32[2,1], i64[2,1], -128, 127, i8)"},
         QuantizeTokens),
    Call({"quantized_decomposed::dequantize_per_token", "Each row scaled back.",
          "(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, "
          "ScalarType dtype, ScalarType output_dtype) -> Tensor",
          "quantized_decomposed::dequantize_per_token(i8[2,8], f32[2,1], i64[2,1], -128, 127, i8, "
          "f32)"},
         DequantizeTokens),
    Call({"quantized_decomposed::dequantize_per_channel_group", "Each group scaled back.",
          "(Tensor input, Tensor scales, Tensor? zero_points, int quant_min, int quant_max, "
          "ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor",
          "quantized_decomposed::dequantize_per_channel_group(i8[2,8], f32[2,2], i64[2,2], -8, 7, "
          "i8, 4, f32)"},
         DequantizeGroups),
    Product({"aten::_weight_int8pack_mm", "Product with a transposed int8 weight, scaled.",
             "(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
             "aten::_weight_int8pack_mm(bf16[4,64], i8[32,64], bf16[32])"},
            Int8PackedShape, PackedWork, traffic::ReadAllWriteAll,
            gradients::kNotImplementedOf<0, 2>,
            {allocations::Via<"aten::empty">, Int8PackedOnCuda}),
    Product({"aten::_weight_int4pack_mm_for_cpu",
             "Product with a weight of four bits, scaled by groups.",
             "(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor",
             "aten::_weight_int4pack_mm_for_cpu(bf16[4,64], u8[32,32], 32, bf16[2,32,2])"},
            Int4PackedShape, PackedWork, traffic::ReadAllWriteAll,
            gradients::kNotImplementedOf<0, 3>),
    Product({"steelyard::packed_linear",
             "A Linear layer of a packed weight, which is unpacked as it is multiplied.",
             "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
             "steelyard::packed_linear(f32[2,4,16], f32[8,16], f32[8])"},
            PackedLinearShape, PackedLinearWork, PackedLinearTraffic),
    Product(
        {"steelyard::packed_experts",
         "Rows, each by the packed weight of its expert, which is unpacked as it is multiplied.",
         "(Tensor input, Tensor weight, Tensor offsets) -> Tensor",
         "steelyard::packed_experts(f32[12,8], f32[4,16,8], i32[4])"},
        PackedExpertsShape, PackedExpertsWork, PackedExpertsTraffic),
    Product({"steelyard::bits_linear",
             "A Linear layer of numbers of few bits, which are unpacked as they are multiplied.",
             "(Tensor input, Tensor packed, Tensor scales, Tensor? zeros, Tensor? bias, int inner, "
             "int columns) -> Tensor",
             "steelyard::bits_linear(f32[2,4,16], u8[8,1,8], f32[8,1], None, None, 16, 8)"},
            BitsLinearShape, BitsLinearWork),
    Composite(Family::kContraction,
              {"aten::_scaled_mm", "Product of float8 matrices, each with its scales.",
               "(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
               "Tensor? scale_result=None, ScalarType? out_dtype=None, bool "
               "use_fast_accum=False) -> Tensor",
               "aten::_scaled_mm(f8e4m3[16,32], f8e4m3[32,16]{1,32}, f32[], f32[], "
               "out_dtype=bf16)"},
              ScaledProduct, gradients::kNotImplementedOf<2, 3, 4, 5>),
    Product({"aten::_int_mm", "Product of int8 matrices.", "(Tensor self, Tensor mat2) -> Tensor",
             "aten::_int_mm(i8[32,64], i8[64,32])"},
            IntProductShape, PackedWork, traffic::ReadAllWriteAll, kNoGradient,
            {allocations::Via<"aten::empty">, IntProductOnCuda}),
};

}  // namespace

std::span<const OpDef> Quantized() { return kRows; }

}  // namespace steelyard::ops
