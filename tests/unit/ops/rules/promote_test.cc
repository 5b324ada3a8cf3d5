// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/promote.h"

#include <gtest/gtest.h>

#include <optional>

namespace steelyard {
namespace {

using enum DType;

TEST(Promote, WithinACategoryTheWiderWins) {
  EXPECT_EQ(PromoteTypes(kInt32, kInt64), kInt64);
  EXPECT_EQ(PromoteTypes(kFloat64, kFloat16), kFloat64);
  EXPECT_EQ(PromoteTypes(kComplex64, kComplex128), kComplex128);
}

TEST(Promote, NeitherHalfHoldsTheOther) { EXPECT_EQ(PromoteTypes(kFloat16, kBFloat16), kFloat32); }

TEST(Promote, UnsignedBytes) {
  EXPECT_EQ(PromoteTypes(kUInt8, kInt8), kInt16);
  EXPECT_EQ(PromoteTypes(kUInt8, kInt32), kInt32);
  EXPECT_EQ(PromoteTypes(kUInt8, kBool), kUInt8);
}

TEST(Promote, TheHigherCategoryWinsWhateverItsWidth) {
  EXPECT_EQ(PromoteTypes(kInt64, kFloat16), kFloat16);
  EXPECT_EQ(PromoteTypes(kBool, kInt8), kInt8);
  EXPECT_EQ(PromoteTypes(kInt64, kComplex32), kComplex32);
  EXPECT_EQ(PromoteTypes(kFloat32, kComplex32), kComplex64);
  EXPECT_EQ(PromoteTypes(kBFloat16, kComplex32), kComplex64);
  EXPECT_EQ(PromoteTypes(kFloat16, kComplex32), kComplex32);
}

TEST(Promote, IsSymmetricWhereItIsDefined) {
  constexpr DType kAll[] = {kBool,    kInt8,      kUInt8,     kInt16,     kUInt16,   kInt32,
                            kUInt32,  kInt64,     kUInt64,    kFloat16,   kBFloat16, kFloat32,
                            kFloat64, kComplex32, kComplex64, kComplex128};
  const auto promote = [](DType a, DType b) -> std::optional<DType> {
    try {
      return PromoteTypes(a, b);
    } catch (const RuleError&) {
      return std::nullopt;
    }
  };
  for (DType a : kAll) {
    for (DType b : kAll) EXPECT_EQ(promote(a, b), promote(b, a)) << NameOf(a) << " " << NameOf(b);
  }
}

TEST(Promote, HasNoAnswerForSome) {
  EXPECT_THROW(PromoteTypes(kFloat8E4M3, kFloat8E5M2), RuleError);
  EXPECT_THROW(PromoteTypes(kFloat8E4M3, kFloat32), RuleError);
  EXPECT_THROW(PromoteTypes(kUInt16, kInt16), RuleError);
  EXPECT_EQ(PromoteTypes(kUInt16, kFloat16), kFloat16);
  EXPECT_EQ(PromoteTypes(kFloat8E4M3, kFloat8E4M3), kFloat8E4M3);
}

// Tensors of the program that the tests make.
class ResultTypeTest : public ::testing::Test {
 protected:
  TensorView Add(DType dtype, Dims sizes, bool wrapped = false) {
    const ValueId id = program_.AddTensor(kNoString, dtype, sizes, Dims::Filled(sizes.size(), 1));
    program_.values[id].wrapped_number = wrapped;
    return {program_, id};
  }
  Program program_;
};

TEST_F(ResultTypeTest, DimensionsDecideBeforeZeroDimTensors) {
  EXPECT_EQ(ResultType({Add(kFloat32, {3}), Add(kFloat64, {})}), kFloat32);
  EXPECT_EQ(ResultType({Add(kInt64, {3}), Add(kFloat64, {})}), kFloat64);
  EXPECT_EQ(ResultType({Add(kFloat32, {}), Add(kFloat64, {})}), kFloat64);
}

TEST_F(ResultTypeTest, NumbersDecideLastAndAreOfDefaultWidth) {
  EXPECT_EQ(ResultType({Add(kBFloat16, {3}), Add(kFloat64, {}, true)}), kBFloat16);
  EXPECT_EQ(ResultType({Add(kInt64, {}), Add(kFloat64, {}, true)}), kFloat32);
  EXPECT_EQ(ResultType({Add(kBool, {3}), Add(kInt64, {}, true)}), kInt64);
  EXPECT_EQ(ResultType({Add(kInt32, {3}), Add(kInt64, {}, true)}), kInt32);
}

TEST_F(ResultTypeTest, AComplexNumberMakesFloatsComplexOfTheirWidth) {
  EXPECT_EQ(ResultType({Add(kFloat64, {3}), Add(kComplex64, {})}), kComplex128);
}

TEST_F(ResultTypeTest, NumbersThatWereNotBoxed) {
  EXPECT_EQ(ResultType(Add(kInt64, {3}), {Argument::OfFloat(2.5)}), kFloat32);
  EXPECT_EQ(ResultType(Add(kFloat16, {3}), {Argument::OfInt(std::int64_t{2}), Argument::None()}),
            kFloat16);
}

TEST_F(ResultTypeTest, NothingHasNoType) {
  EXPECT_THROW(ResultType(std::span<const TensorView>{}), RuleError);
}

}  // namespace
}  // namespace steelyard
