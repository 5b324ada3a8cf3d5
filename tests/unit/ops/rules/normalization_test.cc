// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/normalization.h"

#include <gtest/gtest.h>

#include "ir/layout.h"

namespace steelyard::normalization {
namespace {

class NormalizationRules : public testing::Test {
 protected:
  TensorView Make(DType dtype, Dims sizes) { return Make(dtype, sizes, ContiguousStrides(sizes)); }
  TensorView Make(DType dtype, Dims sizes, Dims strides) {
    return {program_, program_.AddTensor(kNoString, dtype, sizes, strides)};
  }
  TensorView None() { return {program_, kNoId}; }

 private:
  Program program_;
};

TEST_F(NormalizationRules, HalfPrecisionIsSummedInSingle) {
  EXPECT_EQ(AccumulateType(DType::kBFloat16), DType::kFloat32);
  EXPECT_EQ(AccumulateType(DType::kFloat16), DType::kFloat32);
  EXPECT_EQ(AccumulateType(DType::kFloat64), DType::kFloat64);
}

TEST_F(NormalizationRules, ParametersOfAnotherDTypeWidenTheStatistics) {
  const TensorView half = Make(DType::kBFloat16, {2, 3}), single = Make(DType::kFloat32, {3});
  EXPECT_EQ(StatisticsType(half, {half, None()}), DType::kBFloat16);
  EXPECT_EQ(StatisticsType(half, {None(), single}), DType::kFloat32);
  EXPECT_THROW(StatisticsType(half, {single, half}), RuleError);
  EXPECT_THROW(StatisticsType(single, {half}), RuleError);
  EXPECT_THROW(StatisticsType(Make(DType::kFloat64, {3}), {single}), RuleError);
}

TEST_F(NormalizationRules, DenseImagesHaveRowsOrAdjacentChannels) {
  const TensorView rows = Make(DType::kFloat32, {2, 3, 4, 4});
  const TensorView last = Make(DType::kFloat32, {2, 3, 4, 4}, {48, 1, 12, 3});
  const TensorView spread = Make(DType::kFloat32, {2, 3, 4, 4}, {0, 0, 0, 0});
  EXPECT_TRUE(IsDenseImage(rows));
  EXPECT_TRUE(IsDenseImage(last));
  EXPECT_FALSE(IsDenseImage(spread));
  EXPECT_FALSE(ChannelsAreAdjacent(rows));
  EXPECT_TRUE(ChannelsAreAdjacent(last));
  EXPECT_TRUE(ChannelsAreAdjacent(Make(DType::kFloat32, {2, 3, 1, 1})));
}

}  // namespace
}  // namespace steelyard::normalization
