// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- matmul --------------------------------------------------------------------------------------

TEST(Matmul, OfVectorsAndMatrices) {
  EXPECT_EQ(ResultOf("aten::matmul(f32[3], f32[3])"), "f32[]");
  EXPECT_EQ(ResultOf("aten::matmul(f32[2,3], f32[3])"), "f32[2]");
  EXPECT_EQ(ResultOf("aten::matmul(f32[3], f32[3,5])"), "f32[5]");
  EXPECT_THAT(EventsOf("aten::matmul(f32[3], f32[3,5])"), ElementsAre(Line(5 * 4, "mm")));
}

TEST(Matmul, FoldsABatchIntoRows) {
  EXPECT_EQ(ResultOf("aten::matmul(f32[2,4,3], f32[3,5])"), "f32[2,4,5]");
  EXPECT_THAT(EventsOf("aten::matmul(f32[2,4,3], f32[3,5])"),
              ElementsAre(Line(2 * 4 * 5 * 4, "mm")));
  EXPECT_THAT(EventsOf("aten::matmul(f32[2,4,3], f32[3])"), ElementsAre(Line(2 * 4 * 4, "empty")));
  // The other way round only for a vector, and only if the transposed batch lies evenly.
  EXPECT_THAT(EventsOf("aten::matmul(f32[3], f32[2,3,5]{15,1,3})"),
              ElementsAre(Line(2 * 5 * 4, "empty")));
  EXPECT_THAT(EventsOf("aten::matmul(f32[4,3], f32[2,3,5])"),
              ElementsAre(Line(2 * 4 * 5 * 4, "bmm")));
}

TEST(Matmul, DoesNotCopyToFold) {
  EXPECT_THAT(EventsOf("aten::matmul(f32[2,4,3]{3,6,1}, f32[3,5])"),
              ElementsAre(Line(2 * 4 * 5 * 4, "bmm")));
}

TEST(Matmul, CopiesTransposedHeadsThatDieInReverse) {
  EXPECT_THAT(EventsOf("aten::matmul(f32[2,4,3,5]{60,5,20,1}, f32[2,4,5,7]{140,7,28,1})"),
              ElementsAre(Line(2 * 4 * 3 * 5 * 4, "empty"), Line(2 * 4 * 5 * 7 * 4, "empty"),
                          Line(2 * 4 * 3 * 7 * 4, "bmm"), Line(-2 * 4 * 5 * 7 * 4, "matmul"),
                          Line(-2 * 4 * 3 * 5 * 4, "matmul")));
}

TEST(Matmul, BroadcastsBatches) {
  EXPECT_EQ(ResultOf("aten::matmul(f32[2,1,4,3], f32[6,3,5])"), "f32[2,6,4,5]");
  EXPECT_EQ(WorkOf("aten::matmul(f32[2,1,4,3], f32[6,3,5])").mac, Count(2 * 6 * 4 * 3 * 5));
  EXPECT_THAT(RefusalOf("aten::matmul(f32[2,4,3], f32[3,3,5])"), HasSubstr("[2] and [3]"));
  EXPECT_THAT(RefusalOf("aten::matmul(f32[], f32[3])"), HasSubstr("at least one dimension"));
}

// --- linear --------------------------------------------------------------------------------------

TEST(Linear, IsOneAddmmOnContiguousInput) {
  for (const char* input : {"f32[8]", "f32[3,8]", "f32[2,3,8]", "f32[2,1,3,8]"}) {
    const std::string call = "aten::linear(" + std::string(input) + ", f32[5,8], f32[5])";
    EXPECT_THAT(EventsOf(call), ElementsAre(HasSubstr("addmm"))) << call;
  }
  EXPECT_EQ(ResultOf("aten::linear(f32[2,3,8], f32[5,8], f32[5])"), "f32[2,3,5]");
}

TEST(Linear, AddsTheBiasInPlaceOtherwise) {
  EXPECT_THAT(NodesOf("aten::linear(f32[2,3,8]{8,16,1}, f32[5,8], f32[5])"),
              testing::Contains("add_.Tensor"));
  EXPECT_THAT(EventsOf("aten::linear(f32[2,3,8]{8,16,1}, f32[5,8], f32[5])"),
              ElementsAre(Line(2 * 3 * 5 * 4, "bmm")));
  EXPECT_THAT(NodesOf("aten::linear(f32[2,3,8], f32[5,8], f32[5]{0})"),
              testing::Contains("add_.Tensor"));
}

TEST(Linear, WithoutBiasIsAMatmul) {
  EXPECT_THAT(EventsOf("aten::linear(f32[2,3,8], f32[5,8])"),
              ElementsAre(Line(2 * 3 * 5 * 4, "mm")));
  EXPECT_THAT(EventsOf("aten::linear(f32[2,3,8], f32[8])"), ElementsAre(Line(2 * 3 * 4, "empty")));
}

TEST(Linear, WrongWeightsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::linear(f32[2,768], f32[768,1024])"),
              HasSubstr("inner dimensions differ: 768 vs 1024"));
  EXPECT_THAT(RefusalOf("aten::linear(f32[2,8], f32[3,5,8])"), HasSubstr("one or two"));
}

TEST(Linalg, OuterMultipliesAColumnAndARow) {
  EXPECT_EQ(ResultOf("aten::outer(f32[2], f32[3])"), "f32[2,3]");
  EXPECT_THAT(EventsOf("aten::outer(f32[2], f32[3])"), ElementsAre(Line(2 * 3 * 4, "mul")));
}

TEST(Tensordot, IsAProductOfMatrices) {
  EXPECT_EQ(ResultOf("aten::tensordot(f32[2,3,4], f32[3,4,5], [1,2], [0,1])"), "f32[2,5]");
  EXPECT_EQ(WorkOf("aten::tensordot(f32[2,3,4], f32[3,4,5], [1,2], [0,1])").mac,
            Count(2 * 3 * 4 * 5));
  EXPECT_EQ(ResultOf("aten::inner(f32[3], f32[3])"), "f32[]");
  EXPECT_THAT(RefusalOf("aten::tensordot(f32[2,3], f32[4,5], [1], [0])"), HasSubstr("summed over"));
  EXPECT_THAT(RefusalOf("aten::tensordot(f32[0,4294967296,4294967296], f32[0,3], [0], [0])"),
              HasSubstr("more than 2^63"));
}

}  // namespace
}  // namespace steelyard
