// SPDX-License-Identifier: Apache-2.0
//
// A stretch of a program that is repeated runs once.

#include <gmock/gmock.h>

#include <string>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kNodes = 4;  // of a micro-step

// Micro-steps of `%p`, and a last one whose outputs the caller holds.
Program MicroSteps(int count, Repeat repeat, const std::string& odd = "aten::exp(%p)") {
  std::string text = "parameter %p: f32[4,8]\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "%y" + n + " = " + (i == 1 ? odd : "aten::exp(%p)") + "\n%l" + n + " = aten::sum(%y" +
            n + ")\nsteelyard::backward(%l" + n + ") phase backward\nsteelyard::end_micro_step(%y" +
            n + ", %l" + n + ") phase backward\n";
  }
  text +=
      "%z = aten::exp(%p)\n%loss = aten::sum(%z)\nsteelyard::backward(%loss) phase backward\n"
      "return %loss\n";
  Program program = ParseText(text, "").value();
  program.repeat = repeat;
  return program;
}

TEST(Repeats, AreTheKernelsOfTheStretch) {
  const Program program = MicroSteps(3, {2 * kNodes, kNodes, 7});
  const Program kernels = Dispatcher(program, Target{}).Run().value();
  EXPECT_EQ(kernels.repeat.times, 7);
  // exp and sum; the gradients of both, and what the parameter has is added to; two drops each for
  // what forward and backward made.
  const std::vector<Node>& nodes = kernels.main().nodes;
  const auto in_stretch = [&](const char* name) {
    int count = 0;
    for (NodeId i = 0; i < nodes.size(); ++i) {
      count += kernels.times(i) == 7 && kernels.op_name(nodes[i].op) == name ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(in_stretch("aten::exp"), 1);
  EXPECT_EQ(in_stretch("aten::sum.dim_IntList"), 1);
  EXPECT_EQ(in_stretch("aten::add_.Tensor"), 1);
  EXPECT_EQ(kernels.times(0), 1);
  EXPECT_EQ(kernels.times(static_cast<NodeId>(nodes.size() - 1)), 1);
}

TEST(Repeats, OfTheEagerRuntimeFreeWhatTheyAllocate) {
  const Program program = MicroSteps(3, {2 * kNodes, kNodes, 7});
  const Timeline timeline = RunEager(Dispatcher(program, Target{}).Run().value(), Target{});
  ASSERT_GT(timeline.repeat.count, 0u);
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < timeline.repeat.count; ++i) {
    sum += timeline.events[timeline.repeat.first + i].bytes;
  }
  EXPECT_EQ(sum, 0);
  const auto events = static_cast<std::int64_t>(timeline.events.size());
  EXPECT_EQ(timeline.length(), events + 6 * std::int64_t{timeline.repeat.count});
  EXPECT_EQ(timeline.Place(timeline.repeat.first), timeline.repeat.first);
}

// The first makes the gradient that the second adds to.
TEST(Repeats, AreRefusedWhereTheStretchIsNotLikeTheOneBefore) {
  for (const Program& program : {MicroSteps(2, {kNodes, kNodes, 7}), MicroSteps(2, {0, kNodes, 7}),
                                 MicroSteps(3, {2 * kNodes, kNodes, 7}, "aten::sin(%p)")}) {
    const Result<Program> kernels = Dispatcher(program, Target{}).Run();
    ASSERT_FALSE(kernels);
    EXPECT_THAT(Describe(kernels.error()), HasSubstr("the micro-steps do not come to be alike"));
  }
}

TEST(Repeats, CountTowardsTheLargestProgram) {
  const std::int64_t many = std::int64_t{1} << 60;
  const Result<Program> kernels =
      Dispatcher(MicroSteps(3, {2 * kNodes, kNodes, many}), Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), HasSubstr("2^63 bytes"));
}

}  // namespace
}  // namespace steelyard
