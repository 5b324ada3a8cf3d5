// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "calls.h"
#include "programs.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Control, ABodyOfUnknownCountRunsOnce) {
  const Result<Program> kernels = RunText(
      "input %x: f32[4]\ninput %n: f32[4]\n"
      "%y: f32[4] = higher_order::while_loop(@more, @body, [%x], [%n])\n"
      "return %y\n"
      "graph @more(%a: f32[4], %b: f32[4]) {\n  %c: bool[] = aten::any(%a)\n  return %c\n}\n"
      "graph @body(%a: f32[4], %b: f32[4]) {\n"
      "  %c: f32[4] = aten::add.Tensor(%a, %b)\n  return %c\n}\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  // Asked before the body and after it.
  EXPECT_THAT(kernels->graph_runs, ElementsAre(1, 2, 1));
  EXPECT_THAT(Notes(*kernels), ElementsAre(HasSubstr("how often its body runs depends on data")));
}

constexpr std::string_view kScanStep =
    "graph @step(%a: f32[4], %b: f32[4]) {\n"
    "  %c: f32[4] = aten::add.Tensor(%a, %b)\n  return %c, %c\n}\n";

TEST(Control, AScanRunsForEachSlice) {
  const Result<Program> kernels = RunText(
      "input %i: f32[4]\ninput %x: f32[5,4]\n"
      "%y: f32[4], %z: f32[5,4] = higher_order::scan(@step, [%i], [%x], [])\n"
      "return %y, %z\n" +
      std::string(kScanStep));
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(kernels->graph_runs, ElementsAre(1, 5));
  EXPECT_THAT(SizesOfOutput(*kernels, 1), ElementsAre(5, 4));
  EXPECT_TRUE(kernels->notes.empty());
}

TEST(Control, ALongScanIsCarriedAsTheFileHasIt) {
  const Result<Program> kernels = RunText(
      "input %i: f32[4]\ninput %x: f32[100000,4]\n"
      "%y: f32[4], %z: f32[100000,4] = higher_order::scan(@step, [%i], [%x], [])\n"
      "return %y, %z\n" +
      std::string(kScanStep));
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(Names(*kernels), ElementsAre("higher_order::scan"));
  EXPECT_EQ(kernels->text(kernels->main().nodes[0].refusal), "a scan of 100000 steps");
}

TEST(Control, LoopsAreNotDifferentiated) {
  const Result<Program> kernels = RunText(
      "parameter %w: f32[4]\ninput %x: f32[5,4]\n"
      "%y: f32[4], %z: f32[5,4] = higher_order::scan(@step, [%w], [%x], [])\n"
      "%s: f32[] = aten::sum(%y)\nsteelyard::backward(%s)\nreturn %s\n" +
      std::string(kScanStep));
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), HasSubstr("the gradient of scan is not known"));
}

}  // namespace
}  // namespace steelyard
