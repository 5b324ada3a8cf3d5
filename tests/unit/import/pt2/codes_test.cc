// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/codes.h"

#include <gtest/gtest.h>

#include <set>

namespace steelyard::pt2 {
namespace {

TEST(Codes, KnowsTheDtypesOfTheSchema) {
  EXPECT_EQ(FindDType(7)->dtype, DType::kFloat32);
  EXPECT_EQ(FindDType(13)->dtype, DType::kBFloat16);
  EXPECT_EQ(FindDType(28)->dtype, DType::kUInt16);
  EXPECT_EQ(FindDType(29)->dtype, DType::kFloat8E4M3);
  EXPECT_EQ(FindDType(30)->dtype, DType::kFloat8E5M2);
  EXPECT_EQ(FindDType(10)->dtype, DType::kComplex64);
  EXPECT_EQ(FindDType(35)->dtype, DType::kUInt64);
  for (const std::int64_t code : {-1, 0, 14, 27, 36, 1000}) EXPECT_EQ(FindDType(code), nullptr);
}

TEST(Codes, KnowsTheOtherFloatsOfEightBits) {
  EXPECT_EQ(FindDType(31)->dtype, DType::kFloat8E4M3FNUZ);
  EXPECT_EQ(FindDType(32)->dtype, DType::kFloat8E5M2FNUZ);
  EXPECT_EQ(FindDType(33)->dtype, DType::kFloat8E8M0);
}

TEST(Codes, NamesLayoutsAndMemoryFormats) {
  EXPECT_EQ(LayoutNamed(kStridedLayout), "strided");
  EXPECT_EQ(LayoutNamed(1), "sparse_coo");
  EXPECT_EQ(MemoryFormatNamed(1), "contiguous_format");
  EXPECT_EQ(MemoryFormatNamed(4), "preserve_format");
  for (const std::int64_t code : {-1, 0, 8, 1000}) EXPECT_EQ(LayoutNamed(code), "");
  EXPECT_EQ(MemoryFormatNamed(5), "");
}

TEST(Codes, NamesOperatorsAsThisProgramDoes) {
  EXPECT_EQ(OpNameOf("torch.ops.aten.linear.default"), "aten::linear");
  EXPECT_EQ(OpNameOf("torch.ops.aten.softmax.int"), "aten::softmax.int");
  EXPECT_EQ(OpNameOf("torch.ops.aten._softmax.default"), "aten::_softmax");
  EXPECT_EQ(OpNameOf("torch.ops.transformers.grouped_mm.default"), "transformers::grouped_mm");
  EXPECT_EQ(OpNameOf("torch.ops.higher_order.cond"), "higher_order::cond");
  EXPECT_EQ(OpNameOf("_operator.mul"), "operator::mul");
  EXPECT_EQ(OpNameOf("math.ceil"), "math::ceil");
  EXPECT_EQ(OpNameOf("torch.sym_max"), "torch::sym_max");
  EXPECT_EQ(OpNameOf("#myspace:my_op"), "myspace::my_op");
  EXPECT_EQ(OpNameOf("bare"), "bare");
  EXPECT_EQ(OpNameOf("torch.ops.x"), "x");
  EXPECT_EQ(OpNameOf("#x"), "#x");
}

}  // namespace
}  // namespace steelyard::pt2
