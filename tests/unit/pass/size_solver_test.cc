// SPDX-License-Identifier: Apache-2.0
#include "pass/size_solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

// The number of `expression` over the symbols a and b when the sizes of `shape` are `sizes`.
Result<std::int64_t> Solved(const std::string& shape, const std::vector<std::int64_t>& sizes,
                            const std::string& expression) {
  const Result<Program> program = ParseText(
      "symbol a\nsymbol b\ninput %x: f32[" + shape + "]\ninput %r: f32[" + expression + "]\n", "");
  if (!program) return Unexpected(program.error());
  SizeSolver solver(*program);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int dim = static_cast<int>(i);
    solver.Ask({program->size(program->inputs[0], dim), sizes[i], "size " + std::to_string(i)});
  }
  SY_RETURN_IF_ERROR(solver.Solve());
  SY_RETURN_IF_ERROR(solver.Finish());
  const Dim dim = program->size(program->inputs[1], 0);
  const auto number = solver.NumberOf(dim);
  if (!number) return Unexpected(solver.NoNumber(dim, "r"));
  return *number;
}

TEST(SizeSolver, SolvesLinearSizes) {
  EXPECT_EQ(Solved("a", {7}, "a").value(), 7);
  EXPECT_EQ(Solved("2*a + 1", {129}, "a").value(), (129 - 1) / 2);
  EXPECT_EQ(Solved("3*(a - 2)", {12}, "a").value(), 12 / 3 + 2);
  EXPECT_EQ(Solved("10 - a", {4}, "a").value(), 10 - 4);
  EXPECT_EQ(Solved("a + a*2", {12}, "a").value(), 12 / (1 + 2));
}

TEST(SizeSolver, OneSizeHelpsWithAnother) {
  // The first has two unknowns until the second is solved.
  EXPECT_EQ(Solved("a + 2*b,a", {11, 5}, "b").value(), (11 - 5) / 2);
  EXPECT_EQ(Solved("a*b,b", {12, 4}, "a").value(), 12 / 4);
}

TEST(SizeSolver, ChecksWhatItCannotSolve) {
  EXPECT_EQ(Solved("a//2,a", {3, 7}, "a").value(), 7);
  const Result<std::int64_t> wrong = Solved("a//2,a", {4, 7}, "a");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().where, "the size a//2");
  EXPECT_EQ(wrong.error().message, "4 by size 0, but 3 by size 1");
  EXPECT_THAT(Solved("a//2", {4}, "a").error().message, HasSubstr("needs a"));
}

TEST(SizeSolver, RefusesWhatIsNoWholeNumber) {
  EXPECT_EQ(Solved("2*a + 1", {128}, "a").error().message,
            "the size 128 is not of the form 2*a + 1");
  EXPECT_THAT(Solved("a + 5", {3}, "a").error().message, HasSubstr("not of the form"));
  EXPECT_THAT(Solved("a", {-1}, "a").error().message, HasSubstr("negative"));
  EXPECT_THAT(Solved("a", {INT64_MIN}, "a").error().message, HasSubstr("negative"));
}

TEST(SizeSolver, TellsWhatWouldBindASymbol) {
  const Result<Program> program =
      ParseText("symbol a = 4\nsymbol u\ninput %x: f32[2*a,3]\ninput %n: int(u)\n", "");
  ASSERT_TRUE(program) << Describe(program.error());
  SizeSolver solver(*program);
  const Dim size = program->size(program->inputs[0], 0);
  EXPECT_EQ(solver.UnboundSymbolOf(size), 0u);
  solver.TakeExamples();
  ASSERT_TRUE(solver.Finish());
  EXPECT_EQ(solver.UnboundSymbolOf(size), std::nullopt);
  EXPECT_THAT(solver.from_examples(), ::testing::ElementsAre(0u));
  EXPECT_EQ(solver.RemedyFor(0), "--input x=8x3");
  EXPECT_EQ(solver.RemedyFor(1), "--input n=N");
}

}  // namespace
}  // namespace steelyard
