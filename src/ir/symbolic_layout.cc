// SPDX-License-Identifier: Apache-2.0
#include "ir/symbolic_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/layout.h"

namespace steelyard {
namespace {

constexpr int kPoints = 4;

bool IsNumber(std::int64_t raw) { return Dim::FromRaw(raw).is_number(); }

bool SameAsContiguous(std::span<const std::int64_t> sizes_and_strides) {
  const std::size_t rank = sizes_and_strides.size() / 2;
  const Dims expected = ContiguousStrides(sizes_and_strides.first(rank));
  return std::ranges::equal(sizes_and_strides.subspan(rank), expected);
}

}  // namespace

Dims ContiguousDims(ExpressionTable& expressions, std::span<const std::int64_t> sizes) {
  if (std::ranges::all_of(sizes, IsNumber)) return ContiguousStrides(sizes);
  Dims out = Dims::Filled(static_cast<int>(sizes.size()), 1);
  Dim running(1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    const Dim size = Dim::FromRaw(sizes[i]);
    if (size.is_unknown() || running.is_unknown()) {
      running = Dim::Unknown();
    } else if (running == Dim(1)) {
      running = size;
    } else if (size != Dim(0)) {  // an empty tensor's strides are those of one with an element
      running = expressions.Make(ExprOp::kMul, size, running);
    }
    out[static_cast<int>(i) - 1] = running.raw();
  }
  return out;
}

ContiguityTest::ContiguityTest(const Program& program) {
  if (program.expressions.size() == 0) return;
  std::uint64_t state = 1;
  for (int point = 0; point < kPoints; ++point) {
    std::vector<std::optional<std::int64_t>> symbols;
    for (const Symbol& symbol : program.symbols) {
      // Any sequence of distinct numbers will do; these are Knuth's (MMIX).
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto drawn = static_cast<std::int64_t>((state >> 33U) % 1000) + 2;
      symbols.emplace_back(std::clamp(drawn, std::min(symbol.min, symbol.max), symbol.max));
    }
    points_.push_back(program.expressions.Evaluate(symbols));
  }
}

bool ContiguityTest::operator()(std::span<const std::int64_t> sizes_and_strides) const {
  if (std::ranges::all_of(sizes_and_strides, IsNumber)) return SameAsContiguous(sizes_and_strides);
  std::vector<std::int64_t> numbers(sizes_and_strides.size());
  for (const auto& values : points_) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Dim dim = Dim::FromRaw(sizes_and_strides[i]);
      const bool known =
          dim.is_number() || (dim.is_expression() && dim.expression() < values.size() &&
                              values[dim.expression()].has_value());
      if (!known) return false;
      numbers[i] = dim.is_number() ? dim.number() : *values[dim.expression()];
    }
    if (!SameAsContiguous(numbers)) return false;
  }
  return !points_.empty();
}

}  // namespace steelyard
