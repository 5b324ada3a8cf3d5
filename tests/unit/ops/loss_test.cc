// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- nll_loss and cross_entropy_loss -------------------------------------------------------------

TEST(NllLoss, GivesTheLossAndTheSumOfWeights) {
  EXPECT_EQ(ResultOf("aten::nll_loss_forward(f32[4,7], i64[4], None, 1, -100)"), "f32[]");
  EXPECT_EQ(ResultOf("aten::nll_loss_forward(f32[4,7], i64[4], None, 0, -100)"), "f32[4]");
  EXPECT_EQ(ResultOf("aten::nll_loss_forward(f32[4,7], i64[4], None, 0, -100)", 1), "f32[]");
  EXPECT_EQ(ResultOf("aten::nll_loss2d_forward(f32[2,7,3,3], i64[2,3,3], None, 0, -100)"),
            "f32[2,3,3]");
  EXPECT_EQ(WorkOf("aten::nll_loss(f32[4,7], i64[4])").alu, Count(3 * 4));
}

TEST(NllLoss, WrongTargetsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::nll_loss_forward(f32[4,7], i64[5], None, 1, -100)"),
              HasSubstr("batch sizes differ: 5 vs 4"));
  EXPECT_THAT(RefusalOf("aten::nll_loss_forward(f32[4,7], i64[4], f32[6], 1, -100)"),
              HasSubstr("classes differ: 6 vs 7"));
  EXPECT_THAT(RefusalOf("aten::nll_loss_forward(f32[4,7], i64[4], None, 3, -100)"),
              HasSubstr("a reduction of 3"));
  EXPECT_THAT(RefusalOf("aten::nll_loss2d_forward(f32[2,7,3,3], i64[2,3,4], None, 1, -100)"),
              HasSubstr("i64[2,3,4]"));
}

TEST(CrossEntropy, LogProbabilitiesDieWithTheLoss) {
  EXPECT_THAT(EventsOf("aten::cross_entropy_loss(f32[4,7], i64[4])"),
              ElementsAre(Line(4 * 7 * 4, "_log_softmax"), Line(4, "nll_loss_forward"),
                          Line(4, "nll_loss_forward"), Line(-4, "nll_loss"),
                          Line(-4 * 7 * 4, "cross_entropy_loss")));
}

TEST(CrossEntropy, ImagesBecomeTwoDimensional) {
  EXPECT_EQ(ResultOf("aten::cross_entropy_loss(f32[2,7,5], i64[2,5], None, 0)"), "f32[2,5]");
  EXPECT_EQ(ResultOf("aten::cross_entropy_loss(f32[2,7,5,6,3], i64[2,5,6,3])"), "f32[]");
  EXPECT_THAT(EventsOf("aten::cross_entropy_loss(f32[2,7,5], i64[2,5])"),
              Contains(Line(4, "resize_")));
  EXPECT_EQ(ResultOf("aten::cross_entropy_loss(f32[7], i64[])"), "f32[]");
}

TEST(CrossEntropy, ProbabilitiesAsTargets) {
  const std::int64_t all = 4 * 7 * 4;
  EXPECT_THAT(
      EventsOf("aten::cross_entropy_loss(f32[4,7], f32[4,7])"),
      ElementsAre(Line(all, "_log_softmax"), Line(all, "mul"), Line(4, "sum"), Line(4, "neg"),
                  Line(8, "div"), Line(4, "empty_strided"), Line(4, "div"), Line(-4, "div"),
                  Line(-8, "div"), Line(-4, "cross_entropy_loss"), Line(-4, "cross_entropy_loss"),
                  Line(-all, "cross_entropy_loss"), Line(-all, "cross_entropy_loss")));
  EXPECT_EQ(ResultOf("aten::cross_entropy_loss(f32[4,7], f32[4,7], f32[7], 0)"), "f32[4]");
}

TEST(CrossEntropy, SmoothedLabelsAddASumOverTheClasses) {
  const std::vector<std::string> events =
      EventsOf("aten::cross_entropy_loss(f32[4,7], i64[4], label_smoothing=0.1)");
  EXPECT_THAT(events, Contains(Line(4 * 4, "neg")));      // a sum for each row
  EXPECT_THAT(events, Contains(Line(4, "bitwise_not")));  // which of them count
  EXPECT_EQ(events.back(), Line(-4 * 7 * 4, "cross_entropy_loss"));
  EXPECT_EQ(ResultOf("aten::cross_entropy_loss(f32[4,7], i64[4], None, 0, -100, 0.1)"), "f32[4]");
  EXPECT_EQ(ResultOf("aten::cross_entropy_loss(f32[4,7], i64[4], f32[7], 2, -100, 0.1)"), "f32[]");
}

// --- Losses of pairs -----------------------------------------------------------------------------

TEST(PairLoss, ReducedResultKeepsTheStorageOfTheTerms) {
  const std::int64_t all = 4 * 7 * 4;
  EXPECT_EQ(ResultOf("aten::mse_loss(f32[4,7], f32[4,7])"), "f32[]");
  const Timeline timeline = RunEager(KernelsOf("aten::mse_loss(f32[4,7], f32[4,7], 2)"), Target{});
  ASSERT_EQ(timeline.events.size(), 4u);
  EXPECT_EQ(timeline.events[0].bytes, all);  // the result
  EXPECT_EQ(timeline.events[1].bytes, all);  // the terms
  EXPECT_EQ(timeline.events[2].bytes, -all);
  EXPECT_EQ(timeline.events[3].bytes, -all);  // the caller lets the whole storage go
  EXPECT_EQ(timeline.events[3].block, timeline.events[0].block);
}

TEST(PairLoss, MeanDividesByABoxedNumber) {
  const std::int64_t all = 4 * 7 * 4;
  EXPECT_THAT(EventsOf("aten::smooth_l1_loss(f32[4,7], f32[4,7])"),
              ElementsAre(Line(all, "smooth_l1_loss"), Line(all, "empty"), Line(8, "div_"),
                          Line(4, "empty_strided"), Line(-4, "div_"), Line(-8, "div_"),
                          Line(-all, "smooth_l1_loss")));
}

TEST(PairLoss, MeanOfHalvesIsComputedInFloat) {
  const std::int64_t all = 4 * 7 * 2;
  EXPECT_THAT(EventsOf("aten::mse_loss(bf16[4,7], bf16[4,7])"),
              ElementsAre(Line(all, "mse_loss"), Line(all, "empty"), Line(4, "empty_strided"),
                          Line(2 * all, "empty_strided"), Line(-2 * all, "sum"), Line(8, "div_"),
                          Line(4, "empty_strided"), Line(-4, "div_"), Line(-8, "div_"),
                          Line(-4, "mean"), Line(-all, "mse_loss")));
}

TEST(PairLoss, WithoutReductionIsElementwise) {
  EXPECT_THAT(EventsOf("aten::mse_loss(f32[4,7], f32[7], 0)"),
              ElementsAre(Line(4 * 7 * 4, "mse_loss")));
  EXPECT_THAT(EventsOf("aten::huber_loss(f32[4,7], f32[4,7], 0)"),
              ElementsAre(Line(4 * 7 * 4, "empty_strided")));
}

TEST(PairLoss, L1IsADifferenceAndItsSize) {
  const std::int64_t all = 4 * 7 * 4;
  EXPECT_THAT(EventsOf("aten::l1_loss(f32[4,7], f32[4,7], 2)"),
              ElementsAre(Line(all, "sub"), Line(all, "abs"), Line(4, "sum"), Line(-all, "l1_loss"),
                          Line(-all, "l1_loss")));
}

TEST(BinaryCrossEntropy, ReducedResultKeepsTheStorageOfTheTerms) {
  EXPECT_THAT(EventsOf("aten::binary_cross_entropy(f32[4,7], f32[4,7], None, 2)"),
              ElementsAre(Line(4 * 7 * 4, "empty_strided"), Line(4, "sum"),
                          Line(-4, "binary_cross_entropy")));
}

TEST(BinaryCrossEntropy, WithLogitsTakesALogarithmFirst) {
  const std::int64_t all = 4 * 7 * 4;
  EXPECT_THAT(EventsOf("aten::binary_cross_entropy_with_logits(f32[4,7], f32[4,7], None, None, 2)"),
              ElementsAre(Line(all, "empty"), Line(all, "empty"), Line(-all, "log_sigmoid"),
                          Line(all, "empty_strided"), Line(4, "sum"),
                          Line(-all, "binary_cross_entropy_with_logits"),
                          Line(-all, "binary_cross_entropy_with_logits")));
}

TEST(KlDivergence, OfProbabilitiesOrTheirLogarithms) {
  const std::int64_t all = 4 * 7 * 4;
  EXPECT_THAT(EventsOf("aten::kl_div(f32[4,7], f32[4,7], 0)"),
              ElementsAre(Line(all, "mul"), Line(all, "xlogy"), Line(all, "sub"),
                          Line(-all, "kl_div"), Line(-all, "kl_div")));
  EXPECT_THAT(EventsOf("aten::kl_div(f32[4,7], f32[4,7], 0, log_target=True)"),
              ElementsAre(Line(all, "sub"), Line(all, "exp"), Line(all, "mul"),
                          Line(-all, "kl_div"), Line(-all, "kl_div")));
}

}  // namespace
}  // namespace steelyard
