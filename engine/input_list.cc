// SPDX-License-Identifier: Apache-2.0
#include "input_list.h"

#include <ATen/core/TensorBody.h>
#include <ATen/core/ivalue.h>
#include <c10/core/TensorImpl.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace steelyard::engine {
namespace {

using c10::IValue;

// Whether it has sizes of its own that can be asked for: nested, sparse and symbolic tensors, and
// subclasses that Python implements, have not.
bool HasSizes(const c10::TensorImpl& tensor) {
  return &tensor != c10::UndefinedTensorImpl::singleton() &&
         tensor.layout() == c10::Layout::Strided && !tensor.has_symbolic_sizes_strides() &&
         !tensor.is_python_dispatch() && !tensor.key_set().has(c10::DispatchKey::NestedTensorCPU) &&
         !tensor.key_set().has(c10::DispatchKey::NestedTensorCUDA);
}

std::string Numbers(c10::IntArrayRef numbers) {
  std::string text = "[";
  for (const std::int64_t number : numbers) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(number);
  }
  return text + "]";
}

struct Input {
  std::string sizes = "[]", strides = "[]";
  std::string_view type;
  std::string value = {};
};

Input OfTensor(const c10::TensorImpl& tensor) {
  if (!HasSizes(tensor)) return {};
  return {Numbers(tensor.sizes()), Numbers(tensor.strides()), tensor.dtype().name()};
}

Input OfTensors(const IValue& list) {
  Input all{.sizes = "[", .strides = "[", .type = "TensorList"};
  for (const IValue& element : list.toListRef()) {
    const Input one = OfTensor(*element.unsafeToTensorImpl());
    if (all.sizes.size() > 1) all.sizes += ", ", all.strides += ", ";
    all.sizes += one.sizes;
    all.strides += one.strides;
  }
  all.sizes += ']';
  all.strides += ']';
  return all;
}

Input Of(const IValue& value) {
  if (value.isTensor()) return OfTensor(*value.unsafeToTensorImpl());
  if (value.isTensorList()) return OfTensors(value);
  Input input;
  if (value.isInt()) {
    input = {.type = "Scalar", .value = std::to_string(value.toInt())};
  } else if (value.isBool()) {
    input = {.type = "Scalar", .value = value.toBool() ? "True" : "False"};
  } else if (value.isDouble()) {
    input.type = "Scalar";
  } else if (value.isIntList()) {
    input = {.type = "ScalarList", .value = Numbers(value.toIntVector())};
  } else if (value.isDoubleList() || value.isBoolList()) {
    input.type = "ScalarList";
  }
  return input;
}

}  // namespace

std::string TextOfInputs(const at::RecordFunction& function) {
  std::string text;
  for (const IValue& value : function.inputs()) {
    const Input input = Of(value);
    text.append(input.sizes).append(1, '\t').append(input.strides).append(1, '\t');
    text.append(input.type).append(1, '\t').append(input.value).append(1, '\n');
  }
  return text;
}

}  // namespace steelyard::engine
