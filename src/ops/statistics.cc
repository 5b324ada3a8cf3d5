// SPDX-License-Identifier: Apache-2.0
//
// Moments and covariances, and the logarithms of sums of exponentials
// (ATen/native/ReduceOps.cpp, Correlation.cpp). Most are a TensorIterator
// of their own; what is written with other operators in ATen is a composite here too.

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/reduction.h"
#include "ops/gradients/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

// --- Words --------------------------------------------------------------------------------------

void RequireFloating(const TensorView& self) {
  if (!IsFloating(self.dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(self));
  }
}

// --- Moments ------------------------------------------------------------------------------------

template <int kOutputs>
void MomentsShape(const OpView& op, Outputs& out) {
  const DType dtype = op.self().dtype();
  if (!IsComplex(dtype)) RequireFloating(op.self());
  out.Add(RealOf(dtype), shape::ReducedSizes(op, 1, 3));
  if (kOutputs == 2) out.Add(dtype, shape::ReducedSizes(op, 1, 3));
}

// One variance on its own is made from the mean (std_var_all_reduce_kernel_cpu): a sum divided by
// a boxed count.
void MeanOfOne(const OpView& op, Allocations& memory) {
  const DType dtype = RealOf(op.self().dtype());
  if (op.output().count() != 1 || op.self().count() == 0 || IsHalf(dtype)) return;
  const std::int64_t width = BitsOf(dtype) / 8;
  const auto mean = memory.Allocate(width, "aten::mean");
  const auto box = memory.Allocate(BitsOf(DType::kInt64) / 8, "aten::div_");
  memory.Free(memory.Allocate(width, "aten::empty_strided"), "aten::div_");
  memory.Free(box, "aten::div_");
  memory.Free(mean);
}
// Those of real and imaginary parts are added.
void VarianceAllocations(const OpView& op, Allocations& memory) {
  if (!IsComplex(op.self().dtype())) {
    memory.Output(0);
    return MeanOfOne(op, memory);
  }
  std::array<Allocations::Scratch, 2> parts;
  for (Allocations::Scratch& part : parts) {
    part = memory.Allocate(allocations::Bytes(op.output().count(), op.output().dtype()));
    MeanOfOne(op, memory);
  }
  memory.Output(0, "aten::add");
  for (const Allocations::Scratch part : parts) memory.Free(part);
}
void VarianceAndMeanAllocations(const OpView& op, Allocations& memory) {
  if (!IsComplex(op.self().dtype())) return allocations::OutputsOnly(op, memory);
  std::array<Allocations::Scratch, 4> parts;
  for (Allocations::Scratch& part : parts) {
    part = memory.Allocate(allocations::Bytes(op.output().count(), op.output().dtype()));
  }
  memory.Output(0, "aten::add");
  memory.Output(1, "aten::complex");
  for (const Allocations::Scratch part : parts) memory.Free(part);
}

// One pass keeps mean, sum of squares and two counts.
void StageMoments(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  const std::int64_t width = std::max(BitsOf(RealOf(self.dtype())) / 8, 4);
  cuda::Stage(op, self, shape::DimsOf(op, 1, self.rank()),
              {.bytes = width == 8 ? 32 : 16, .fits_result = false}, memory);
}
void VarianceOnCuda(const OpView& op, Allocations& memory) {
  if (!IsComplex(op.self().dtype())) {
    memory.Output(0);
    return StageMoments(op, memory);
  }
  std::array<Allocations::Scratch, 2> parts;
  for (Allocations::Scratch& part : parts) {
    part = memory.Allocate(allocations::Bytes(op.output().count(), op.output().dtype()));
    StageMoments(op, memory);
  }
  memory.Output(0, "aten::add");
  for (const Allocations::Scratch part : parts) memory.Free(part);
}
void VarianceAndMeanOnCuda(const OpView& op, Allocations& memory) {
  if (IsComplex(op.self().dtype())) return VarianceAndMeanAllocations(op, memory);
  allocations::OutputsOnly(op, memory);
  StageMoments(op, memory);
}
constexpr DeviceAllocations kVariance{VarianceAllocations, VarianceOnCuda};
constexpr DeviceAllocations kVarianceAndMean{VarianceAndMeanAllocations, VarianceAndMeanOnCuda};

// Welford's update: a difference from the mean before and after, both products and a division.
constexpr WorkFn kMomentsWork = work::PerInput<PerElement{.alu = 5}>;

template <int kOutputs>
constexpr OpDef Moments(OpName name, std::string_view summary, Signature signature,
                        std::string_view example, DeviceAllocations allocations, Gradient grad) {
  return Kernel(Family::kReduction, {name, summary, signature, example},
                {MomentsShape<kOutputs>, Fusion::kReduction, allocations, kMomentsWork, grad,
                 precision::kFollow});
}

// By the number of elements less one, or by the number itself.
Argument Correction(const OpView& op, int i) {
  return Argument::OfInt(op.boolean(i, true) ? 1 : 0);
}

template <Label kTarget>
std::vector<Tensor> OfAll(Dispatcher& d, const OpView& op) {
  return d.CallMany(kOpNamed<kTarget>, d.tensor(op, 0), std::nullopt, Correction(op, 1));
}
template <Label kTarget>
std::vector<Tensor> OfDims(Dispatcher& d, const OpView& op) {
  return d.CallMany(kOpNamed<kTarget>, d.tensor(op, 0), op.arg(1), Correction(op, 2), op.arg(3));
}

// --- logsumexp ----------------------------------------------------------------------------------

// logsumexp_out_impl: the largest element is taken out of the exponential where it is finite.
std::vector<Tensor> LogSumExpOf(Dispatcher& d, const OpView& op, const Tensor& self) {
  if (self.count() == 0) {
    const Tensor sum =
        d.Call("aten::sum.dim_IntList", d.Call("aten::exp", self), op.arg(1), op.arg(2));
    d.Call("aten::log_", sum);
    return {sum};
  }
  const Tensor real = IsComplex(self.dtype()) ? d.Call("aten::real", self) : self;
  const Tensor largest = d.Call("aten::amax", real, op.arg(1), true);
  const Tensor squeezed = op.boolean(2) || self.rank() == 0 ? largest : [&] {
    Dims dims;
    const shape::DimSet set = shape::DimsOf(op, 1, self.rank());
    for (int i = 0; i < self.rank(); ++i) {
      if (shape::Has(set, i)) dims.push_back(i);
    }
    return d.Call("aten::squeeze.dims", largest, dims);
  }();
  d.Call("aten::masked_fill_.Scalar", squeezed,
         d.Call("aten::eq.Scalar", d.Call("aten::abs", squeezed),
                std::numeric_limits<double>::infinity()),
         0);
  Tensor sum;
  {
    const Tensor difference = d.Call("aten::sub.Tensor", self, largest);
    sum = d.Call("aten::sum.dim_IntList", d.Call("aten::exp_", difference), op.arg(1), op.arg(2));
  }
  d.Call("aten::log_", sum);
  d.Call("aten::add_.Tensor", sum, squeezed);
  return {sum};
}

std::vector<Tensor> LogSumExp(Dispatcher& d, const OpView& op) {
  const Dispatcher::Inside out(d, "aten::logsumexp");
  const DType dtype = op.self().dtype();
  if (IsFloating(dtype) || IsComplex(dtype)) return LogSumExpOf(d, op, d.tensor(op, 0));
  return LogSumExpOf(d, op, d.Call("aten::to.dtype", d.tensor(op, 0), kDefaultFloat));
}

// --- Covariances --------------------------------------------------------------------------------

std::vector<Tensor> Covariance(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() > 2 || self.dtype() == DType::kBool) Refuse("no samples: " + shape::Text(self));
  if (op.given(2) || op.given(3)) Refuse("weighted covariances are not modelled");
  if (!IsFloating(self.dtype())) Refuse("covariances of other than real numbers are not modelled");
  Tensor samples = d.tensor(op, 0);
  if (self.rank() < 2) samples = d.Call("aten::view", samples, Dims{1, -1});
  const std::int64_t count = samples.size(1);
  const Tensor total = d.Call("aten::scalar_tensor", count, DType::kInt64);
  Tensor mean;
  {
    const Tensor sum = d.Call("aten::sum.dim_IntList", samples, Dims{1});
    mean = d.Call("aten::div.Tensor", sum, total);
  }
  const Tensor norm = d.Call("aten::scalar_tensor", count - op.integer(1, 1), DType::kInt64);
  {
    const Tensor small = d.Call("aten::le.Scalar", norm, std::int64_t{0});
    decompose::RequireTrue(d, small);
  }
  samples = d.Call("aten::sub.Tensor", samples, d.Call("aten::unsqueeze", mean, 1));
  Tensor out;
  {
    const Tensor product = d.Call("aten::mm", samples, d.Call("aten::t", samples));
    out = d.Call("aten::true_divide.Tensor", product, norm);
  }
  return {d.Call("aten::squeeze", out)};
}

std::vector<Tensor> Correlation(Dispatcher& d, const OpView& op) {
  if (op.self().rank() != 2) Refuse("correlations of one variable are not modelled");
  Tensor out = d.Call("aten::cov", op.arg(0));
  if (out.rank() != 2) Refuse("correlations of one variable are not modelled");
  const Tensor variances = d.Call("aten::diagonal", out);
  const Tensor deviations = d.Call("aten::sqrt", variances);
  out = d.Call("aten::div.Tensor", out, d.Call("aten::view", deviations, Dims{-1, 1}));
  out = d.Call("aten::div.Tensor", out, d.Call("aten::view", deviations, Dims{1, -1}));
  return {d.Call("aten::clip", out, std::int64_t{-1}, std::int64_t{1})};
}

// --- Running sums of exponentials ---------------------------------------------------------------

std::vector<Tensor> LogCumSumExp(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::_logcumsumexp", d.tensor(op, 0), op.arg(1))};
}
// A single row is scanned by all blocks of threads together.
void LogCumSumExpOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  const auto dense = cuda::Contiguous(self, memory);
  if (self.rank() > 0 && self.count() > 0 && self.size(op.dim(1, self.rank())) == self.count())
    memory.Free(memory.Allocate(cuda::ScanBytes(self.count(), BitsOf(self.dtype()) / 8)));
  allocations::Free(dense, memory);
}
void LogCumSumExpShape(const OpView& op, Outputs& out) {
  op.dim(1, op.self().rank());
  if (!IsFloating(op.self().dtype()) && !IsComplex(op.self().dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(op.self()));
  }
  out.Add(op.self().dtype(), op.self().sizes());
}

constexpr OpDef Call(OpName name, std::string_view summary, Signature signature,
                     std::string_view example, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kReduction, decompose,
                   precision::kFollow, grad);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Moments<1>(
        "aten::var.correction", "Variances over dimensions.",
        "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
        "aten::var.correction(f32[2,3,8], [-1], correction=0)", kVariance, gradients::kVar),
    Moments<1>(
        "aten::std.correction", "Standard deviations over dimensions.",
        "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
        "aten::std.correction(f32[2,3,8], [-1], keepdim=True)", kVariance, gradients::kStd),
    CopyingOut(Moments<2>(
        "aten::var_mean.correction", "Variances and means over dimensions.",
        "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
        "(Tensor, Tensor)",
        "aten::var_mean.correction(f32[2,3,8], [-1], keepdim=True)", kVarianceAndMean,
        gradients::kVarMean)),
    CopyingOut(Moments<2>(
        "aten::std_mean.correction", "Standard deviations and means over dimensions.",
        "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
        "(Tensor, Tensor)",
        "aten::std_mean.correction(f32[2,3,8], [0,1])", kVarianceAndMean, gradients::kStdMean)),
    Call("aten::var", "The variance of all elements.",
         "(Tensor self, bool unbiased=True) -> Tensor", "aten::var(f32[2,8])",
         OfAll<"aten::var.correction">),
    Call("aten::var.dim", "Variances over dimensions.",
         "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
         "aten::var.dim(f32[2,8], [1])", OfDims<"aten::var.correction">),
    Call("aten::std", "The standard deviation of all elements.",
         "(Tensor self, bool unbiased=True) -> Tensor", "aten::std(f32[2,8])",
         OfAll<"aten::std.correction">),
    Call("aten::std.dim", "Standard deviations over dimensions.",
         "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
         "aten::std.dim(f32[2,8], [1], False, True)", OfDims<"aten::std.correction">),
    Call("aten::var_mean", "The variance and the mean of all elements.",
         "(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "aten::var_mean(f32[2,8])",
         OfAll<"aten::var_mean.correction">),
    Call("aten::var_mean.dim", "Variances and means over dimensions.",
         "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
         "aten::var_mean.dim(f32[2,8], [1])", OfDims<"aten::var_mean.correction">),
    Call("aten::std_mean", "The standard deviation and the mean of all elements.",
         "(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "aten::std_mean(f32[2,8])",
         OfAll<"aten::std_mean.correction">),
    Call("aten::std_mean.dim", "Standard deviations and means over dimensions.",
         "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
         "aten::std_mean.dim(f32[2,8], [1])", OfDims<"aten::std_mean.correction">),
    Casting(
        precision::kFullOnCuda,
        Composite("aten::logsumexp", "The logarithm of the sum of exponentials over dimensions.",
                  "(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
                  "aten::logsumexp(f32[2,3,8], [-1])", Family::kReduction, LogSumExp,
                  precision::kFollow, gradients::kLogSumExp)),
    OpaqueKernel(Family::kReduction,
                 {"aten::_logcumsumexp", "Logarithms of the sums of exponentials up to each.",
                  "(Tensor self, int dim) -> Tensor", "aten::_logcumsumexp(f32[2,8], 1)"},
                 LogCumSumExpShape, {allocations::Via<"aten::empty">, LogCumSumExpOnCuda},
                 work::PerInput<PerElement{.compare = 1}>, gradients::kNotImplemented),
    Call("aten::logcumsumexp", "Logarithms of the sums of exponentials up to each.",
         "(Tensor self, int dim) -> Tensor", "aten::logcumsumexp(f32[2,8], 1)", LogCumSumExp,
         gradients::kLogCumSumExp),
    Composite(
        Family::kReduction,
        {"aten::cov", "Covariances of variables, one a row.",
         "(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> "
         "Tensor",
         "aten::cov(f32[3,8])"},
        Covariance),
    Composite(Family::kReduction,
              {"aten::corrcoef", "Correlations of variables, one a row.", "(Tensor self) -> Tensor",
               "aten::corrcoef(f32[3,8])"},
              Correlation),
};

}  // namespace

std::span<const OpDef> Statistics() { return kRows; }

}  // namespace steelyard::ops
