// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/convolution.h"

#include <gmock/gmock.h>

#include "ir/layout.h"

namespace steelyard::convolution {
namespace {

using ::testing::ElementsAre;

class ConvolutionRules : public testing::Test {
 protected:
  TensorView Make(Dims sizes) { return Make(sizes, ContiguousStrides(sizes)); }
  TensorView Make(Dims sizes, Dims strides) {
    return {program_, program_.AddTensor(kNoString, DType::kFloat32, sizes, strides)};
  }
  TensorView None() { return {program_, kNoId}; }

 private:
  Program program_;
};

TEST_F(ConvolutionRules, EitherOperandDecidesTheFormat) {
  const TensorView plain = Make({2, 3, 4, 4}), last = Make({2, 3, 4, 4}, {48, 1, 12, 3});
  EXPECT_FALSE(UsesChannelsLast(plain, plain));
  EXPECT_TRUE(UsesChannelsLast(last, plain));
  EXPECT_TRUE(UsesChannelsLast(plain, last));
}

TEST_F(ConvolutionRules, ImageHasTheOutputChannels) {
  Outputs out;
  AddImage(Make({2, 6, 8, 8}), Make({10, 3, 3, 3}), Make({10}),
           {.stride = {2, 2}, .padding = {1, 1}, .dilation = {1, 1}, .groups = 2}, out);
  ASSERT_EQ(out.metas().size(), 1u);
  EXPECT_THAT(out.metas()[0].sizes, ElementsAre(2, 10, 4, 4));
}

TEST_F(ConvolutionRules, OperandsMustAgree) {
  EXPECT_NO_THROW(RequireOperands(Make({2, 6, 8}), Make({10, 3, 3}), None(), 2));
  EXPECT_THROW(RequireOperands(Make({2, 6, 8}), Make({10, 3, 3}), None(), 1), RuleError);
  EXPECT_THROW(RequireOperands(Make({2, 6, 8}), Make({9, 3, 3}), None(), 2), RuleError);
  EXPECT_THROW(RequireOperands(Make({2, 6, 8}), Make({10, 3, 3}), None(), 0), RuleError);
  EXPECT_THROW(RequireOperands(Make({2, 6, 8}), Make({10, 3, 3, 3}), None(), 2), RuleError);
  EXPECT_THROW(RequireOperands(Make({2, 6, 8}), Make({10, 3, 3}), Make({9}), 2), RuleError);
}

TEST_F(ConvolutionRules, SpatialRankIsWhatFollowsTheChannels) {
  EXPECT_EQ(SpatialRank(Make({10, 3, 3, 3})), 2);
  EXPECT_EQ(SpatialRank(Make({10})), 0);
}

}  // namespace
}  // namespace steelyard::convolution
