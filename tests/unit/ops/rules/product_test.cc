// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/product.h"

#include <gtest/gtest.h>

namespace steelyard::product {
namespace {

class ProductRules : public testing::Test {
 protected:
  TensorView Make(DType dtype, Dims sizes, Dims strides) {
    return {program_, program_.AddTensor(kNoString, dtype, sizes, strides)};
  }
  TensorView Floats(Dims sizes, Dims strides) { return Make(DType::kFloat32, sizes, strides); }
  TensorView Halves(Dims sizes, Dims strides) { return Make(DType::kBFloat16, sizes, strides); }

 private:
  Program program_;
};

TEST_F(ProductRules, BlasReadsOneDenseDimension) {
  EXPECT_TRUE(BlasReads(Floats({2, 3}, {3, 1})));
  EXPECT_TRUE(BlasReads(Floats({2, 3}, {7, 1})));
  EXPECT_TRUE(BlasReads(Floats({2, 3}, {1, 2})));
  EXPECT_TRUE(BlasReads(Floats({4, 2, 3}, {0, 3, 1})));  // only the matrices matter
  EXPECT_FALSE(BlasReads(Floats({2, 3}, {6, 2})));
  EXPECT_FALSE(BlasReads(Floats({2, 3}, {0, 1})));  // expanded rows overlap
  EXPECT_FALSE(BlasReads(Floats({2, 3}, {1, 1})));
}

TEST_F(ProductRules, OneDnnReadsDenseBatches) {
  EXPECT_TRUE(OneDnnReads(Halves({4, 2, 3}, {6, 3, 1})));
  EXPECT_TRUE(OneDnnReads(Halves({4, 2, 3}, {6, 1, 2})));
  EXPECT_FALSE(OneDnnReads(Halves({4, 2, 3}, {12, 3, 1})));
  EXPECT_FALSE(OneDnnReads(Halves({4, 2, 3}, {0, 3, 1})));
  EXPECT_FALSE(OneDnnReads(Halves({4, 2, 3}, {12, 1, 2})));
}

TEST_F(ProductRules, ColumnsThatAreAlsoRowsAreNotTransposed) {
  EXPECT_TRUE(LiesTransposed(Halves({4, 3}, {1, 4})));
  EXPECT_TRUE(LiesTransposed(Halves({4, 1}, {1, 4})));
  EXPECT_FALSE(LiesTransposed(Halves({4, 1}, {1, 1})));
  EXPECT_FALSE(LiesTransposed(Halves({1, 4}, {1, 1})));
  EXPECT_FALSE(LiesTransposed(Halves({4, 3}, {3, 1})));
  EXPECT_FALSE(LiesTransposed(Halves({4, 3}, {1, 2})));  // overlapping columns are copied, as rows
}

TEST_F(ProductRules, OneDnnTakesLargeBatchesOfBfloat16) {
  const auto batch = [&](std::int64_t n) { return Halves({n, 16, 16}, {256, 16, 1}); };
  EXPECT_FALSE(UsesOneDnn(batch(1), batch(1)));  // 16 * 16 * 16 multiplications
  EXPECT_TRUE(UsesOneDnn(batch(2), batch(2)));
  EXPECT_FALSE(UsesOneDnn(Floats({2, 16, 16}, {256, 16, 1}), Floats({2, 16, 16}, {256, 16, 1})));
}

TEST_F(ProductRules, FactorsMustAgree) {
  EXPECT_NO_THROW(RequireInner(Floats({2, 3}, {3, 1}), Floats({3, 5}, {5, 1})));
  EXPECT_THROW(RequireInner(Floats({2, 3}, {3, 1}), Floats({5, 3}, {3, 1})), RuleError);
  EXPECT_THROW(RequireSameDType(Floats({2}, {1}), Halves({2}, {1})), RuleError);
  EXPECT_NO_THROW(RequireSummandOf(Floats({2}, {1}), Floats({2}, {1})));
  EXPECT_THROW(RequireSummandOf(Floats({2}, {1}), Halves({2}, {1})), RuleError);
}

}  // namespace
}  // namespace steelyard::product
