// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/sparse.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kRows = "aten::embedding(%p, %i, -1, False, True)";

// A step whose loss is the sum of `%y`, which these lines make of a table %p and ids %i.
std::string Step(const std::string& lines, std::string_view end = "") {
  return "parameter %p: f32[4,8]\ninput %i: i64[4]\ninput %j: i64[4,1]\n" + lines +
         "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\n" + std::string(end) +
         "return %loss\n";
}

std::string RefusalOf(const std::string& text) {
  const Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program);
  if (!program) return {};
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  return kernels ? "" : Describe(kernels.error());
}

// The gradient of a sum is one number spread out: AccumulateGrad copies what is not contiguous, the
// values before the indices.
TEST(SparseGradients, RowsAreTheirGradients) {
  EXPECT_THAT(BackwardOf(kRows), ElementsAre("view", "_reshape_alias", "sparse_coo", "_to_copy",
                                             "_to_copy", "sparse_coo"));
}

TEST(SparseGradients, PaddingIsLeftOut) {
  EXPECT_THAT(BackwardOf("aten::embedding(%p, %i, 3, False, True)"),
              Contains("index.Tensor").Times(2));
}

TEST(SparseGradients, ElementsKnowTheirPlaceInEveryDimension) {
  const std::vector<std::string> events =
      EventsOfProgram(Step("%y = aten::gather(%p, 0, %j, sparse_grad=True)\n"));
  EXPECT_THAT(events, Contains(Line(2 * 4 * 8, "aten::empty")));
}

// The second use is added to the first: the sum is new, and both that it is made of go.
TEST(SparseGradients, SumsPutRowsTogether) {
  const std::vector<std::string> events =
      EventsOfProgram(Step("%a = aten::embedding(%p, %i, -1, False, True)\n"
                           "%b = aten::embedding(%p, %i, -1, False, True)\n"
                           "%y = aten::mul.Tensor(%a, %b)\n"));
  EXPECT_THAT(events, Contains(Line(2 * 4 * 8, "aten::empty")));
  EXPECT_THAT(events, Contains(Line(2 * 4 * 8 * 4, "aten::empty")));
}

TEST(SparseGradients, OnlySgdTakesThem) {
  EXPECT_EQ(RefusalOf(StepOf(kRows, "steelyard::sgd([%p], False) phase optimizer\n")), "");
  EXPECT_THAT(RefusalOf(StepOf(kRows, "steelyard::adamw([%p], False) phase optimizer\n")),
              HasSubstr("a step of AdamW on a sparse gradient is not modelled"));
  EXPECT_THAT(
      RefusalOf(StepOf(kRows, "steelyard::sgd([%p], False, momentum=0.9) phase optimizer\n")),
      HasSubstr("grows with each"));
  EXPECT_THAT(
      RefusalOf(StepOf(kRows, "steelyard::sgd([%p], False, weight_decay=0.1) phase optimizer\n")),
      HasSubstr("no dense tensor"));
  EXPECT_THAT(RefusalOf(StepOf(kRows, "steelyard::sgd([%p], False, fused=True) phase optimizer\n")),
              HasSubstr("fused"));
}

TEST(SparseGradients, OtherOperatorsAreRefusedByName) {
  EXPECT_THAT(
      RefusalOf(Step("%t = aten::tanh(%p)\n%y = aten::embedding(%t, %i, -1, False, True)\n")),
      HasSubstr("aten::tanh_backward of a sparse gradient is not modelled"));
}

}  // namespace
}  // namespace steelyard
