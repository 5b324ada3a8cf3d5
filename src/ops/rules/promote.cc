// SPDX-License-Identifier: Apache-2.0
//
// c10's table of dtypes, written as rules: the higher category decides, then the wider type, and of
// two that cannot hold each other the next wider (int8 and uint8, float16 and bfloat16). Operands
// have three strengths, and a weaker one counts only if its category is higher.

#include "ops/rules/promote.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace steelyard {
namespace {

enum class Category : int { kBool, kIntegral, kFloating, kComplex };

Category CategoryOf(DType dtype) {
  if (IsComplex(dtype)) return Category::kComplex;
  if (IsFloating(dtype)) return Category::kFloating;
  return dtype == DType::kBool ? Category::kBool : Category::kIntegral;
}

bool IsFloat8(DType dtype) { return IsFloating(dtype) && BitsOf(dtype) <= 8; }
bool IsPacked(DType dtype) { return dtype == DType::kInt4 || dtype == DType::kUInt4; }
bool IsWideUnsigned(DType dtype) {
  return dtype == DType::kUInt16 || dtype == DType::kUInt32 || dtype == DType::kUInt64;
}

DType Wider(DType a, DType b) { return BitsOf(a) >= BitsOf(b) ? a : b; }

DType PromoteIntegers(DType a, DType b) {
  if (a == DType::kUInt8 || b == DType::kUInt8) {
    const DType other = a == DType::kUInt8 ? b : a;
    return other == DType::kInt8 ? DType::kInt16 : other;
  }
  return Wider(a, b);
}

DType PromoteFloats(DType a, DType b) {
  // Of one width but neither holds the other: float16 and bfloat16.
  return BitsOf(a) == BitsOf(b) ? DType::kFloat32 : Wider(a, b);
}

DType PromoteToComplex(DType a, DType b) {
  if (IsComplex(a) && IsComplex(b)) return Wider(a, b);
  const DType complex = IsComplex(a) ? a : b;
  const DType other = IsComplex(a) ? b : a;
  return IsFloating(other) ? Wider(complex, ComplexOf(other)) : complex;
}

[[noreturn]] void RefusePromotion(DType a, DType b) {
  Refuse(fmt::format("{} and {} have no common dtype", NameOf(a), NameOf(b)),
         "Cast one of them first.");
}

std::optional<DType> PromoteOptional(std::optional<DType> a, std::optional<DType> b) {
  if (!a || !b) return a ? a : b;
  return PromoteTypes(*a, *b);
}

// `stronger` decides unless `weaker` is of a higher category.
std::optional<DType> Combine(std::optional<DType> stronger, std::optional<DType> weaker) {
  if (!stronger || !weaker) return stronger ? stronger : weaker;
  if (IsComplex(*stronger)) return stronger;
  if (IsFloating(*stronger)) {
    return IsComplex(*weaker) ? std::optional(ComplexOf(*stronger)) : stronger;
  }
  const bool lifts = *stronger == DType::kBool || IsFloating(*weaker) || IsComplex(*weaker);
  return lifts ? std::optional(PromoteTypes(*stronger, *weaker)) : stronger;
}

// A Python number is of the default width of its category.
DType AsDefault(DType boxed) {
  if (IsComplex(boxed)) return ComplexOf(kDefaultFloat);
  return IsFloating(boxed) ? kDefaultFloat : boxed;
}

// The three strengths of operands, joined at the end.
struct Strengths {
  std::optional<DType> dimensioned, zero_dim, number;

  void Add(const TensorView& tensor) {
    if (!tensor.defined()) return;
    if (tensor.rank() > 0) {
      dimensioned = PromoteOptional(dimensioned, tensor.dtype());
    } else if (tensor.value().wrapped_number) {
      number = PromoteOptional(number, AsDefault(tensor.dtype()));
    } else {
      zero_dim = PromoteOptional(zero_dim, tensor.dtype());
    }
  }
  DType Join() const {
    const std::optional<DType> common = Combine(dimensioned, Combine(zero_dim, number));
    if (!common) Refuse("there is no operand to take the dtype from");
    return *common;
  }
};

}  // namespace

DType PromoteTypes(DType a, DType b) {
  if (a == b) return a;
  if (IsFloat8(a) || IsFloat8(b) || IsPacked(a) || IsPacked(b)) RefusePromotion(a, b);
  const Category category = std::max(CategoryOf(a), CategoryOf(b));
  if ((IsWideUnsigned(a) || IsWideUnsigned(b)) && category != Category::kFloating) {
    RefusePromotion(a, b);
  }
  if (category == Category::kComplex) return PromoteToComplex(a, b);
  if (CategoryOf(a) != CategoryOf(b)) return CategoryOf(a) > CategoryOf(b) ? a : b;
  return category == Category::kFloating ? PromoteFloats(a, b) : PromoteIntegers(a, b);
}

DType ResultType(std::span<const TensorView> operands) {
  // Nearly always there is nothing to promote.
  const auto decides = [&](const TensorView& operand) {
    return operand.defined() && operand.rank() > 0 && operand.dtype() == operands[0].dtype();
  };
  if (!operands.empty() && std::ranges::all_of(operands, decides)) return operands[0].dtype();
  Strengths strengths;
  for (const TensorView& operand : operands) strengths.Add(operand);
  return strengths.Join();
}

DType ResultType(std::initializer_list<TensorView> operands) {
  return ResultType(std::span(operands.begin(), operands.size()));
}

DType ResultType(const TensorView& tensor, std::initializer_list<Argument> numbers) {
  Strengths strengths;
  strengths.Add(tensor);
  for (const Argument& number : numbers) {
    if (number.kind == ArgKind::kNone) continue;
    strengths.number = PromoteOptional(strengths.number, AsDefault(BoxedType(number)));
  }
  return strengths.Join();
}

DType BoxedType(const Argument& number) {
  if (number.kind == ArgKind::kFloat) return DType::kFloat64;
  if (number.kind == ArgKind::kComplex) return DType::kComplex128;
  return number.kind == ArgKind::kBool ? DType::kBool : DType::kInt64;
}

DType FloatOf(DType dtype) { return IsFloating(dtype) || IsComplex(dtype) ? dtype : kDefaultFloat; }

DType ComplexOf(DType dtype) {
  if (IsComplex(dtype)) return dtype;
  if (dtype == DType::kFloat64) return DType::kComplex128;
  return dtype == DType::kFloat16 ? DType::kComplex32 : DType::kComplex64;
}

DType RealOf(DType dtype) {
  if (dtype == DType::kComplex32) return DType::kFloat16;
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

}  // namespace steelyard
