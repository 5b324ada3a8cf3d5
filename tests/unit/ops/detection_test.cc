// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "events.h"
#include "programs.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

TEST(Rois, GiveBinsForEachBox) {
  EXPECT_EQ(ResultOf("torchvision::roi_align(f32[1,3,8,8], f32[2,5], 1.0, 4, 6, 2, False)"),
            "f32[2,3,4,6]");
  EXPECT_EQ(ResultOf("torchvision::ps_roi_align(f32[1,12,8,8], f32[2,5], 1.0, 2, 2, 2)"),
            "f32[2,3,2,2]");
}

TEST(DeformableConvolution, CountsAsAConvolution) {
  constexpr std::string_view kCall =
      "torchvision::deform_conv2d(f32[2,4,8,8], f32[6,4,3,3], f32[2,18,8,8], f32[2,9,8,8], f32[6], "
      "1, 1, 1, 1, 1, 1, 1, 1, True)";
  EXPECT_EQ(ResultOf(kCall), "f32[2,6,8,8]");
  EXPECT_EQ(WorkOf(kCall).mac, Count(2 * 6 * 8 * 8 * 4 * 3 * 3));
}

// A step of a deformable convolution of 3x3 windows on two images of 4 channels and 8x8 pixels.
std::string DeformedStep() {
  return "parameter %x: f32[2,4,8,8]\nparameter %w: f32[6,4,3,3]\nparameter %o: f32[2,18,8,8]\n"
         "parameter %m: f32[2,9,8,8]\nparameter %b: f32[6]\n"
         "%y = torchvision::deform_conv2d(%x, %w, %o, %m, %b, 1, 1, 1, 1, 1, 1, 1, 1, True)\n"
         "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n";
}

TEST(DeformableConvolution, GradientsOfInputsAndOfTheWeightEachCountAsAConvolution) {
  const Program kernels = KernelsOfProgram(DeformedStep());
  Count forward, backward;
  for (const Node& node : kernels.main().nodes) {
    const OpDef* def = FindOp(OpName::FromRuntime(kernels.op_name(node.op)));
    if (def == nullptr || !def->is_kernel()) continue;
    const OpView op(kernels, *def, kernels.args(node), kernels.results(node), Target{});
    (node.phase == Phase::kBackward ? backward : forward) += (*def->work)(op).mac;
  }
  EXPECT_EQ(forward, Count(2 * 6 * 8 * 8 * 4 * 3 * 3));
  EXPECT_EQ(backward, Count(2 * 2 * 6 * 8 * 8 * 4 * 3 * 3));
}

TEST(DeformableConvolution, EveryOperandIsSaved) {
  const Program kernels = KernelsOfProgram(DeformedStep());
  std::vector<std::string> saved;
  for (const SavedTensor& tensor : kernels.saved) {
    saved.emplace_back(kernels.text(kernels.values[tensor.value].name));
  }
  EXPECT_THAT(saved, UnorderedElementsAre("x", "w", "o", "m", "b"));
}

// The gradient of the places is zeros of their size, which Python is given besides.
TEST(Rois, GradientsOfBinsAreAnImage) {
  const auto step = [](std::string_view call) {
    return "parameter %x: f32[2,4,8,8]\ninput %r: f32[3,5]\n%y, %places = " + std::string(call) +
           "\n%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n";
  };
  EXPECT_THAT(EventsOfProgram(step("torchvision::roi_pool(%x, %r, 1.0, 2, 2)")),
              IsSupersetOf({"+" + std::to_string(3 * 4 * 2 * 2 * 4) + " aten::empty",
                            "+" + std::to_string(2 * 4 * 8 * 8 * 4) + " aten::empty"}));
  // The sum's gradient is one number for all bins, which kernels with own channels copy.
  const auto copied = [&](std::string_view call) {
    const std::vector<std::string> events = EventsOfProgram(step(call));
    return std::ranges::count(events, "+" + std::to_string(3 * 1 * 2 * 2 * 4) + " aten::empty");
  };
  EXPECT_EQ(copied("torchvision::ps_roi_align(%x, %r, 1.0, 2, 2, 2)"), 2 + 1 + 1);
  EXPECT_EQ(copied("torchvision::ps_roi_pool(%x, %r, 1.0, 2, 2)"), 2 + 1 + 1);
}

TEST(Nms, KeepsRoomForAllBoxes) {
  const Result<Program> kernels = RunText(
      "input %b: f32[20,4]\ninput %s: f32[20]\n"
      "%k: i64[3] = torchvision::nms(%b, %s, 0.5)\nreturn %k\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(SizesOfOutput(*kernels), ElementsAre(3));
  const Timeline timeline = RunEager(*kernels, Target{});
  EXPECT_EQ(timeline.events.back().bytes, -20 * 8);
  EXPECT_THAT(RefusalOf("torchvision::nms(f32[20,4], f32[19], 0.5)"),
              HasSubstr("numbers of boxes and scores differ: 20 vs 19"));
}

}  // namespace
}  // namespace steelyard
