// SPDX-License-Identifier: Apache-2.0

#include "step_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kFactors = (4 + 8) * 4;

TEST(Adafactor, KeepsRowsAndColumns) {
  EXPECT_EQ(StateBytes("steelyard::adafactor([%p], False)"), kCounter + kFactors);
}

// The update of the first matrix lives until that of the second is complete.
TEST(Adafactor, EstimateIsTheUpdate) {
  EXPECT_THAT(LargeEvents("steelyard::adafactor([%p, %q], False)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix, -kMatrix));
  EXPECT_THAT(LargeEvents("steelyard::adafactor([%p, %q], False, foreach=True)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix, -kMatrix));
}

// %p is [4,8]: in each of five iterations two products of 4 x 4 x 8 and one of 4 x 4 x 4.
TEST(Muon, OrthogonalizesInFiveIterations) {
  const Program kernels = KernelsOfProgram(
      StepOf("aten::mul.Tensor(%p, %q)", "steelyard::muon([%p], False) phase optimizer\n"));
  Count macs = 0;
  for (const Node& node : kernels.main().nodes) {
    const OpDef* def = FindOp(OpName::FromRuntime(kernels.op_name(node.op)));
    if (def == nullptr || node.phase != Phase::kOptimizer) continue;
    macs += (**def->work)(OpView(kernels, *def, kernels.args(node), kernels.results(node))).mac;
  }
  EXPECT_EQ(macs, Count(5 * (2 * 4 * 4 * 8 + 4 * 4 * 4)));
  EXPECT_EQ(StateBytes("steelyard::muon([%p], False)"), kMatrix);
}

TEST(Muon, TakesMatricesOnly) {
  const std::string text =
      "parameter %p: f32[8]\n%loss = aten::sum(%p)\nsteelyard::backward(%loss) phase backward\n"
      "steelyard::muon([%p], False) phase optimizer\nreturn %loss\n";
  Result<Program> program = ParseText(text, "");
  ASSERT_TRUE(program);
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), HasSubstr("Muon takes matrices only, not f32[8]"));
}

}  // namespace
}  // namespace steelyard
