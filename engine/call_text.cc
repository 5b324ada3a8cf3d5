// SPDX-License-Identifier: Apache-2.0
//
// What has no fixed sizes (nested, sparse, batched and symbolic tensors, subclasses that Python
// implements) is not written: such a call is incomplete, and those that it makes in turn are
// looked at instead.
#include "call_text.h"

#include <ATen/core/TensorBody.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/TensorImpl.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "dtypes.h"
#include "support/hash.h"

namespace steelyard::engine {
namespace {

using c10::IValue;
using c10::ScalarType;
using c10::TypeKind;

// Short names of dtypes, as programs are written.
constexpr std::array<std::pair<ScalarType, const char*>, 20> kShortNames{{
    {ScalarType::Float, "f32"},
    {ScalarType::Double, "f64"},
    {ScalarType::Half, "f16"},
    {ScalarType::BFloat16, "bf16"},
    {ScalarType::Long, "i64"},
    {ScalarType::Int, "i32"},
    {ScalarType::Short, "i16"},
    {ScalarType::Char, "i8"},
    {ScalarType::Byte, "u8"},
    {ScalarType::UInt16, "u16"},
    {ScalarType::UInt32, "u32"},
    {ScalarType::UInt64, "u64"},
    {ScalarType::Bool, "bool"},
    {ScalarType::ComplexHalf, "c32"},
    {ScalarType::ComplexFloat, "c64"},
    {ScalarType::ComplexDouble, "c128"},
    {ScalarType::Float8_e4m3fn, "f8e4m3"},
    {ScalarType::Float8_e5m2, "f8e5m2"},
    {ScalarType::Float8_e4m3fnuz, "f8e4m3fz"},
    {ScalarType::Float8_e5m2fnuz, "f8e5m2fz"},
}};

const char* ShortNameOf(ScalarType type) {
  for (const auto& [of, name] : kShortNames) {
    if (of == type) return name;
  }
  return nullptr;
}

// Within torch.vmap: its sizes are those of one element of the batch, and the calls that are made
// in turn have the whole. (What torch.func.grad has wrapped inside of it PyTorch's headers do not
// tell.)
bool IsBatched(const c10::TensorImpl& tensor) {
  return tensor.key_set().has(c10::DispatchKey::FuncTorchBatched);
}

bool HasFixedSizes(const c10::TensorImpl& tensor) {
  return tensor.layout() == c10::Layout::Strided && !IsBatched(tensor) &&
         !tensor.has_symbolic_sizes_strides() && !tensor.is_python_dispatch() &&
         !tensor.key_set().has(c10::DispatchKey::NestedTensorCPU) &&
         !tensor.key_set().has(c10::DispatchKey::NestedTensorCUDA);
}

class Hash {
 public:
  void Add(std::uint64_t word) { state_ = Mixed(word, state_); }
  void Add(std::string_view text) { Add(HashText(text)); }
  // A chain of its own, which the processor follows while it waits for others'.
  void Add(const c10::TensorImpl& tensor) {
    std::uint64_t own = static_cast<std::uint64_t>(tensor.dtype().toScalarType()) << 8u |
                        static_cast<std::uint64_t>(tensor.is_wrapped_number());
    const c10::IntArrayRef sizes = tensor.sizes();
    const c10::IntArrayRef strides = tensor.strides();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      own = Mixed(static_cast<std::uint64_t>(sizes[i]) ^ own << 32u,
                  static_cast<std::uint64_t>(strides[i]) ^ own);
    }
    Add(own);
  }
  void Add(const IValue& value);
  std::uint64_t state() const { return state_; }
  // Which real numbers there were among values, besides those that operators treat apart: 0 if
  // none.
  std::uint64_t reals() const { return reals_; }

 private:
  // An integer is no real number, though both may be the same word.
  enum class Kind : std::uint8_t { kNothing = 1, kUnsized, kInteger, kTruth, kReal, kList, kOther };
  // Odd constants without structure (wyhash's last secrets), so that zeros still mix.
  static std::uint64_t Mixed(std::uint64_t a, std::uint64_t b) {
    return hash_internal::Fold(a ^ 0x8ebc6af09c88c6e3u, b ^ 0x589965cc75374cc3u);
  }
  void Add(Kind kind, std::uint64_t word) { Add(word ^ static_cast<std::uint64_t>(kind) << 58u); }
  void AddReal(double real);

  std::uint64_t state_ = 0x9e3779b97f4a7c15u;
  std::uint64_t reals_ = 0;
};

// Numbers that some operators treat apart: learning rates and the like change with every step.
std::uint64_t ClassOf(double real) {
  constexpr std::array kSpecial{0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -0.5};
  for (std::size_t i = 0; i < kSpecial.size(); ++i) {
    if (real == kSpecial[i]) return i;
  }
  return kSpecial.size();
}

void Hash::AddReal(double real) {
  const std::uint64_t of_class = ClassOf(real);
  Add(Kind::kReal, of_class);
  if (of_class < ClassOf(NAN)) return;
  Hash exact;
  exact.Add(reals_);
  exact.Add(std::bit_cast<std::uint64_t>(real));
  reals_ = exact.state();
}

void Hash::Add(const IValue& value) {
  if (value.isTensor()) {
    const c10::TensorImpl* const tensor = value.unsafeToTensorImpl();
    if (tensor == c10::UndefinedTensorImpl::singleton()) return Add(Kind::kNothing, 0);
    if (HasFixedSizes(*tensor)) return Add(*tensor);
    Add(Kind::kUnsized, 0);
    if (IsBatched(*tensor) && !tensor->has_symbolic_sizes_strides()) Add(*tensor);
    return;
  }
  if (value.isInt()) return Add(Kind::kInteger, static_cast<std::uint64_t>(value.toInt()));
  if (value.isBool()) return Add(Kind::kTruth, std::uint64_t{value.toBool()});
  if (value.isDouble()) return AddReal(value.toDouble());
  if (value.isComplexDouble()) {
    AddReal(value.toComplexDouble().real());
    return AddReal(value.toComplexDouble().imag());
  }
  if (value.isString()) return Add(std::string_view(value.toStringRef()));
  if (value.isList()) {
    const auto elements = value.toListRef();
    Add(Kind::kList, elements.size());
    for (const IValue& element : elements) Add(element);
    return;
  }
  Add(value.isNone() ? Kind::kNothing : Kind::kOther, 0);
}

class Writer {
 public:
  explicit Writer(std::string name) : text_(std::move(name)) { text_ += '('; }

  // False where it cannot be written.
  bool Add(const IValue& value, const c10::Argument& formal) {
    if (!first_) text_ += ", ";
    first_ = false;
    // By its name a tensor for a result is told from one that is read.
    if (formal.is_out()) text_ += formal.name() + '=';
    return Value(value, KindOf(formal));
  }
  std::string Take() && { return std::move(text_) + ")"; }

 private:
  // What the schema calls an integer that stands for something else.
  static TypeKind KindOf(const c10::Argument& formal) {
    c10::TypePtr type = formal.real_type();
    if (type->kind() == TypeKind::OptionalType) {
      type = type->castRaw<c10::OptionalType>()->getElementType();
    }
    return type->kind();
  }

  bool Value(const IValue& value, TypeKind kind) {
    if (value.isTensor()) return Tensor(*value.unsafeToTensorImpl());
    if (value.isNone() || value.isGenerator()) return text_ += "None", true;
    if (value.isInt()) return Integer(value.toInt(), kind);
    if (value.isBool()) return text_ += value.toBool() ? "True" : "False", true;
    if (value.isDouble()) return Real(value.toDouble());
    if (value.isString()) return String(value.toStringRef());
    if (value.isDevice()) return String(value.toDevice().str());
    if (value.isList()) return List(value);
    return false;
  }

  bool Tensor(const c10::TensorImpl& tensor) {
    if (&tensor == c10::UndefinedTensorImpl::singleton()) return text_ += "None", true;
    if (!HasFixedSizes(tensor)) return false;
    const ScalarType type = tensor.dtype().toScalarType();
    // A number of Python's in a tensor: which one is not looked at.
    if (tensor.is_wrapped_number() && tensor.dim() == 0) {
      text_ += c10::isFloatingType(type) ? "1.5" : type == ScalarType::Bool ? "True" : "3";
      return !c10::isComplexType(type);
    }
    const char* const name = ShortNameOf(type);
    if (name == nullptr) return false;
    text_ += name;
    Numbers('[', tensor.sizes(), ']');
    if (!tensor.is_contiguous()) Numbers('{', tensor.strides(), '}');
    return true;
  }

  void Numbers(char open, c10::IntArrayRef numbers, char close) {
    text_ += open;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0) text_ += ',';
      text_ += std::to_string(numbers[i]);
    }
    text_ += close;
  }

  bool Integer(std::int64_t value, TypeKind kind) {
    if (kind == TypeKind::ScalarTypeType) {
      const char* const name = ShortNameOf(static_cast<ScalarType>(value));
      if (name == nullptr) return false;
      text_ += name;
      return true;
    }
    if (kind == TypeKind::LayoutType) return value == 0 && String("strided");
    if (kind == TypeKind::MemoryFormatType) {
      constexpr std::array kNames{"contiguous_format", "preserve_format", "channels_last",
                                  "channels_last_3d"};
      return value >= 0 && value < static_cast<std::int64_t>(kNames.size()) &&
             String(kNames[static_cast<std::size_t>(value)]);
    }
    text_ += std::to_string(value);
    return true;
  }

  bool Real(double value) {
    if (!std::isfinite(value)) value = value < 0 ? -1e308 : 1e308;
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.17g", value);
    text_ += digits.data();
    if (std::strpbrk(digits.data(), ".e") == nullptr) text_ += ".0";
    return true;
  }

  bool String(const std::string& value) {
    if (value.find_first_of("'\"\\\n") != std::string::npos) return false;
    text_ += '\'' + value + '\'';
    return true;
  }

  bool List(const IValue& value) {
    text_ += '[';
    bool first = true;
    for (const IValue& element : value.toListRef()) {
      if (!first) text_ += ", ";
      first = false;
      if (!Value(element, TypeKind::AnyType)) return false;
    }
    text_ += ']';
    return true;
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace

std::uint64_t HashOperator(const at::RecordFunction& function) {
  Hash hash;
  hash.Add(std::string_view(function.name()));
  hash.Add(std::string_view(function.overload_name()));
  return hash.state();
}

CallHash HashCall(const at::RecordFunction& function) {
  Hash hash;
  hash.Add(std::string_view(function.name()));
  hash.Add(std::string_view(function.overload_name()));
  for (const IValue& value : function.inputs()) hash.Add(value);
  return {hash.state(), hash.state() ^ hash.reals()};
}

std::string TextOfOperator(const at::RecordFunction& function) {
  std::string text = function.name();
  const char* const overload = function.overload_name();
  if (*overload != '\0') text.append(1, '.').append(overload);
  return text;
}

CallText TextOfCall(const at::RecordFunction& function) {
  const auto schema = function.operator_schema();
  if (!schema) return {function.name()};
  std::string name = schema->name();
  if (!schema->overload_name().empty()) name += "." + schema->overload_name();
  const auto values = function.inputs();
  const auto& formals = schema->arguments();
  if (values.size() != formals.size()) return {std::move(name)};
  Writer writer(name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!writer.Add(values[i], formals[i])) return {std::move(name)};
  }
  return {std::move(writer).Take(), true};
}

}  // namespace steelyard::engine
