// SPDX-License-Identifier: Apache-2.0
//
// An argument becomes what the schema says of its place, or where there is none, what it looks like
// itself. Constants are converted once; for each call only tensors, and lists of them, are put in
// their places.

#include "operands.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dtypes.h"

namespace steelyard::engine {
namespace {

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

bool IsDevice(const TypePtr& type) {
  if (type->kind() == TypeKind::OptionalType) {
    return IsDevice(type->castRaw<c10::OptionalType>()->getElementType());
  }
  return type->kind() == TypeKind::DeviceObjType;
}

bool IsTensor(const TypePtr& type) {
  if (type->kind() == TypeKind::OptionalType) {
    return IsTensor(type->castRaw<c10::OptionalType>()->getElementType());
  }
  return type->kind() == TypeKind::TensorType;
}

IValue Number(const SyArgument& argument) {
  switch (argument.kind) {
    case SY_INT:
      return argument.integer;
    case SY_REAL:
      return argument.real;
    case SY_BOOL:
      return argument.integer != 0;
    case SY_COMPLEX:
      return c10::complex<double>(argument.elements[0].real, argument.elements[1].real);
    case SY_DTYPE:
      return static_cast<std::int64_t>(ScalarTypeNamed(argument.text));
    default:
      C10_THROW_ERROR(TypeError, "an argument is no number");
  }
}

std::int64_t Integer(const SyArgument& argument) {
  if (argument.kind != SY_TEXT) return Number(argument).toScalar().toLong();
  const auto code = CodeNamed(argument.text);
  TORCH_CHECK_TYPE(code, "\"", argument.text, "\" is no number");
  return *code;
}

IValue Constant(const SyArgument& argument, const TypePtr& type);

template <class T>
c10::List<T> ListOf(std::span<const SyArgument> elements) {
  c10::List<T> list;
  list.reserve(elements.size());
  for (const SyArgument& element : elements) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      list.push_back(Integer(element));
    } else {
      list.push_back(Number(element).toScalar().to<T>());
    }
  }
  return list;
}

IValue ListConstant(const SyArgument& argument, const TypePtr& of) {
  // A number where the schema has a list of so many: "int[2]".
  const SyArgument* const first = argument.kind == SY_LIST ? argument.elements : &argument;
  const std::span<const SyArgument> elements(first, argument.kind == SY_LIST ? argument.count : 1);
  switch (of->kind()) {
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ListOf<std::int64_t>(elements);
    case TypeKind::FloatType:
      return ListOf<double>(elements);
    case TypeKind::BoolType:
      return ListOf<bool>(elements);
    default:
      break;
  }
  c10::impl::GenericList list(of);
  for (const SyArgument& element : elements) list.push_back(Constant(element, of));
  return list;
}

// An argument without tensors, of the type that the schema gives it.
IValue Constant(const SyArgument& argument, const TypePtr& type) {
  if (argument.kind == SY_NONE) {
    // A tensor that may be left out without the schema saying so is one that is not defined.
    return type->kind() == TypeKind::TensorType ? IValue(at::Tensor()) : IValue();
  }
  switch (type->kind()) {
    case TypeKind::OptionalType:
      return Constant(argument, type->castRaw<c10::OptionalType>()->getElementType());
    case TypeKind::ListType:
      return ListConstant(argument, type->castRaw<c10::ListType>()->getElementType());
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return Integer(argument);
    case TypeKind::FloatType:
      return Number(argument).toScalar().toDouble();
    case TypeKind::BoolType:
      return Number(argument).toScalar().toBool();
    case TypeKind::NumberType:
    case TypeKind::ComplexType:
      return Number(argument);
    case TypeKind::StringType:
      return std::string(argument.text);
    case TypeKind::TensorType: {
      at::Tensor boxed = at::scalar_tensor(Number(argument).toScalar());
      boxed.unsafeGetTensorImpl()->set_wrapped_number(true);
      return boxed;
    }
    default:
      C10_THROW_ERROR(TypeError, "an argument of type " + type->str() + " cannot be run");
  }
}

bool HoldsValues(const SyArgument& list) {
  for (const SyArgument& element : std::span(list.elements, list.count)) {
    if (element.kind == SY_VALUE) return true;
  }
  return false;
}

// What an argument is where no schema says its type.
TypePtr OwnType(const SyArgument& argument) {
  switch (argument.kind) {
    case SY_REAL:
      return c10::FloatType::get();
    case SY_BOOL:
      return c10::BoolType::get();
    case SY_COMPLEX:
      return c10::ComplexType::get();
    case SY_TEXT:
      return c10::StringType::get();
    case SY_LIST:
      return c10::ListType::create(argument.count == 0 ? c10::IntType::get()
                                                       : OwnType(argument.elements[0]));
    case SY_VALUE:
      return c10::TensorType::get();
    default:
      return c10::IntType::get();
  }
}

}  // namespace

Operands::Operands(const SyCall& call, const c10::FunctionSchema& schema, c10::Device device) {
  const auto& formals = schema.arguments();
  std::vector<const SyArgument*> given(formals.size(), nullptr);
  for (std::size_t i = 0; i < call.argument_count; ++i) {
    const SyArgument& argument = call.arguments[i];
    const std::optional<int> named = argument.name == nullptr
                                         ? std::optional<int>()
                                         : schema.argumentIndexWithName(argument.name);
    const std::size_t place = named ? static_cast<std::size_t>(*named) : i;
    TORCH_CHECK_TYPE(place < formals.size(), "there are more arguments than the schema has");
    given[place] = &argument;
  }
  for (std::size_t i = 0; i < formals.size(); ++i) {
    const bool says = given[i] != nullptr && given[i]->kind != SY_NONE;
    // One that takes tensors makes its results where they are, unless it says where.
    if (IsDevice(formals[i].type()) && (says || slots_.empty())) {
      constants_.push_back(device);
    } else if (given[i] != nullptr) {
      Add(*given[i], formals[i].type());
    } else {
      const auto& otherwise = formals[i].default_value();
      constants_.push_back(otherwise ? *otherwise : IValue());
    }
  }
}

Operands::Operands(const SyCall& call) {
  for (const SyArgument& argument : std::span(call.arguments, call.argument_count)) {
    Add(argument, OwnType(argument));
  }
}

void Operands::Add(const SyArgument& argument, const TypePtr& type) {
  const std::size_t place = constants_.size();
  if (argument.kind == SY_VALUE) {
    slots_.push_back({place, nullptr, {argument.value}});
    constants_.emplace_back();
    return;
  }
  if (argument.kind == SY_LIST && HoldsValues(argument)) {
    TypePtr of = type;
    if (of->kind() == TypeKind::OptionalType)
      of = of->castRaw<c10::OptionalType>()->getElementType();
    of = of->castRaw<c10::ListType>()->getElementType();
    TORCH_CHECK_TYPE(IsTensor(of), "a list of tensors stands where the schema has none");
    Slot slot{place, of, {}};
    for (const SyArgument& element : std::span(argument.elements, argument.count)) {
      slot.values.push_back(element.kind == SY_VALUE ? element.value : SY_NO_VALUE);
    }
    slots_.push_back(std::move(slot));
    constants_.emplace_back();
    return;
  }
  constants_.push_back(Constant(argument, type));
}

void Operands::Push(const std::vector<IValue>& values, torch::jit::Stack* stack) const {
  const std::size_t base = stack->size();
  stack->insert(stack->end(), constants_.begin(), constants_.end());
  for (const Slot& slot : slots_) {
    IValue& target = (*stack)[base + slot.place];
    if (slot.type == nullptr) {
      target = values[slot.values[0]];
    } else if (slot.type->kind() == TypeKind::OptionalType) {
      c10::List<std::optional<at::Tensor>> list;
      list.reserve(slot.values.size());
      for (const std::uint32_t value : slot.values) {
        if (value == SY_NO_VALUE) {
          list.emplace_back(std::nullopt);
        } else {
          list.emplace_back(values[value].toTensor());
        }
      }
      target = std::move(list);
    } else {
      c10::List<at::Tensor> list;
      list.reserve(slot.values.size());
      for (const std::uint32_t value : slot.values) list.push_back(values[value].toTensor());
      target = std::move(list);
    }
  }
}

}  // namespace steelyard::engine
