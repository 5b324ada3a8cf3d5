// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/call_graph.h"

#include <gmock/gmock.h>

#include "graphs.h"

namespace steelyard::graph {
namespace {

using ::testing::ElementsAre;

TEST(BuildCallGraph, HasOnlyWhatTheResultNeeds) {
  const Built built(
      "input %x: f32[8]\n%a = aten::tanh(%x)\n%unused = aten::exp(%a)\n%b = aten::sin(%a)\n"
      "return %b\n");
  EXPECT_THAT(built.Calls(), ElementsAre("tanh", "sin", "result"));
}

TEST(BuildCallGraph, ViewsAndFieldsAreNoKernels) {
  const Built built(
      "input %x: f32[2,8]\nparameter %w: f32[8]\n%t = aten::t(%x)\n"
      "%n, %mean, %rstd = aten::native_layer_norm(%x, [8], %w, %w, 1e-5)\n"
      "%y = aten::mm(%n, %t)\nreturn %y\n");
  EXPECT_THAT(built.Calls(), ElementsAre("view t", "native_layer_norm",
                                         "field 0 of native_layer_norm", "mm", "result"));
  EXPECT_EQ(built.graph.calls[built.Find("native_layer_norm")].results.size(), 3u);
}

TEST(BuildCallGraph, AnOverwrittenActivationIsANewTensor) {
  const Built built(
      "input %x: f32[8]\n%a = aten::tanh(%x)\n%b = aten::add_.Tensor(%a, %x)\n"
      "%c = aten::sin(%a)\nreturn %c\n");
  const Call& add = built.graph.calls[built.Find("add_")];
  EXPECT_FALSE(add.overwrites);
  // Who reads the tensor by its old name reads the new one.
  EXPECT_EQ(built.graph.calls[built.Find("sin")].uses[0].producer, built.Find("add_"));
}

TEST(BuildCallGraph, AParameterIsOverwrittenAfterItsReaders) {
  const Built built(
      "input %x: f32[8]\nparameter %w: f32[8]\n%a = aten::mul.Tensor(%x, %w)\n"
      "%b = aten::add_.Tensor(%w, %x)\nreturn %a\n");
  const Call& add = built.graph.calls[built.Find("add_")];
  EXPECT_TRUE(add.overwrites && add.resident && add.in_memory);
  ASSERT_EQ(add.uses.size(), 1u);
  EXPECT_EQ(add.uses[0].producer, built.Find("mul"));
  EXPECT_TRUE(add.uses[0].only_order);
  // What the step leaves behind is a result of it.
  EXPECT_EQ(built.graph.calls[built.graph.result()].uses.size(), 2u);
}

TEST(BuildCallGraph, WhatIsOverwrittenAgainNeedNotBeInMemory) {
  const Built built(
      "input %x: f32[8]\nparameter %w: f32[8]\n%a = aten::mul_.Tensor(%w, %x)\n"
      "%b = aten::add_.Tensor(%w, %x)\nreturn %x\n");
  EXPECT_FALSE(built.graph.calls[built.Find("mul_")].in_memory);
  EXPECT_TRUE(built.graph.calls[built.Find("add_")].in_memory);
}

TEST(BuildCallGraph, ATensorThatNobodyFilledIsNone) {
  const Built built(
      "input %x: f32[8]\n%a = aten::empty.memory_format([8])\n%b = aten::copy_(%a, %x)\n"
      "return %b\n");
  EXPECT_THAT(built.Calls(), ElementsAre("copy_", "result"));
}

TEST(BuildCallGraph, AnEdgeOfTheSameSizesIsElementwise) {
  const Built built(
      "input %x: f32[2,8]\ninput %r: f32[8]\n%a = aten::tanh(%x)\n%b = aten::tanh(%r)\n"
      "%c = aten::add.Tensor(%a, %b)\nreturn %c\n");
  const std::vector<Use>& uses = built.graph.calls[built.Find("add")].uses;
  EXPECT_EQ(uses[0].pattern, Fusion::kElementwise);
  EXPECT_EQ(uses[1].pattern, Fusion::kBroadcast);
}

TEST(BuildCallGraph, AListIsOverwrittenInPlace) {
  const Built built(
      "input %x: f32[8]\nparameter %w: f32[8]\nparameter %n: f32[]\n%a = aten::tanh(%w)\n"
      "aten::_foreach_zero_([%w])\n"
      "aten::_fused_sgd_([%w], [%x], [], weight_decay=0.0, momentum=0.0, lr=0.1, dampening=0.0, "
      "nesterov=False, maximize=False, is_first_step=False)\nreturn %a\n");
  const Call& step = built.graph.calls[built.Find("_fused_sgd_")];
  EXPECT_TRUE(step.in_memory && step.resident);
  EXPECT_FALSE(step.overwrites);  // what has no result is no chain of values
}

TEST(BuildCallGraph, AReaderIsTheKernelAndNotAFieldOfItsOperands) {
  // The third operand is a field, which is made when the kernel has been told to read the first.
  const Built built(
      "input %x: f32[2,8]\nparameter %w: f32[8]\nparameter %r: f32[8]\n"
      "%n, %mean, %rstd = aten::native_layer_norm(%x, [8], %w, %w, 1e-5)\n"
      "%y = aten::addcmul(%r, %w, %n)\n%z = aten::add_.Tensor(%r, %w)\nreturn %y\n");
  const Call& add = built.graph.calls[built.Find("add_")];
  ASSERT_EQ(add.uses.size(), 1u);
  EXPECT_EQ(add.uses[0].producer, built.Find("addcmul"));
}

TEST(PostOrder, WhatTheFirstArgumentNeedsComesFirst) {
  const Built built(
      "input %x: f32[8]\n%late = aten::sin(%x)\n%a = aten::tanh(%x)\n%b = aten::exp(%a)\n"
      "%c = aten::add.Tensor(%b, %late)\nreturn %c\n");
  EXPECT_THAT(built.Names(PostOrder(built.graph, built.graph.result())),
              ElementsAre("tanh", "exp", "sin", "add", "result"));
}

}  // namespace
}  // namespace steelyard::graph
