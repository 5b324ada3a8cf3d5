// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Activation, KernelsAllocateUnderTheirOwnName) {
  EXPECT_THAT(EventsOf("aten::gelu(f32[5])"), ElementsAre(Line(5 * 4, "gelu")));
  EXPECT_THAT(EventsOf("aten::relu(f32[5])"), ElementsAre(Line(5 * 4, "clamp_min")));
  EXPECT_THAT(EventsOf("aten::relu6(f32[5])"), ElementsAre(Line(5 * 4, "empty_strided")));
  EXPECT_THAT(EventsOf("aten::hardswish(f32[5])"), ElementsAre(Line(5 * 4, "empty")));
}

TEST(Activation, InPlaceNeedsNothing) {
  for (const char* call : {"aten::relu_(f32[5])", "aten::silu_(f32[5])", "aten::hardtanh_(f32[5])",
                           "aten::hardswish_(f32[5])", "aten::leaky_relu_(f32[5])"}) {
    EXPECT_THAT(EventsOf(call), IsEmpty()) << call;
  }
}

TEST(Activation, KeepsTheOrderOfDimensions) {
  EXPECT_EQ(ResultOf("aten::silu(f32[8,2]{1,8})"), "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::log_sigmoid(f32[8,2]{1,8})"), "f32[8,2]");
}

TEST(Activation, LogSigmoidKeepsABufferUntilItReturns) {
  const std::int64_t bytes = 8 * 2 * 4;
  EXPECT_THAT(EventsOf("aten::log_sigmoid(f32[8,2]{1,8})"),
              ElementsAre(Line(bytes, "empty"), Line(bytes, "empty"), Line(bytes, "empty"),
                          Line(-bytes, "log_sigmoid_forward"), Line(-bytes, "log_sigmoid")));
}

TEST(Activation, GluHalvesADimension) {
  EXPECT_EQ(ResultOf("aten::glu(f32[2,8])"), "f32[2,4]");
  EXPECT_EQ(ResultOf("aten::glu(f32[2,8], 0)"), "f32[1,8]");
  EXPECT_THAT(RefusalOf("aten::glu(f32[2,7])"), HasSubstr("odd"));
}

TEST(Activation, IntegersAreRefusedWhereThereIsNoKernel) {
  EXPECT_THAT(RefusalOf("aten::gelu(i64[5])"), HasSubstr("floating-point"));
  EXPECT_EQ(ResultOf("aten::sigmoid(i64[5])"), "f32[5]");
}

// While it trains the slopes are drawn into noise; else they are the mean of two boxed numbers.
TEST(Activation, RandomSlopesHaveNoise) {
  constexpr int kBytes = 2 * 8 * 4;
  EXPECT_THAT(EventsOf("aten::rrelu(f32[2,8], 0.1, 0.3, True)"),
              ElementsAre(Line(kBytes, "empty"), Line(kBytes, "empty"), Line(-kBytes, "rrelu")));
  EXPECT_THAT(EventsOf("aten::rrelu_with_noise_(f32[2,8], f32[2,8], 0.1, 0.3, True)"), IsEmpty());
  EXPECT_EQ(EventsOf("aten::rrelu_with_noise_(f32[2,8], f32[2,8])").size(), 2u * 6)
      << "both limits, their sum, 2, that in their dtype, and the mean";
}

TEST(Activation, SlopesBelongToChannels) {
  EXPECT_THAT(NodesOf("aten::prelu(f32[2,3,8], f32[3])"),
              ElementsAre("view", "_prelu_kernel", "drop"));
  EXPECT_THAT(RefusalOf("aten::prelu(f32[2,3,8], f32[4])"), HasSubstr("3 vs 4"));
}

TEST(Activation, WorkFollowsTheFormula) {
  // x/2 (1 + erf(x / sqrt 2)): a division, an addition, two products.
  EXPECT_EQ(WorkOf("aten::gelu(f32[5])").alu, Count(4 * 5));
  EXPECT_EQ(WorkOf("aten::gelu(f32[5])").special, Count(5));
  EXPECT_EQ(WorkOf("aten::gelu(f32[5], approximate='tanh')").alu, Count(8 * 5));
  EXPECT_EQ(WorkOf("aten::relu(f32[5])").alu, Count(5));
  EXPECT_EQ(WorkOf("aten::tanh(f32[5])").special, Count(5));
}

}  // namespace
}  // namespace steelyard
