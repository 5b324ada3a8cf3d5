// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(Blas, ProductsAreRowMajor) {
  EXPECT_EQ(ResultOf("aten::mm(f32[2,3]{1,2}, f32[3,5]{1,3})"), "f32[2,5]");
  EXPECT_EQ(ResultOf("aten::baddbmm(bf16[5], bf16[2,4,3], bf16[2,3,5])"), "bf16[2,4,5]");
  EXPECT_EQ(ResultOf("aten::dot(f32[3], f32[3])"), "f32[]");
}

TEST(Blas, OneDenseDimensionIsRead) {
  EXPECT_THAT(EventsOf("aten::mm(f32[2,3]{7,1}, f32[3,5]{1,4})"),
              ElementsAre(Line(2 * 5 * 4, "mm")));
}

TEST(Blas, OtherFactorsAreCopiedTheSecondFirst) {
  EXPECT_THAT(EventsOf("aten::mm(f32[2,3]{6,2}, f32[3,5]{0,1})"),
              ElementsAre(Line(2 * 5 * 4, "mm"), Line(3 * 5 * 4, "empty"), Line(2 * 3 * 4, "empty"),
                          Line(-2 * 3 * 4, "mm"), Line(-3 * 5 * 4, "mm")));
  // A single column is column-major as it is: the factors stay in their order.
  EXPECT_THAT(EventsOf("aten::mm(f32[2,3]{6,2}, f32[3,1]{2,2})"),
              ElementsAre(Line(2 * 4, "mm"), Line(2 * 3 * 4, "empty"), Line(3 * 4, "empty"),
                          Line(-3 * 4, "mm"), Line(-2 * 3 * 4, "mm")));
}

TEST(Blas, NothingIsCopiedForAnEmptyProduct) {
  EXPECT_THAT(EventsOf("aten::mm(f32[0,3], f32[3,5]{0,1})"), IsEmpty());
}

TEST(Blas, BatchesCopyMatrixByMatrix) {
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

TEST(Blas, BatchesOfBfloat16AreCopiedWhole) {
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

TEST(Blas, MvCopiesAStridedMatrix) {
  EXPECT_THAT(
      EventsOf("aten::mv(f32[2,3]{6,2}, f32[3]{2})"),
      ElementsAre(Line(2 * 4, "empty"), Line(2 * 3 * 4, "empty"), Line(-2 * 3 * 4, "addmv_")));
}

TEST(Blas, WorkIsTheInnerDimensionPerElement) {
  EXPECT_EQ(WorkOf("aten::mm(f32[2,3], f32[3,5])").mac, Count(2 * 3 * 5));
  EXPECT_EQ(WorkOf("aten::mm(f32[2,3], f32[3,5])").alu, Count(0));
  EXPECT_EQ(WorkOf("aten::addmm(f32[5], f32[2,3], f32[3,5])").alu, Count(2 * 5));
  EXPECT_EQ(WorkOf("aten::addmm(f32[5], f32[2,3], f32[3,5], beta=0)").alu, Count(0));
  EXPECT_EQ(WorkOf("aten::bmm(f32[4,2,3], f32[4,3,5])").mac, Count(4 * 2 * 3 * 5));
  EXPECT_EQ(WorkOf("aten::mv(f32[2,3], f32[3])").mac, Count(2 * 3));
  EXPECT_EQ(WorkOf("aten::dot(f32[3], f32[3])").mac, Count(3));
}

TEST(Blas, WrongFactorsAreRefusedWithTheirNumbers) {
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

TEST(Blas, AProductIsAddedInPlaceByRowsOrByColumns) {
  EXPECT_THAT(EventsOf("aten::addmm_(f32[2,5], f32[2,3], f32[3,5])"), IsEmpty());
  // Columns are computed from the factors in their order, rows from the second first.
  EXPECT_THAT(EventsOf("aten::addmm_(f32[2,5]{1,2}, f32[2,3]{6,2}, f32[3,5]{10,2})"),
              ElementsAre(Line(2 * 3 * 4, "empty"), Line(3 * 5 * 4, "empty"),
                          Line(-3 * 5 * 4, "addmm_"), Line(-2 * 3 * 4, "addmm_")));
  // What lies neither way is copied.
  EXPECT_THAT(EventsOf("aten::addmm_(f32[2,5]{20,2}, f32[2,3], f32[3,5])"),
              ElementsAre(Line(2 * 5 * 4, "empty"), Line(-2 * 5 * 4, "addmm_")));
  EXPECT_THAT(EventsOf("aten::baddbmm_(f32[1,8,7]{112,14,2}, f32[1,8,9], f32[1,9,7])"),
              ElementsAre(Line(8 * 7 * 4, "empty"), Line(-8 * 7 * 4, "addmm_")));
  EXPECT_THAT(RefusalOf("aten::addmm_(f32[1,5], f32[2,3], f32[3,5])"),
              HasSubstr("cannot be added to f32[1,5] in place"));
}

TEST(Blas, WithNothingToAddUpOneIsScaled) {
  // A box of 8 bytes for the factor 1, cast to float32.
  EXPECT_THAT(
      EventsOf("aten::addmm_(f32[2,5], f32[2,0], f32[0,5])"),
      ElementsAre(Line(8, "mul_"), Line(4, "empty_strided"), Line(-4, "mul"), Line(-8, "mul_")));
  EXPECT_THAT(EventsOf("aten::addmm_(f32[2,5], f32[2,0], f32[0,5], beta=0)"), IsEmpty());
  EXPECT_THAT(EventsOf("aten::addmv_(f32[2], f32[2,0], f32[0])"),
              ElementsAre(Line(4, "addmv_"), Line(-4, "addmv_")));
}

TEST(Blas, VectorsOfBfloat16GoToOneDnn) {
  // 64 * 64 multiplications do not, and what is strided is copied.
  EXPECT_THAT(EventsOf("aten::mv(bf16[64,64], bf16[64]{2})"), ElementsAre(Line(64 * 2, "empty")));
  EXPECT_THAT(EventsOf("aten::mv(bf16[64,65], bf16[65]{2})"),
              ElementsAre(Line(64 * 2, "empty"), Line(65 * 2, "empty"), HasSubstr("addmv_"),
                          HasSubstr("addmv_"), Line(-65 * 2, "addmv_")));
  EXPECT_THAT(EventsOf("aten::dot(bf16[4096], bf16[4096])"), ElementsAre(Line(2, "empty")));
  EXPECT_THAT(EventsOf("aten::dot(bf16[4097], bf16[4097]{2})"),
              ElementsAre(Line(2, "empty"), Line(4097 * 2, "empty"), HasSubstr("dot"),
                          HasSubstr("dot"), Line(-4097 * 2, "dot")));
}

TEST(Blas, ABatchIsAddedMatrixByMatrix) {
  EXPECT_EQ(ResultOf("aten::addbmm(f32[5], f32[2,4,3], f32[2,3,5])"), "f32[4,5]");
  EXPECT_THAT(
      EventsOf("aten::addbmm(f32[5], f32[2,4,3]{24,6,2}, f32[2,3,5])"),
      ElementsAre(Line(4 * 5 * 4, "resize_"), Line(4 * 3 * 4, "empty"), Line(-4 * 3 * 4, "addmm_"),
                  Line(4 * 3 * 4, "empty"), Line(-4 * 3 * 4, "addmm_")));
  EXPECT_EQ(WorkOf("aten::addbmm(f32[5], f32[2,4,3], f32[2,3,5])").mac, Count(2 * 4 * 3 * 5));
}

// What is added is copied into the result first: transposed, through a block.
TEST(Blas, ATransposedMatrixIsAddedThroughABlock) {
  constexpr int kBlock = 60 * 60 * 2;
  EXPECT_THAT(EventsOf("aten::addmm(bf16[64,64]{1,64}, bf16[64,64], bf16[64,64])"),
              IsSupersetOf({Line(kBlock, "empty"), Line(-kBlock, "copy_")}));
  EXPECT_THAT(EventsOf("aten::addmm(bf16[64,64]{1,64}, bf16[64,64], bf16[64,64], beta=0)"),
              Not(Contains(Line(kBlock, "empty"))));
}

}  // namespace
}  // namespace steelyard
