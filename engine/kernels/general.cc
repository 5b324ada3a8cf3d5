// SPDX-License-Identifier: Apache-2.0
//
// Numbers that PyTorch boxes, views that it changes in place, and its random numbers' state.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/addr.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ldexp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>

#include <array>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/operands_taken.h"

namespace steelyard::engine {
namespace {

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

void AddOuter(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const at::Tensor column = taken.Tensor();
  const at::Tensor row = taken.Tensor();
  const at::Scalar beta = taken.Number();
  const at::Scalar alpha = taken.Number();
  stack->emplace_back(at::addr(self, column.flatten(), row, beta, alpha));
}

void AddOuterInPlace(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  const at::Tensor column = taken.Tensor();
  const at::Tensor row = taken.Tensor();
  const at::Scalar beta = taken.Number();
  const at::Scalar alpha = taken.Number();
  stack->emplace_back(self.addr_(column.flatten(), row, beta, alpha));
}

void Numbers(Stack* stack) {
  Taken taken(stack);
  const std::vector<double> numbers = taken.Numbers();
  stack->emplace_back(at::tensor(numbers, at::TensorOptions(taken.DType())));
}

void Resized(Stack* stack) {
  Taken taken(stack);
  const at::ScalarType dtype = taken.DType();
  stack->emplace_back(at::empty(taken.Integers(), dtype));
}

void AddExponents(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  const at::Tensor numbers = taken.Tensor();
  stack->emplace_back(at::ldexp_out(self, numbers, taken.Tensor()));
}

// mul_.Scalar has its number first, which is cast to the tensor's dtype there.
void MulInto(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  const at::Tensor other = taken.Tensor();
  const bool is_number = other.unsafeGetTensorImpl()->is_wrapped_number();
  stack->emplace_back(is_number ? at::mul_out(self, other, self) : self.mul_(other));
}

// The result has been computed apart: here no kernel is told where to write.
void Put(Stack* stack) {
  Taken taken(stack);
  at::Tensor out = taken.Tensor();
  stack->emplace_back(out.copy_(taken.Tensor()));
}

void RandomState(Stack* stack) {
  stack->clear();  // how many bytes it has
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  stack->emplace_back(generator.get_state());
}

void RestoreRandomState(Stack* stack) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(stack->back().toTensor());
  stack->clear();
}

constexpr char kNoGroup[] =
    "there is no group of processes to sum over: start it as "
    "torchrun --nproc-per-node N -m steelyard run";

// torch.distributed's group of that name, which Python has registered.
void SumAcross(Stack* stack) {
  static constexpr char kGroup[] = "steelyard";
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto sum = dispatcher.findSchema({"_c10d_functional::all_reduce_", ""});
  const auto wait = dispatcher.findSchema({"_c10d_functional::wait_tensor", ""});
  TORCH_CHECK(sum && wait, "this PyTorch is built without torch.distributed");
  // The group's threads may hold on to what they were given after the sum is there: they are given
  // the memory alone, so that the tensor goes when its last reference here does.
  const at::Tensor self = Taken(stack).Tensor();
  stack->emplace_back(at::from_blob(self.data_ptr(), self.sizes(), self.strides(), self.options()));
  stack->emplace_back(std::string("sum"));
  stack->emplace_back(std::string(kGroup));
  try {
    sum->callBoxed(stack);
    wait->callBoxed(stack);
  } catch (const std::exception& error) {
    const std::string_view said = error.what();
    TORCH_CHECK(said.find("resolve the process group") == std::string_view::npos, kNoGroup);
    const std::string_view line = said.substr(0, said.find('\n'));
    TORCH_CHECK(false, "another process of the group has ended or does not answer: ", line);
  }
  stack->back() = self;
}

constexpr std::array kRows{
    KernelRow{"steelyard::add_exponents_", AddExponents},
    KernelRow{"steelyard::add_outer", AddOuter},
    KernelRow{"steelyard::add_outer_", AddOuterInPlace},
    KernelRow{"steelyard::as_strided_", AsStridedInPlace},
    KernelRow{"steelyard::box", Box},
    KernelRow{"steelyard::box_imaginary", BoxImaginary},
    KernelRow{"steelyard::copied_result", CopiedResult},
    KernelRow{"steelyard::mul_into", MulInto},
    KernelRow{"steelyard::numbers", Numbers},
    KernelRow{"steelyard::put", Put},
    KernelRow{"steelyard::random_state", RandomState},
    KernelRow{"steelyard::resized", Resized},
    KernelRow{"steelyard::restore_random_state", RestoreRandomState},
    KernelRow{"steelyard::sum_across_", SumAcross},
};

}  // namespace

std::span<const KernelRow> GeneralKernels() { return kRows; }

}  // namespace steelyard::engine
