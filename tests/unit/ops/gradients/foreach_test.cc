// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/foreach.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A step that adds up the sums of two results of a list.
std::string StepOfList(std::string_view call) {
  return "parameter %p: f32[4,8]\nparameter %q: f32[3]\ninput %x: f32[4,8]\ninput %z: f32[3]\n"
         "input %n: f32[]\n%y, %w = " +
         std::string(call) +
         "\n%s = aten::sum(%y)\n%t = aten::sum(%w)\n%loss = aten::add.Tensor(%s, %t)\n"
         "steelyard::backward(%loss) phase backward\nreturn %loss\n";
}

std::vector<std::string> SavedInList(std::string_view call) {
  const Program kernels = KernelsOfProgram(StepOfList(call));
  std::vector<std::string> out;
  for (const SavedTensor& saved : kernels.saved) {
    out.push_back(std::string(kernels.text(kernels.values[saved.value].name)) + " by " +
                  std::string(kernels.text(saved.by)));
  }
  return out;
}

TEST(ForeachGradients, EachElementHasAGradientOfItsOwn) {
  const Program kernels = KernelsOfProgram(StepOfList("aten::_foreach_neg([%p, %q])"));
  const auto negations = std::ranges::count_if(kernels.main().nodes, [&](const Node& node) {
    return node.phase == Phase::kBackward && kernels.op_name(node.op) == "aten::neg";
  });
  EXPECT_EQ(negations, 2);
}

TEST(ForeachGradients, ResultsOfAListAreSavedInOrder) {
  EXPECT_THAT(SavedInList("aten::_foreach_sqrt([%p, %q])"),
              ElementsAre("y by ForeachSqrtBackward0", "w by ForeachSqrtBackward0"));
}

TEST(ForeachGradients, ListsAreSavedWhateverIsWanted) {
  EXPECT_THAT(SavedInList("aten::_foreach_mul.List([%p, %q], [%x, %z])"),
              ElementsAre("x by ForeachMulBackward0List", "z by ForeachMulBackward0List",
                          "p by ForeachMulBackward0List", "q by ForeachMulBackward0List"));
}

// Each tensor that is overwritten has a node of the operator for one tensor, and all of them are
// made, with copies of what they need, before the first tensor is overwritten.
TEST(ForeachGradients, OverwrittenTensorsHaveNodesOfTheirOwn) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\nparameter %q: f32[3]\ninput %x: f32[4,8]\ninput %z: f32[3]\n"
      "%y = aten::clone(%p)\n%w = aten::clone(%q)\n"
      "aten::_foreach_maximum_.List([%y, %w], [%x, %z])\n"
      "%s = aten::sum(%y)\n%t = aten::sum(%w)\n%loss = aten::add.Tensor(%s, %t)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string_view> forward, by;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase == Phase::kForward && name != kDropMark) forward.push_back(name);
  }
  EXPECT_THAT(forward,
              ElementsAre("aten::clone", "aten::clone", "aten::clone", "aten::clone",
                          "aten::clamp_min_.Tensor", "aten::clamp_min_.Tensor",
                          "aten::sum.dim_IntList", "aten::sum.dim_IntList", "aten::add.Tensor"));
  for (const SavedTensor& saved : kernels.saved) by.push_back(kernels.text(saved.by));
  EXPECT_THAT(by, ElementsAre("MaximumBackward0", "MaximumBackward0", "MaximumBackward0",
                              "MaximumBackward0"));
}

TEST(ForeachGradients, ADivisorOfAllHasNone) {
  const std::string step =
      "parameter %n: f32[]\ninput %x: f32[4]\n%y = "
      "aten::_foreach_div.Tensor([%x], %n)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n";
  Result<Program> program = ParseText(step, "");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().message, HasSubstr("aten::_foreach_div.Tensor by its divisor"));
}

}  // namespace
}  // namespace steelyard
