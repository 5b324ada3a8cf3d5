// SPDX-License-Identifier: Apache-2.0
//
// What is computed of pairs: losses of two tensors, element by element, and distances of vectors. A
// step that several losses share is told of which; PyTorch's own operator computes it.

#include <ATen/ExpandUtils.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_cdist_backward.h>
#include <ATen/ops/_cdist_forward.h>
#include <ATen/ops/binary_cross_entropy_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/sum.h>

#include <array>
#include <string>

#include "kernels/kernels.h"
#include "kernels/operands_taken.h"

namespace steelyard::engine {
namespace {

// self, target, of, number
struct Pairs {
  explicit Pairs(Stack* stack) {
    Taken taken(stack);
    self = taken.Tensor();
    target = taken.Tensor();
    of = taken.Text();
    number = taken.Number().toDouble();
  }

  // By the operator that the step is of, not reduced: its schema says where the number goes.
  at::Tensor Loss() const {
    const auto found = c10::Dispatcher::singleton().findSchema({of, ""});
    TORCH_CHECK_NOT_IMPLEMENTED(found, kNoKernel);
    Stack stack;
    for (const c10::Argument& argument : found->schema().arguments()) {
      stack.push_back(Operand(argument, stack.size()));
    }
    found->callBoxed(&stack);
    return stack.at(0).toTensor();
  }

  at::Tensor self, target;
  std::string of;
  double number = 0;

 private:
  IValue Operand(const c10::Argument& argument, std::size_t place) const {
    if (place == 0) return self;
    if (place == 1) return target;
    if (argument.name() == "reduction") return std::int64_t{at::Reduction::None};
    if (argument.type()->kind() == c10::TypeKind::FloatType) return number;
    TORCH_CHECK_NOT_IMPLEMENTED(argument.default_value(), kNoKernel);
    return *argument.default_value();
  }
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

void TwoClassGradient(Stack* stack) {
  Taken taken(stack);
  const at::Tensor grad = taken.Tensor();
  const at::Tensor self = taken.Tensor();
  const at::Tensor target = taken.Tensor();
  stack->emplace_back(
      at::binary_cross_entropy_backward(grad, self, target, {}, at::Reduction::None));
}

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

void DistanceGradients(Stack* stack) {
  Taken taken(stack);
  const at::Tensor grad = taken.Tensor();
  const at::Tensor first = taken.Tensor();
  const at::Tensor second = taken.Tensor();
  const double power = taken.Number().toDouble();
  stack->emplace_back(at::_cdist_backward(grad, first, second, power, taken.Tensor()));
}

constexpr std::array kRows{
    KernelRow{"steelyard::distance_gradients", DistanceGradients},
    KernelRow{"steelyard::distances", Distances},
    KernelRow{"steelyard::pair_buffer", PairTerms},
    KernelRow{"steelyard::pair_like", PairLike},
    KernelRow{"steelyard::pair_terms", PairTerms},
    KernelRow{"steelyard::reduce_in_place", ReduceInPlace},
    KernelRow{"steelyard::two_class_gradient", TwoClassGradient},
};

}  // namespace

std::span<const KernelRow> PairKernels() { return kRows; }

}  // namespace steelyard::engine
