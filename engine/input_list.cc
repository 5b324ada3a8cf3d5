// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch's traces leave out is left out: long lists, and sizes of tensors that have none to
// ask for.
#include "input_list.h"

#include <ATen/core/TensorBody.h>
#include <ATen/core/ivalue.h>
#include <c10/core/TensorImpl.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace steelyard::engine {
namespace {

using c10::IValue;

// PyTorch's traces leave longer ones out (SCALAR_LIST_LENGTH_LIMIT).
constexpr std::size_t kLongestList = 30;

// Whether it has sizes of its own that can be asked for: nested and symbolic tensors, and
// subclasses that Python implements, have not.
bool HasSizes(const c10::TensorImpl& tensor) {
  return &tensor != c10::UndefinedTensorImpl::singleton() && !tensor.has_symbolic_sizes_strides() &&
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
  const bool has_strides = tensor.layout() == c10::Layout::Strided;
  return {Numbers(tensor.sizes()), has_strides ? Numbers(tensor.strides()) : "[]",
          tensor.dtype().name()};
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

// Symbolic numbers are asked nothing: Python implements them.
bool IsNumber(const IValue& value) {
  return value.isInt() || value.isBool() || value.isDouble() || value.isComplexDouble();
}

bool IsListOfNumbers(const IValue& value) {
  if (!value.isList()) return false;
  const c10::ArrayRef<IValue> elements = value.toListRef();
  return elements.empty() || (elements.size() <= kLongestList && IsNumber(elements[0]));
}

std::string Written(const IValue& value) {
  std::ostringstream text;
  text << value;
  return std::move(text).str();
}

Input Of(const IValue& value) {
  if (value.isTensor()) return OfTensor(*value.unsafeToTensorImpl());
  if (value.isTensorList()) return OfTensors(value);
  if (IsNumber(value)) return {.type = "Scalar", .value = Written(value)};
  if (IsListOfNumbers(value)) return {.type = "ScalarList", .value = Written(value)};
  return {};
}

void Append(const Input& input, std::string& text) {
  text.append(input.sizes).append(1, '\t').append(input.strides).append(1, '\t');
  text.append(input.type).append(1, '\t').append(input.value).append(1, '\n');
}

}  // namespace

std::string TextOfInputs(const at::RecordFunction& function) {
  std::string text;
  for (const IValue& value : function.inputs()) Append(Of(value), text);
  return text;
}

}  // namespace steelyard::engine
