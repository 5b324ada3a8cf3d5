// SPDX-License-Identifier: Apache-2.0
//
// Quantized numbers, as torch.ao's reference programs have them: scaled, rounded and scaled back
// around operators on floats. Products of integers are computed in wider ones.
#include <array>
#include <cmath>
#include <vector>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"
#include "import/onnx/windows.h"

namespace steelyard::onnx {
namespace {

struct Limits {
  std::int64_t least, most;
};

Limits LimitsOf(DType dtype) {
  // The largest numbers of these types, which have no infinity or are not to reach it.
  if (dtype == DType::kFloat8E4M3) return {-448, 448};
  if (dtype == DType::kFloat8E5M2) return {-57344, 57344};
  const int bits = BitsOf(dtype);
  if (!IsIntegral(dtype) || bits > 32) Call::GiveUp("numbers that torch.ao quantizes nothing to");
  const bool is_signed = dtype == DType::kInt4 || dtype == DType::kInt8 || dtype == DType::kInt16 ||
                         dtype == DType::kInt32;
  if (is_signed) return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return {0, (std::int64_t{1} << bits) - 1};
}

// Operands of a quantization: which are the scale and the zero point.
struct Scaling {
  std::size_t scale, zero;
};

bool IsOne(Call& call, std::size_t operand) {
  const Shape& shape = call.shape(operand);
  return shape.empty() || (shape.size() == 1 && shape[0] == Dim(1));
}

// As an argument: a number where the file has it.
Builder::Arg ScaleOf(Call& call, const Scaling& by) {
  const auto value = call.reals(by.scale);
  if (value && value->size() == 1) return value->front();
  return call.rank(by.scale) == 0
             ? call.tensor(by.scale)
             : call.Emit("aten::reshape", call.tensor(by.scale), Builder::Shape{});
}
Builder::Arg ZeroOf(Call& call, const Scaling& by) {
  if (!call.has(by.zero)) return 0;
  const auto value = call.numbers(by.zero);
  if (value && value->size() == 1) return value->front();
  const Tensor zero = call.rank(by.zero) == 0
                          ? call.tensor(by.zero)
                          : call.Emit("aten::reshape", call.tensor(by.zero), Builder::Shape{});
  return call.Emit("aten::to.dtype", zero, DType::kInt64);
}
bool AreNumbers(Call& call, const Scaling& by) {
  const auto scale = call.reals(by.scale);
  const bool zero_known = !call.has(by.zero) || call.numbers(by.zero);
  return scale && scale->size() == 1 && zero_known;
}

Tensor ZerosOfChannels(Call& call, const Scaling& by) {
  if (call.has(by.zero)) return call.Emit("aten::to.dtype", call.tensor(by.zero), DType::kInt64);
  return call.Emit("aten::zeros", ToSizes(call.shape(by.scale)),
                   Builder::Named("dtype", DType::kInt64));
}

// One of the two operators, which are written alike: by one scale, or by one for each channel.
struct Direction {
  std::string_view per_tensor, by_tensors, per_channel;
};
constexpr Direction kQuantize{"quantized_decomposed::quantize_per_tensor",
                              "quantized_decomposed::quantize_per_tensor.tensor",
                              "quantized_decomposed::quantize_per_channel"};
constexpr Direction kDequantize{"quantized_decomposed::dequantize_per_tensor",
                                "quantized_decomposed::dequantize_per_tensor.tensor",
                                "quantized_decomposed::dequantize_per_channel"};

struct Scaled {
  Tensor x;
  Scaling by;
  DType dtype;
  int axis = 0;
};
Tensor Rescaled(Call& call, const Direction& direction, const Scaled& of) {
  const auto [x, by, dtype, axis] = of;
  const Limits limits = LimitsOf(dtype);
  if (IsOne(call, by.scale)) {
    const bool numbers = AreNumbers(call, by);
    return call.Emit(numbers ? direction.per_tensor : direction.by_tensors, x,
                     numbers ? ScaleOf(call, by)
                             : call.Emit("aten::reshape", call.tensor(by.scale), Builder::Shape{}),
                     ZeroOf(call, by), limits.least, limits.most, dtype);
  }
  if (call.rank(by.scale) != 1) Call::GiveUp("scales of blocks");
  return call.Emit(direction.per_channel, x, call.tensor(by.scale), ZerosOfChannels(call, by), axis,
                   limits.least, limits.most, dtype);
}

Tensor Quantized(Call& call, Tensor x, const Scaling& by, DType dtype, int axis) {
  return Rescaled(call, kQuantize, {.x = x, .by = by, .dtype = dtype, .axis = axis});
}

// Of operand `operand`.
Tensor Dequantized(Call& call, std::size_t operand, const Scaling& by, int axis) {
  return Rescaled(
      call, kDequantize,
      {.x = call.tensor(operand), .by = by, .dtype = call.dtype(operand), .axis = axis});
}

// --- Scales of blocks ---------------------------------------------------------------------------

// [..., size, ...] of operand 0 as [..., blocks, block, ...], of which operands 1 and 2 have one
// number for each block.
struct Blocks {
  int axis;
  Builder::Shape apart;
  Tensor scales = {}, zeros = {};
};

Blocks BlocksOf(Call& call, DType dtype) {
  const Shape& shape = call.shape(0);
  const int axis = call.axis(call.integer("axis", 1), call.rank(0));
  const std::int64_t block = call.integer("block_size", 0);
  const Dim size = shape.at(static_cast<std::size_t>(axis));
  if (block <= 0 || !size.is_number() || size.number() % block != 0) {
    Call::GiveUp("blocks that are not alike");
  }
  Blocks out{.axis = axis, .apart = ToSizes(shape)};
  out.apart[static_cast<std::size_t>(axis)] = size.number() / block;
  out.apart.insert(out.apart.begin() + axis + 1, block);
  out.scales = call.Emit("aten::unsqueeze", call.tensor(1), axis + 1);
  if (call.has(2)) {
    const Tensor zeros = call.Emit("aten::unsqueeze", call.tensor(2), axis + 1);
    out.zeros = call.Emit("aten::to.dtype", zeros, dtype);
  }
  return out;
}

void QuantizeBlocks(Call& call, DType dtype) {
  const Limits limits = LimitsOf(dtype);
  const Blocks blocks = BlocksOf(call, call.dtype(0));
  Tensor x = call.Emit("aten::reshape", call.tensor(0), blocks.apart);
  x = call.Emit("aten::div.Tensor", x, blocks.scales);
  if (IsIntegral(dtype)) x = call.Emit("aten::round", x);
  if (blocks.zeros.defined()) x = call.Emit("aten::add.Tensor", x, blocks.zeros);
  x = call.Emit("aten::clamp", x, limits.least, limits.most);
  x = call.Emit("aten::to.dtype", x, dtype);
  call.Give(call.Emit("aten::reshape", x, ToSizes(call.shape(0))), {dtype, call.shape(0)});
}

void DequantizeBlocks(Call& call) {
  const DType to = call.dtype(1);
  const Blocks blocks = BlocksOf(call, to);
  Tensor x = call.Emit("aten::reshape", call.tensor(0), blocks.apart);
  x = call.Emit("aten::to.dtype", x, to);
  if (blocks.zeros.defined()) x = call.Emit("aten::sub.Tensor", x, blocks.zeros);
  x = call.Emit("aten::mul.Tensor", x, blocks.scales);
  call.Give(call.Emit("aten::reshape", x, ToSizes(call.shape(0))), {to, call.shape(0)});
}

int ChannelAxis(Call& call, std::size_t scale) {
  if (IsOne(call, scale)) return 0;
  return call.axis(call.integer("axis", 1), call.rank(0));
}

void Quantize(Call& call) {
  DType dtype = DType::kUInt8;
  if (const auto written = DTypeOf(call.integer("output_dtype", 0))) dtype = *written;
  if (call.has(2)) dtype = call.dtype(2);
  if (call.integer("block_size", 0) != 0) return QuantizeBlocks(call, dtype);
  const Tensor out = Quantized(call, call.tensor(0), {1, 2}, dtype, ChannelAxis(call, 1));
  call.Give(out, {dtype, call.shape(0)});
}

// Rows of torch.ao give float32.
Tensor AsType(Call& call, Tensor x, DType dtype) {
  return dtype == DType::kFloat32 ? x : call.Emit("aten::to.dtype", x, dtype);
}

void Dequantize(Call& call) {
  if (call.integer("block_size", 0) != 0) return DequantizeBlocks(call);
  const DType to = call.dtype(1);
  const Tensor out = Dequantized(call, 0, {1, 2}, ChannelAxis(call, 1));
  call.Give(AsType(call, out, to), {to, call.shape(0)});
}

// The scale is the range of the data, zero included, by 255.
void QuantizeDynamically(Call& call) {
  const Tensor x = call.tensor(0);
  const std::vector<Tensor> range = call.EmitMany("aten::aminmax", 2, x);
  const Tensor least = call.Emit("aten::clamp_max", range[0], 0);
  const Tensor most = call.Emit("aten::clamp_min", range[1], 0);
  const Tensor width = call.Emit("aten::sub.Tensor", most, least);
  const Tensor scale = call.Emit("aten::div.Tensor", width, 255);
  const Tensor from = call.Emit("aten::div.Tensor", call.Emit("aten::neg", least), scale);
  const Tensor zero = call.Emit("aten::to.dtype", call.Emit("aten::round", from), DType::kInt64);
  const Tensor out = call.Emit("quantized_decomposed::quantize_per_tensor.tensor", x, scale, zero,
                               0, 255, DType::kUInt8);
  const Tensor byte = call.Emit("aten::to.dtype", zero, DType::kUInt8);
  call.Give(out, {DType::kUInt8, call.shape(0)});
  call.Give(scale, {DType::kFloat32, {}});
  call.Give(byte, {DType::kUInt8, {}});
}

// --- Products -----------------------------------------------------------------------------------

// An operand, its zero point, and which dimension has one for each of its entries, if not one has
// all: it is counted from the end.
struct WithZero {
  std::size_t operand, zero;
  std::size_t channels;
};

// Wider, and without its zero point.
Tensor Widened(Call& call, const WithZero& of, DType dtype) {
  const auto [operand, zero, channels] = of;
  const Tensor x = call.Emit("aten::to.dtype", call.tensor(operand), dtype);
  if (!call.has(zero)) return x;
  const auto known = call.numbers(zero);
  if (known && known->size() == 1) {
    if (known->front() == Dim(0)) return x;
    return call.Emit("aten::sub.Tensor", x, known->front());
  }
  Tensor each = call.Emit("aten::to.dtype", call.tensor(zero), dtype);
  if (!IsOne(call, zero) && call.rank(zero) == 1 && channels > 1) {
    Builder::Shape along(channels, 1);
    along[0] = -1;
    each = call.Emit("aten::reshape", each, along);
  }
  return call.Emit("aten::sub.Tensor", x, each);
}

void MatrixProduct(Call& call) {
  const Tensor a = Widened(call, {0, 2, 2}, DType::kInt32),
               b = Widened(call, {1, 3, 1}, DType::kInt32);
  const Shape to = shapes::Product(call.sizes(), call.shape(0), call.shape(1));
  call.Give(call.Emit("aten::matmul", a, b), {DType::kInt32, to});
}

// PyTorch convolves floats; products of bytes are whole in them.
void Convolution(Call& call) {
  const Tensor x = Widened(call, {0, 2, 1}, DType::kFloat32);
  const Tensor w = Widened(call, {1, 3, call.shape(1).size()}, DType::kFloat32);
  Shape to;
  const Tensor out = Convolved(call, {.input = x, .weight = w, .weight_operand = 1}, &to);
  call.Give(call.Emit("aten::to.dtype", out, DType::kInt32), {DType::kInt32, to});
}

// a, its scale and zero point, b, its scale and zero point, those of the result
void ScaledMatrixProduct(Call& call) {
  const int last = call.rank(3) - 1;
  const Tensor a = Dequantized(call, 0, {1, 2}, 0);
  const Tensor b = Dequantized(call, 3, {4, 5}, last);
  const DType dtype = call.dtype(7);
  const Tensor out = Quantized(call, call.Emit("aten::matmul", a, b), {6, 7}, dtype, 0);
  call.Give(out, {dtype, shapes::Product(call.sizes(), call.shape(0), call.shape(3))});
}

// x, scale, zero point, w, scale, zero point, those of the result, bias
void ScaledConvolution(Call& call) {
  const Tensor x = Dequantized(call, 0, {1, 2}, 1);
  const Tensor w = Dequantized(call, 3, {4, 5}, 0);
  const Tensor bias =
      call.has(8) ? call.Emit("aten::to.dtype", call.tensor(8), DType::kFloat32) : Tensor();
  Shape to;
  const Tensor out =
      Convolved(call, {.input = x, .weight = w, .bias = bias, .weight_operand = 3}, &to);
  const DType dtype = call.dtype(7);
  call.Give(Quantized(call, out, {6, 7}, dtype, 0), {dtype, to});
}

// --- What ONNX Runtime's quantizer makes of other operators -------------------------------------

// The result's type is its zero point's, or else the operand's.
DType DTypeBy(Call& call, const Scaling& by, std::size_t operand) {
  return call.has(by.zero) ? call.dtype(by.zero) : call.dtype(operand);
}

// a, its scale and zero point, b, its scale and zero point, those of the result
void ScaledPairs(Call& call) {
  const Tensor a = Dequantized(call, 0, {1, 2}, 0), b = Dequantized(call, 3, {4, 5}, 0);
  const DType dtype = DTypeBy(call, {6, 7}, 0);
  const Tensor out = call.Emit(call.row().target, a, b);
  call.Give(Quantized(call, out, {6, 7}, dtype, 0),
            {dtype, shapes::Broadcast(call.sizes(), call.shape(0), call.shape(3))});
}

// x, its scale and zero point, those of the result
void ScaledElements(Call& call) {
  const Tensor x = Dequantized(call, 0, {1, 2}, 0);
  const DType dtype = DTypeBy(call, {3, 4}, 0);
  const bool leaky = call.row().target == "aten::leaky_relu";
  const Tensor out = leaky ? call.Emit("aten::leaky_relu", x, call.real("alpha", 0.01F))
                           : call.Emit(call.row().target, x);
  call.Give(Quantized(call, out, {3, 4}, dtype, 0), {dtype, call.shape(0)});
}

void ScaledSoftmax(Call& call) {
  const Tensor x = Dequantized(call, 0, {1, 2}, 0);
  const DType dtype = DTypeBy(call, {3, 4}, 0);
  const int axis = call.axis(call.integer("axis", -1), call.rank(0));
  const Tensor out = call.Emit("aten::softmax.int", x, axis);
  call.Give(Quantized(call, out, {3, 4}, dtype, 0), {dtype, call.shape(0)});
}

// The result's scale and zero point, then of each operand it and its own.
void ScaledConcatenation(Call& call) {
  constexpr std::size_t kFirst = 2, kOfEach = 3;
  if (call.count() < kFirst + kOfEach) Call::GiveUp("nothing is joined");
  const auto axis = static_cast<std::size_t>(call.axis(call.integer("axis", 0), call.rank(kFirst)));
  std::vector<Tensor> parts;
  Shape to = call.shape(kFirst);
  to[axis] = Dim(0);
  for (std::size_t i = kFirst; i + 2 < call.count(); i += kOfEach) {
    parts.push_back(Dequantized(call, i, {i + 1, i + 2}, 0));
    to[axis] = call.sizes().Sum(to[axis], call.shape(i).at(axis));
  }
  const DType dtype = DTypeBy(call, {0, 1}, kFirst);
  const Tensor out = call.Emit("aten::cat", parts, static_cast<std::int64_t>(axis));
  call.Give(Quantized(call, out, {0, 1}, dtype, 0), {dtype, to});
}

// a, its scale and zero point, b, its scale and zero point, bias, the result's scale and zero
// point, without which it is float32.
void ScaledGeneral(Call& call) {
  const bool first = call.integer("transA", 0) != 0, second = call.integer("transB", 0) != 0;
  const Shape &a = call.shape(0), &b = call.shape(3);
  if (a.size() != 2 || b.size() != 2) Call::GiveUp("operands that are no matrices");
  Tensor left = Dequantized(call, 0, {1, 2}, 0),
         right = Dequantized(call, 3, {4, 5}, second ? 0 : 1);
  if (first) left = call.Emit("aten::t", left);
  if (second) right = call.Emit("aten::t", right);
  Tensor out = call.Emit("aten::mm", left, right);
  const double alpha = call.real("alpha", 1);
  if (alpha != 1) out = call.Emit("aten::mul.Tensor", out, alpha);
  if (call.has(6)) {
    const Tensor bias = call.Emit("aten::to.dtype", call.tensor(6), DType::kFloat32);
    out = call.Emit("aten::add.Tensor", out, bias);
  }
  const Shape to{first ? a[1] : a[0], second ? b[0] : b[1]};
  if (!call.has(7)) return call.Give(out, {DType::kFloat32, to});
  const DType dtype = DTypeBy(call, {7, 8}, 0);
  call.Give(Quantized(call, out, {7, 8}, dtype, 0), {dtype, to});
}

// a, packed numbers of [columns, blocks, bytes], scales, zero points, order of blocks, bias
void NarrowMatrixProduct(Call& call) {
  if (call.has(4)) Call::GiveUp("blocks in another order");
  const std::int64_t inner = call.integer("K", 0), columns = call.integer("N", 0);
  if (inner <= 0 || columns <= 0) Call::GiveUp("no sizes of the matrix");
  const Tensor out = call.Emit("steelyard::bits_linear", call.tensor(0), call.tensor(1),
                               call.tensor(2), call.optional(3), call.optional(5), inner, columns);
  Shape to = call.shape(0);
  if (to.empty()) Call::GiveUp("a 0-dim operand");
  to.back() = Dim(columns);
  call.Give(out, {call.dtype(0), to});
}

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr std::array kRows{
    OpRow{"ConvInteger", 10, Convolution},
    OpRow{"DequantizeLinear", 10, Dequantize},
    OpRow{"DequantizeLinear", 1, Dequantize, "", kMicrosoft},
    OpRow{"DynamicQuantizeLinear", 11, QuantizeDynamically},
    OpRow{"MatMulInteger", 10, MatrixProduct},
    OpRow{"MatMulNBits", 1, NarrowMatrixProduct, "", kMicrosoft},
    OpRow{"QGemm", 1, ScaledGeneral, "", kMicrosoft},
    OpRow{"QLinearAdd", 1, ScaledPairs, "aten::add.Tensor", kMicrosoft},
    OpRow{"QLinearConcat", 1, ScaledConcatenation, "", kMicrosoft},
    OpRow{"QLinearConv", 10, ScaledConvolution},
    OpRow{"QLinearLeakyRelu", 1, ScaledElements, "aten::leaky_relu", kMicrosoft},
    OpRow{"QLinearMatMul", 10, ScaledMatrixProduct},
    OpRow{"QLinearMul", 1, ScaledPairs, "aten::mul.Tensor", kMicrosoft},
    OpRow{"QLinearSigmoid", 1, ScaledElements, "aten::sigmoid", kMicrosoft},
    OpRow{"QLinearSoftmax", 1, ScaledSoftmax, "", kMicrosoft},
    OpRow{"QuantizeLinear", 10, Quantize},
    OpRow{"QuantizeLinear", 1, Quantize, "", kMicrosoft},
};

}  // namespace

std::span<const OpRow> QuantizedRows() { return kRows; }

}  // namespace steelyard::onnx
