// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/fuse.h"

#include <gmock/gmock.h>

#include <string>

#include "graphs.h"

namespace steelyard::graph {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::vector<std::string> KernelsOf(const std::string& text) {
  const Built built(text);
  return built.Words(built.Fused());
}

TEST(FuseCalls, AChainOfPointwiseOperatorsIsOneKernel) {
  EXPECT_THAT(KernelsOf("input %x: f32[8]\n%a = aten::tanh(%x)\n%b = aten::exp(%a)\n"
                        "%c = aten::add.Tensor(%b, %x)\nreturn %c\n"),
              ElementsAre("tanh+exp+add", "result"));
}

TEST(FuseCalls, WhatComesTogetherAgainIsOneKernel) {
  EXPECT_THAT(KernelsOf("input %x: f32[8]\n%a = aten::tanh(%x)\n%b = aten::exp(%a)\n"
                        "%c = aten::sin(%a)\n%d = aten::add.Tensor(%b, %c)\nreturn %d\n"),
              ElementsAre("tanh+exp+sin+add", "result"));
}

TEST(FuseCalls, WhatIsReturnedIsWritten) {
  EXPECT_THAT(KernelsOf("input %x: f32[8]\n%a = aten::tanh(%x)\n%b = aten::exp(%a)\n"
                        "return %a, %b\n"),
              ElementsAre("tanh", "exp", "result"));
}

TEST(FuseCalls, AReductionEndsAKernel) {
  EXPECT_THAT(KernelsOf("input %x: f32[2,8]\n%a = aten::tanh(%x)\n"
                        "%b = aten::_softmax(%a, 1, False)\n%c = aten::exp(%b)\nreturn %c\n"),
              ElementsAre("tanh+_softmax", "exp", "result"));
}

TEST(FuseCalls, WhatMovesElementsEntersPointwiseOperatorsOnly) {
  EXPECT_THAT(KernelsOf("input %x: f32[2,8]\n%a = aten::flip(%x, [0])\n%b = aten::tanh(%a)\n"
                        "return %b\n"),
              ElementsAre("flip+tanh", "result"));
  EXPECT_THAT(KernelsOf("input %x: f32[2,8]\n%a = aten::flip(%x, [0])\n"
                        "%b = aten::_softmax(%a, 1, False)\nreturn %b\n"),
              ElementsAre("flip", "_softmax", "result"));
}

TEST(FuseCalls, APointwiseOperatorMovesIntoTheProductBeforeIt) {
  constexpr std::string_view kProduct =
      "input %x: f32[4,8]\nparameter %w: f32[8,4]\n%a = aten::mm(%x, %w)\n";
  EXPECT_THAT(KernelsOf(std::string(kProduct) +
                        "%b = aten::view(%a, [2,2,4])\n%c = aten::relu(%b)\nreturn %c\n"),
              ElementsAre("mm+view view+clamp_min", "result"));
  // Not if something else needs the product.
  EXPECT_THAT(KernelsOf(std::string(kProduct) + "%c = aten::relu(%a)\nreturn %a, %c\n"),
              ElementsAre("mm", "clamp_min", "result"));
}

TEST(FuseCalls, NothingElseIsJoinedWithAProduct) {
  EXPECT_THAT(KernelsOf("input %x: f32[4,8]\nparameter %w: f32[8,4]\n%t = aten::tanh(%x)\n"
                        "%a = aten::mm(%t, %w)\n%b = aten::_softmax(%a, 1, False)\nreturn %b\n"),
              ElementsAre("tanh", "mm", "_softmax", "result"));
}

TEST(FuseCalls, AViewAloneIsNoKernel) {
  EXPECT_THAT(KernelsOf("input %x: f32[4,8]\n%a = aten::t(%x)\n%b = aten::view(%x, [8,4])\n"
                        "%c = aten::mm(%x, %a)\n%d = aten::mm(%c, %x)\nreturn %d, %b\n"),
              ElementsAre("view t", "mm", "mm", "view view", "result"));
}

// RAF compiles two reshapes in a row; one alone is a view.
TEST(FuseCalls, TwoOfRafsReshapesAreAKernel) {
  EXPECT_THAT(KernelsOf("input %x: f32[4,8]\n%a = raf::reshape(%x, [32])\n"
                        "%b = raf::reshape(%a, [8,4])\nreturn %b\n"),
              ElementsAre("view reshape+view reshape", "result"));
  EXPECT_THAT(KernelsOf("input %x: f32[4,8]\n%a = raf::reshape(%x, [32])\nreturn %a\n"),
              ElementsAre("view reshape", "result"));
}

TEST(FuseCalls, AnOverwrittenParameterEndsAKernel) {
  EXPECT_THAT(KernelsOf("input %x: f32[8]\nparameter %w: f32[8]\n%a = aten::mul_.Tensor(%w, %x)\n"
                        "%b = aten::add_.Tensor(%w, %x)\n%c = aten::exp(%w)\nreturn %c\n"),
              ElementsAre("mul_+add_", "exp", "result"));
}

// `tanh` reads the parameter before it is overwritten, `add` the sum after it: one kernel of both
// could run neither before nor after.
TEST(FuseCalls, AKernelDoesNotReachAcrossWhatOverwritesItsOperand) {
  EXPECT_THAT(KernelsOf("input %x: f32[8]\nparameter %w: f32[8]\n%a = aten::tanh(%w)\n"
                        "%b = aten::add_.Tensor(%w, %x)\n%c = aten::_softmax(%b, 0, False)\n"
                        "%d = aten::add.Tensor(%a, %c)\nreturn %d\n"),
              ElementsAre("tanh", "add_", "_softmax", "add", "result"));
}

TEST(FuseCalls, AFieldOfAKernelIsReadInsideTheNext) {
  EXPECT_THAT(KernelsOf("input %x: f32[2,8]\nparameter %w: f32[8]\n"
                        "%n, %mean, %rstd = aten::native_layer_norm(%x, [8], %w, %w, 1e-5)\n"
                        "%a = aten::tanh(%n)\n%b = aten::exp(%a)\nreturn %b\n"),
              ElementsAre("native_layer_norm", "field 0 of native_layer_norm+tanh+exp", "result"));
}

TEST(FuseCalls, AKernelHasAtMost256Operators) {
  std::string text = "input %x: f32[8]\n%v0 = aten::tanh(%x)\n";
  for (int i = 1; i < 300; ++i) {
    text += "%v" + std::to_string(i) + " = aten::tanh(%v" + std::to_string(i - 1) + ")\n";
  }
  const Built built(text + "return %v299\n");
  std::size_t most = 0, steps = 0;
  for (const Step& step : built.Fused()) {
    most = std::max(most, step.calls.size());
    ++steps;
  }
  EXPECT_LE(most, 256u);
  EXPECT_GE(steps, 3u) << "two kernels and the result";
}

TEST(FuseNothing, EveryCallIsAKernel) {
  const Built built("input %x: f32[8]\n%a = aten::tanh(%x)\n%b = aten::exp(%a)\nreturn %b\n");
  EXPECT_THAT(built.Words(built.Unfused()), ElementsAre("tanh", "exp", "result"));
}

}  // namespace
}  // namespace steelyard::graph
