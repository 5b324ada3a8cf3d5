// SPDX-License-Identifier: Apache-2.0
//
// Random numbers, and the losses of training graphs.
#include <array>
#include <string>
#include <vector>

#include "import/onnx/op_map.h"

namespace steelyard::onnx {
namespace {

// Of standard ones: scaled and shifted where they are to be others.
void GiveRandom(Call& call, Tensor out, const Like& like, double scale, double shift) {
  if (scale != 1) out = call.Emit("aten::mul.Tensor", out, scale);
  if (shift != 0) out = call.Emit("aten::add.Tensor", out, shift);
  call.Give(out, like);
}

bool IsNormal(Call& call) { return call.row().target.starts_with("aten::randn"); }
double ScaleOf(Call& call) {
  return IsNormal(call) ? call.real("scale", 1) : call.real("high", 1) - call.real("low", 0);
}
double ShiftOf(Call& call) { return IsNormal(call) ? call.real("mean", 0) : call.real("low", 0); }

void Random(Call& call) {
  Like like{DTypeOf(call.integer("dtype", 1)).value_or(DType::kFloat32), {}};
  for (const std::int64_t size : call.integers("shape").value_or(std::vector<std::int64_t>())) {
    if (size < 0) Call::GiveUp("a size is negative");
    like.shape.emplace_back(size);
  }
  const Tensor out =
      call.Emit(call.row().target, ToSizes(like.shape), Builder::Named("dtype", like.dtype));
  GiveRandom(call, out, like, ScaleOf(call), ShiftOf(call));
}

void RandomLike(Call& call) {
  const Like like{DTypeOf(call.integer("dtype", 0)).value_or(call.dtype(0)), call.shape(0)};
  const Tensor out =
      call.Emit(call.row().target, call.tensor(0), Builder::Named("dtype", like.dtype));
  GiveRandom(call, out, like, ScaleOf(call), ShiftOf(call));
}

void Bernoulli(Call& call) {
  const DType to = DTypeOf(call.integer("dtype", 0)).value_or(call.dtype(0));
  Tensor out = call.Emit("aten::bernoulli", call.tensor(0));
  if (to != call.dtype(0)) out = call.Emit("aten::to.dtype", out, to);
  call.Give(out, {to, call.shape(0)});
}

// --- Losses -------------------------------------------------------------------------------------

// As at::Reduction numbers them.
std::int64_t ReductionOf(Call& call) {
  const std::string reduction = call.text("reduction", "mean");
  if (reduction == "none") return 0;
  if (reduction == "mean") return 1;
  if (reduction == "sum") return 2;
  Call::GiveUp("reduction \"" + reduction + "\"");
}

constexpr std::int64_t kIgnoredNowhere = -100;

Tensor LossOf(Call& call, std::string_view op) {
  const Tensor target = call.dtype(1) == DType::kInt64
                            ? call.tensor(1)
                            : call.Emit("aten::to.dtype", call.tensor(1), DType::kInt64);
  return call.Emit(op, call.tensor(0), target, call.optional(2), ReductionOf(call),
                   call.integer("ignore_index", kIgnoredNowhere));
}

Shape LossShape(Call& call) { return ReductionOf(call) == 0 ? call.shape(1) : Shape(); }

void LogLikelihood(Call& call) {
  call.Give(LossOf(call, "aten::nll_loss_nd"), {call.dtype(0), LossShape(call)});
}

void CrossEntropy(Call& call) {
  call.Give(LossOf(call, "aten::cross_entropy_loss"), {call.dtype(0), LossShape(call)});
  if (!call.wants(1)) return;
  call.Give(call.Emit("aten::log_softmax.int", call.tensor(0), 1), call.like(0));
}

constexpr std::array kRows{
    OpRow{"Bernoulli", 15, Bernoulli},
    OpRow{"NegativeLogLikelihoodLoss", 12, LogLikelihood},
    OpRow{"RandomNormal", 1, Random, "aten::randn"},
    OpRow{"RandomNormalLike", 1, RandomLike, "aten::randn_like"},
    OpRow{"RandomUniform", 1, Random, "aten::rand"},
    OpRow{"RandomUniformLike", 1, RandomLike, "aten::rand_like"},
    OpRow{"SoftmaxCrossEntropyLoss", 12, CrossEntropy},
};

}  // namespace

std::span<const OpRow> RandomRows() { return kRows; }

}  // namespace steelyard::onnx
