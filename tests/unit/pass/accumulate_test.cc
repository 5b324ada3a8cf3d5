// SPDX-License-Identifier: Apache-2.0

#include "pass/accumulate.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "ir/text_reader.h"
#include "ir/verify.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// %y is an output of the model, %l its loss.
Program Differentiated() {
  Program program = ParseText(
                        "parameter %w: f32[4]\n%y: f32[4] = aten::exp(%w)\n"
                        "%l: f32[] = aten::sum(%y)\nsteelyard::backward(%l) phase backward\n"
                        "return %l, %y\n",
                        "")
                        .value();
  program.loss = program.results(program.main().nodes[1])[0];
  return program;
}

std::vector<std::string> Names(const Program& program) {
  std::vector<std::string> names;
  for (const Node& node : program.main().nodes) {
    const std::string_view name = program.op_name(node.op);
    names.emplace_back(name.substr(name.find("::") + 2));
  }
  return names;
}

TEST(Accumulate, OneMicroStepIsTheProgramItself) {
  EXPECT_THAT(Names(Accumulate(Differentiated(), {.accumulate = 1}).value()),
              ElementsAre("exp", "sum", "backward"));
}

TEST(Accumulate, RepeatsTheProgramAndLetsOutputsGoInBetween) {
  const Program program = Accumulate(Differentiated(), {.accumulate = 3}).value();
  EXPECT_THAT(Names(program), ElementsAre("exp", "sum", "backward", "end_micro_step", "exp", "sum",
                                          "backward", "end_micro_step", "exp", "sum", "backward"));
  EXPECT_TRUE(Verify(program));
}

TEST(Accumulate, RepetitionsHaveValuesOfTheirOwnAndTheParametersInCommon) {
  const Program program = Accumulate(Differentiated(), {.accumulate = 2}).value();
  const std::vector<Node>& nodes = program.main().nodes;
  EXPECT_EQ(program.args(nodes[0])[0].value, program.args(nodes[4])[0].value);
  EXPECT_NE(program.results(nodes[0])[0], program.results(nodes[4])[0]);
  // The loss dies last, whatever the order of the outputs.
  const auto let_go = program.args(nodes[3]);
  ASSERT_EQ(let_go.size(), 2u);
  EXPECT_EQ(let_go[0].value, program.results(nodes[0])[0]);
  EXPECT_EQ(let_go[1].value, program.results(nodes[1])[0]);
  EXPECT_EQ(program.args(nodes[6])[0].value, program.loss);
}

TEST(Accumulate, FewerThanOneAreRefused) {
  for (const int steps : {0, -1}) {
    const Result<Program> program = Accumulate(Differentiated(), {.accumulate = steps});
    ASSERT_FALSE(program) << steps;
    EXPECT_EQ(program.error().where, "--accumulate");
    EXPECT_EQ(program.error().code, ErrorCode::kUsage);
  }
}

TEST(Accumulate, ThirdOfManyStandsForAllInBetween) {
  const Program folded = Accumulate(Differentiated(), {.accumulate = 9}).value();
  const Program four = Accumulate(Differentiated(), {.accumulate = 4}).value();
  EXPECT_EQ(Names(folded), Names(four));
  EXPECT_EQ(four.repeat.times, 1);
  EXPECT_EQ(folded.repeat.first, 2u * 4);
  EXPECT_EQ(folded.repeat.count, 4u);
  EXPECT_EQ(folded.repeat.times, 9 - 3);
  const Program unrolled = Accumulate(Differentiated(), {.accumulate = 9, .unroll = true}).value();
  EXPECT_EQ(unrolled.repeat.times, 1);
  EXPECT_EQ(unrolled.main().nodes.size(), 9u * 4 - 1);
}

TEST(Accumulate, MoreThanFitInMemoryAreNotWrittenOut) {
  const TrainOptions absurd{.accumulate = 1'000'000'000, .unroll = true};
  EXPECT_EQ(Accumulate(Differentiated(), absurd).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace steelyard
