// SPDX-License-Identifier: Apache-2.0
//
// Norms, activations and products that ONNX Runtime's optimizer joins (com.microsoft,
// docs/ContribOperators.md of onnxruntime), taken apart as the models did that they were fused of.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"
#include "import/onnx/windows.h"

namespace steelyard::onnx {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

// --- Norms and activations with a sum before them -----------------------------------------------

Builder::Shape LastSize(Call& call) { return {call.shape(0).at(call.shape(0).size() - 1)}; }

// input, skip, gamma, beta, bias; results: norm, mean, deviation, sum
void SkipNorm(Call& call) {
  const bool root = call.row().target == "aten::rms_norm";
  const std::size_t bias = root ? 3 : 4;
  Tensor sum = call.Emit("aten::add.Tensor", call.tensor(0), call.tensor(1));
  if (call.has(bias)) sum = call.Emit("aten::add.Tensor", sum, call.tensor(bias));
  const double epsilon = call.real("epsilon", 1e-12F);
  const Tensor out = root
                         ? call.Emit("aten::rms_norm", sum, LastSize(call), call.tensor(2), epsilon)
                         : call.Emit("aten::layer_norm", sum, LastSize(call), call.tensor(2),
                                     call.optional(3), epsilon);
  if (call.wants(1) || call.wants(2)) Call::GiveUp("moments of a norm");
  call.Give(out, call.like(0));
  call.GiveNothing();
  call.GiveNothing();
  call.Give(sum, call.like(0));
}

void SimplifiedNorm(Call& call) {
  const Tensor out = call.Emit("aten::rms_norm", call.tensor(0), LastSize(call), call.tensor(1),
                               call.real("epsilon", 1e-5F));
  call.Give(out, call.like(0));
}

void BiasedGelu(Call& call) {
  Tensor x = call.tensor(0);
  if (call.has(1)) x = call.Emit("aten::add.Tensor", x, call.tensor(1));
  const bool fast = call.row().target == "tanh";
  const Tensor out =
      call.Emit("aten::gelu", x, Builder::Named("approximate", fast ? "tanh" : "none"));
  call.Give(out, call.like(0));
}

void QuickGelu(Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor scaled = call.Emit("aten::mul.Tensor", x, call.real("alpha", 1.702F));
  call.Give(call.Emit("aten::mul.Tensor", x, call.Emit("aten::sigmoid", scaled)), call.like(0));
}

// gate, values
void SwiGlu(Call& call) {
  const double alpha = call.real("alpha", 1);
  Tensor gate = call.tensor(0);
  if (alpha == 1) {
    gate = call.Emit("aten::silu", gate);
  } else {
    const Tensor scaled = call.Emit("aten::mul.Tensor", gate, alpha);
    gate = call.Emit("aten::mul.Tensor", gate, call.Emit("aten::sigmoid", scaled));
  }
  call.Give(call.Emit("aten::mul.Tensor", gate, call.tensor(1)), call.like(0));
}

// --- Convolutions ------------------------------------------------------------------------------

Tensor Activated(Call& call, Tensor x) {
  const std::string name = call.text("activation", "");
  const std::optional<AttributeProto> params = call.attribute("activation_params");
  const std::vector<double> with = params ? params->reals : std::vector<double>();
  const auto given = [&](std::size_t i, double otherwise) {
    return i < with.size() ? with[i] : otherwise;
  };
  if (name.empty()) return x;
  if (name == "Relu") return call.Emit("aten::relu", x);
  if (name == "Tanh") return call.Emit("aten::tanh", x);
  if (name == "Sigmoid") return call.Emit("aten::sigmoid", x);
  if (name == "LeakyRelu") return call.Emit("aten::leaky_relu", x, given(0, 0.01));
  if (name == "Clip") return call.Emit("aten::clamp", x, given(0, 0), given(1, 6));
  if (name != "HardSigmoid") Call::GiveUp("the activation " + name);
  const Tensor line =
      call.Emit("aten::add.Scalar", call.Emit("aten::mul.Tensor", x, given(0, 0.2)), given(1, 0.5));
  return call.Emit("aten::clamp", line, 0, 1);
}

// x, weight, bias, what is added before the activation
void FusedConvolution(Call& call) {
  Shape to;
  Tensor out = Convolved(
      call, {.input = call.tensor(0), .weight = call.tensor(1), .bias = call.optional(2)}, &to);
  if (call.has(3)) out = call.Emit("aten::add.Tensor", out, call.tensor(3));
  call.Give(Activated(call, out), {call.dtype(0), to});
}

// --- Products -----------------------------------------------------------------------------------

// Rows that come before the batches, [rows, batches..., columns], go behind them.
Tensor RowsBehind(Call& call, Tensor x, Shape& sizes) {
  if (sizes.size() < 3) return x;
  Builder::Shape order;
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i)
    order.emplace_back(static_cast<std::int64_t>(i));
  order.emplace_back(0);
  order.emplace_back(static_cast<std::int64_t>(sizes.size()) - 1);
  std::rotate(sizes.begin(), sizes.begin() + 1, sizes.end() - 1);
  return call.Emit("aten::permute", x, order);
}

void FusedProduct(Call& call) {
  Tensor operands[] = {call.tensor(0), call.tensor(1)};
  Shape sizes[] = {call.shape(0), call.shape(1)};
  for (const std::size_t i : {0U, 1U}) {
    if (call.integer(i == 0 ? "transBatchA" : "transBatchB", 0) != 0) {
      operands[i] = RowsBehind(call, operands[i], sizes[i]);
    }
    if (call.integer(i == 0 ? "transA" : "transB", 0) == 0 || sizes[i].size() < 2) continue;
    operands[i] = call.Emit("aten::transpose.int", operands[i], -2, -1);
    std::swap(sizes[i][sizes[i].size() - 1], sizes[i][sizes[i].size() - 2]);
  }
  Tensor out = call.Emit("aten::matmul", operands[0], operands[1]);
  const double alpha = call.real("alpha", 1);
  if (alpha != 1) out = call.Emit("aten::mul.Tensor", out, alpha);
  call.Give(out, {call.dtype(0), shapes::Product(call.sizes(), sizes[0], sizes[1])});
}

constexpr std::array kRows{
    OpRow{"BiasGelu", 1, BiasedGelu, "none", kMicrosoft},
    OpRow{"FastGelu", 1, BiasedGelu, "tanh", kMicrosoft},
    OpRow{"FusedConv", 1, FusedConvolution, "", kMicrosoft},
    OpRow{"FusedMatMul", 1, FusedProduct, "", kMicrosoft},
    OpRow{"Gelu", 1, BiasedGelu, "none", kMicrosoft},
    OpRow{"QuickGelu", 1, QuickGelu, "", kMicrosoft},
    OpRow{"SimplifiedLayerNormalization", 1, SimplifiedNorm},
    OpRow{"SkipLayerNormalization", 1, SkipNorm, "aten::layer_norm", kMicrosoft},
    OpRow{"SkipSimplifiedLayerNormalization", 1, SkipNorm, "aten::rms_norm", kMicrosoft},
    OpRow{"SwiGLU", 28, SwiGlu},
};

}  // namespace

std::span<const OpRow> FusedRows() { return kRows; }

}  // namespace steelyard::onnx
