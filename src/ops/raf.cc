// SPDX-License-Identifier: Apache-2.0
//
// Operators of RAF, the compiler whose published numbers the graph runtime is held to, in the words
// of its own programs: what a reshape is, how a product names its transposed factor and what a
// gradient consists of decide its kernels. Work is that of RAF's tensor expressions (raf/_tvm_op).

#include "ops/gradients/raf.h"

#include <array>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/indices.h"
#include "ops/optimizers/step.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

namespace grads = gradients::raf;
using work::PerElement;

// --- Makers -------------------------------------------------------------------------------------

constexpr OpDef Pointwise(const Words& words, Fusion fusion, Gradient grad, ShapeFn shape,
                          WorkFn work) {
  return Kernel(Family::kElementwise, words,
                {.shape = shape,
                 .fusion = fusion,
                 .allocations = allocations::OutputsOnly,
                 .work = work,
                 .grad = grad,
                 .precision = precision::kFollow});
}
constexpr OpDef Unary(const Words& words, Gradient grad, WorkFn work) {
  return Pointwise(words, Fusion::kElementwise, grad, shape::Like<0>, work);
}
constexpr OpDef Binary(const Words& words, Gradient grad) {
  return Pointwise(words, Fusion::kBroadcast, grad, shape::Iterate<Promotion::kCommon, 0, 1>,
                   work::PerOutput<PerElement{.alu = 1}>);
}
// The result of two operands, written over a third.
constexpr OpDef Overwriting(const Words& words) {
  return Kernel(Family::kElementwise, words,
                {.shape = shape::Overwrite<Promotion::kCommon, 0, 1, 2>,
                 .fusion = Fusion::kBroadcast,
                 .allocations = allocations::None,
                 .work = work::PerOutput<PerElement{.alu = 1}>,
                 .grad = kNoGradient,
                 .precision = precision::kFollow},
                Alias::kInPlace);
}
constexpr OpDef Row(Family family, const Words& words, Fusion fusion, Gradient grad, ShapeFn shape,
                    WorkFn work) {
  return Kernel(family, words,
                {.shape = shape,
                 .fusion = fusion,
                 .allocations = allocations::OutputsOnly,
                 .work = work,
                 .grad = grad,
                 .precision = precision::kFollow});
}

// --- Products -----------------------------------------------------------------------------------

// Which factor is transposed: n, or t.
enum class Form : std::uint8_t { kNn, kNt, kTn };

template <int kRank, Form kForm>
void ProductShape(const OpView& op, Outputs& out) {
  const TensorView a = op.tensor(0), b = op.tensor(1);
  shape::RequireRank("the first factor", a, kRank);
  shape::RequireRank("the second factor", b, kRank);
  constexpr bool kFirst = kForm == Form::kTn, kSecond = kForm == Form::kNt;
  shape::RequireEqual("inner dimensions", a.size(kFirst ? -2 : -1), b.size(kSecond ? -1 : -2));
  Dims sizes;
  if (kRank == 3) {
    shape::RequireEqual("batch sizes", a.size(0), b.size(0));
    sizes.push_back(a.size(0));
  }
  sizes.push_back(a.size(kFirst ? -1 : -2));
  sizes.push_back(b.size(kSecond ? -2 : -1));
  out.Add(a.dtype(), sizes);
}

template <Form kForm>
Work ProductWork(const OpView& op) {
  return {.mac = work::Elements(op.output()) * op.self().size(kForm == Form::kTn ? -2 : -1)};
}

template <int kRank, Form kForm>
constexpr OpDef Product(OpName name, std::string_view summary, std::string_view example,
                        Gradient grad) {
  return Row(Family::kContraction, {name, summary, "(Tensor x1, Tensor x2) -> Tensor", example},
             Fusion::kOutFusable, grad, ProductShape<kRank, kForm>, ProductWork<kForm>);
}

// --- Shapes and work ----------------------------------------------------------------------------

void BiasShape(const OpView& op, Outputs& out) {
  const TensorView x = op.self();
  shape::RequireRank("the bias", op.tensor(1), 1);
  shape::RequireEqual("sizes of x and the bias", x.size(op.dim(2, x.rank())), op.tensor(1).size(0));
  out.Add(x.dtype(), x.sizes());
}

void ReshapeShape(const OpView& op, Outputs& out) {
  const Dims sizes = op.ints(1);
  shape::RequireSizes(sizes);
  shape::RequireEqual("numbers of elements", op.self().count(), NumElements(sizes).value_or(-1));
  out.Add(op.self().dtype(), sizes);
}

template <bool kBack>
void TransposeShape(const OpView& op, Outputs& out) {
  const TensorView x = op.self();
  const Dims axes = op.ints(1);
  shape::RequireEqual("numbers of axes", axes.size(), x.rank());
  Dims sizes(x.sizes());
  for (int i = 0; i < x.rank(); ++i) {
    const auto axis = static_cast<int>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    if (axis < 0 || axis >= x.rank()) Contradict("there is no such axis");
    sizes[kBack ? axis : i] = x.size(kBack ? i : axis);
  }
  out.Add(x.dtype(), sizes);
}

void SliceShape(const OpView& op, Outputs& out) {
  const TensorView x = op.self();
  const Dims begin = op.ints(1), end = op.ints(2), step = op.ints(3);
  shape::RequireEqual("numbers of ends", end.size(), begin.size());
  shape::RequireEqual("numbers of strides", step.size(), begin.size());
  if (begin.size() > x.rank()) Contradict("a slice of more dimensions than there are");
  Dims sizes(x.sizes());
  for (int i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0 || end[i] < begin[i] || end[i] > x.size(i) || step[i] < 1) {
      Refuse("slices count from the front, forwards");
    }
    sizes[i] = (end[i] - begin[i] + step[i] - 1) / step[i];
  }
  out.Add(x.dtype(), sizes);
}

void EmbeddingShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the table", op.self(), 2);
  Dims sizes(op.tensor(1).sizes());
  sizes.push_back(op.self().size(1));
  out.Add(op.self().dtype(), sizes);
}

void SumShape(const OpView& op, Outputs& out) {
  const shape::DimSet set = shape::DimsOf(op, 1, op.self().rank());
  out.Add(op.self().dtype(),
          shape::Without(op.self().sizes(), set,
                         op.boolean(2) ? shape::Reduced::kKeptAsOne : shape::Reduced::kDropped));
}

void LayerNormShape(const OpView& op, Outputs& out) {
  shape::RequireEqual("sizes of x and the scale", op.self().size(-1), op.tensor(1).size(0));
  out.Add(op.self().dtype(), op.self().sizes());
}
void LayerNormBackwardShape(const OpView& op, Outputs& out) {
  const TensorView scale = op.tensor(1);
  out.Add(op.self().dtype(), op.self().sizes());
  out.Add(scale.dtype(), scale.sizes());
  out.Add(scale.dtype(), scale.sizes());
}
// So many operations for each element, and for each row.
template <int kElement, int kRow>
Work NormWork(const OpView& op) {
  const Count elements = work::Elements(op.self());
  const std::int64_t size = op.self().size(-1);
  const Count rows = size == 0 ? Count(0) : Count(elements.value() / size);
  return {.alu = elements * kElement + rows * kRow, .special = rows};
}

void LossShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the predictions", op.tensor(1), 2);
  shape::RequireEqual("rows", op.self().size(0), op.tensor(1).size(0));
  out.Add(op.tensor(1).dtype(), Dims{1});
}
Work LossWork(const OpView& op) { return {.alu = Count(op.self().size(0)) * 3}; }

// x, w, stride, padding
void ConvolutionShape(const OpView& op, Outputs& out) {
  const TensorView x = op.tensor(0), w = op.tensor(1);
  shape::RequireRank("the image", x, 4);
  shape::RequireRank("the weight", w, 4);
  shape::RequireEqual("channels", x.size(1), w.size(1));
  const std::int64_t stride = op.integer(2), padding = op.integer(3);
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (stride < 1) Refuse("a stride is positive");
  if (padding < 0 || padding > kMost) Refuse("a padding of more, or less, than an image can have");
  Dims sizes{x.size(0), w.size(0)};
  for (const int dim : {2, 3}) {
    sizes.push_back((x.size(dim) + 2 * padding - w.size(dim)) / stride + 1);
  }
  shape::RequireSizes(sizes);
  out.Add(x.dtype(), sizes);
}
Work ConvolutionWork(const OpView& op) {
  const TensorView w = op.tensor(1);
  return {.mac = work::Elements(op.output()) * w.size(1) * w.size(2) * w.size(3)};
}
// w, dy, shape
void ConvolutionBackwardShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the weight", op.tensor(0), 4);
  const Dims sizes = op.ints(2);
  shape::RequireSizes(sizes);
  out.Add(op.tensor(1).dtype(), sizes);
}
Work ConvolutionBackwardWork(const OpView& op) {
  const TensorView w = op.tensor(0);
  return {.mac = work::Elements(op.tensor(1)) * w.size(1) * w.size(2) * w.size(3)};
}

// x, kernel, stride, padding
void PoolShape(const OpView& op, Outputs& out) {
  const TensorView x = op.tensor(0);
  shape::RequireRank("the image", x, 4);
  const std::int64_t kernel = op.integer(1), stride = op.integer(2), padding = op.integer(3);
  if (stride < 1) Refuse("a stride is positive");
  Dims sizes{x.size(0), x.size(1)};
  for (const int dim : {2, 3}) {
    sizes.push_back((x.size(dim) + 2 * padding - kernel) / stride + 1);
  }
  shape::RequireSizes(sizes);
  out.Add(x.dtype(), sizes);
}
template <int kKernel>
Work PoolWork(const OpView& op) {
  return {.alu = work::Elements(op.output()) * op.integer(kKernel) * op.integer(kKernel)};
}

void CastShape(const OpView& op, Outputs& out) {
  out.Add(op.dtype(1).value_or(op.self().dtype()), op.self().sizes());
}

void ConcatenateShape(const OpView& op, Outputs& out) {
  const std::vector<TensorView> parts = op.tensors(0);
  if (parts.empty()) Contradict("there is nothing to concatenate");
  Dims sizes(parts[0].sizes());
  const int axis = op.dim(1, parts[0].rank());
  for (const TensorView& part : std::span(parts).subspan(1)) {
    shape::RequireRank("a part", part, parts[0].rank());
    sizes[axis] += part.size(axis);
  }
  out.Add(parts[0].dtype(), sizes);
}

void SplitShape(const OpView& op, Outputs& out) {
  const std::int64_t sections = op.integer(1);
  const int axis = op.dim(2, op.self().rank());
  Dims sizes(op.self().sizes());
  if (sections < 1 || sizes[axis] % sections != 0) Contradict("it has no such equal parts");
  sizes[axis] /= sections;
  for (std::int64_t i = 0; i < sections; ++i) out.Add(op.self().dtype(), sizes);
}

void FullShape(const OpView& op, Outputs& out) {
  const Dims sizes = op.ints(1);
  shape::RequireSizes(sizes);
  out.Add(op.dtype(2).value_or(DType::kFloat32), sizes);
}

void ConstantShape(const OpView& op, Outputs& out) {
  out.Add(op.dtype(1).value_or(DType::kFloat32), op.ints(0));
}

// --- raf.optim.sgd ------------------------------------------------------------------------------

// v = momentum * v + g and w = w - rate * v, where the rate and the momentum are tensors.
std::vector<Tensor> StepBySgd(Dispatcher& d, const OpView& op) {
  const Outside outside(d);
  const Tensor rate = d.tensor(op, 1), momentum = d.tensor(op, 2);
  for (const Tensor& parameter : d.tensors(op, 0)) {
    const Tensor gradient = d.autograd().gradient(parameter.id());
    if (!gradient.defined()) continue;
    const Tensor velocity =
        d.AddResident("sgd_v", Dims(parameter.sizes()), Dims(parameter.strides()),
                      parameter.dtype(), Role::kOptimizerState);
    const Tensor kept = d.Call("raf::multiply", momentum, velocity);
    const Tensor next = d.Call("raf::add.out", velocity, kept, gradient);
    d.Call("raf::subtract.out", parameter, parameter, d.Call("raf::multiply", rate, next));
    d.autograd().ClearGradient(parameter.id());
  }
  return {};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Product<2, Form::kNn>("raf::matmul", "A product of matrices.",
                          "raf::matmul(f32[3,4], f32[4,5])", grads::kMatmul),
    Product<2, Form::kNt>("raf::matmul_nt", "A product with a transposed matrix.",
                          "raf::matmul_nt(f32[3,4], f32[5,4])", grads::kMatmulNt),
    Product<2, Form::kTn>("raf::matmul_tn", "A product of a transposed matrix.",
                          "raf::matmul_tn(f32[4,3], f32[4,5])", grads::kMatmulTn),
    Product<3, Form::kNn>("raf::batch_matmul", "Products of matrices.",
                          "raf::batch_matmul(f32[2,3,4], f32[2,4,5])", grads::kBatchMatmul),
    Product<3, Form::kNt>("raf::batch_matmul_nt", "Products with transposed matrices.",
                          "raf::batch_matmul_nt(f32[2,3,4], f32[2,5,4])", grads::kBatchMatmulNt),
    Product<3, Form::kTn>("raf::batch_matmul_tn", "Products of transposed matrices.",
                          "raf::batch_matmul_tn(f32[2,4,3], f32[2,4,5])", grads::kBatchMatmulTn),
    Binary({"raf::add", "Adds.", "(Tensor x1, Tensor x2) -> Tensor", "raf::add(f32[2,8], f32[8])"},
           grads::kAdd),
    Binary({"raf::subtract", "Subtracts.", "(Tensor x1, Tensor x2) -> Tensor",
            "raf::subtract(f32[2,8], f32[8])"},
           grads::kSubtract),
    Binary({"raf::multiply", "Multiplies.", "(Tensor x1, Tensor x2) -> Tensor",
            "raf::multiply(f32[2,8], f32[8])"},
           grads::kMultiply),
    Binary({"raf::divide", "Divides.", "(Tensor x1, Tensor x2) -> Tensor",
            "raf::divide(f32[2,8], f32[8])"},
           grads::kDivide),
    Overwriting({"raf::add.out", "Adds, over a third tensor.",
                 "(Tensor(a!) out, Tensor x1, Tensor x2) -> Tensor(a!)",
                 "raf::add.out(f32[2,8], f32[2,8], f32[8])"}),
    Overwriting({"raf::subtract.out", "Subtracts, over a third tensor.",
                 "(Tensor(a!) out, Tensor x1, Tensor x2) -> Tensor(a!)",
                 "raf::subtract.out(f32[2,8], f32[2,8], f32[8])"}),
    Unary({"raf::negative", "Changes the sign.", "(Tensor x) -> Tensor", "raf::negative(f32[2,8])"},
          kGradientUnknown, work::PerOutput<PerElement{.alu = 1}>),
    Unary({"raf::exp", "The exponential.", "(Tensor x) -> Tensor", "raf::exp(f32[2,8])"},
          kGradientUnknown, work::PerOutput<PerElement{.special = 1}>),
    Unary({"raf::gelu", "x times the normal distribution function of x.", "(Tensor x) -> Tensor",
           "raf::gelu(f32[2,8])"},
          grads::kGelu, work::PerOutput<PerElement{.alu = 4, .special = 1}>),
    Unary({"raf::gelu_dx", "The gradient of gelu.", "(Tensor x, Tensor dy) -> Tensor",
           "raf::gelu_dx(f32[2,8], f32[2,8])"},
          kGradientUnknown, work::PerOutput<PerElement{.alu = 9, .special = 2}>),
    Pointwise({"raf::bias_add", "Adds a number to each channel.",
               "(Tensor x, Tensor bias, int axis=-1) -> Tensor", "raf::bias_add(f32[2,8], f32[8])"},
              Fusion::kBroadcast, grads::kBiasAdd, BiasShape,
              work::PerOutput<PerElement{.alu = 1}>),
    Kernel(Family::kView,
           {"raf::reshape", "Other sizes: a view alone, a copy inside a kernel.",
            "(Tensor(a) x, int[] shape) -> Tensor(a)", "raf::reshape(f32[2,8], [4,4])"},
           {.shape = ReshapeShape,
            .fusion = Fusion::kInjective,
            .allocations = allocations::None,
            .work = work::None,
            .grad = grads::kReshape,
            .precision = precision::kFollow},
           Alias::kView, traffic::None),
    Row(Family::kDataMovement,
        {"raf::transpose", "Dimensions in another order, copied.",
         "(Tensor x, int[] axes) -> Tensor", "raf::transpose(f32[2,3,4], [2,0,1])"},
        Fusion::kInjective, grads::kTranspose, TransposeShape<false>, work::Move),
    Row(Family::kDataMovement,
        {"raf::transpose_dx", "Dimensions back from another order, copied.",
         "(Tensor dy, int[] axes) -> Tensor", "raf::transpose_dx(f32[4,2,3], [2,0,1])"},
        Fusion::kInjective, kGradientUnknown, TransposeShape<true>, work::Move),
    Row(Family::kDataMovement,
        {"raf::strided_slice", "Every so-and-so-manyth element between two places, copied.",
         "(Tensor x, int[] begin, int[] end, int[] strides) -> Tensor",
         "raf::strided_slice(i64[1,8], [0,2], [1,8], [1,2])"},
        Fusion::kInjective, kGradientUnknown, SliceShape, work::Move),
    Row(Family::kIndexing,
        {"raf::embedding", "Rows of a table.", "(Tensor x, Tensor indices) -> Tensor",
         "raf::embedding(f32[9,4], i64[2,3])"},
        Fusion::kInjective, grads::kEmbedding, EmbeddingShape, work::Move),
    Row(Family::kIndexing,
        {"raf::embedding_dx", "The gradient of a table, row by row.",
         "(Tensor dy, Tensor indices, int num_weight) -> Tensor",
         "raf::embedding_dx(f32[2,3,4], i64[2,3], 9)"},
        Fusion::kOpaque, kGradientUnknown, TableGradientShape,
        work::PerInput<work::PerElement{.alu = 1}>),
    Row(Family::kReduction,
        {"raf::sum", "Sums over dimensions.",
         "(Tensor x, int[]? axis=None, bool keepdims=False) -> Tensor",
         "raf::sum(f32[2,8], [0], True)"},
        Fusion::kReduction, kGradientUnknown, SumShape, work::PerInput<PerElement{.alu = 1}>),
    Row(Family::kNormalization,
        {"raf::softmax", "Exponentials along a dimension, scaled to sum to one.",
         "(Tensor x, int axis=-1) -> Tensor", "raf::softmax(f32[2,8])"},
        Fusion::kReduction, grads::kSoftmax, shape::Like<0>,
        work::PerOutput<PerElement{.alu = 4, .special = 1}>),
    Row(Family::kNormalization,
        {"raf::softmax_dx", "The gradient of softmax, from its result.",
         "(Tensor y, Tensor dy, int axis=-1) -> Tensor", "raf::softmax_dx(f32[2,8], f32[2,8])"},
        Fusion::kReduction, kGradientUnknown, shape::Like<0>,
        work::PerOutput<PerElement{.alu = 4}>),
    Row(Family::kNormalization,
        {"raf::log_softmax", "The logarithm of softmax.", "(Tensor x, int axis=-1) -> Tensor",
         "raf::log_softmax(f32[2,8])"},
        Fusion::kReduction, grads::kLogSoftmax, shape::Like<0>,
        work::PerOutput<PerElement{.alu = 5, .special = 1}>),
    Row(Family::kNormalization,
        {"raf::layer_norm", "Rows with mean 0 and variance 1, scaled and shifted.",
         "(Tensor x, Tensor scale, Tensor bias) -> Tensor",
         "raf::layer_norm(f32[2,8], f32[8], f32[8])"},
        Fusion::kOpaque, grads::kLayerNorm, LayerNormShape, NormWork<7, 3>),
    Row(Family::kNormalization,
        {"raf::layer_norm_dx", "The gradients of a layer norm, whose moments it computes again.",
         "(Tensor x, Tensor scale, Tensor dy) -> (Tensor dx, Tensor dscale, Tensor dbias)",
         "raf::layer_norm_dx(f32[2,8], f32[8], f32[2,8])"},
        Fusion::kOpaque, kGradientUnknown, LayerNormBackwardShape, NormWork<18, 5>),
    Row(Family::kLoss,
        {"raf::nll_loss", "The negative log likelihood of the true classes.",
         "(Tensor y_true, Tensor y_pred) -> Tensor", "raf::nll_loss(i64[4], f32[4,9])"},
        Fusion::kReduction, grads::kNllLoss, LossShape, LossWork),
    Row(Family::kLoss,
        {"raf::nll_loss_dpred", "The gradient of the negative log likelihood.",
         "(Tensor dy, Tensor y_true, Tensor y_pred) -> Tensor",
         "raf::nll_loss_dpred(f32[], i64[4], f32[4,9])"},
        Fusion::kElementwise, kGradientUnknown, shape::Like<2>,
        work::PerOutput<PerElement{.alu = 2}>),
    Unary(
        {"raf::relu", "Limits to zero from below.", "(Tensor x) -> Tensor", "raf::relu(f32[2,8])"},
        kGradientUnknown, work::PerOutput<PerElement{.alu = 1}>),
    Row(Family::kConvolution,
        {"raf::conv2d", "A convolution of images.",
         "(Tensor x, Tensor w, int stride=1, int padding=0) -> Tensor",
         "raf::conv2d(f32[2,3,8,8], f32[4,3,3,3], 1, 1)"},
        Fusion::kOutFusable, kGradientUnknown, ConvolutionShape, ConvolutionWork),
    Row(Family::kConvolution,
        {"raf::conv2d_dx", "The gradient of a convolution's image.",
         "(Tensor w, Tensor dy, int[] shape) -> Tensor",
         "raf::conv2d_dx(f32[4,3,3,3], f32[2,4,8,8], [2,3,8,8])"},
        Fusion::kOpaque, kGradientUnknown, ConvolutionBackwardShape, ConvolutionBackwardWork),
    Row(Family::kPooling,
        {"raf::max_pool2d", "Largest value of each window.",
         "(Tensor x, int kernel, int stride=1, int padding=0) -> Tensor",
         "raf::max_pool2d(f32[2,3,8,8], 3, 1, 1)"},
        Fusion::kOutFusable, kGradientUnknown, PoolShape, PoolWork<1>),
    Row(Family::kPooling,
        {"raf::max_pool2d_dx", "The gradient of the largest values of windows.",
         "(Tensor x, Tensor y, Tensor dy, int kernel) -> Tensor",
         "raf::max_pool2d_dx(f32[2,3,8,8], f32[2,3,8,8], f32[2,3,8,8], 3)"},
        Fusion::kOpaque, kGradientUnknown, shape::Like<0>, PoolWork<3>),
    Row(Family::kDataMovement,
        {"raf::cast", "A copy in another dtype.", "(Tensor x, ScalarType dtype) -> Tensor",
         "raf::cast(f32[2,8], f16)"},
        Fusion::kElementwise, kGradientUnknown, CastShape, work::Move),
    Row(Family::kDataMovement,
        {"raf::concatenate", "Tensors behind each other, copied.",
         "(Tensor[] x, int axis=0) -> Tensor", "raf::concatenate([f32[2,3], f32[4,3]])"},
        Fusion::kInjective, kGradientUnknown, ConcatenateShape, work::Move),
    Row(Family::kDataMovement,
        {"raf::split", "Equal parts, copied.", "(Tensor x, int sections, int axis=0) -> Tensor[]",
         "raf::split(f32[4,3], 2)"},
        Fusion::kInjective, kGradientUnknown, SplitShape, work::Move),
    Row(Family::kFactory,
        {"raf::full", "A tensor of one number.",
         "(Scalar fill_value, int[] shape, ScalarType dtype) -> Tensor",
         "raf::full(1.0, [2,8], f32)"},
        Fusion::kInjective, kGradientUnknown, FullShape, work::None),
    Pointwise({"raf::less_equal", "Whether x1 is at most x2.", "(Tensor x1, Tensor x2) -> Tensor",
               "raf::less_equal(f32[2,8], f32[8])"},
              Fusion::kBroadcast, kNoGradient, shape::Iterate<Promotion::kCompare, 0, 1>,
              work::PerOutput<PerElement{.compare = 1}>),
    Pointwise({"raf::where", "x where the condition holds, else y.",
               "(Tensor condition, Tensor x, Tensor y) -> Tensor",
               "raf::where(bool[2,8], f32[2,8], f32[2,8])"},
              Fusion::kBroadcast, kGradientUnknown, shape::Iterate<Promotion::kCommon, 1, 2>,
              work::PerOutput<PerElement{.compare = 1}>),
    Kernel(Family::kFactory,
           {"raf::constant", "A constant of the compiled program, which RAF does not count.",
            "(int[] shape, ScalarType dtype) -> Tensor", "raf::constant([2,8], f32)"},
           {.shape = ConstantShape,
            .fusion = Fusion::kElementwise,
            .allocations = allocations::None,
            .work = work::None,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::None),
    Composite("raf::sgd", "A step of RAF's SGD, whose rate and momentum are tensors.",
              "(Tensor[] parameters, Tensor learning_rate, Tensor momentum) -> ()", "",
              Family::kOptimizer, StepBySgd, precision::kFollow, kNoGradient),
};

}  // namespace

std::span<const OpDef> Raf() { return kRows; }

}  // namespace steelyard::ops
