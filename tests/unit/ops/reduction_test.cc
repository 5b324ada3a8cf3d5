// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Reduction, SizesThatAreLeft) {
  EXPECT_EQ(ResultOf("aten::sum.dim_IntList(f32[2,3,8], [0,-1])"), "f32[3]");
  EXPECT_EQ(ResultOf("aten::sum.dim_IntList(f32[2,3,8], [0,-1], True)"), "f32[1,3,1]");
  EXPECT_EQ(ResultOf("aten::sum.dim_IntList(f32[2,3,8], None)"), "f32[]");
  EXPECT_EQ(ResultOf("aten::any.dims(bool[2,3], [])"), "bool[2,3]");  // none, unlike a sum's
}

TEST(Reduction, ResultsAreRowMajor) {
  EXPECT_EQ(ResultOf("aten::sum.dim_IntList(f32[5,4,6]{1,30,5}, [1])"), "f32[5,6]");
  EXPECT_EQ(ResultOf("aten::cumsum(f32[8,2]{1,8}, 0)"), "f32[8,2]");
}

TEST(Reduction, SumsOfIntegersAreInt64) {
  EXPECT_THAT(
      EventsOf("aten::sum(bool[2,8])"),
      ElementsAre(Line(8, "sum"), Line(2 * 8 * 8, "empty_strided"), Line(-2 * 8 * 8, "sum")));
  EXPECT_THAT(EventsOf("aten::sum(i64[2,8])"), ElementsAre(Line(8, "sum")));
  EXPECT_THAT(EventsOf("aten::sum(bf16[2,8])"), ElementsAre(Line(2, "sum")));
}

TEST(Reduction, MeanIsASumDividedByABoxedCount) {
  EXPECT_THAT(EventsOf("aten::mean.dim(f32[2,8], [-1])"),
              ElementsAre(Line(2 * 4, "mean"), Line(8, "div_"), Line(4, "empty_strided"),
                          Line(-4, "div_"), Line(-8, "div_")));
}

TEST(Reduction, MeanOfHalvesIsComputedInFloat) {
  EXPECT_THAT(
      EventsOf("aten::mean(bf16[2,8])"),
      ElementsAre(Line(2, "mean"), Line(4, "empty_strided"), Line(2 * 8 * 4, "empty_strided"),
                  Line(-2 * 8 * 4, "sum"), Line(8, "div_"), Line(4, "empty_strided"),
                  Line(-4, "div_"), Line(-8, "div_"), Line(-4, "mean")));
  EXPECT_THAT(RefusalOf("aten::mean(i64[2])"), HasSubstr("floating-point"));
}

TEST(Reduction, CumsumCastsToItsResult) {
  EXPECT_THAT(EventsOf("aten::cumsum(bool[2,8], -1)"),
              ElementsAre(Line(2 * 8 * 8, "cumsum"), Line(2 * 8 * 8, "empty_strided"),
                          Line(-2 * 8 * 8, "cumsum")));
}

TEST(Reduction, DiffSubtractsSlices) {
  EXPECT_EQ(ResultOf("aten::diff(i64[2,8])"), "i64[2,7]");
  EXPECT_THAT(EventsOf("aten::diff(i64[1,8], prepend=i64[1,1])"),
              ElementsAre(Line(9 * 8, "cat"), Line(8 * 8, "sub"), Line(-9 * 8, "diff")));
  EXPECT_EQ(ResultOf("aten::diff(f32[3], 5)"), "f32[0]");
  EXPECT_THAT(RefusalOf("aten::diff(f32[3], 65)"), HasSubstr("0 to 64"));
}

TEST(Reduction, SoftmaxReadsAContiguousCopy) {
  EXPECT_THAT(EventsOf("aten::softmax.int(f32[8,2]{1,8}, -1)"),
              ElementsAre(Line(8 * 2 * 4, "_softmax"), Line(8 * 2 * 4, "empty"),
                          Line(-8 * 2 * 4, "_softmax")));
  // A transposed matrix of at least 60 x 60 is copied through a block of that size.
  EXPECT_THAT(EventsOf("aten::_log_softmax(f32[60,60]{1,60}, 0, False)"),
              ElementsAre(Line(60 * 60 * 4, "_log_softmax"), Line(60 * 60 * 4, "empty"),
                          Line(60 * 60 * 4, "empty"), Line(-60 * 60 * 4, "copy_"),
                          Line(-60 * 60 * 4, "_log_softmax")));
}

TEST(Reduction, SoftmaxInAnotherDType) {
  EXPECT_THAT(EventsOf("aten::softmax.int(bf16[2,8], -1, dtype=f32)"),
              ElementsAre(Line(2 * 8 * 4, "empty_strided"), Line(2 * 8 * 4, "_softmax"),
                          Line(-2 * 8 * 4, "softmax")));
}

TEST(Reduction, WorkOfSoftmax) {
  const Work softmax = WorkOf("aten::_softmax(f32[2,8], -1, False)");
  EXPECT_EQ(softmax.alu, Count(4 * 2 * 8));  // largest, difference, sum, quotient
  EXPECT_EQ(softmax.special, Count(2 * 8));
  const Work log_softmax = WorkOf("aten::_log_softmax(f32[2,8], -1, False)");
  EXPECT_EQ(log_softmax.alu, Count(5 * 2 * 8));
  EXPECT_EQ(log_softmax.special, Count(2 * 8 + 2));  // a logarithm for each row
}

TEST(Reduction, ChoosingNeedsAnElement) {
  EXPECT_EQ(ResultOf("aten::max.dim(f32[2,8], 1)", 1), "i64[2]");
  EXPECT_THAT(RefusalOf("aten::amax(f32[2,0], [1])"), HasSubstr("no element to choose"));
  EXPECT_EQ(ResultOf("aten::amax(f32[2,0], [0])"), "f32[0]");
}

TEST(Reduction, DimensionsAreCheckedOnce) {
  EXPECT_THAT(RefusalOf("aten::sum.dim_IntList(f32[2,3], [2])"), HasSubstr("out of range"));
  EXPECT_THAT(RefusalOf("aten::sum.dim_IntList(f32[2,3], [1,-1])"), HasSubstr("reduced twice"));
}

TEST(Reduction, WorkOfMeanAndNorm) {
  EXPECT_EQ(WorkOf("aten::mean.dim(f32[2,8], [-1])").alu, Count(2 * 8 + 2));
  EXPECT_EQ(WorkOf("aten::linalg_vector_norm(f32[2,8], 2, [-1])").alu, Count(2 * 2 * 8));
}

}  // namespace
}  // namespace steelyard
