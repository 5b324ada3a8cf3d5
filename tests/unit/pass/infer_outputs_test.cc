// SPDX-License-Identifier: Apache-2.0

#include "pass/infer_outputs.h"

#include <gtest/gtest.h>

#include <vector>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

TEST(InferOutputs, WhatIsReturnedGetsItsSizes) {
  Program program =
      ParseText(
          "parameter %w: bf16[4,8]\ninput %x: bf16[2,3,8]\n"
          "%y = aten::linear(%x, %w)\n%z = aten::transpose.int(%y, 1, 2)\nreturn %z\n",
          "")
          .value();
  program = InferOutputs(std::move(program), {}).value();
  const ValueId returned = program.main().outputs[0].value;
  EXPECT_TRUE(program.values[returned].has_layout);
  EXPECT_EQ(program.values[returned].dtype, DType::kBFloat16);
  EXPECT_EQ(Dims(program.sizes(returned)).size(), 3);
  const std::vector<std::int64_t> sizes(program.sizes(returned).begin(),
                                        program.sizes(returned).end());
  const std::vector<std::int64_t> strides(program.strides(returned).begin(),
                                          program.strides(returned).end());
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{2, 4, 3}));
  EXPECT_EQ(strides, (std::vector<std::int64_t>{12, 1, 4}));
}

TEST(LayOut, GivesTheseValuesTheirSizes) {
  Program program =
      ParseText(
          "input %x: f32[2,3,8]\n%y = aten::relu(%x)\n%z = aten::transpose.int(%y, 1, 2)\n"
          "%u = aten::relu(%z)\nreturn %u\n",
          "")
          .value();
  const ValueId turned = program.results(program.main().nodes[1])[0];
  const ValueId last = program.results(program.main().nodes[2])[0];
  program = LayOut(std::move(program), std::vector{turned, turned}, {}).value();
  EXPECT_TRUE(program.values[turned].has_layout);
  EXPECT_EQ(program.sizes(turned)[1], 8);
  EXPECT_FALSE(program.values[last].has_layout);
  EXPECT_EQ(program.main().outputs[0].value, last);
}

TEST(InferOutputs, AProgramThatSaysThemIsLeftAlone) {
  const Program program =
      ParseText("input %x: f32[2,3]\n%y: f32[2,3] = my::op(%x)\nreturn %y\n", "").value();
  const std::size_t values = program.values.size();
  EXPECT_EQ(InferOutputs(program, {}).value().values.size(), values);
}

}  // namespace
}  // namespace steelyard
