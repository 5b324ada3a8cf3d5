// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/sizes.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace steelyard::onnx {
namespace {

class SizesTest : public ::testing::Test {
 protected:
  Builder builder_{"sizes"};
  Sizes sizes_{builder_};
  const Dim batch_ = builder_.Symbol({.name = "batch"}), seq_ = builder_.Symbol({.name = "seq"});
};

TEST_F(SizesTest, EqualPolynomialsAreOneDim) {
  const Dim tokens = sizes_.Product(batch_, seq_);
  EXPECT_EQ(tokens, sizes_.Product(seq_, batch_));
  EXPECT_EQ(sizes_.Product(Dim(2), tokens), sizes_.Sum(tokens, tokens));
  EXPECT_EQ(sizes_.Difference(sizes_.Sum(seq_, Dim(3)), Dim(3)), seq_);
  EXPECT_EQ(sizes_.Difference(seq_, seq_), Dim(0));
}

TEST_F(SizesTest, QuotientsCancel) {
  const Dim tokens = sizes_.Product(batch_, seq_);
  EXPECT_EQ(sizes_.Quotient(sizes_.Product(tokens, Dim(768)), sizes_.Product(batch_, Dim(12))),
            sizes_.Product(seq_, Dim(768 / 12)));
  EXPECT_EQ(sizes_.CeilQuotient(tokens, seq_), batch_);
  EXPECT_EQ(sizes_.Quotient(Dim(7), Dim(2)), Dim(3));
  EXPECT_EQ(sizes_.CeilQuotient(Dim(7), Dim(2)), Dim(4));
}

TEST_F(SizesTest, WhatIsNoPolynomialIsOneAtom) {
  const Dim half = sizes_.Quotient(seq_, Dim(2));
  EXPECT_TRUE(half.is_expression());
  EXPECT_EQ(half, sizes_.Quotient(seq_, Dim(2)));
  EXPECT_EQ(sizes_.Difference(sizes_.Sum(half, Dim(1)), half), Dim(1));
}

TEST_F(SizesTest, ACastCutsTowardsZero) {
  EXPECT_EQ(sizes_.TruncatedQuotient(Dim(-7), Dim(2)), Dim(-3));
  EXPECT_EQ(sizes_.TruncatedQuotient(Dim(7), Dim(2)), Dim(3));
  // What is made of sizes, and is no difference of them, is never negative.
  EXPECT_EQ(sizes_.TruncatedQuotient(seq_, Dim(2)), sizes_.Quotient(seq_, Dim(2)));
  const Dim half = sizes_.Quotient(seq_, Dim(2));
  EXPECT_EQ(sizes_.TruncatedQuotient(half, Dim(3)), sizes_.Quotient(half, Dim(3)));
  const Dim less = sizes_.Difference(seq_, Dim(10));
  const Dim quarter = sizes_.TruncatedQuotient(less, Dim(4));
  const Dim of_quotient = sizes_.TruncatedQuotient(sizes_.Quotient(less, Dim(4)), Dim(2));
  const Result<Program> program = std::move(builder_).Build();
  ASSERT_TRUE(program);
  const auto at = [&](Dim dim, std::int64_t seq) {
    return program->expressions.Evaluate(
        std::array{std::optional<std::int64_t>(1), std::optional(seq)})[dim.expression()];
  };
  EXPECT_EQ(at(quarter, 7), 0);       // -3 / 4
  EXPECT_EQ(at(quarter, 1), -2);      // -9 / 4
  EXPECT_EQ(at(quarter, 19), 2);      // 9 / 4
  EXPECT_EQ(at(of_quotient, 1), -1);  // -3 / 2
}

TEST_F(SizesTest, SurvivesOverflow) {
  const Dim huge(std::int64_t{1} << 61);
  const Dim product = sizes_.Product(sizes_.Product(seq_, huge), huge);
  EXPECT_TRUE(product.is_expression());  // which has no value, and bind says so
}

}  // namespace
}  // namespace steelyard::onnx
