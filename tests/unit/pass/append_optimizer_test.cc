// SPDX-License-Identifier: Apache-2.0

#include "pass/append_optimizer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/text_reader.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

Program Parsed(std::string_view text) {
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  return program ? *std::move(program) : Program();
}

TEST(AppendOptimizer, StepsOverTrainableParametersAndDropsTheirGradients) {
  const Result<Program> program =
      AppendOptimizer(Parsed("parameter %w: f32[4]\nparameter %f: f32[4] frozen\nreturn %w\n"),
                      {.optimizer = "adamw"});
  ASSERT_TRUE(program) << Describe(program.error());
  const std::vector<Node>& nodes = program->main().nodes;
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(program->op_name(nodes[0].op), "steelyard::adamw");
  EXPECT_EQ(program->op_name(nodes[1].op), "steelyard::zero_grad");
  EXPECT_EQ(program->list(program->args(nodes[0])[0].list).size(), 1u);
}

TEST(AppendOptimizer, UnknownNamesAreRefused) {
  EXPECT_EQ(AppendOptimizer(Parsed("parameter %w: f32[4]\nreturn %w\n"), {.optimizer = "lbfgs"})
                .error()
                .code,
            ErrorCode::kUsage);
}

}  // namespace
}  // namespace steelyard
