// SPDX-License-Identifier: Apache-2.0
//
// Sizes, their storage, and the arithmetic of symbolic sizes. Division and modulo round down as
// Python's and SymPy's do, whatever the signs; everything that does not fit is "no value", never a
// wrapped number.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "steelyard/tables.h"
#include "support/checked.h"

namespace steelyard {
namespace {

// How many operands an operation reads; the rest of an Expression is not looked at.
int OperandCount(ExprOp op) {
  switch (op) {
    case ExprOp::kConstant:
    case ExprOp::kSymbol:
      return 0;
    case ExprOp::kNot:
      return 1;
    case ExprOp::kSelect:
      return 3;
    case ExprOp::kAdd:
    case ExprOp::kMul:
    case ExprOp::kFloorDiv:
    case ExprOp::kTrueDiv:
    case ExprOp::kCeilDiv:
    case ExprOp::kMod:
    case ExprOp::kMin:
    case ExprOp::kMax:
    case ExprOp::kPow:
    case ExprOp::kEq:
    case ExprOp::kNe:
    case ExprOp::kLt:
    case ExprOp::kLe:
    case ExprOp::kAnd:
    case ExprOp::kOr:
      return 2;
  }
  return 0;
}

using Number = std::optional<std::int64_t>;

Number FloorDivide(std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Number CeilDivide(std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

// The remainder has the sign of the divisor.
Number Modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const std::int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

Number Power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  std::int64_t out = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(out, base, &out)) return std::nullopt;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
  return out;
}

}  // namespace

Dims Dims::Filled(int count, std::int64_t value) {
  Dims out;
  for (int i = 0; i < count; ++i) out.push_back(value);
  return out;
}

void Dims::insert(int at, std::int64_t value) {
  if (count_ >= kMaxRank) return;
  auto begin = values_.begin();
  std::copy_backward(begin + at, begin + count_, begin + count_ + 1);
  values_[static_cast<std::size_t>(at)] = value;
  ++count_;
}

void Dims::erase(int at) {
  auto begin = values_.begin();
  std::copy(begin + at + 1, begin + count_, begin + at);
  --count_;
}

DimPool::DimPool(const DimPool& other) { *this = other; }

DimPool& DimPool::operator=(const DimPool& other) {
  if (this == &other) return *this;
  chunks_.clear();
  chunks_.reserve(other.chunks_.size());
  used_ = other.used_;
  for (std::size_t i = 0; i < other.chunks_.size(); ++i) {
    chunks_.push_back(std::make_unique_for_overwrite<std::int64_t[]>(kChunk));
    const std::size_t in_use = std::min<std::size_t>(kChunk, used_ - i * kChunk);
    std::copy_n(other.chunks_[i].get(), in_use, chunks_.back().get());
  }
  return *this;
}

std::uint32_t DimPool::Allocate(std::uint32_t count) {
  if (count == 0) return 0;  // no span of the end of the last chunk
  const auto room = static_cast<std::uint32_t>(chunks_.size() * kChunk - used_);
  if (count > room) {
    used_ += room;
    // Zeroed: what is left over at a chunk's end is copied with the pool.
    chunks_.push_back(std::make_unique<std::int64_t[]>(kChunk));
  }
  const std::uint32_t offset = used_;
  used_ += count;
  return offset;
}

std::optional<std::int64_t> Apply(ExprOp op, std::int64_t a, std::int64_t b, std::int64_t c) {
  switch (op) {
    case ExprOp::kConstant:
      return a;
    case ExprOp::kSymbol:
      return std::nullopt;
    case ExprOp::kAdd:
      return CheckedAdd(a, b);
    case ExprOp::kMul:
      return CheckedMul(a, b);
    case ExprOp::kFloorDiv:
    case ExprOp::kTrueDiv:
      return FloorDivide(a, b);
    case ExprOp::kCeilDiv:
      return CeilDivide(a, b);
    case ExprOp::kMod:
      return Modulo(a, b);
    case ExprOp::kMin:
      return std::min(a, b);
    case ExprOp::kMax:
      return std::max(a, b);
    case ExprOp::kPow:
      return Power(a, b);
    case ExprOp::kEq:
      return a == b;
    case ExprOp::kNe:
      return a != b;
    case ExprOp::kLt:
      return a < b;
    case ExprOp::kLe:
      return a <= b;
    case ExprOp::kAnd:
      return a != 0 && b != 0;
    case ExprOp::kOr:
      return a != 0 || b != 0;
    case ExprOp::kNot:
      return a == 0;
    case ExprOp::kSelect:
      return a != 0 ? b : c;
  }
  return std::nullopt;
}

Dim ExpressionTable::Make(ExprOp op, Dim a, Dim b, Dim c) {
  const int operands = OperandCount(op);
  if (a.is_number() && (operands < 2 || b.is_number()) && (operands < 3 || c.is_number())) {
    const auto folded = Apply(op, a.number(), b.number(), c.number());
    // A result that a Dim cannot hold stays an expression, which then has no value.
    if (folded && Dim(*folded).is_number()) return Dim(*folded);
  }
  table_.push_back({op, a, b, c, 0});
  return Dim::Expression(static_cast<std::uint32_t>(table_.size() - 1));
}

Dim ExpressionTable::MakeSymbol(std::uint32_t symbol) {
  table_.push_back({ExprOp::kSymbol, Dim(0), Dim(0), Dim(0), symbol});
  return Dim::Expression(static_cast<std::uint32_t>(table_.size() - 1));
}

std::vector<std::optional<std::int64_t>> ExpressionTable::Evaluate(
    std::span<const std::optional<std::int64_t>> symbols) const {
  std::vector<Number> values(table_.size());
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const Expression& e = table_[i];
    if (e.op == ExprOp::kConstant) {
      values[i] = e.value;
      continue;
    }
    if (e.op == ExprOp::kSymbol) {
      const auto symbol = static_cast<std::size_t>(e.value);
      if (symbol < symbols.size()) values[i] = symbols[symbol];
      continue;
    }
    auto value_of = [&](Dim d) -> Number {
      if (d.is_number()) return d.number();
      return d.is_expression() && d.expression() < i ? values[d.expression()] : Number();
    };
    const int operands = OperandCount(e.op);
    const Number a = value_of(e.a);
    const Number b = operands > 1 ? value_of(e.b) : Number(0);
    const Number c = operands > 2 ? value_of(e.c) : Number(0);
    if (!a || !b || !c) continue;
    const Number result = Apply(e.op, *a, *b, *c);
    if (result && Dim(*result).is_number()) values[i] = result;
  }
  return values;
}

}  // namespace steelyard
