// SPDX-License-Identifier: Apache-2.0
//
// Random numbers, and dropout, which is made of them.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/cuda/cub.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/factory.h"
#include "ops/gradients/not_implemented.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Shapes -------------------------------------------------------------------------------------

void AddNew(const OpView& op, int sizes_at, DType dtype, Outputs& out) {
  const Dims sizes = op.ints(sizes_at);
  shape::RequireSizes(sizes);
  out.Add(dtype, sizes);
}
// Where the overload takes a generator, it stands before the dtype.
template <int kDType = 1>
void NewShape(const OpView& op, Outputs& out) {
  AddNew(op, 0, op.dtype(kDType).value_or(kDefaultFloat), out);
}
template <int kSizes, int kDType = kSizes + 1>
void NewIntegersShape(const OpView& op, Outputs& out) {
  AddNew(op, kSizes, op.dtype(kDType).value_or(DType::kInt64), out);
}

template <int kDType = 1>
void LikeShape(const OpView& op, Outputs& out) {
  const MemoryFormat format = FormatOf(op, kDType + 4, MemoryFormat::kPreserve);
  out.Add(op.dtype(kDType).value_or(op.self().dtype()), op.self().sizes(),
          StridesIn(format, op.self()));
}
template <int kDType = 1>
void LikeAllocations(const OpView& op, Allocations& memory) {
  const bool preserved =
      FormatOf(op, kDType + 4, MemoryFormat::kPreserve) == MemoryFormat::kPreserve;
  memory.Output(0, preserved ? "aten::empty_strided" : "aten::empty");
}
void RowMajorShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), op.self().sizes());
}

// Of several operands: a result is made with the sizes of the first, and grows where they are more.
void CommonShape(const OpView& op, Outputs& out) {
  std::vector<TensorView> operands;
  operands.reserve(static_cast<std::size_t>(op.arg_count()));
  for (int i = 0; i < op.arg_count(); ++i) operands.push_back(op.tensor(i));
  out.Add(op.self().dtype(), shape::Broadcast(operands));
}
void CommonAllocations(const OpView& op, Allocations& memory) {
  if (op.output().bytes() <= op.self().bytes()) return memory.Output(0, "aten::empty");
  const auto first = memory.Allocate(op.self().bytes(), "aten::empty");
  memory.Output(0);
  memory.Free(first);
}

// --- Dropout ------------------------------------------------------------------------------------
// _dropout_impl in aten/src/ATen/native/Dropout.cpp.

// Whether the operand is returned as it is.
bool DropsNothing(const OpView& op) {
  const double p = op.real(1);
  if (!(p >= 0 && p <= 1)) Refuse("the probability of dropout must be between 0 and 1");
  return p == 0 || !op.boolean(2) || op.self().count() == 0;
}

// What the operand is multiplied by: a mask of real numbers, scaled so that the mean stays.
Tensor Noise(Dispatcher& d, const OpView& op, Tensor noise) {
  const double kept = 1 - op.real(1);
  d.Call("aten::bernoulli_.float", noise, kept);
  d.Call("aten::div_.Scalar", noise, kept);
  return noise;
}
Tensor ElementNoise(Dispatcher& d, const OpView& op) {
  return Noise(d, op, d.Call("aten::empty_like", d.tensor(op, 0), RealOf(op.self().dtype())));
}
// One number for each channel.
Tensor RoomForChannels(Dispatcher& d, const Tensor& self) {
  if (self.rank() < 2) Refuse("a batch of channels is needed, not " + shape::Text(self.view()));
  Dims sizes = Dims::Filled(self.rank(), 1);
  sizes[0] = self.size(0);
  sizes[1] = self.size(1);
  return d.Call("aten::new_empty", self, sizes, RealOf(self.dtype()));
}
Tensor ChannelNoise(Dispatcher& d, const OpView& op) {
  return Noise(d, op, RoomForChannels(d, d.tensor(op, 0)));
}

// input, p, train: the result, then which elements were kept.
void FusedDropoutShape(const OpView& op, Outputs& out) {
  shape::Like(op.self(), op.self().dtype(), out);
  shape::Like(op.self(), DType::kBool, out);
}
void FusedDropoutAllocations(const OpView&, Allocations& memory) {
  memory.Output(1, "aten::empty_strided");
  memory.Output(0, "aten::empty_strided");
}

// dropout_backward_cuda: row by row, or channels last, however else the gradient lies.
void MaskedScaleShape(const OpView& op, Outputs& out) {
  const TensorView grad = op.self();
  const bool last = SuggestedFormat(grad) == kChannelsLastFormat;
  out.Add(grad.dtype(), grad.sizes(),
          StridesIn(last ? MemoryFormat::kChannelsLast : MemoryFormat::kContiguous, grad));
}

template <Label kMultiply, Tensor (*kNoise)(Dispatcher&, const OpView&)>
std::vector<Tensor> Dropout(Dispatcher& d, const OpView& op) {
  const bool fused = d.target().device == Device::kCuda && kMultiply.view() == "aten::mul.Tensor" &&
                     kNoise == &ElementNoise;
  const TensorView input = op.self();
  if (fused && op.boolean(2) && op.real(1) > 0 && op.real(1) < 1 && input.count() > 0 &&
      !IsComplex(input.dtype())) {
    return {d.Call("aten::native_dropout", op.arg(0), op.arg(1), true)};
  }
  if (DropsNothing(op)) return {d.tensor(op, 0)};
  const Tensor self = d.tensor(op, 0);
  if (op.real(1) == 1) {
    return {d.Call(kOpNamed<kMultiply>, self, d.Call("aten::zeros", Dims(), self.dtype()))};
  }
  const Tensor noise = kNoise(d, op);
  return {d.Call(kOpNamed<kMultiply>, self, noise)};
}

// Without a mask nothing is dropped, and the mask is all true.
std::vector<Tensor> NativeDropout(Dispatcher& d, const OpView& op) {
  const double p = op.real(1);
  const Tensor self = d.tensor(op, 0);
  if (d.target().device == Device::kCuda && !(op.given(2) && !op.boolean(2))) {
    if (p < 1 && self.count() > 0) {
      return d.CallMany("steelyard::fused_dropout", op.arg(0), op.arg(1), true);
    }
    return {d.Call("aten::zeros_like", self), d.Call("aten::zeros_like", self, DType::kBool)};
  }
  if (self.count() == 0 && d.target().device == Device::kCpu) {
    return {self, d.Call("aten::empty_like", self)};
  }
  if (op.given(2) && !op.boolean(2)) {
    const Tensor mask = d.Call("aten::ones_like", self, DType::kBool);
    return {d.Call("aten::clone", self), mask};
  }
  if (!(p >= 0 && p <= 1)) Refuse("the probability of dropout must be between 0 and 1");
  if (p == 1) {
    const Tensor mask = d.Call("aten::zeros_like", self, DType::kBool);
    return {d.Call("aten::mul.Tensor", self, mask), mask};
  }
  const Tensor mask = d.Call("aten::empty_like", self, DType::kBool);
  d.Call("aten::bernoulli_.float", mask, 1 - p);
  const Tensor kept = d.Call("aten::mul.Tensor", self, mask);
  d.Call("aten::mul_.Scalar", kept, 1 / (1 - p));
  return {kept, mask};
}

// grad, mask, scale
std::vector<Tensor> NativeDropoutBackward(Dispatcher& d, const OpView& op) {
  if (d.target().device == Device::kCuda) {
    return {d.Call("steelyard::masked_scale", op.arg(0), op.arg(1), op.arg(2))};
  }
  const Tensor kept = d.Call("aten::mul.Tensor", op.arg(0), op.arg(1));
  return {d.Call("aten::mul.Scalar", kept, op.real(2))};
}

// SELU's dropout: what is dropped becomes the least value of a SELU, and all is scaled so that
// mean and variance stay (_dropout_impl with `alpha_dropout`).
enum class DroppedBy : std::uint8_t { kElement, kChannel };
template <DroppedBy kBy>
std::vector<Tensor> AlphaDropout(Dispatcher& d, const OpView& op) {
  if (DropsNothing(op)) return {d.tensor(op, 0)};
  constexpr double kAlpha = 1.7580993408473766;
  const Tensor self = d.tensor(op, 0);
  const double p = op.real(1);
  if (p == 1) {
    return {d.Call("aten::mul.Tensor", self, d.Call("aten::zeros", Dims(), self.dtype()))};
  }
  const Tensor noise = kBy == DroppedBy::kChannel
                           ? RoomForChannels(d, self)
                           : d.Call("aten::empty_like", self, RealOf(self.dtype()));
  d.Call("aten::bernoulli_.float", noise, 1 - p);
  const double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor shift = d.Call("aten::add.Scalar", noise, std::int64_t{-1});
  d.Call("aten::mul_.Scalar", shift, kAlpha * scale);
  d.Call("aten::add_.Scalar", shift, kAlpha * scale * p);
  d.Call("aten::mul_.Scalar", noise, scale);
  const Tensor kept = d.Call("aten::mul.Tensor", self, noise);
  d.Call("aten::add_.Tensor", kept, shift);
  return {kept};
}

// --- Places -------------------------------------------------------------------------------------

// n, dtype: n is first asked of the dtype whether it can hold it.
template <int kDType = 1>
void PermutationShape(const OpView& op, Outputs& out) {
  if (op.integer(0) < 0) Refuse("a permutation of fewer than no numbers");
  out.Add(op.dtype(kDType).value_or(DType::kInt64), Dims{op.integer(0)});
}
void PermutationAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  const std::int64_t width = BitsOf(op.output().dtype()) / 8;
  memory.Free(memory.Allocate(width, "aten::scalar_tensor"));
}

// Randperm.cu: the numbers in order are sorted by random keys of so many bits that two are alike
// with a chance of a tenth at most.
void PermutationOnCuda(const OpView& op, Allocations& memory) {
  PermutationAllocations(op, memory);
  const std::int64_t n = op.output().count(), width = BitsOf(op.output().dtype()) / 8;
  if (n == 0) return;
  const auto count = static_cast<double>(n);
  const double keys = count - ((6 * count * count + 1) / (12 * std::log(0.9)));
  const int bits = std::min(64, static_cast<int>(std::ceil(std::log2(keys))));
  const std::int64_t key_width = bits > 32 ? 8 : 4;
  std::vector<Allocations::Scratch> scratch;
  scratch.reserve(3);
  for (const std::int64_t each : {width, key_width, key_width}) {
    scratch.push_back(memory.Allocate(n * each));
  }
  memory.Free(memory.Allocate(cuda::SortPairsBytes(n, bits, op.target(), {key_width, width})));
  for (std::size_t i = scratch.size(); i-- > 0;) memory.Free(scratch[i]);
}

void NewNormalShape(const OpView& op, Outputs& out) {
  AddNew(op, 2, op.dtype(4).value_or(kDefaultFloat), out);
}

// --- normal of means or deviations in tensors ----------------------------------------------------
// ATen/native/DistributionTemplates.h: numbers of mean 0 are multiplied and added to in place.

// Whether no deviation is negative; asked before and after there is a result.
void LookAtDeviations(Dispatcher& d, const Tensor& deviation) {
  if (deviation.count() == 0) return;
  const Tensor least = d.Call("aten::min", deviation);
  d.Call("aten::ge.Scalar", least, 0);
}
Tensor ShapedAs(Dispatcher& d, const Tensor& t, std::span<const std::int64_t> sizes) {
  const std::optional<Dims> common = BroadcastShapes(t.sizes(), sizes);
  if (!common) Refuse("means and deviations that do not broadcast");
  d.CallWith("steelyard::stand_in", {});  // the numbers are drawn by no operator
  return d.Call("aten::empty.memory_format", *common, t.dtype());
}
Tensor Spread(Dispatcher& d, const Tensor& out, const Tensor& mean, const Tensor& deviation) {
  d.Call("aten::mul_.Tensor", out, deviation);
  d.Call("aten::add_.Tensor", out, mean);
  return out;
}
// mean, std
std::vector<Tensor> NormalByBoth(Dispatcher& d, const OpView& op) {
  const Tensor mean = d.tensor(op, 0), deviation = d.tensor(op, 1);
  LookAtDeviations(d, deviation);
  const Tensor out = ShapedAs(d, mean, deviation.sizes());
  LookAtDeviations(d, deviation);
  return {Spread(d, out, mean, deviation)};
}
std::vector<Tensor> NormalByMean(Dispatcher& d, const OpView& op) {
  const Tensor mean = d.tensor(op, 0);
  const Tensor out = ShapedAs(d, mean, mean.sizes());
  const Tensor shaped = ShapedAs(d, mean, mean.sizes());
  d.Call("aten::add_.Tensor", out, mean);
  return {out};
}
std::vector<Tensor> NormalByDeviation(Dispatcher& d, const OpView& op) {
  const Tensor deviation = d.tensor(op, 1);
  LookAtDeviations(d, deviation);
  const Tensor out = ShapedAs(d, deviation, deviation.sizes());
  LookAtDeviations(d, deviation);
  const Tensor mean = d.Call("aten::full", Dims(), op.arg(0), deviation.dtype());
  return {Spread(d, out, mean, deviation)};
}
// Means and deviations do not move what was drawn.
template <int kOf>
Tensor ZerosOf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::zeros", Dims(b.op().tensor(kOf).sizes()), b.grad().dtype());
}
constexpr Gradient kNormalByMean{"NormalBackward1", {GradientOf(0, {}, ZerosOf<0>)}};
constexpr Gradient kNormalByDeviation{"NormalBackward2", {GradientOf(1, {}, ZerosOf<1>)}};
constexpr Gradient kNormalByBoth{"NormalBackward3",
                                 {GradientOf(0, {}, ZerosOf<0>), GradientOf(1, {}, ZerosOf<1>)}};
Tensor ZerosLikeChance(Dispatcher& d, const Backward& b) {
  const TensorView p = b.op().tensor(1);
  return d.Call("aten::zeros", Dims(p.sizes()), p.dtype());
}
constexpr Gradient kChanceGradient{
    "BernoulliBackward1",
    {GradientOf(1, {}, ZerosLikeChance), GradientOf(0, {}, gradients::Zeros)}};
// The kernel of CUDA reads chances of float64 for float64, else of float32.
void ReadChances(const TensorView& p, DType of, Allocations& memory) {
  const DType read = of == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  if (p.dtype() != read) memory.Free(memory.Allocate(allocations::Bytes(p.count(), read)));
}
void ChanceOnCuda(const OpView& op, Allocations& memory) {
  ReadChances(op.tensor(1), op.self().dtype(), memory);
}
void OwnChanceOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  ReadChances(op.self(), op.self().dtype(), memory);
}
template <Label kTarget>
std::vector<Tensor> DrawnIntoCopy(Dispatcher& d, const OpView& op) {
  const Tensor copy = d.Call("aten::clone", d.tensor(op, 0));
  return {d.Call(kOpNamed<kTarget>, copy, op.arg(1))};
}

// --- Dirichlet ----------------------------------------------------------------------------------

// Gamma distributed numbers in double precision, which their sum divides.
void DirichletAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  memory.Output(0, "aten::empty");
  const Count count = work::Elements(self);
  const Dims rows_of(self.sizes().first(static_cast<std::size_t>(std::max(self.rank() - 1, 0))));
  const Count rows = work::Elements(rows_of);
  const auto gamma = memory.Allocate(allocations::Bytes(count, DType::kFloat64), "aten::empty");
  const auto sum = memory.Allocate(allocations::Bytes(rows, DType::kFloat64), "aten::sum");
  memory.Free(sum);
  memory.Free(gamma);
}

void DirichletOnCuda(const OpView& op, Allocations& memory) {
  const TensorView out = op.output();
  memory.Output(0);
  if (out.count() == 0) return;
  const int last = std::max(out.rank() - 1, 0);
  const Dims rows_of(out.sizes().first(static_cast<std::size_t>(last)));
  const auto sum = memory.Allocate(allocations::Bytes(work::Elements(rows_of), out.dtype()));
  const shape::DimSet summed = out.rank() > 0 ? shape::DimSet{1} << last : 0;
  cuda::Stage(op, out, summed, cuda::SumOf(out.dtype()), memory);
  memory.Free(sum);
}

// --- Makers -------------------------------------------------------------------------------------

constexpr OpDef Fresh(OpName name, std::string_view summary, Signature signature,
                      std::string_view example, ShapeFn shape,
                      DeviceAllocations allocations = allocations::Via<"aten::empty">,
                      TrafficFn traffic = traffic::WriteOnly, Gradient grad = kNoGradient) {
  return Kernel(Family::kRandom, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, work::Move, grad, precision::kFollow},
                Alias::kNone, traffic);
}

constexpr OpDef Overwrite(OpName name, std::string_view summary, Signature signature,
                          std::string_view example, Gradient grad,
                          DeviceAllocations allocations = allocations::None) {
  return Kernel(
      Family::kRandom, {name, summary, signature, example},
      {pointwise::InPlaceShape, Fusion::kOpaque, allocations, work::Move, grad, precision::kFollow},
      Alias::kInPlace, traffic::WriteOnly);
}

constexpr OpDef Call(OpName name, std::string_view summary, Signature signature,
                     std::string_view example, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kRandom, decompose,
                   precision::kFollow, grad);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Call("aten::dropout", "Zeroes elements with probability `p` and scales the others.",
         "(Tensor input, float p, bool train) -> Tensor", "aten::dropout(f32[2,8], 0.1, True)",
         Dropout<"aten::mul.Tensor", ElementNoise>),
    Call("aten::dropout_", "Zeroes elements with probability `p` in place.",
         "(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
         "aten::dropout_(f32[2,8], 0.1, True)", Dropout<"aten::mul_.Tensor", ElementNoise>),
    Call("aten::feature_dropout", "Zeroes channels with probability `p`.",
         "(Tensor input, float p, bool train) -> Tensor",
         "aten::feature_dropout(f32[2,3,8], 0.1, True)", Dropout<"aten::mul.Tensor", ChannelNoise>),
    Call("aten::feature_dropout_", "Zeroes channels with probability `p` in place.",
         "(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
         "aten::feature_dropout_(f32[2,3,8], 0.1, True)",
         Dropout<"aten::mul_.Tensor", ChannelNoise>),
    CopyingOut(Call("aten::native_dropout", "Zeroes elements, and tells which were kept.",
                    "(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
                    "aten::native_dropout(f32[2,8], 0.1, True)", NativeDropout,
                    gradients::kNativeDropout)),
    CopyingOut(Call("aten::native_dropout_backward",
                    "The gradient of elements that were zeroed by a mask.",
                    "(Tensor grad_output, Tensor mask, float scale) -> Tensor",
                    "aten::native_dropout_backward(f32[2,8], bool[2,8], 1.25)",
                    NativeDropoutBackward, gradients::kNativeDropoutBackward)),
    Kernel(Family::kRandom,
           {"steelyard::fused_dropout", "Dropout as one kernel of CUDA, with its mask.",
            "(Tensor input, float p, bool train) -> (Tensor, Tensor)",
            "steelyard::fused_dropout(f32[2,8], 0.1, True)"},
           {FusedDropoutShape, Fusion::kOpaque,
            DeviceAllocations{allocations::OutputsOnly, FusedDropoutAllocations},
            work::PerInput<work::PerElement{.alu = 2, .compare = 1}>, kNoGradient,
            precision::kFollow}),
    Kernel(Family::kElementwise,
           {"steelyard::masked_scale", "What a mask keeps, scaled, as one kernel of CUDA.",
            "(Tensor grad, Tensor mask, float scale) -> Tensor",
            "steelyard::masked_scale(f32[2,8], bool[2,8], 1.25)"},
           {MaskedScaleShape, Fusion::kElementwise, allocations::Via<"aten::empty">,
            work::PerInput<work::PerElement{.alu = 2}>, kNoGradient, precision::kFollow}),
    Call("aten::alpha_dropout", "Dropout that keeps mean and variance of what SELU gives.",
         "(Tensor input, float p, bool train) -> Tensor",
         "aten::alpha_dropout(f32[2,8], 0.1, True)", AlphaDropout<DroppedBy::kElement>),
    Call("aten::feature_alpha_dropout",
         "Dropout of channels that keeps mean and variance of what SELU gives.",
         "(Tensor input, float p, bool train) -> Tensor",
         "aten::feature_alpha_dropout(f32[2,3,8], 0.1, True)", AlphaDropout<DroppedBy::kChannel>),
    Overwrite("aten::bernoulli_.float", "Overwrites with 1 with probability `p`, else 0.",
              "(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
              "aten::bernoulli_.float(f32[2,8], 0.9)", gradients::kBernoulliInPlace),
    Overwrite("aten::normal_", "Overwrites with normally distributed numbers.",
              "(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> "
              "Tensor(a!)",
              "aten::normal_(f32[2,8])", gradients::kNormal),
    Overwrite(
        "aten::uniform_", "Overwrites with equally distributed numbers.",
        "(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) -> Tensor(a!)",
        "aten::uniform_(f32[2,8])", gradients::kUniform),
    Overwrite("aten::exponential_", "Overwrites with exponentially distributed numbers.",
              "(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> Tensor(a!)",
              "aten::exponential_(f32[2,8])", gradients::kExponential),
    Overwrite("aten::geometric_", "Overwrites with how often chances of `p` are missed, and 1.",
              "(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
              "aten::geometric_(f32[2,8], 0.5)", gradients::kGeometric),
    Overwrite("aten::cauchy_", "Overwrites with numbers of Cauchy's distribution.",
              "(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) -> "
              "Tensor(a!)",
              "aten::cauchy_(f32[2,8])", gradients::kCauchy),
    Overwrite("aten::log_normal_", "Overwrites with numbers whose logarithms are normal.",
              "(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) -> "
              "Tensor(a!)",
              "aten::log_normal_(f32[2,8])", gradients::kLogNormal),
    Overwrite("aten::random_", "Overwrites with whole numbers that the dtype holds.",
              "(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
              "aten::random_(i64[2,8])", gradients::kRandom),
    Overwrite("aten::random_.to", "Overwrites with whole numbers from 0 to below `to`.",
              "(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)",
              "aten::random_.to(i64[2,8], 5)", gradients::kRandomTo),
    Overwrite("aten::random_.from", "Overwrites with whole numbers from `from` to below `to`.",
              "(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
              "aten::random_.from(i64[2,8], 1, 5)", gradients::kRandomFrom),
    Fresh("aten::bernoulli", "1 with the probability that the element says, else 0.",
          "(Tensor self, *, Generator? generator=None) -> Tensor", "aten::bernoulli(f32[2,8])",
          RowMajorShape, {allocations::Via<"aten::empty">, OwnChanceOnCuda},
          traffic::ReadAllWriteAll, gradients::kBernoulli),
    CopyingOut(Fresh("aten::bernoulli.p", "1 with probability `p`, else 0.",
                     "(Tensor self, float p, *, Generator? generator=None) -> Tensor",
                     "aten::bernoulli.p(f32[2,8], 0.5)", RowMajorShape,
                     allocations::Via<"aten::empty">, traffic::WriteOnly,
                     gradients::kNotImplemented)),
    CopyingOut(Fresh("aten::poisson", "Counts of which the element is the mean.",
                     "(Tensor self, Generator? generator=None) -> Tensor",
                     "aten::poisson(f32[2,8])", RowMajorShape, allocations::Via<"aten::empty">,
                     traffic::ReadAllWriteAll, gradients::kPoisson)),
    CopyingOut(Fresh("aten::_standard_gamma", "Gamma distributed numbers, of a shape each.",
                     "(Tensor self, Generator? generator=None) -> Tensor",
                     "aten::_standard_gamma(f32[2,8])", RowMajorShape,
                     allocations::Via<"aten::empty">, traffic::ReadAllWriteAll,
                     gradients::kStandardGamma)),
    CopyingOut(Fresh("aten::_standard_gamma_grad", "How such a number moves with its shape.",
                     "(Tensor self, Tensor output) -> Tensor",
                     "aten::_standard_gamma_grad(f32[2,8], f32[2,8])", CommonShape,
                     {CommonAllocations, CommonAllocations}, traffic::ReadAllWriteAll,
                     gradients::kNotImplemented)),
    CopyingOut(Fresh("aten::_sample_dirichlet", "Shares of a whole, of a concentration each.",
                     "(Tensor self, Generator? generator=None) -> Tensor",
                     "aten::_sample_dirichlet(f32[2,8])", RowMajorShape,
                     {DirichletAllocations, DirichletOnCuda}, traffic::ReadAllWriteAll,
                     gradients::kNotImplemented)),
    CopyingOut(Fresh("aten::_dirichlet_grad", "How such a share moves with its concentration.",
                     "(Tensor x, Tensor alpha, Tensor total) -> Tensor",
                     "aten::_dirichlet_grad(f32[2,8], f32[2,8], f32[2,8])", CommonShape,
                     {CommonAllocations, CommonAllocations}, traffic::ReadAllWriteAll,
                     gradients::kNotImplementedOf<0, 1, 2>)),
    Fresh("aten::randperm", "The numbers from 0 to below `n` in any order.",
          "(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? "
          "pin_memory=None) -> Tensor",
          "aten::randperm(8)", PermutationShape<>, {PermutationAllocations, PermutationOnCuda}),
    Fresh("aten::normal.float_float", "Normally distributed numbers of a mean and deviation.",
          "(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? "
          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::normal.float_float(0.0, 1.0, [2,8])", NewNormalShape),
    Fresh("aten::rand", "Equally distributed numbers of [0, 1).",
          "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
          "bool? pin_memory=None) -> Tensor",
          "aten::rand([2,8])", NewShape<>),
    Fresh("aten::randn", "Normally distributed numbers.",
          "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
          "bool? pin_memory=None) -> Tensor",
          "aten::randn([2,8], dtype=bf16)", NewShape<>),
    Fresh("aten::randint", "Whole numbers from 0 to below `high`.",
          "(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::randint(5, [2,8])", NewIntegersShape<1>),
    Fresh("aten::randint.low", "Whole numbers from `low` to below `high`.",
          "(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::randint.low(1, 5, [2,8])", NewIntegersShape<2>),
    CopyingOut(
        Fresh("aten::rand_like", "Equally distributed numbers in the tensor's layout.",
              "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
              "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
              "aten::rand_like(f32[2,8])", LikeShape<>, LikeAllocations<>)),
    CopyingOut(
        Fresh("aten::randn_like", "Normally distributed numbers in the tensor's layout.",
              "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
              "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
              "aten::randn_like(f32[2,8])", LikeShape<>, LikeAllocations<>)),
    Fresh("aten::randint_like", "Whole numbers from 0 to below `high` in the tensor's layout.",
          "(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
          "aten::randint_like(f32[2,8], 10)", LikeShape<2>, LikeAllocations<2>, traffic::WriteOnly,
          gradients::kNotImplemented),
    Fresh("aten::randint_like.low_dtype",
          "Whole numbers from `low` to below `high` in the tensor's layout.",
          "(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
          "aten::randint_like.low_dtype(f32[2,8], 2, 10)", LikeShape<3>, LikeAllocations<3>,
          traffic::WriteOnly, gradients::kNotImplemented),
    Fresh("aten::randperm.generator", "The numbers from 0 to below `n` in any order.",
          "(SymInt n, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::randperm.generator(8, generator=None)", PermutationShape<2>,
          {PermutationAllocations, PermutationOnCuda}),
    Fresh("aten::rand.generator", "Equally distributed numbers of [0, 1).",
          "(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::rand.generator([2,8], generator=None)", NewShape<2>),
    Fresh("aten::randn.generator", "Normally distributed numbers.",
          "(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::randn.generator([2,8], generator=None, dtype=bf16)", NewShape<2>),
    Fresh("aten::randint.generator", "Whole numbers from 0 to below `high`.",
          "(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::randint.generator(5, [2,8], generator=None)", NewIntegersShape<1, 3>),
    Fresh("aten::randint.low_generator", "Whole numbers from `low` to below `high`.",
          "(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, "
          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::randint.low_generator(1, 5, [2,8], generator=None)", NewIntegersShape<2, 4>),
    CopyingOut(Fresh(
        "aten::rand_like.generator", "Equally distributed numbers in the tensor's layout.",
        "(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "aten::rand_like.generator(f32[2,8], generator=None)", LikeShape<2>, LikeAllocations<2>)),
    CopyingOut(Fresh(
        "aten::randn_like.generator", "Normally distributed numbers in the tensor's layout.",
        "(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "aten::randn_like.generator(f32[2,8], generator=None)", LikeShape<2>, LikeAllocations<2>)),
    Fresh("aten::randint_like.generator",
          "Whole numbers from 0 to below `high` in the tensor's layout.",
          "(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
          "memory_format=None) -> Tensor",
          "aten::randint_like.generator(f32[2,8], 10, generator=None)", LikeShape<3>,
          LikeAllocations<3>, traffic::WriteOnly, gradients::kNotImplemented),
    CopyingOut(
        Call("aten::uniform", "Equally distributed numbers in a copy of the tensor.",
             "(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor",
             "aten::uniform(f32[2,8])", DrawnIntoCopy<"aten::uniform_">)),
    CopyingOut(Call(
        "aten::bernoulli.Tensor", "1 with probability `p`, else 0, in a copy of the tensor.",
        "(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
        "aten::bernoulli.Tensor(f32[2,8], f32[2,8])", DrawnIntoCopy<"aten::bernoulli_.Tensor">)),
    Overwrite("aten::bernoulli_.Tensor", "Overwrites with 1 with probability `p`, else 0.",
              "(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
              "aten::bernoulli_.Tensor(f32[2,8], f32[2,8])", kChanceGradient,
              {allocations::None, ChanceOnCuda}),
    Call("aten::normal.Tensor_Tensor", "Normally distributed numbers of means and deviations.",
         "(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
         "aten::normal.Tensor_Tensor(f32[2,8], f32[2,8])", NormalByBoth, kNormalByBoth),
    Call("aten::normal.Tensor_float", "Normally distributed numbers of means.",
         "(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
         "aten::normal.Tensor_float(f32[2,8], 2.0)", NormalByMean, kNormalByMean),
    Call("aten::normal.float_Tensor", "Normally distributed numbers of deviations.",
         "(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
         "aten::normal.float_Tensor(1.0, f32[2,8])", NormalByDeviation, kNormalByDeviation),
};

}  // namespace

std::span<const OpDef> Random() { return kRows; }

}  // namespace steelyard::ops
