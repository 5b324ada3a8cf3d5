// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/composite.h"

#include <gmock/gmock.h>

#include "../calls.h"
#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(Composite, TakesItsColumnsFromItsParts) {
  constexpr OpDef kRow =
      Composite("aten::relu", "Relu.", "(Tensor self) -> Tensor", "aten::relu(f32[2])",
                Family::kElementwise, decompose::SameAs<"aten::neg">, precision::kFollow);
  EXPECT_FALSE(kRow.is_kernel());
  EXPECT_EQ(*kRow.shape, nullptr);
  EXPECT_EQ(kRow.allocations->cpu, nullptr);
  EXPECT_EQ(*kRow.work, nullptr);
  EXPECT_EQ(*kRow.traffic, nullptr);
}

TEST(Composite, PassesItsArgumentsOn) {
  EXPECT_THAT(NodesOf("aten::__and__.Tensor(bool[2], bool[2])"), ElementsAre("bitwise_and.Tensor"));
}

TEST(Composite, BoxesOneOfThemAndDropsTheBoxWhenItReturns) {
  EXPECT_THAT(NodesOf("aten::add.Scalar(f32[2], 1, 2)"), ElementsAre("box", "add.Tensor", "drop"));
}

TEST(Composite, NamesAreHashedByTheCompiler) {
  static_assert(kOpNamed<"aten::add.Tensor">.hash() == HashName("aten::add.Tensor"));
  EXPECT_EQ(kOpNamed<"aten::add.Tensor">.text(), "aten::add.Tensor");
}

}  // namespace
}  // namespace steelyard
