// SPDX-License-Identifier: Apache-2.0

#include "ops/einsum.h"

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Einsum, ResultsHaveTheDimensionsInTheOrderAsked) {
  EXPECT_EQ(ResultOf("aten::einsum('ij,jk->ik', [f32[2,3], f32[3,5]])"), "f32[2,5]");
  EXPECT_EQ(ResultOf("aten::einsum('bqhd,bkhd->bhqk', [f32[2,9,4,8], f32[2,7,4,8]])"),
            "f32[2,4,9,7]");
  EXPECT_EQ(ResultOf("aten::einsum('...ij,...jk->...ik', [f32[6,2,3], f32[3,5]])"), "f32[6,2,5]");
}

TEST(Einsum, WithoutArrowGivesLettersThatOccurOnceInAlphabeticalOrder) {
  EXPECT_EQ(ResultOf("aten::einsum('ba,bc', [f32[3,2], f32[3,5]])"), "f32[2,5]");
  // Upper case comes first.
  EXPECT_EQ(ResultOf("aten::einsum('aB', [f32[3,2]])"), "f32[2,3]{1,2}");
}

TEST(Einsum, IsOneBatchedProductOverCopiesThatAreNoViews) {
  // Heads stand between length and size: both operands are copied, and die last first.
  EXPECT_THAT(EventsOf("aten::einsum('bqhd,bkhd->bhqk', [f32[2,9,4,8], f32[2,7,4,8]])"),
              ElementsAre(Line(2 * 9 * 4 * 8 * 4, "empty"), Line(2 * 7 * 4 * 8 * 4, "empty"),
                          Line(2 * 4 * 9 * 7 * 4, "bmm"), Line(-2 * 7 * 4 * 8 * 4, "einsum"),
                          Line(-2 * 9 * 4 * 8 * 4, "einsum")));
  EXPECT_EQ(WorkOf("aten::einsum('bqhd,bkhd->bhqk', [f32[2,9,4,8], f32[2,7,4,8]])").mac,
            Count(2 * 4 * 9 * 7 * 8));
}

TEST(Einsum, WithoutASharedSumIsAnElementwiseProduct) {
  EXPECT_THAT(EventsOf("aten::einsum('i,j->ij', [f32[2], f32[3]])"),
              ElementsAre(Line(2 * 3 * 4, "mul")));
}

TEST(Einsum, SumsWhatOnlyOneOperandHas) {
  EXPECT_THAT(EventsOf("aten::einsum('ij,kl->jl', [f32[3,4], f32[5,6]])"),
              ElementsAre(Line(4 * 4, "sum"), Line(6 * 4, "sum"), Line(4 * 6 * 4, "mul"),
                          Line(-6 * 4, "einsum"), Line(-4 * 4, "einsum")));
}

TEST(Einsum, OfOneOperandIsAViewOrASum) {
  EXPECT_THAT(EventsOf("aten::einsum('ij->ji', [f32[3,4]])"), testing::IsEmpty());
  EXPECT_THAT(EventsOf("aten::einsum('ij->j', [f32[3,4]])"), ElementsAre(Line(4 * 4, "sum")));
  EXPECT_THAT(NodesOf("aten::einsum('ii->i', [f32[4,4]])"), Contains("diagonal"));
}

TEST(Einsum, ContractsLeftToRightOrAlongAPath) {
  // (2x3 . 3x4) . 4x5, or 2x3 . (3x4 . 4x5).
  EXPECT_EQ(WorkOf("aten::einsum('ij,jk,kl->il', [f32[2,3], f32[3,4], f32[4,5]])").mac,
            Count(2 * 3 * 4 + 2 * 4 * 5));
  EXPECT_EQ(
      WorkOf("aten::einsum('ij,jk,kl->il', [f32[2,3], f32[3,4], f32[4,5]], path=[1,2,0,1])").mac,
      Count(3 * 4 * 5 + 2 * 3 * 5));
}

TEST(Einsum, WrongEquationsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::einsum('ij,jk', [f32[2,3]])"), HasSubstr("2 terms for 1 operands"));
  EXPECT_THAT(RefusalOf("aten::einsum('ijk', [f32[2,3]])"),
              HasSubstr("3 subscripts for operand 0 of 2"));
  EXPECT_THAT(RefusalOf("aten::einsum('ij->k', [f32[2,3]])"), HasSubstr("in no operand"));
  EXPECT_THAT(RefusalOf("aten::einsum('i1', [f32[2,3]])"), HasSubstr("'1' is no subscript"));
  EXPECT_THAT(RefusalOf("aten::einsum('i.j', [f32[2,3]])"), HasSubstr("single dot"));
  EXPECT_THAT(RefusalOf("aten::einsum('ij,jk->ik', [f32[2,3], f32[4,5]])"), HasSubstr("3 vs 4"));
  EXPECT_THAT(RefusalOf("aten::einsum('ii', [f32[2,3]])"), HasSubstr("2 vs 3"));
  EXPECT_THAT(RefusalOf("aten::einsum('', [])"), HasSubstr("needs an operand"));
  EXPECT_THAT(RefusalOf("aten::einsum('ij,jk,kl->il', [f32[2,3], f32[3,4], f32[4,5]], path=[0,1])"),
              HasSubstr("path is too short"));
}

}  // namespace
}  // namespace steelyard
