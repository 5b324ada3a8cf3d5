// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- Kernels -------------------------------------------------------------------------------------

TEST(Linalg, ProductsAreRowMajor) {
  EXPECT_EQ(ResultOf("aten::mm(f32[2,3]{1,2}, f32[3,5]{1,3})"), "f32[2,5]");
  EXPECT_EQ(ResultOf("aten::baddbmm(bf16[5], bf16[2,4,3], bf16[2,3,5])"), "bf16[2,4,5]");
  EXPECT_EQ(ResultOf("aten::dot(f32[3], f32[3])"), "f32[]");
}

TEST(Linalg, OneDenseDimensionIsRead) {
  EXPECT_THAT(EventsOf("aten::mm(f32[2,3]{7,1}, f32[3,5]{1,4})"),
              ElementsAre(Line(2 * 5 * 4, "mm")));
}

TEST(Linalg, OtherFactorsAreCopiedTheSecondFirst) {
  EXPECT_THAT(EventsOf("aten::mm(f32[2,3]{6,2}, f32[3,5]{0,1})"),
              ElementsAre(Line(2 * 5 * 4, "mm"), Line(3 * 5 * 4, "empty"), Line(2 * 3 * 4, "empty"),
                          Line(-2 * 3 * 4, "mm"), Line(-3 * 5 * 4, "mm")));
  // A single column is column-major as it is: the factors stay in their order.
  EXPECT_THAT(EventsOf("aten::mm(f32[2,3]{6,2}, f32[3,1]{2,2})"),
              ElementsAre(Line(2 * 4, "mm"), Line(2 * 3 * 4, "empty"), Line(3 * 4, "empty"),
                          Line(-3 * 4, "mm"), Line(-2 * 3 * 4, "mm")));
}

TEST(Linalg, NothingIsCopiedForAnEmptyProduct) {
  EXPECT_THAT(EventsOf("aten::mm(f32[0,3], f32[3,5]{0,1})"), IsEmpty());
}

TEST(Linalg, BatchesCopyMatrixByMatrix) {
  // 8 * 9 * 7 multiplications are no small product.
  EXPECT_THAT(
      EventsOf("aten::bmm(f32[2,8,9]{144,18,2}, f32[2,9,7])"),
      ElementsAre(Line(2 * 8 * 7 * 4, "bmm"), Line(8 * 9 * 4, "empty"), Line(-8 * 9 * 4, "bmm"),
                  Line(8 * 9 * 4, "empty"), Line(-8 * 9 * 4, "bmm")));
  // baddbmm does it in addmm_.
  EXPECT_THAT(EventsOf("aten::baddbmm(f32[1], f32[1,8,9]{144,18,2}, f32[1,9,7])"),
              ElementsAre(Line(8 * 7 * 4, "baddbmm"), Line(8 * 9 * 4, "empty"),
                          Line(-8 * 9 * 4, "addmm_")));
  // Fewer than 400 multiplications run in a plain loop.
  EXPECT_THAT(EventsOf("aten::bmm(f32[2,4,9]{72,18,2}, f32[2,9,7])"),
              ElementsAre(Line(2 * 4 * 7 * 4, "bmm")));
}

TEST(Linalg, BatchesOfBfloat16AreCopiedWhole) {
  // oneDNN reads neither expanded nor sliced batches; 2 * 16 * 16 * 9 > 16^3. Its scratch is a
  // list, 64 columns of 32 steps and sums of 16 x 9, each with 128 bytes behind it.
  constexpr std::int64_t kScratch = 640 + 64 * 32 * 2 + 16 * 9 * 4 + 3 * 128;
  EXPECT_THAT(
      EventsOf("aten::bmm(bf16[2,16,16]{0,16,1}, bf16[2,16,9])"),
      ElementsAre(Line(2 * 16 * 9 * 2, "bmm"), Line(2 * 16 * 16 * 2, "empty"),
                  Line(kScratch, "bmm"), Line(-kScratch, "bmm"), Line(-2 * 16 * 16 * 2, "bmm")));
  // 1 * 16 * 16 * 16 does not exceed it.
  EXPECT_THAT(EventsOf("aten::bmm(bf16[1,16,16]{256,16,1}, bf16[1,16,16])"),
              ElementsAre(Line(16 * 16 * 2, "bmm")));
}

TEST(Linalg, MvCopiesAStridedMatrix) {
  EXPECT_THAT(
      EventsOf("aten::mv(f32[2,3]{6,2}, f32[3]{2})"),
      ElementsAre(Line(2 * 4, "empty"), Line(2 * 3 * 4, "empty"), Line(-2 * 3 * 4, "addmv_")));
}

TEST(Linalg, WorkIsTheInnerDimensionPerElement) {
  EXPECT_EQ(WorkOf("aten::mm(f32[2,3], f32[3,5])").mac, Count(2 * 3 * 5));
  EXPECT_EQ(WorkOf("aten::mm(f32[2,3], f32[3,5])").alu, Count(0));
  EXPECT_EQ(WorkOf("aten::addmm(f32[5], f32[2,3], f32[3,5])").alu, Count(2 * 5));
  EXPECT_EQ(WorkOf("aten::addmm(f32[5], f32[2,3], f32[3,5], beta=0)").alu, Count(0));
  EXPECT_EQ(WorkOf("aten::bmm(f32[4,2,3], f32[4,3,5])").mac, Count(4 * 2 * 3 * 5));
  EXPECT_EQ(WorkOf("aten::mv(f32[2,3], f32[3])").mac, Count(2 * 3));
  EXPECT_EQ(WorkOf("aten::dot(f32[3], f32[3])").mac, Count(3));
}

TEST(Linalg, WrongFactorsAreRefusedWithTheirNumbers) {
  EXPECT_THAT(RefusalOf("aten::mm(f32[2,768], f32[1024,768])"),
              HasSubstr("inner dimensions differ: 768 vs 1024"));
  EXPECT_THAT(RefusalOf("aten::mm(f32[2,768], f32[1024,768])"), HasSubstr("transposed?"));
  EXPECT_THAT(RefusalOf("aten::mm(f32[2,3], f16[3,5])"), HasSubstr("f32[2,3] and f16[3,5]"));
  EXPECT_THAT(RefusalOf("aten::mm(f32[2], f32[3,5])"), HasSubstr("1 dimensions, not 2"));
  EXPECT_THAT(RefusalOf("aten::bmm(f32[2,3,4], f32[3,4,5])"),
              HasSubstr("batch sizes differ: 2 vs 3"));
  EXPECT_THAT(RefusalOf("aten::addmm(f32[4], f32[2,3], f32[3,5])"),
              HasSubstr("does not broadcast"));
}

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
}

}  // namespace
}  // namespace steelyard
