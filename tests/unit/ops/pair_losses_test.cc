// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(PairLosses, AreOneNumberOrOneForEachPair) {
  EXPECT_EQ(ResultOf("aten::margin_ranking_loss(f32[4], f32[4], f32[4])"), "f32[]");
  EXPECT_EQ(ResultOf("aten::hinge_embedding_loss(f32[4,8], f32[4,8], 1.0, 0)"), "f32[4,8]");
  EXPECT_EQ(ResultOf("aten::triplet_margin_loss(f32[4,8], f32[4,8], f32[4,8], reduction=0)"),
            "f32[4]");
}

// The anchor is in both distances.
TEST(PairLosses, GradientsAreThoseOfTheirParts) {
  EXPECT_THAT(BackwardOf("aten::triplet_margin_loss(%p, %q, %x)"), Contains("add_.Tensor"));
}

TEST(PairLosses, SeveralClassesAreMarkedAndKept) {
  EXPECT_EQ(ResultOf("aten::multilabel_margin_loss(f32[4,8], i64[4,8])"), "f32[]");
  EXPECT_EQ(ResultOf("aten::multilabel_margin_loss_forward(f32[4,8], i64[4,8], 0)"), "f32[4]");
  // The least and the largest class are looked at.
  EXPECT_THAT(EventsOf("aten::multilabel_margin_loss(f32[4,8], i64[4,8])"),
              Contains(Line(8, "empty")).Times(2));
  EXPECT_THAT(RefusalOf("aten::multilabel_margin_loss(f32[4,8], i64[4,7])"), HasSubstr("classes"));
}

TEST(PairLosses, StirlingsTermIsMaskedAndAdded) {
  const std::string full = "aten::poisson_nll_loss(f32[4], f32[4], True, True, 1e-8, 1)";
  EXPECT_EQ(ResultOf(full), "f32[]");
  EXPECT_THAT(EventsOf(full), Contains(Line(4, "le"))) << "the mask of four truths";
  EXPECT_THAT(EventsOf(full), Contains(Line(4 * 4, "log")).Times(2));
}

TEST(PairLosses, SayWhatTheyDoNotModel) {
  EXPECT_THAT(RefusalOf("aten::margin_ranking_loss(f32[4], f32[4], f32[4], 0.0, 3)"),
              HasSubstr("a reduction of 3"));
}

}  // namespace
}  // namespace steelyard
