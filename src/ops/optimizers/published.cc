// SPDX-License-Identifier: Apache-2.0
//
// Optimizers that are not torch's own, as the usual implementations have them: Lion of the package
// lion-pytorch 0.2, LAMB of timm 1.0 (timm/optim/lamb.py), LANS as its authors test their CUDA
// kernel against (tests of szhengac/apex), and bitsandbytes' AdamW8bit
// (bitsandbytes/optim/optimizer.py, backends/cpu/ops.py of 0.50).

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/optimizers/step.h"
#include "ops/registry.h"

namespace steelyard::ops {
namespace {

// --- Lion ---------------------------------------------------------------------------------------

void UpdateLion(Dispatcher& d, const Step& step, const Tensor& parameter, const Tensor& gradient,
                const Tensor& mean) {
  const double lr = step.Number("lr"), beta1 = step.Number("beta1"), beta2 = step.Number("beta2");
  d.Call("aten::mul_.Tensor", parameter, 1.0 - lr * step.Number("weight_decay"));  // even by 1
  Tensor update;
  {
    const Tensor copy = d.Call("aten::clone", mean);
    d.Call("aten::mul_.Tensor", copy, beta1);
    update = d.Call("aten::add.Tensor", copy, gradient, 1.0 - beta1);
  }
  d.Call("aten::sgn_", update);
  d.Call("aten::add_.Tensor", parameter, update, -lr);
  d.Call("aten::mul_.Tensor", mean, beta2);
  d.Call("aten::add_.Tensor", mean, gradient, 1.0 - beta2);
}

std::vector<Tensor> Lion(Dispatcher& d, const OpView& op) {
  Step step(d, op, "Lion");
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor mean = step.Like(step.parameters[i], "exp_avg");
    UpdateLion(d, step, step.parameters[i], step.gradients[i], mean);
  }
  return {};
}

// --- LAMB ---------------------------------------------------------------------------------------

Tensor NormOf(Dispatcher& d, const Tensor& tensor) {
  return d.Call("aten::linalg_vector_norm", tensor, 2);
}

// By what all gradients are divided: their common norm, if that is more than 1.
Tensor GlobalNorm(Dispatcher& d, const Tensors& gradients) {
  Tensors norms = d.CallMany("aten::_foreach_norm.Scalar", gradients);
  Tensor norm = NormOf(d, d.Call("aten::stack", norms));
  Tensor divisor = d.Call("aten::div.Tensor", norm, 1.0);
  d.Call("aten::clamp_", divisor, 1.0);
  Return(norms, norm);
  return divisor;
}

// `torch.where(norm > 0, ratio, 1.0)`
Tensor WherePositive(Dispatcher& d, const Tensor& positive, const Tensor& ratio) {
  return d.Call("aten::where.ScalarOther", positive, ratio, 1.0);
}

Tensor TrustRatio(Dispatcher& d, Tensor of_parameter, Tensor of_update) {
  Tensor ratio = d.Call("aten::div.Tensor", of_parameter, of_update);
  {
    Tensor positive = d.Call("aten::gt.Scalar", of_parameter, 0), inner;
    {
      const Tensor also = d.Call("aten::gt.Scalar", of_update, 0);
      inner = WherePositive(d, also, ratio);
    }
    Tensor chosen = WherePositive(d, positive, inner);
    Return(positive, inner);
    ratio = std::move(chosen);
  }
  Return(of_parameter, of_update);
  return ratio;
}

void UpdateLamb(Dispatcher& d, const Step& step, const Tensors& means, const Tensors& squares,
                const Tensor& divisor) {
  const double beta1 = step.Number("beta1"), beta2 = step.Number("beta2");
  const Corrections corrections = CorrectionsOf(step);
  Tensor gradient, denominator, update;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor& parameter = step.parameters[i];
    gradient.reset();  // the variable holds the parameter's own for a moment
    gradient = d.Call("aten::div.Tensor", step.gradients[i], divisor);
    d.Call("aten::lerp_.Scalar", means[i], gradient, 1 - beta1);
    d.Call("aten::mul_.Tensor", squares[i], beta2);
    d.Call("aten::addcmul_", squares[i], gradient, gradient, 1 - beta2);
    Tensor ratio =
        d.Call("aten::div.Tensor", d.Call("aten::sqrt", squares[i]), Root(corrections.second));
    d.Call("aten::add_.Tensor", ratio, step.Number("eps"));
    denominator = std::move(ratio);
    Tensor quotient = d.Call("aten::div.Tensor", means[i], corrections.first);
    d.Call("aten::div_.Tensor", quotient, denominator);
    update = std::move(quotient);
    if (step.On("weight_decay")) {
      d.Call("aten::add_.Tensor", update, parameter, step.Number("weight_decay"));
      Tensor of_parameter = NormOf(d, parameter);
      Tensor of_update = NormOf(d, update);
      d.Call("aten::mul_.Tensor", update,
             TrustRatio(d, std::move(of_parameter), std::move(of_update)));
    }
    d.Call("aten::add_.Tensor", parameter, update, -step.Number("lr"));
  }
  Return(gradient, denominator, update);
}

std::vector<Tensor> Lamb(Dispatcher& d, const OpView& op) {
  Step step(d, op, "Lamb");
  if (step.parameters.empty()) return {};
  const Tensor divisor = GlobalNorm(d, step.gradients);
  d.Call("aten::add_.Tensor", step.Counter(), 1);  // one for the group
  Tensors means, squares;
  for (const Tensor& parameter : step.parameters) {
    means.push_back(step.Like(parameter, "exp_avg"));
    squares.push_back(step.Like(parameter, "exp_avg_sq"));
  }
  UpdateLamb(d, step, means, squares, divisor);
  return {};
}

// --- LANS ---------------------------------------------------------------------------------------

// Python's variables in the order in which they are first set.
struct LansVariables {
  Tensor mean, square, by_mean, by_gradient, trust_mean, trust_gradient, norm, mean_norm,
      gradient_norm;
};

// `a / square.sqrt().add(eps)`
Tensor Ratio(Dispatcher& d, const Tensor& a, const Tensor& square) {
  Tensor sum;
  {
    const Tensor root = d.Call("aten::sqrt", square);
    sum = d.Call("aten::add.Tensor", root, kAnyNumber);
  }
  return d.Call("aten::div.Tensor", a, sum);
}

// `tensor.pow(2).sum().sqrt()`
Tensor RootOfSquares(Dispatcher& d, const Tensor& tensor) {
  Tensor sum;
  {
    const Tensor squares = d.Call("aten::pow.Tensor_Scalar", tensor, 2);
    sum = d.Call("aten::sum", squares);
  }
  return d.Call("aten::sqrt", sum);
}

// `if a > 0 and b > 0: trust = a / b`
void Trust(Dispatcher& d, const Tensor& a, const Tensor& b, Tensor& trust) {
  d.Call("aten::gt.Scalar", a, 0);
  d.Call("aten::gt.Scalar", b, 0);
  trust = d.Call("aten::div.Tensor", a, b);
}

void UpdateLans(Dispatcher& d, const Step& step, std::size_t i, const Tensor& mean,
                const Tensor& square, LansVariables& v) {
  const Tensor &parameter = step.parameters[i], &gradient = step.gradients[i];
  d.Call("aten::mul_.Tensor", mean, kAnyNumber);
  d.Call("aten::add_.Tensor", mean, gradient, kAnyNumber);
  d.Call("aten::mul_.Tensor", square, kAnyNumber);
  d.Call("aten::addcmul_", square, gradient, gradient, kAnyNumber);
  v.mean = d.Call("aten::div.Tensor", mean, kAnyNumber);
  v.square = d.Call("aten::div.Tensor", square, kAnyNumber);
  v.by_mean = Ratio(d, v.mean, v.square);
  v.by_gradient = Ratio(d, gradient, v.square);
  if (step.On("weight_decay")) {
    d.Call("aten::add_.Tensor", v.by_mean, parameter, kAnyNumber);
    d.Call("aten::add_.Tensor", v.by_gradient, parameter, kAnyNumber);
  }
  Return(v.trust_mean, v.trust_gradient);  // they are numbers for now
  v.norm = RootOfSquares(d, parameter);
  v.mean_norm = RootOfSquares(d, v.by_mean);
  v.gradient_norm = RootOfSquares(d, v.by_gradient);
  Trust(d, v.norm, v.mean_norm, v.trust_mean);
  Trust(d, v.norm, v.gradient_norm, v.trust_gradient);
  for (const auto& [update, trust] :
       {std::pair{&v.by_mean, &v.trust_mean}, std::pair{&v.by_gradient, &v.trust_gradient}}) {
    const Tensor size = d.Call("aten::mul.Tensor", *trust, -kAnyNumber);
    d.Call("aten::add_.Tensor", parameter, *update, -kAnyNumber);
  }
}

std::vector<Tensor> Lans(Dispatcher& d, const OpView& op) {
  Step step(d, op, "LANS");
  d.UseStandIns();  // branches that ask whether norms are zero
  LansVariables v;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    Tensor divisor;
    {
      const Tensor norm = NormOf(d, step.gradients[i]);
      divisor = d.Call("aten::add.Tensor", norm, kAnyNumber);
    }
    d.Call("aten::div_.Tensor", step.gradients[i], divisor);
    divisor.reset();
    const Tensor mean = step.Like(step.parameters[i], "m");
    const Tensor square = step.Like(step.parameters[i], "v");
    UpdateLans(d, step, i, mean, square, v);
  }
  Return(v.mean, v.square, v.by_mean, v.by_gradient, v.trust_mean, v.trust_gradient, v.norm,
         v.mean_norm, v.gradient_norm);
  return {};
}

// --- 8-bit AdamW --------------------------------------------------------------------------------

constexpr std::int64_t kBlockElements = 256;   // that share a scale
constexpr std::int64_t kLeastElements = 4096;  // fewer are kept in float32
constexpr std::int64_t kMapElements = 256;     // values that a byte stands for

// `tensor.float() * gnorm_scale`
Tensor ScaledGradient(Dispatcher& d, const Tensor& gradient) {
  const Tensor wide = d.Call("aten::to.dtype", gradient, DType::kFloat32);
  return d.Call("aten::mul.Tensor", wide, kAnyNumber);
}

void UpdateWide(Dispatcher& d, const Step& step, std::size_t i, const Tensor& mean,
                const Tensor& square) {
  const Dispatcher::Inside frame(d, "bitsandbytes::optimizer_update_32bit");
  Tensor gradient = ScaledGradient(d, step.gradients[i]);
  Tensor parameter = d.Call("aten::to.dtype", step.parameters[i], DType::kFloat32);
  d.Call("aten::mul_.Tensor", mean, kAnyNumber);
  d.Call("aten::add_.Tensor", mean, gradient, kAnyNumber);
  d.Call("aten::mul_.Tensor", square, kAnyNumber);
  d.Call("aten::addcmul_", square, gradient, gradient, kAnyNumber);
  if (step.On("weight_decay")) d.Call("aten::mul_.Tensor", parameter, kAnyNumber);
  Tensor update = Ratio(d, mean, square);
  d.Call("aten::add_.Tensor", parameter, update, -kAnyNumber);
  d.Call("aten::copy_", step.parameters[i], parameter);
  Return(gradient, parameter, update);
}

// A state of one byte for each element, and a scale for each block of them.
struct Quantized {
  Tensor bytes, scales;
};

// Written back from a wide copy, by way of a result of its own.
void Quantize(Dispatcher& d, const Tensor& wide, const Quantized& state) {
  Tensor scales = d.Call("aten::empty.memory_format", Dims(state.scales.sizes()));
  Tensor bytes = d.Call("aten::empty.memory_format", Dims(wide.sizes()), DType::kUInt8);
  d.Call("aten::copy_", state.bytes, bytes);
  d.Call("aten::copy_", state.scales, scales);
  Return(bytes, scales);
}

void UpdateQuantized(Dispatcher& d, const Step& step, std::size_t i, const Quantized& mean,
                     const Quantized& square) {
  const Dispatcher::Inside frame(d, "bitsandbytes::optimizer_update_8bit_blockwise");
  Tensor wide_mean = d.Call("aten::empty_like", mean.bytes, DType::kFloat32);
  Tensor wide_square = d.Call("aten::empty_like", square.bytes, DType::kFloat32);
  Tensor gradient = ScaledGradient(d, step.gradients[i]);
  Tensor parameter = d.Call("aten::to.dtype", step.parameters[i], DType::kFloat32);
  d.Call("aten::mul_.Tensor", wide_mean, kAnyNumber);
  d.Call("aten::add_.Tensor", wide_mean, gradient, kAnyNumber);
  d.Call("aten::mul_.Tensor", wide_square, kAnyNumber);
  d.Call("aten::addcmul_", wide_square, gradient, gradient, kAnyNumber);
  Tensor denominator = d.Call("aten::div.Tensor", d.Call("aten::sqrt", wide_square), kAnyNumber);
  d.Call("aten::add_.Tensor", denominator, kAnyNumber);
  if (step.On("weight_decay")) d.Call("aten::mul_.Tensor", parameter, kAnyNumber);
  d.Call("aten::addcdiv_", parameter, wide_mean, denominator, -kAnyNumber);
  d.Call("aten::copy_", step.parameters[i], parameter);
  Quantize(d, wide_mean, mean);
  Quantize(d, wide_square, square);
  Return(wide_mean, wide_square, gradient, parameter, denominator);
}

std::vector<Tensor> AdamW8Bit(Dispatcher& d, const OpView& op) {
  Step step(d, op, "AdamW8bit");
  d.UseStandIns();                              // a compiled kernel quantises
  for (const char* map : {"qmap1", "qmap2"}) {  // the constructor makes them
    step.Present(map, Dims{kMapElements}, Dims{1}, DType::kFloat32);
  }
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor& parameter = step.parameters[i];
    const bool quantized = parameter.count() >= kLeastElements;
    const DType dtype = quantized ? DType::kUInt8 : DType::kFloat32;
    Quantized mean{.bytes = step.Like(parameter, "state1", dtype), .scales = {}};
    Quantized square{.bytes = step.Like(parameter, "state2", dtype), .scales = {}};
    if (!quantized) {
      UpdateWide(d, step, i, mean.bytes, square.bytes);
      continue;
    }
    const Dims blocks{(parameter.count() + kBlockElements - 1) / kBlockElements};
    mean.scales = step.Zeros("absmax1", blocks, DType::kFloat32);
    square.scales = step.Zeros("absmax2", blocks, DType::kFloat32);
    UpdateQuantized(d, step, i, mean, square);
  }
  return {};
}

constexpr std::array kRows{
    OptimizerRow(
        "steelyard::lion", "Lion, as the package lion-pytorch has it.",
        "(Tensor[] parameters, bool first_step, *, float lr=0.0001, float beta1=0.9, float "
        "beta2=0.99, float weight_decay=0) -> ()",
        Lion),
    OptimizerRow("steelyard::lamb", "LAMB, as timm has it: gradients are clipped by their norm.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
                 "beta2=0.999, float eps=1e-06, float weight_decay=0.01, int? step=None) -> ()",
                 Lamb),
    OptimizerRow("steelyard::lans", "LANS, as its authors wrote it in Python.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
                 "beta2=0.999, float eps=1e-06, float weight_decay=0.01) -> ()",
                 Lans),
    OptimizerRow("steelyard::adamw8bit",
                 "bitsandbytes' AdamW8bit: moments of one byte for parameters of 4096 elements or "
                 "more.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
                 "beta2=0.999, float eps=1e-08, float weight_decay=0.01) -> ()",
                 AdamW8Bit),
};

}  // namespace

std::span<const OpDef> Published() { return kRows; }

}  // namespace steelyard::ops
