// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- layer_norm ----------------------------------------------------------------------------------

TEST(LayerNorm, StatisticsKeepTheNormalizedDimensionsAsOnes) {
  constexpr std::string_view kCall =
      "aten::native_layer_norm(f32[2,3,8], [3,8], None, None, 1e-05)";
  EXPECT_EQ(ResultOf(kCall), "f32[2,3,8]");
  EXPECT_EQ(ResultOf(kCall, 1), "f32[2,1,1]");
}

TEST(LayerNorm, StatisticsDieInLayerNorm) {
  EXPECT_THAT(
      EventsOf("aten::layer_norm(f32[2,3,8], [8], f32[8], f32[8])"),
      ElementsAre(Line(2 * 3 * 8 * 4, "empty"), Line(2 * 3 * 4, "empty"), Line(2 * 3 * 4, "empty"),
                  Line(-2 * 3 * 4, "layer_norm"), Line(-2 * 3 * 4, "layer_norm")));
}

TEST(LayerNorm, ReadsContiguousCopies) {
  EXPECT_THAT(
      EventsOf("aten::native_layer_norm(f32[2,3,8]{8,16,1}, [8], f32[8]{2}, f32[8], 1e-05)"),
      ElementsAre(Line(2 * 3 * 8 * 4, "empty"), Line(8 * 4, "empty"), Line(2 * 3 * 8 * 4, "empty"),
                  Line(2 * 3 * 4, "empty"), Line(2 * 3 * 4, "empty"),
                  Line(-8 * 4, "native_layer_norm"), Line(-2 * 3 * 8 * 4, "native_layer_norm")));
}

TEST(LayerNorm, MixedDTypesGiveFloatStatistics) {
  EXPECT_EQ(ResultOf("aten::native_layer_norm(bf16[2,8], [8], bf16[8], bf16[8], 1e-05)", 1),
            "bf16[2,1]");
  EXPECT_EQ(ResultOf("aten::native_layer_norm(bf16[2,8], [8], f32[8], f32[8], 1e-05)", 1),
            "f32[2,1]");
  EXPECT_EQ(ResultOf("aten::native_layer_norm(bf16[2,8], [8], f32[8], f32[8], 1e-05)"),
            "bf16[2,8]");
}

TEST(LayerNorm, WorkIsSevenPerElementAndThreePerRow) {
  const Work work = WorkOf("aten::layer_norm(f32[2,3,8], [8], f32[8], f32[8])");
  EXPECT_EQ(work.alu, Count(7 * 2 * 3 * 8 + 3 * 2 * 3));
  EXPECT_EQ(work.special, Count(2 * 3));
}

TEST(LayerNorm, OtherShapesAreRefused) {
  EXPECT_THAT(RefusalOf("aten::layer_norm(f32[2,3,8], [4])"),
              HasSubstr("does not end in the normalized shape [4]"));
  EXPECT_THAT(RefusalOf("aten::layer_norm(f32[8], [2,8])"), HasSubstr("does not end in"));
  EXPECT_THAT(RefusalOf("aten::layer_norm(f32[2,8], [])"), HasSubstr("does not end in"));
  EXPECT_THAT(RefusalOf("aten::layer_norm(f32[2,8], [8], f32[4])"),
              HasSubstr("f32[4] for the normalized shape [8]"));
}

// --- batch_norm ----------------------------------------------------------------------------------

constexpr std::string_view kParameters = ", f32[3], f32[3], f32[3], f32[3], ";

std::string BatchNorm(std::string_view image, std::string_view training) {
  return "aten::batch_norm(" + std::string(image) + std::string(kParameters) +
         std::string(training) + ", 0.1, 1e-05, False)";
}

TEST(BatchNorm, InTrainingComputesStatistics) {
  const std::int64_t out = 2 * 3 * 16 * 4, channels = 3 * 4;
  EXPECT_THAT(
      EventsOf(BatchNorm("f32[2,3,4,4]", "True")),
      ElementsAre(Line(out, "empty"), Line(channels, "empty"), Line(channels, "empty"),  // results
                  Line(channels, "empty"), Line(channels, "empty"),                      // sums
                  Line(-channels, "native_batch_norm"), Line(-channels, "native_batch_norm"),
                  Line(channels, "empty"), Line(channels, "empty"),  // scale, shift
                  Line(-channels, "native_batch_norm"), Line(-channels, "native_batch_norm"),
                  Line(-channels, "batch_norm"), Line(-channels, "batch_norm")));
}

TEST(BatchNorm, InferenceScalesOnly) {
  EXPECT_THAT(EventsOf(BatchNorm("f32[2,3,4,4]", "False")),
              ElementsAre(Line(2 * 3 * 16 * 4, "empty"), Line(3 * 4, "empty"), Line(3 * 4, "empty"),
                          Line(-3 * 4, "native_batch_norm"), Line(-3 * 4, "native_batch_norm")));
}

TEST(BatchNorm, AdjacentChannelsNeedABufferPerThread) {
  const std::size_t plain = EventsOf(BatchNorm("f32[2,3,4,4]", "True")).size();
  EXPECT_EQ(EventsOf(BatchNorm("f32[2,3,4,4]{48,1,12,3}", "True")).size(), plain + 2);
  EXPECT_EQ(EventsOf(BatchNorm("f32[2,3]", "True")).size(), plain + 2);
}

TEST(BatchNorm, KeepsTheMemoryFormat) {
  EXPECT_EQ(ResultOf(BatchNorm("f32[2,3,4,4]{48,1,12,3}", "True")), "f32[2,3,4,4]{48,1,12,3}");
  EXPECT_EQ(ResultOf(BatchNorm("f32[2,3,4,5]{60,20,1,4}", "True")), "f32[2,3,4,5]");
}

TEST(BatchNorm, StridedImagesTakeTheMeanAsAnOperator) {
  EXPECT_THAT(
      EventsOf(BatchNorm("f32[2,3,4,5]{60,20,1,4}", "True")),
      ElementsAre(Line(2 * 3 * 20 * 4, "empty"), Line(3 * 4, "mean"), Line(8, "div_"),
                  Line(4, "empty_strided"), Line(-4, "div_"), Line(-8, "div_"),
                  Line(3 * 4, "empty"), Line(-3 * 4, "batch_norm"), Line(-3 * 4, "batch_norm")));
  EXPECT_THAT(EventsOf(BatchNorm("f32[2,3,4,5]{60,20,1,4}", "False")),
              testing::AllOf(Contains(Line(3 * 4, "add")), Contains(Line(3 * 4, "sqrt"))));
}

TEST(BatchNorm, StatisticsAreEmptyInInference) {
  EXPECT_EQ(
      ResultOf(
          "aten::native_batch_norm(f32[2,3,4,4], None, None, f32[3], f32[3], False, 0.1, 1e-05)",
          1),
      "f32[0]");
  EXPECT_EQ(ResultOf("aten::native_batch_norm(bf16[2,3,4,4], f32[3], f32[3], f32[3], f32[3], True, "
                     "0.1, 1e-05)",
                     1),
            "f32[3]");
}

TEST(BatchNorm, WorkDependsOnTheMode) {
  EXPECT_EQ(WorkOf(BatchNorm("f32[2,3,4,4]", "True")).alu, Count(5 * 2 * 3 * 16 + 17 * 3));
  EXPECT_EQ(WorkOf(BatchNorm("f32[2,3,4,4]", "False")).alu, Count(2 * 2 * 3 * 16 + 5 * 3));
}

TEST(BatchNorm, FunctionalFormCopiesTheRunningStatistics) {
  constexpr std::string_view kCall =
      "aten::_native_batch_norm_legit_functional(f32[2,3,4,4], f32[3], f32[3], f32[3], f32[3], "
      "True, 0.1, 1e-05)";
  EXPECT_EQ(ResultOf(kCall, 4), "f32[3]");
  EXPECT_EQ(EventsOf(kCall)[0], Line(3 * 4, "empty_strided"));
}

TEST(BatchNorm, WrongChannelsAreRefused) {
  EXPECT_THAT(
      RefusalOf("aten::batch_norm(f32[2,4,5], f32[3], None, None, None, True, 0.1, 1e-05, False)"),
      HasSubstr("channels of the weight differ: 3 vs 4"));
  EXPECT_THAT(
      RefusalOf("aten::batch_norm(f32[4], None, None, None, None, True, 0.1, 1e-05, False)"),
      HasSubstr("has no channels"));
}

TEST(InstanceNorm, IsBatchNormOfOneImage) {
  EXPECT_EQ(
      ResultOf(
          "aten::instance_norm(f32[2,3,4,4], f32[3], f32[3], None, None, True, 0.1, 1e-05, False)"),
      "f32[2,3,4,4]");
  // Parameters are repeated for each image; the statistics have its channels too.
  EXPECT_THAT(
      EventsOf(
          "aten::instance_norm(f32[2,3,4,4], f32[3], None, None, None, True, 0.1, 1e-05, False)"),
      Contains(Line(-2 * 3 * 4, "instance_norm")));
  EXPECT_THAT(
      RefusalOf("aten::instance_norm(f32[2,3], None, None, None, None, True, 0.1, 1e-05, False)"),
      HasSubstr("has no pixels"));
}

// --- group_norm, rms_norm ------------------------------------------------------------------------

TEST(GroupNorm, HasARowForEachGroupOfAnImage) {
  EXPECT_THAT(
      EventsOf("aten::group_norm(f32[2,6,4], 3, f32[6], f32[6])"),
      ElementsAre(Line(2 * 6 * 4 * 4, "empty"), Line(2 * 3 * 4, "empty"), Line(2 * 3 * 4, "empty"),
                  Line(-2 * 3 * 4, "group_norm"), Line(-2 * 3 * 4, "group_norm")));
  EXPECT_EQ(WorkOf("aten::group_norm(f32[2,6,4], 3)").alu, Count(7 * 2 * 6 * 4 + 3 * 2 * 3));
  EXPECT_THAT(RefusalOf("aten::group_norm(f32[2,6,4], 4)"), HasSubstr("in 4 groups"));
}

TEST(GroupNorm, CopiesWhatIsNotDense) {
  EXPECT_THAT(
      EventsOf("aten::native_group_norm(f32[2,6,4]{24,1,6}, None, None, 2, 6, 4, 3, 1e-05)"),
      Contains(Line(-2 * 6 * 4 * 4, "native_group_norm")));
  // Channels-last images are added up channel by channel: two numbers for each.
  EXPECT_THAT(
      EventsOf("aten::native_group_norm(f32[2,6,2,2]{24,1,12,6}, None, None, 2, 6, 4, 3, 1e-05)"),
      Contains(Line(-2 * 2 * 6 * 4, "native_group_norm")));
}

TEST(RmsNorm, IsMadeOfElementwiseOperators) {
  const std::int64_t all = 2 * 3 * 8 * 4, rows = 2 * 3 * 4;
  EXPECT_THAT(
      EventsOf("aten::rms_norm(f32[2,3,8], [8], f32[8])"),
      ElementsAre(Line(all, "pow"), Line(rows, "mean"), Line(8, "div_"), Line(4, "empty_strided"),
                  Line(-4, "div_"), Line(-8, "div_"), Line(8, "add_"), Line(4, "empty_strided"),
                  Line(-4, "add_"), Line(-8, "add_"), Line(rows, "rsqrt"),
                  Line(-rows, "_fused_rms_norm"), Line(-all, "_fused_rms_norm"), Line(all, "mul"),
                  Line(all, "mul"), Line(-all, "_fused_rms_norm"), Line(-rows, "rms_norm")));
}

TEST(RmsNorm, MixedDTypesAreNotFused) {
  EXPECT_EQ(ResultOf("aten::rms_norm(bf16[2,8], [8], f32[8])"), "bf16[2,8]");
  EXPECT_THAT(EventsOf("aten::rms_norm(bf16[2,8], [8], f32[8])"),
              testing::Not(Contains(HasSubstr("_fused_rms_norm"))));
  EXPECT_THAT(EventsOf("aten::rms_norm(bf16[2,8], [8], bf16[8])"),
              Contains(HasSubstr("_fused_rms_norm")));
}

}  // namespace
}  // namespace steelyard
