// SPDX-License-Identifier: Apache-2.0
#include "execute/lowering.h"

#include <gtest/gtest.h>

#include <string>

#include "kernels.h"

namespace steelyard {
namespace {

TEST(Lowering, ACallIsANode) {
  const Program kernels = Kernels(
      "input %x: f32[2,8]\n"
      "%a: f32[2,8] = aten::softmax.int(%x, 1)\n"
      "%b: f32[16] = aten::view(%a, [16])\n"
      "return %b\n");
  const Lowering lowered(kernels);
  const SyProgram program = lowered.program();
  ASSERT_EQ(program.call_count, kernels.main().nodes.size());
  EXPECT_EQ(program.value_count, kernels.values.size());
  const SyCall& softmax = program.calls[0];
  EXPECT_STREQ(softmax.op, "aten::_softmax");
  ASSERT_EQ(softmax.argument_count, 3u);  // self, dim, half_to_float
  EXPECT_EQ(softmax.arguments[0].kind, SY_VALUE);
  EXPECT_EQ(softmax.arguments[0].value, kernels.inputs[0]);
  EXPECT_EQ(softmax.arguments[1].kind, SY_INT);
  EXPECT_EQ(softmax.arguments[1].integer, 1);
  EXPECT_EQ(softmax.arguments[2].kind, SY_BOOL);
  EXPECT_EQ(softmax.results[0], kernels.results(kernels.main().nodes[0])[0]);
  const SyCall& view = program.calls[1];
  EXPECT_STREQ(view.op, "aten::view");
  ASSERT_EQ(view.arguments[1].kind, SY_LIST);
  ASSERT_EQ(view.arguments[1].count, 1u);
  EXPECT_EQ(view.arguments[1].elements[0].integer, 16);
}

TEST(Lowering, WhatIsLetGoHasNoOperator) {
  const Program kernels = Kernels(
      "input %x: f32[8]\n"
      "%a: f32[8] = aten::tanh(%x)\n"
      "%b: f32[8] = aten::exp(%a)\n"
      "return %b\n");
  const Lowering lowered(kernels);
  const SyCall& last = lowered.program().calls[2];
  EXPECT_EQ(last.op, nullptr);
  ASSERT_EQ(last.argument_count, 1u);
  EXPECT_EQ(last.arguments[0].value, kernels.results(kernels.main().nodes[0])[0]);
}

TEST(Lowering, SaysWhichCallsAreOfTheHost) {
  // Adam counts its steps in the host's memory.
  const Program kernels = Kernels(
      "parameter %w: f32[4,8] \"fc.weight\"\n"
      "input %x: f32[2,8]\n"
      "%y: f32[2,4] = aten::linear(%x, %w)\n"
      "%l: f32[] = aten::sum(%y)\n"
      "steelyard::backward(%l) phase backward\n"
      "steelyard::adam([%w], False) phase optimizer\n"
      "return %l\n",
      {.device = Device::kCuda,
       .name = "h100",
       .capability = 90,
       .multiprocessors = 132,
       .multiprocessor_threads = 2048});
  const Lowering lowered(kernels, "cuda");
  const SyProgram program = lowered.program();
  EXPECT_STREQ(program.device, "cuda");
  std::size_t on_host = 0;
  for (std::size_t i = 0; i < program.call_count; ++i) {
    const SyCall& call = program.calls[i];
    on_host += call.on_host;
    if (call.op != nullptr && std::string(call.op) == "aten::mm") {
      EXPECT_FALSE(call.on_host);
    }
  }
  EXPECT_GT(on_host, 0U);
  EXPECT_LT(on_host, program.call_count);
}

TEST(Lowering, WordsAndDTypesAreTexts) {
  const Program kernels = Kernels(
      "input %x: f32[8]\n"
      "%a: bf16[8] = aten::_to_copy(%x, dtype=bf16)\n"
      "%b: bf16[8] = aten::div.Tensor_mode(%a, %a, rounding_mode=\"floor\")\n"
      "return %b\n");
  const Lowering lowered(kernels);
  bool has_dtype = false, has_word = false;
  for (std::size_t i = 0; i < lowered.program().call_count; ++i) {
    const SyCall& call = lowered.program().calls[i];
    for (std::size_t k = 0; k < call.argument_count; ++k) {
      const SyArgument& argument = call.arguments[k];
      has_dtype |= argument.kind == SY_DTYPE && std::string(argument.text) == "bfloat16";
      has_word |= argument.kind == SY_TEXT && std::string(argument.text) == "floor";
    }
  }
  EXPECT_TRUE(has_dtype);
  EXPECT_TRUE(has_word);
}

}  // namespace
}  // namespace steelyard
