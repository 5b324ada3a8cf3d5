// SPDX-License-Identifier: Apache-2.0

#include "pass/differentiate.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parsed.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

TEST(Differentiate, AppendsTheBackwardPass) {
  Program program = Parsed("parameter %w: f32[4]\n%l: f32[] = aten::sum(%w)\nreturn %l\n");
  program.loss = program.results(program.main().nodes[0])[0];
  const Result<Program> trained = Differentiate(std::move(program), {});
  ASSERT_TRUE(trained) << Describe(trained.error());
  EXPECT_EQ(trained->op_name(trained->main().nodes.back().op), kBackwardOp);
}

TEST(Differentiate, SomethingMustBeTrainable) {
  EXPECT_FALSE(
      Differentiate(Parsed("input %x: f32[4]\n%l: f32[] = aten::sum(%x)\nreturn %l\n"), {}));
}

}  // namespace
}  // namespace steelyard
