// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/shape.h"

#include <gmock/gmock.h>

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string RuleRefusal(auto&& rule) {
  try {
    rule();
  } catch (const RuleError& error) {
    return error.message;
  }
  return "";
}

std::vector<std::int64_t> List(const Dims& dims) { return {dims.begin(), dims.end()}; }

TEST(Shape, WithoutDropsOrKeeps) {
  const Dims sizes{2, 3, 8};
  EXPECT_THAT(List(shape::Without(sizes, 0b101, shape::Reduced::kDropped)), ElementsAre(3));
  EXPECT_THAT(List(shape::Without(sizes, 0b101, shape::Reduced::kKeptAsOne)), ElementsAre(1, 3, 1));
}

TEST(Shape, DimensionsAreCountedFromTheEndToo) {
  EXPECT_EQ(shape::WrapDim(-1, 3), 2);
  EXPECT_EQ(shape::WrapDim(-1, 0), 0);  // as if it had one
  EXPECT_EQ(RuleRefusal([] { shape::WrapDim(3, 3); }),
            "dimension 3 is out of range for a tensor of 3 dimensions");
}

TEST(Shape, FanIsTheProductOfWhatIsReduced) {
  EXPECT_EQ(shape::Fan(Dims{2, 3, 8}, 0b101), Count(2 * 8));
  EXPECT_EQ(shape::Fan(Dims{2, 3, 8}, 0), Count(1));
  EXPECT_TRUE(shape::Fan(Dims{std::int64_t{1} << 40, std::int64_t{1} << 40}, 0b11).overflowed());
}

TEST(Shape, RequireEqualNamesBoth) {
  EXPECT_EQ(RuleRefusal([] { shape::RequireEqual("inner dimensions", 768, 1024); }),
            "inner dimensions differ: 768 vs 1024");
  EXPECT_EQ(RuleRefusal([] { shape::RequireEqual("inner dimensions", 768, 768); }), "");
}

TEST(Shape, RequireSizesRefusesNegatives) {
  EXPECT_THAT(RuleRefusal([] { shape::RequireSizes(Dims{2, -1}); }), HasSubstr("[2, -1]"));
}

TEST(Shape, TextOfTensors) {
  Program program;
  const TensorView tensor(program,
                          program.AddTensor(kNoString, DType::kBFloat16, Dims{2, 3}, Dims{3, 1}));
  EXPECT_EQ(shape::Text(tensor), "bf16[2,3]");
  EXPECT_THAT(RuleRefusal([&] { shape::RequireRank("weight", tensor, 4); }),
              HasSubstr("weight has 2 dimensions, not 4: bf16[2,3]"));
}

TEST(Shape, RequireWritableRefusesOverlap) {
  Program program;
  const TensorView expanded(program,
                            program.AddTensor(kNoString, DType::kFloat32, Dims{2, 3}, Dims{0, 1}));
  const TensorView single(program,
                          program.AddTensor(kNoString, DType::kFloat32, Dims{1, 3}, Dims{0, 1}));
  const TensorView empty(program,
                         program.AddTensor(kNoString, DType::kFloat32, Dims{0, 3}, Dims{3, 0}));
  EXPECT_THAT(RuleRefusal([&] { shape::RequireWritable(expanded); }), HasSubstr("expanded"));
  EXPECT_EQ(RuleRefusal([&] { shape::RequireWritable(single); }), "");
  EXPECT_EQ(RuleRefusal([&] { shape::RequireWritable(empty); }), "");
}

TEST(Shape, StridesFollowTheCastOfAnOperand) {
  // The cast of an expanded tensor is dense; that of a transposed one stays transposed.
  Program program;
  const TensorView expanded(program,
                            program.AddTensor(kNoString, DType::kFloat32, Dims{2, 3}, Dims{0, 1}));
  const TensorView transposed(
      program, program.AddTensor(kNoString, DType::kFloat32, Dims{2, 3}, Dims{1, 2}));
  EXPECT_THAT(List(shape::CastStrides(expanded, DType::kFloat32)), ElementsAre(0, 1));
  EXPECT_THAT(List(shape::CastStrides(expanded, DType::kFloat64)), ElementsAre(3, 1));
  EXPECT_THAT(List(shape::CastStrides(transposed, DType::kFloat64)), ElementsAre(1, 2));
}

TEST(Shape, ComputeTypes) {
  Program program;
  const TensorView whole(program, program.AddTensor(kNoString, DType::kInt64, Dims{2}, Dims{1}));
  const TensorView operands[] = {whole};
  EXPECT_EQ(shape::ComputeType(Promotion::kCommon, operands), DType::kInt64);
  EXPECT_EQ(shape::ComputeType(Promotion::kFloat, operands), DType::kFloat32);
  EXPECT_EQ(shape::ComputeType(Promotion::kCompare, operands), DType::kInt64);
}

}  // namespace
}  // namespace steelyard
