// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/cuda_events.h"
#include "ops/parallel/layer_styles.h"
#include "ops/registry.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Gloo copies what it sends, and what it receives before all of it is there.
TEST(TensorParallel, WhatOthersHaveIsCopied) {
  EXPECT_THAT(EventsOf("steelyard::all_gather_parts(f32[2,3], 2)"),
              ElementsAre(Line(48, "empty"), Line(24, "empty"), HasSubstr("-24"), Line(48, "empty"),
                          HasSubstr("-48")));
  EXPECT_THAT(EventsOf("steelyard::reduce_scatter_parts(f32[4,3], 2)"),
              ElementsAre(Line(24, "empty"), Line(48, "empty_strided"), HasSubstr("-48")));
  EXPECT_THAT(CudaBytesOf("steelyard::all_gather_parts(f32[2,3], 2)"), ElementsAre(48));
  EXPECT_THAT(CudaBytesOf("steelyard::reduce_scatter_parts(f32[4,3], 2)"), ElementsAre(24));
  EXPECT_THAT(RefusalOf("steelyard::reduce_scatter_parts(f32[5,3], 2)"),
              HasSubstr("cannot share the first dimension evenly"));
}

TEST(TensorParallel, ALayerGivesAPartOrWhatBecomesOfAllParts) {
  const std::string columns = "steelyard::column_linear(f32[2,4,8], f32[5,8], f32[5], 2, 0, 'R', ";
  EXPECT_EQ(ResultOf(columns + "'S(-1)', 10)"), "f32[2,4,5]");
  EXPECT_EQ(ResultOf(columns + "'R', 10)"), "f32[2,4,10]");
  const std::string rows = "steelyard::row_linear(f32[2,4,8], f32[5,8], f32[5], 2, 0, 'S(-1)', ";
  EXPECT_EQ(ResultOf(rows + "'R', 16)"), "f32[2,4,5]");
  EXPECT_EQ(ResultOf(rows + "'S(1)', 16)"), "f32[2,2,5]");
}

// Each process of a sum adds its share; without gradients the bias is added to the sum.
TEST(TensorParallel, ABiasIsAddedOnce) {
  EXPECT_THAT(NodesOf("steelyard::row_linear(f32[4,8], f32[5,8], f32[5], 2, 0, 'S(-1)', 'R', 16)"),
              Contains("div.Tensor"));
  EXPECT_THAT(NodesOf("steelyard::row_linear(f32[4,8], f32[5,8], None, 2, 0, 'S(-1)', 'R', 16)"),
              Not(Contains("div.Tensor")));
  std::vector<std::string> in_place =
      NodesOf("steelyard::row_linear_in_place(f32[4,8], f32[5,8], f32[5], 2)");
  std::erase(in_place, "drop");
  EXPECT_THAT(in_place, ElementsAre("t", "mm", "all_reduce_", "add.Tensor"));
}

// The gradient is that of the whole table, of which each process then takes its rows.
TEST(TensorParallel, EachProcessComputesTheGradientOfATable) {
  const std::vector<std::string> events =
      EventsOfProgram(StepOf("steelyard::row_embedding(%p, %i, -1, 3, 1, 'R', 'R', 12)"));
  EXPECT_THAT(events, Contains(HasSubstr(Line(12 * 8 * 4, "aten::"))));
}

TEST(TensorParallel, WhoHasNoPartIsRefused) {
  EXPECT_THAT(RefusalOf("steelyard::column_linear(f32[2,8], f32[5,8], None, 2, 2, 'R', 'R', 10)"),
              HasSubstr("process 2 of 2 has no part of 10"));
  EXPECT_THAT(RefusalOf("steelyard::column_linear(f32[2,8], f32[5,8], None, 2, 0, 'R', 'S1', 10)"),
              HasSubstr("placements are written as R, S(1) and P"));
}

TEST(TensorParallel, AStyleNamesArgumentsOfBothOperators) {
  for (const ops::LayerStyle& style : ops::LayerStyles()) {
    const OpDef* const whole = FindOp(OpName::FromRuntime(style.op));
    const OpDef* const part = FindOp(OpName::FromRuntime(style.replacement));
    ASSERT_NE(whole, nullptr) << style.op;
    ASSERT_NE(part, nullptr) << style.replacement;
    for (std::size_t i = 0; i < style.arguments.size(); ++i) {
      EXPECT_EQ((*part->signature).params()[i].name, style.arguments[i]) << style.replacement;
    }
    EXPECT_TRUE(std::ranges::count(style.arguments, style.input) == 1) << style.replacement;
  }
}

}  // namespace
}  // namespace steelyard
