// SPDX-License-Identifier: Apache-2.0
#include "ir/symbolic_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard {
namespace {

using ::testing::ElementsAre;

struct TwoSymbols {
  Program program;
  Dim a = Add("a");
  Dim b = Add("b");

  Dim Add(std::string_view name) {
    program.symbols.push_back({.name = program.strings.Intern(name), .min = 1});
    return program.expressions.MakeSymbol(static_cast<std::uint32_t>(program.symbols.size() - 1));
  }
  Dim Mul(Dim x, Dim y) { return program.expressions.Make(ExprOp::kMul, x, y); }
};

TEST(ContiguousDims, OfNumbersAreNumbers) {
  ExpressionTable expressions;
  EXPECT_THAT(ContiguousDims(expressions, Dims{2, 3, 4}), ElementsAre(3 * 4, 4, 1));
  EXPECT_EQ(expressions.size(), 0u);
}

TEST(ContiguousDims, OfSymbolsPassTheTest) {
  TwoSymbols f;
  const std::vector<std::int64_t> sizes = {f.a.raw(), f.b.raw(), 768};
  std::vector<std::int64_t> both = sizes;
  const Dims strides = ContiguousDims(f.program.expressions, sizes);
  both.insert(both.end(), strides.begin(), strides.end());
  EXPECT_TRUE(ContiguityTest(f.program)(both));
}

TEST(ContiguityTest, SeesThroughTheFormOfAProduct) {
  TwoSymbols f;
  // Sizes [a, b, 2*b, 4]; the outermost stride written as 8*(b*b), not b*(2*b*4).
  const Dim twice = f.Mul(Dim(2), f.b);
  const Dim outer = f.Mul(Dim(8), f.Mul(f.b, f.b));
  const Dim middle = f.Mul(f.b, Dim(2 * 4));
  const std::vector<std::int64_t> sizes = {f.a.raw(), f.b.raw(), twice.raw(), 4};
  std::vector<std::int64_t> good = sizes;
  good.insert(good.end(), {outer.raw(), middle.raw(), 4, 1});
  std::vector<std::int64_t> bad = sizes;
  bad.insert(bad.end(), {f.Mul(f.a, middle).raw(), middle.raw(), 4, 1});
  const ContiguityTest is_contiguous(f.program);
  EXPECT_TRUE(is_contiguous(good));
  EXPECT_FALSE(is_contiguous(bad));
}

TEST(ContiguityTest, WhatHasNoValueIsNotContiguous) {
  TwoSymbols f;
  const Dim by_zero = f.program.expressions.Make(ExprOp::kFloorDiv, f.a, Dim(0));
  const ContiguityTest is_contiguous(f.program);
  EXPECT_FALSE(is_contiguous(std::vector<std::int64_t>{by_zero.raw(), 1}));
  EXPECT_FALSE(is_contiguous(std::vector<std::int64_t>{Dim::Unknown().raw(), 1}));
  EXPECT_FALSE(is_contiguous(std::vector<std::int64_t>{2, 3, 1, 2}));
}

}  // namespace
}  // namespace steelyard
