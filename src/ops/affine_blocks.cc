// SPDX-License-Identifier: Apache-2.0
//
// Scales and zero points that are chosen while a model runs, and tensors quantized by blocks, as
// dynamically quantized programs hold them: quantized_decomposed of torch.ao
// (torch/ao/quantization/fx/_decomposed.py, quantization/utils.py) and the operators of the package
// torchao (quantization/quant_primitives.py). All are Python: numbers are boxed outside the
// operators that take them, and variables end in the order of their declaration.

#include <fmt/core.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/affine.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

struct Range {
  double least = 0;
  double most = 0;
};

// min(least, 0) and max(most, 0)
Tensor WithZero(Dispatcher& d, OpName choice, const Tensor& t) {
  return d.Call(choice, t, d.Call("aten::zeros_like", t));
}

// --- Of a whole tensor --------------------------------------------------------------------------

struct Extremes {
  Tensor least, most;
  void Reset() {
    least.reset();
    most.reset();
  }
};

// check_min_max_valid
void CheckOrder(Dispatcher& d, const Extremes& found) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  d.Call("aten::eq.Scalar", found.least, kInfinity);
  d.Call("aten::gt.Tensor", found.least, found.most);
}

// input, quant_min, quant_max, eps, dtype: what there is before scale and zero point are chosen, in
// the order in which it is made.
struct Choice {
  Choice(Dispatcher& d, const OpView& op) : range{op.real(1), op.real(2)} {
    std::vector<Tensor> both = d.CallMany("aten::aminmax", d.tensor(op, 0));
    found = {std::move(both[0]), std::move(both[1])};
    both.clear();
    const bool on_cpu = d.target().device == Device::kCpu;
    const auto make_epsilon = [&] {
      epsilon = d.Call("steelyard::numbers", std::vector<double>{op.real(3)}, DType::kFloat32);
    };
    if (on_cpu) make_epsilon();
    CheckOrder(d, found);
    bounds.least = WithZero(d, "aten::min.other", found.least);
    bounds.most = WithZero(d, "aten::max.other", found.most);
    scale = d.Call("aten::ones", Dims{}, DType::kFloat64);
    zero_point = d.Call("aten::zeros", Dims{}, DType::kInt64);
    if (!on_cpu) make_epsilon();  // which goes from the host's memory to the device
  }

  // The results; variables end in the order of their declaration.
  std::vector<Tensor> Finish(Dispatcher& d, bool cast_zero_point) {
    std::vector<Tensor> out(2);
    out[0] = d.Call("aten::to.dtype", scale, DType::kFloat64);
    out[1] = cast_zero_point ? d.Call("aten::to.dtype", zero_point, DType::kInt64) : zero_point;
    epsilon.reset();
    bounds.Reset();
    scale.reset();
    zero_point.reset();
    found.Reset();
    return out;
  }

  Range range;
  Extremes found, bounds;
  Tensor epsilon, scale, zero_point;
};

std::vector<Tensor> ChooseForTensor(Dispatcher& d, const OpView& op) {
  RequireFloat(op.self());
  AskedType(op, 4);
  const Dispatcher::FromPython python(d);
  Choice c(d, op);
  {
    Tensor width = d.Call("aten::sub.Tensor", c.bounds.most, c.bounds.least);
    Tensor step = d.Call("aten::div.Tensor", width, c.range.most - c.range.least);
    width.reset();
    c.scale = std::move(step);
  }
  c.scale = d.Call("aten::maximum", c.scale, c.epsilon);
  {
    Tensor steps = d.Call("aten::div.Tensor", c.bounds.least, c.scale);
    steps = d.Call("aten::round", steps);
    steps = d.Call("aten::to.dtype", steps, DType::kInt32);
    Tensor first = d.Call("aten::rsub.Scalar", steps, op.arg(1));
    steps.reset();
    c.zero_point = std::move(first);
  }
  c.zero_point = d.Call("aten::clamp", c.zero_point, op.arg(1), op.arg(2));
  return c.Finish(d, true);
}

// The same around zero, which is the middle of unsigned numbers.
std::vector<Tensor> ChooseSymmetric(Dispatcher& d, const OpView& op) {
  RequireFloat(op.self());
  const DType type = AskedType(op, 4);
  const Dispatcher::FromPython python(d);
  Choice c(d, op);
  {
    Tensor turned = d.Call("aten::neg", c.bounds.least);
    Tensor larger = d.Call("aten::max.other", turned, c.bounds.most);
    turned.reset();
    c.bounds.most = std::move(larger);
  }
  c.scale = d.Call("aten::div.Tensor", c.bounds.most, (c.range.most - c.range.least) / 2);
  c.scale = d.Call("aten::maximum", c.scale, c.epsilon);
  const std::int64_t middle = type == DType::kUInt8 ? 128 : 0;
  if (middle != 0) c.zero_point = d.Call("aten::new_full", c.zero_point, Dims{}, middle);
  c.zero_point = d.Call("steelyard::numbers", Dims{middle}, DType::kInt64);
  return c.Finish(d, false);
}

// --- Of each row --------------------------------------------------------------------------------

// input, dtype
std::vector<Tensor> ChooseForTokens(Dispatcher& d, const OpView& op) {
  constexpr std::int64_t kLargest = 127;
  constexpr double kLeastScale = 1e-5;
  if (AskedType(op, 1) != DType::kInt8) Refuse("rows are quantized to int8");
  const Dispatcher::FromPython python(d);
  Tensor scales;
  {
    const Tensor magnitude = d.Call("aten::abs", d.tensor(op, 0));
    scales = d.Call("aten::amax", magnitude, Dims{-1}, true);
  }
  if (scales.dtype() == DType::kFloat16) {
    scales = d.Call("aten::to.dtype", scales, DType::kFloat32);
  }
  {
    Tensor limited = d.Call("aten::clamp", scales, kLeastScale);
    Tensor steps = d.Call("aten::div.Tensor", limited, kLargest);
    limited.reset();
    scales = std::move(steps);
  }
  const Tensor zeros = d.Call("aten::zeros_like", scales);
  return {scales, zeros};
}

// input, dtype: the zero point that errs less at either end
std::vector<Tensor> ChooseAsymmetric(Dispatcher& d, const OpView& op) {
  constexpr std::int64_t kLeast = -128, kMost = 127;
  constexpr double kEpsilon = 0x1p-23;
  const Dispatcher::FromPython python(d);
  const Tensor input = d.tensor(op, 0);
  Extremes found{d.Call("aten::amin", input, Dims{-1}, true),
                 d.Call("aten::amax", input, Dims{-1}, true)};
  Tensor below = WithZero(d, "aten::min.other", found.least);
  Tensor above = WithZero(d, "aten::max.other", found.most);
  Tensor scale;
  {
    const Tensor width = d.Call("aten::sub.Tensor", above, below);
    scale = d.Call("aten::div.Tensor", width, static_cast<double>(kMost - kLeast));
  }
  scale = d.Call("aten::clamp", scale, kEpsilon);
  const Tensor first = d.Call("aten::div.Tensor", below, scale);
  const Tensor last = d.Call("aten::div.Tensor", above, scale);
  const Tensor low_error = d.Call("aten::add.Tensor", first, kLeast);
  const Tensor high_error = d.Call("aten::add.Tensor", last, kMost);
  Tensor zero_point;
  {
    Tensor error = d.Call("aten::add.Tensor", low_error, high_error);
    Tensor positive = d.Call("aten::gt.Scalar", error, std::int64_t{0});
    error.reset();
    Tensor by_first = d.Call("aten::rsub.Scalar", first, kLeast);
    Tensor by_last = d.Call("aten::rsub.Scalar", last, kMost);
    zero_point = d.Call("aten::where.self", positive, by_first, by_last);
    positive.reset();
  }
  {
    const Tensor limited = d.Call("aten::clamp", zero_point, kLeast, kMost);
    Tensor whole = d.Call("aten::round", limited);
    zero_point = std::move(whole);
  }
  std::vector<Tensor> out(2);
  out[0] = d.Call("aten::to.dtype", scale, DType::kFloat64);
  out[1] = d.Call("aten::to.dtype", zero_point, DType::kInt64);
  found.Reset();
  below.reset();
  above.reset();
  return out;
}

// input, scales, zero_points, quant_min, quant_max, dtype, group_size
std::vector<Tensor> QuantizeGroups(Dispatcher& d, const OpView& op) {
  shape::RequireRank("what is quantized", op.self(), 2);
  const std::int64_t asked = op.integer(6), columns = op.self().size(1);
  const bool whole = asked > columns && op.tensor(1).rank() > 0 && op.tensor(1).size(-1) == 1;
  const std::int64_t group = whole ? columns : asked;
  if (asked < 2 || group == 0 || columns % group != 0) {
    Refuse(fmt::format("{} in groups of {}", shape::Text(op.self()), asked));
  }
  const Dispatcher::FromPython python(d);
  const Tensor input = d.tensor(op, 0);
  const Tensor rows = d.Call("aten::reshape", input, Dims{-1, group});
  {
    Tensor missing = d.Call("aten::isnan", rows);
    Tensor count = d.Call("aten::sum", missing);
    missing.reset();
    const Tensor any = d.Call("aten::ne.Scalar", count, std::int64_t{0});
    count.reset();
  }
  Tensor scales = d.Call("aten::reshape", d.tensor(op, 1), Dims{-1, 1});
  Tensor zeros = d.Call("aten::reshape", d.tensor(op, 2), Dims{-1, 1});
  Tensor inverse = d.Call("aten::reciprocal", scales);
  inverse = d.Call("aten::mul.Tensor", inverse, 1.0);
  Tensor t = d.Call("aten::mul.Tensor", rows, inverse);
  inverse.reset();
  t = d.Call("aten::add.Tensor", t, zeros);
  t = d.Call("aten::round", t);
  d.Call("aten::clamp_", t, op.arg(3), op.arg(4));
  t = d.Call("aten::to.dtype", t, AskedType(op, 5));
  const Tensor out = d.Call("aten::reshape_as", t, input);
  scales.reset();
  zeros.reset();
  return {out};
}

// --- torchao: by blocks -------------------------------------------------------------------------

// A tensor seen so that each block is some whole dimensions, and these (_get_reduction_params).
struct Blocks {
  Dims sizes;      // of the view
  Dims reduced;    // the dimensions of a block
  Dims collapsed;  // the sizes with those of a block as 1
  Dims counts;     // of blocks, along each dimension of the tensor
};

Blocks BlocksOf(const OpView& op, int block_at) {
  const TensorView input = op.self();
  const Dims block = op.ints(block_at);
  shape::RequireEqual("dimensions of a block and of the tensor", block.size(), input.rank());
  Blocks out;
  const auto add = [&](std::int64_t size, bool reduced) {
    if (reduced) out.reduced.push_back(out.sizes.size());
    out.sizes.push_back(size);
    out.collapsed.push_back(reduced ? 1 : size);
  };
  for (int i = 0; i < block.size(); ++i) {
    const std::int64_t size = input.size(i);
    if (block[i] < 1 || size % block[i] != 0) {
      Refuse(fmt::format("{} in blocks of {}", shape::Text(input), shape::Text(block)));
    }
    out.counts.push_back(size / block[i]);
    if (block[i] != size && block[i] > 1) {
      add(size / block[i], false);
      add(block[i], true);
    } else {
      add(size, block[i] != 1);
    }
  }
  return out;
}

// The numbers that a dtype has, as far as they are not given.
Range RangeOf(const OpView& op, int least_at, DType type) {
  const bool is_unsigned = type == DType::kUInt8;
  if (!is_unsigned && type != DType::kInt8 && type != DType::kInt16 && type != DType::kInt32) {
    Refuse(fmt::format("blocks are not quantized to {}", ShortNameOf(type)));
  }
  const auto half = static_cast<double>(std::int64_t{1} << (BitsOf(type) - 1));
  const Range own{is_unsigned ? 0 : -half, is_unsigned ? 2 * half - 1 : half - 1};
  return {op.real(least_at, own.least), op.real(least_at + 1, own.most)};
}

// input, mapping_type, block_size, target_dtype, quant_min, quant_max, eps, scale_dtype,
// zero_point_dtype, keepdim
std::vector<Tensor> ChooseForBlocks(Dispatcher& d, const OpView& op) {
  const std::string_view mapping = op.text(1);
  const bool symmetric = mapping == "SYMMETRIC", clips = mapping != "SYMMETRIC_NO_CLIPPING_ERR";
  if (!symmetric && clips && mapping != "ASYMMETRIC") {
    Refuse("there is no mapping \"" + std::string(mapping) + "\"");
  }
  const Blocks blocks = BlocksOf(op, 2);
  const Range range = RangeOf(op, 4, AskedType(op, 3));
  const DType scale_type = op.dtype(7).value_or(op.self().dtype());
  const double epsilon = op.real(6, 0x1p-126);
  const bool keeps = op.boolean(9);
  const Dispatcher::FromPython python(d);
  Tensor mask;
  const Tensor input = d.Call("aten::view", d.tensor(op, 0), blocks.sizes);
  const Tensor least = d.Call("aten::amin", input, blocks.reduced, keeps);
  const Tensor most = d.Call("aten::amax", input, blocks.reduced, keeps);
  const Tensor below = WithZero(d, "aten::min.other", least);
  Tensor above = WithZero(d, "aten::max.other", most);
  Tensor scale, zero_point, smallest, largest;
  DType zero_type = op.dtype(8).value_or(DType::kInt32);
  if (mapping == "ASYMMETRIC") {
    {
      const Tensor width = d.Call("aten::sub.Tensor", above, below);
      scale = d.Call("aten::div.Tensor", width, range.most - range.least);
    }
    scale = d.Call("aten::clamp", scale, epsilon);
    Tensor steps = d.Call("aten::div.Tensor", below, scale);
    steps = d.Call("aten::round", steps);
    zero_point = d.Call("aten::rsub.Scalar", steps, static_cast<std::int64_t>(range.least));
    steps.reset();
    zero_point = d.Call("aten::clamp", zero_point, static_cast<std::int64_t>(range.least),
                        static_cast<std::int64_t>(range.most));
  } else {
    if (symmetric) {
      Tensor turned = d.Call("aten::neg", below);
      Tensor larger = d.Call("aten::max.other", turned, above);
      turned.reset();
      above = std::move(larger);
      scale = d.Call("aten::div.Tensor", above, (range.most - range.least) / 2);
    } else {
      smallest = d.Call("aten::div.Tensor", below, range.least);
      largest = d.Call("aten::div.Tensor", above, range.most);
      mask = d.Call("aten::gt.Tensor", smallest, largest);
      scale = d.Call("aten::where.self", mask, smallest, largest);
    }
    const auto middle = static_cast<std::int64_t>((range.most + range.least + 1) / 2);
    zero_point = d.Call("aten::full_like", scale, middle);
    scale = d.Call("aten::clamp", scale, epsilon);
    zero_type = op.dtype(8).value_or(zero_point.dtype());
  }
  if (keeps) {
    scale = d.Call("aten::reshape", scale, blocks.counts);
    zero_point = d.Call("aten::reshape", zero_point, blocks.counts);
  }
  std::vector<Tensor> out(2);
  out[0] = d.Call("aten::to.dtype", scale, scale_type);
  out[1] = d.Call("aten::to.dtype", zero_point, zero_type);
  return out;
}

// input, block_size, scale, zero_point, output_dtype, quant_min, quant_max
std::vector<Tensor> QuantizeBlocks(Dispatcher& d, const OpView& op) {
  RequireFloat(op.self());
  const DType type = AskedType(op, 4);
  const Range range = RangeOf(op, 5, type);
  const Blocks blocks = BlocksOf(op, 1);
  const Dispatcher::FromPython python(d);
  const Tensor input = d.Call("aten::view", d.tensor(op, 0), blocks.sizes);
  const Tensor scale = d.Call("aten::view", d.tensor(op, 2), blocks.collapsed);
  if (!op.given(3)) Refuse("a zero point is needed");
  const Tensor zeros = d.Call("aten::view", d.tensor(op, 3), blocks.collapsed);
  Tensor inverse = d.Call("aten::reciprocal", scale);
  inverse = d.Call("aten::mul.Tensor", inverse, 1.0);
  Tensor t = d.Call("aten::mul.Tensor", input, inverse);
  inverse.reset();
  t = d.Call("aten::round", t);
  t = d.Call("aten::add.Tensor", t, zeros);
  t = d.Call("aten::clamp", t, range.least, range.most);
  t = d.Call("aten::view", t, Dims(op.self().sizes()));
  return {d.Call("aten::to.dtype", t, type)};
}

// input, block_size, scale, zero_point, input_dtype, quant_min, quant_max, output_dtype
std::vector<Tensor> DequantizeBlocks(Dispatcher& d, const OpView& op) {
  const DType type = op.dtype(7).value_or(DType::kFloat32);
  const Blocks blocks = BlocksOf(op, 1);
  const Dispatcher::FromPython python(d);
  const Tensor input = d.Call("aten::view", d.tensor(op, 0), blocks.sizes);
  const Tensor scale = d.Call("aten::view", d.tensor(op, 2), blocks.collapsed);
  Tensor zeros;
  if (op.given(3)) zeros = d.Call("aten::view", d.tensor(op, 3), blocks.collapsed);
  Tensor t = d.Call("aten::to.dtype", input, type, false, true);
  if (zeros.defined()) {
    Tensor own = d.Call("aten::to.dtype", zeros, type);
    Tensor difference = d.Call("aten::sub.Tensor", t, own);
    own.reset();
    t = std::move(difference);
  }
  t = d.Call("aten::mul.Tensor", t, scale);
  const Tensor seen = d.Call("aten::view", t, Dims(op.self().sizes()));
  t.reset();
  return {d.Call("aten::to.dtype", seen, type)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Call(const Words& words, DecomposeFn decompose, Gradient grad = kNoGradient) {
  return Composite(Family::kElementwise, words, decompose, grad);
}

constexpr std::array kRows{
    Call({"quantized_decomposed::choose_qparams.tensor",
          "The scale and the zero point that fit the elements of a tensor.",
          "(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, "
          "Tensor)",
          "quantized_decomposed::choose_qparams.tensor(f32[2,8], 0, 255, 0.0002, u8)"},
         ChooseForTensor, kGradientUnknown),
    Call({"quantized_decomposed::choose_qparams_symmetric.tensor",
          "The scale that fits the elements of a tensor around zero.",
          "(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, "
          "Tensor)",
          "quantized_decomposed::choose_qparams_symmetric.tensor(f32[2,8], -127, 127, 0.0002, i8)"},
         ChooseSymmetric, kGradientUnknown),
    Call({"quantized_decomposed::choose_qparams_per_token",
          "The scales that fit the rows of a tensor around zero.",
          "(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
          "quantized_decomposed::choose_qparams_per_token(f32[2,8], i8)"},
         ChooseForTokens, kGradientUnknown),
    Call({"quantized_decomposed::choose_qparams_per_token_asymmetric",
          "The scales and the zero points that fit the rows of a tensor.",
          "(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
          "quantized_decomposed::choose_qparams_per_token_asymmetric(f32[2,8], i8)"},
         ChooseAsymmetric, kGradientUnknown),
    Call({"quantized_decomposed::_choose_qparams_per_token_asymmetric_impl",
          "The scales and the zero points that fit the rows of a tensor.",
          "(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
          "quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(f32[2,8], i8)"},
         ChooseAsymmetric, kGradientUnknown),
    Call({"quantized_decomposed::quantize_per_channel_group", "Each group by a scale of its own.",
          "(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, "
          "ScalarType dtype, int group_size) -> Tensor",
          "quantized_decomposed::quantize_per_channel_group(f32[2,8], f32[2,2], i64[2,2], -8, 7, "
          "i8, 4)"},
         QuantizeGroups),
    Call({"torchao::choose_qparams_affine",
          "The scales and the zero points that fit the blocks of a tensor.",
          "(Tensor? input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, Scalar? "
          "quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, "
          "ScalarType? zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)",
          "torchao::choose_qparams_affine(f32[4,64], 'SYMMETRIC', [1,64], i8, -128, 127, 1e-07, "
          "f32, i8, True)"},
         ChooseForBlocks, kGradientUnknown),
    Call({"torchao::quantize_affine", "Each block by a scale of its own.",
          "(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
          "output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor",
          "torchao::quantize_affine(f32[4,64], [1,32], f32[4,2], i8[4,2], i8, -128, 127)"},
         QuantizeBlocks),
    Call({"torchao::dequantize_affine", "Each block scaled back.",
          "(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
          "input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType "
          "output_dtype=6) -> Tensor",
          "torchao::dequantize_affine(i8[4,64], [1,32], f32[4,2], i8[4,2], i8, -128, 127)"},
         DequantizeBlocks),
};

}  // namespace

std::span<const OpDef> AffineBlocks() { return kRows; }

}  // namespace steelyard::ops
