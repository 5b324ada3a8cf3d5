// SPDX-License-Identifier: Apache-2.0
//
// What a step computes is what PyTorch's nearest operator does, as a whole and with the same
// operands. Backends of convolutions have no operators, so that PyTorch picks them again; what a
// call does not say, a dilation or the padding of an output, follows from the sizes.

#include "meanings.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_cdist_backward.h>
#include <ATen/ops/_cdist_forward.h>
#include <ATen/ops/binary_cross_entropy.h>
#include <ATen/ops/binary_cross_entropy_backward.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/smooth_l1_loss.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace steelyard::engine {
namespace {

using c10::IValue;
using torch::jit::Stack;
using Sizes = std::vector<std::int64_t>;

// The operands of a call, front to back.
class Taken {
 public:
  explicit Taken(Stack* stack) : values_(std::move(*stack)) { stack->clear(); }

  at::Tensor Tensor() { return Next().toTensor(); }
  std::optional<at::Tensor> Optional() {
    const IValue value = Next();
    return value.isNone() ? std::optional<at::Tensor>() : value.toTensor();
  }
  Sizes Integers() { return Next().toIntVector(); }
  std::int64_t Integer() { return Next().toInt(); }
  bool Bool() { return Next().toBool(); }
  std::string Text() { return Next().toStringRef(); }
  at::Scalar Number() { return Next().toScalar(); }
  std::array<bool, 3> Mask() {
    const c10::List<bool> list = Next().toBoolList();
    return {list.get(0), list.get(1), list.get(2)};
  }

 private:
  IValue Next() { return values_.at(next_++); }

  Stack values_;
  std::size_t next_ = 0;
};

at::Tensor Boxed(const at::Scalar& number) {
  at::Tensor boxed = at::scalar_tensor(number, number.isBoolean()         ? at::kBool
                                               : number.isIntegral(false) ? at::kLong
                                               : number.isComplex()       ? at::kComplexDouble
                                                                          : at::kDouble);
  boxed.unsafeGetTensorImpl()->set_wrapped_number(true);
  return boxed;
}

void Box(Stack* stack) { stack->emplace_back(Boxed(Taken(stack).Number())); }

void BoxImaginary(Stack* stack) {
  stack->emplace_back(Boxed(c10::complex<double>(0, Taken(stack).Number().toDouble())));
}

void AsStridedInPlace(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  const Sizes sizes = taken.Integers();
  const Sizes strides = taken.Integers();
  self.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  stack->emplace_back(std::move(self));
}

void CopiedResult(Stack* stack) { stack->emplace_back(Taken(stack).Tensor().clone()); }

void MulInto(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  stack->emplace_back(self.mul_(taken.Tensor()));
}

// --- Convolutions: the backends that ATen picks have no operators, and are picked again ----------

void TransposedConvolution(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const at::Tensor weight = taken.Tensor();
  const std::optional<at::Tensor> bias = taken.Optional();
  const Sizes stride = taken.Integers();
  const Sizes padding = taken.Integers();
  const Sizes output_padding = taken.Integers();
  const Sizes dilation = taken.Integers();
  stack->emplace_back(at::convolution(self, weight, bias, stride, padding, dilation, true,
                                      output_padding, taken.Integer()));
}

struct BackwardOperands {
  explicit BackwardOperands(Taken& taken)
      : grad(taken.Tensor()), self(taken.Tensor()), weight(taken.Tensor()) {}
  at::Tensor grad, self, weight;
};

void PutGradients(const BackwardOperands& of, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation, bool transposed, const Sizes& output_padding,
                  std::int64_t groups, const std::array<bool, 3>& mask, Stack* stack) {
  auto [grad_input, grad_weight, grad_bias] =
      at::convolution_backward(of.grad, of.self, of.weight, at::IntArrayRef(of.grad.size(1)),
                               stride, padding, dilation, transposed, output_padding, groups, mask);
  for (at::Tensor* gradient : {&grad_input, &grad_weight, &grad_bias}) {
    stack->push_back(gradient->defined() ? IValue(std::move(*gradient)) : IValue());
  }
}

void ConvolutionBackward(Stack* stack) {
  Taken taken(stack);
  const BackwardOperands of(taken);
  const Sizes stride = taken.Integers();
  const Sizes padding = taken.Integers();
  const Sizes dilation = taken.Integers();
  const std::int64_t groups = taken.Integer();
  PutGradients(of, stride, padding, dilation, false, Sizes(stride.size(), 0), groups, taken.Mask(),
               stack);
}

// Dimension i of an operand without its first two.
std::int64_t SizeOf(const at::Tensor& tensor, std::size_t i) {
  return tensor.size(static_cast<std::int64_t>(i) + 2);
}

// The sizes tell the dilation.
void DilatedBackward(Stack* stack) {
  Taken taken(stack);
  const BackwardOperands of(taken);
  const Sizes kernel = taken.Integers();
  const Sizes stride = taken.Integers();
  const Sizes padding = taken.Integers();
  Sizes dilation;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t reach =
        SizeOf(of.self, i) + 2 * padding[i] - (SizeOf(of.grad, i) - 1) * stride[i] - 1;
    dilation.push_back(std::max<std::int64_t>(1, reach / std::max<std::int64_t>(kernel[i] - 1, 1)));
  }
  PutGradients(of, stride, padding, dilation, false, Sizes(kernel.size(), 0), 1, taken.Mask(),
               stack);
}

// The sizes tell the padding of the output.
Sizes OutputPadding(const BackwardOperands& of, const Sizes& stride, const Sizes& padding,
                    const Sizes& dilation) {
  Sizes extra;
  for (std::size_t i = 0; i < stride.size(); ++i) {
    extra.push_back(SizeOf(of.grad, i) - ((SizeOf(of.self, i) - 1) * stride[i] - 2 * padding[i] +
                                          dilation[i] * (SizeOf(of.weight, i) - 1) + 1));
  }
  return extra;
}

void TransposedBackward(Stack* stack) {
  Taken taken(stack);
  const BackwardOperands of(taken);
  const Sizes stride = taken.Integers();
  const Sizes padding = taken.Integers();
  const Sizes dilation = taken.Integers();
  const std::int64_t groups = taken.Integer();
  PutGradients(of, stride, padding, dilation, true, OutputPadding(of, stride, padding, dilation),
               groups, taken.Mask(), stack);
}

void SlowTransposedBackward(Stack* stack) {
  Taken taken(stack);
  const BackwardOperands of(taken);
  const Sizes dilation(taken.Integers().size(), 1);  // of the sizes of the kernel
  const Sizes stride = taken.Integers();
  const Sizes padding = taken.Integers();
  PutGradients(of, stride, padding, dilation, true, OutputPadding(of, stride, padding, dilation), 1,
               taken.Mask(), stack);
}

// --- Reductions by index: a mean is divided in a step of its own
// ----------------------------------

void IndexReduced(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  const std::int64_t dim = taken.Integer();
  const at::Tensor index = taken.Tensor();
  const at::Tensor source = taken.Tensor();
  const std::string reduce = taken.Text();
  stack->emplace_back(reduce == "mean" ? self.index_add_(dim, index, source)
                                       : self.index_reduce_(dim, index, source, reduce));
}

void ScatterReduced(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  const std::int64_t dim = taken.Integer();
  const at::Tensor index = taken.Tensor();
  const at::Tensor source = taken.Tensor();
  const std::string reduce = taken.Text();
  stack->emplace_back(self.scatter_reduce_(dim, index, source, reduce == "mean" ? "sum" : reduce));
}

void RowsReduced(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  const std::int64_t dim = taken.Integer();
  const at::Tensor index = taken.Tensor();
  const at::Tensor source = taken.Tensor();
  const std::string reduce = taken.Text();
  stack->emplace_back(self.scatter_reduce_(dim, index, source, reduce, taken.Bool()));
}

// --- Losses of pairs
// -------------------------------------------------------------------------------

struct Pairs {
  explicit Pairs(Stack* stack) {
    Taken taken(stack);
    self = taken.Tensor();
    target = taken.Tensor();
    of = taken.Text();
    number = taken.Number().toDouble();
  }

  // PyTorch's own, not reduced.
  at::Tensor Loss() const {
    if (of == "aten::mse_loss") return at::mse_loss(self, target, at::Reduction::None);
    if (of == "aten::binary_cross_entropy") {
      return at::binary_cross_entropy(self, target, {}, at::Reduction::None);
    }
    if (of == "aten::huber_loss") return at::huber_loss(self, target, at::Reduction::None, number);
    TORCH_CHECK_NOT_IMPLEMENTED(of == "aten::smooth_l1_loss",
                                "the engine cannot run this step of an operator yet");
    return at::smooth_l1_loss(self, target, at::Reduction::None, number);
  }

  at::Tensor self, target;
  std::string of;
  double number = 0;
};

// Where no loss is named, space for one.
void PairTerms(Stack* stack) {
  const Pairs pairs(stack);
  if (!pairs.of.empty()) {
    stack->emplace_back(pairs.Loss());
    return;
  }
  const auto type = at::result_type(pairs.self, pairs.target);
  stack->emplace_back(at::empty(at::infer_size(pairs.self.sizes(), pairs.target.sizes()),
                                pairs.self.options().dtype(type)));
}

void PairLike(Stack* stack) { stack->emplace_back(Pairs(stack).Loss()); }

void ReduceInPlace(Stack* stack) {
  Taken taken(stack);
  at::Tensor out = taken.Tensor().as_strided({}, {});
  const at::Tensor terms = taken.Tensor();
  const bool is_mean = taken.Bool();
  stack->emplace_back(is_mean ? at::mean_out(out, terms, at::IntArrayRef())
                              : at::sum_out(out, terms, at::IntArrayRef()));
}

void TwoClassSlope(Stack* stack) {
  Taken taken(stack);
  const at::Tensor grad = taken.Tensor();
  const at::Tensor self = taken.Tensor();
  const at::Tensor target = taken.Tensor();
  stack->emplace_back(
      at::binary_cross_entropy_backward(grad, self, target, {}, at::Reduction::None));
}

// --- Distances
// -------------------------------------------------------------------------------------

// Of each pair, whatever there are; products of matrices are calls of their own.
constexpr std::int64_t kWithoutProducts = 2;

void Distances(Stack* stack) {
  Taken taken(stack);
  const at::Tensor first = taken.Tensor();
  const at::Tensor second = taken.Tensor();
  const double power = taken.Number().toDouble();
  stack->emplace_back(
      at::_cdist_forward(first, second, power, kWithoutProducts).view(taken.Integers()));
}

void DistanceSlopes(Stack* stack) {
  Taken taken(stack);
  const at::Tensor grad = taken.Tensor();
  const at::Tensor first = taken.Tensor();
  const at::Tensor second = taken.Tensor();
  const double power = taken.Number().toDouble();
  stack->emplace_back(at::_cdist_backward(grad, first, second, power, taken.Tensor()));
}

// --- Random numbers
// --------------------------------------------------------------------------------

void RandomState(Stack* stack) {
  stack->clear();  // how many bytes it has
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  stack->emplace_back(generator.get_state());
}

constexpr std::array<std::pair<std::string_view, Meaning>, 24> kMeanings{{
    {"steelyard::as_strided_", AsStridedInPlace},
    {"steelyard::box", Box},
    {"steelyard::box_imaginary", BoxImaginary},
    {"steelyard::copied_result", CopiedResult},
    {"steelyard::distance_slopes", DistanceSlopes},
    {"steelyard::distances", Distances},
    {"steelyard::index_reduced", IndexReduced},
    {"steelyard::mul_into", MulInto},
    {"steelyard::onednn_convolution_backward", ConvolutionBackward},
    {"steelyard::onednn_transposed_backward", TransposedBackward},
    {"steelyard::pair_buffer", PairTerms},
    {"steelyard::pair_like", PairLike},
    {"steelyard::pair_terms", PairTerms},
    {"steelyard::random_state", RandomState},
    {"steelyard::reduce_in_place", ReduceInPlace},
    {"steelyard::rows_reduced", RowsReduced},
    {"steelyard::scatter_reduced", ScatterReduced},
    {"steelyard::slow_conv3d_backward", DilatedBackward},
    {"steelyard::slow_conv_dilated2d_backward", DilatedBackward},
    {"steelyard::slow_conv_dilated3d_backward", DilatedBackward},
    {"steelyard::slow_conv_transpose2d_backward", SlowTransposedBackward},
    {"steelyard::slow_conv_transpose3d_backward", SlowTransposedBackward},
    {"steelyard::transposed_convolution", TransposedConvolution},
    {"steelyard::two_class_slope", TwoClassSlope},
}};

}  // namespace

Meaning MeaningOf(std::string_view op) {
  const auto* const found =
      std::ranges::find(kMeanings, op, [](const auto& row) { return row.first; });
  return found == kMeanings.end() ? nullptr : found->second;
}

}  // namespace steelyard::engine
