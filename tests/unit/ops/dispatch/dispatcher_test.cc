// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/dispatcher.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "../calls.h"
#include "../programs.h"
#include "ir/text_call.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Dispatcher, CompositesDropTheirVariablesInReverse) {
  // The view of the input, the transposed weight (a temporary of the call), then the result's base.
  EXPECT_THAT(NodesOf("aten::linear(f32[2,3,8], f32[5,8], f32[5])"),
              ElementsAre("view", "t", "addmm", "drop", "_unsafe_view", "drop", "drop"));
}

TEST(Dispatcher, ValuesDieAfterTheirLastUse) {
  const Result<Program> kernels = RunText(
      "program \"chain\"\n"
      "input %x: f32[4]\n"
      "%a: f32[4] = aten::tanh(%x)\n"
      "%b: f32[4] = aten::tanh(%a)\n"
      "%c: f32[4] = aten::add.Tensor(%a, %b)\n"
      "return %c\n");
  ASSERT_TRUE(kernels);
  // Both die at the sum, in the order of its arguments.
  EXPECT_THAT(Names(*kernels),
              ElementsAre("aten::tanh", "aten::tanh", "aten::add.Tensor", kDropMark, kDropMark));
}

TEST(Dispatcher, AnUnusedResultDiesAtOnce) {
  const Result<Program> kernels = RunText(
      "input %x: f32[4]\n"
      "%a: f32[4] = aten::tanh(%x)\n"
      "%b: f32[4] = aten::tanh(%x)\n"
      "return %b\n");
  ASSERT_TRUE(kernels);
  EXPECT_THAT(Names(*kernels), ElementsAre("aten::tanh", kDropMark, "aten::tanh"));
}

TEST(Dispatcher, ANumberForATensorIsBoxed) {
  EXPECT_THAT(NodesOf("aten::add.Tensor(f32[2], 2)"), ElementsAre("box", "add.Tensor", "drop"));
}

TEST(Dispatcher, ADTypeOtherThanTheFilesIsNoted) {
  const Result<Program> kernels = RunText(
      "input %x: f32[4]\n"
      "%a: bf16[4] = aten::tanh(%x)\n"
      "return %a\n");
  ASSERT_TRUE(kernels);
  ASSERT_EQ(kernels->notes.size(), 1u);
  EXPECT_THAT(std::string(kernels->text(kernels->notes[0])),
              HasSubstr("the file says bf16[4], its operands give f32[4]"));
}

TEST(Dispatcher, ACompositeTellsItsPartsWhatTheDataChose) {
  // Three of the eight positions that there could be.
  const Result<Program> kernels = RunText(
      "input %x: f32[2,4]\n"
      "%a: i64[3], %b: i64[3] = aten::where(%x)\n"
      "return %a, %b\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(SizesOfOutput(*kernels), ElementsAre(3));
  EXPECT_TRUE(kernels->notes.empty());
}

TEST(Dispatcher, APartDoesNotTakeTheSizesOfTheWhole) {
  // The loss of [6] is no size of the targets that a mask chooses in it.
  const Result<Program> kernels = RunText(
      "input %x: f32[6,5]\ninput %t: i64[6]\ninput %w: f32[5]\n"
      "%y: f32[] = aten::cross_entropy_loss(%x, %t, %w, label_smoothing=0.1)\n"
      "return %y\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(Notes(*kernels), ElementsAre("aten::masked_select is weighed as if its data chose "
                                           "all that they may"));
}

TEST(Dispatcher, ErrorsNameTheNodeAndItsOperands) {
  const Result<Program> kernels = RunText(
      "input %x: f32[2,3]\n"
      "input %w: f32[4,5]\n"
      "%y: f32[2,4] = aten::linear(%x, %w)\n"
      "return %y\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().where,
              HasSubstr("node \"y\": aten::linear (input=f32[2,3], weight=f32[4,5])"));
  EXPECT_EQ(kernels.error().code, ErrorCode::kInvalidInput);
}

TEST(Dispatcher, OverflowingResultsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::add.Tensor(f32[1000000000,1], f32[1,10000000000])"),
              HasSubstr("too large"));
}

TEST(Dispatcher, TotalsThatDoNotFitAreRefused) {
  // Each of the three fits (4 x 10^18 bytes), their sum does not.
  EXPECT_THAT(RefusalOf("aten::add.Tensor(i8[4000000000000000000], i8[4000000000000000000])"),
              HasSubstr("more than 2^63 bytes in all"));
  EXPECT_THAT(RefusalOf("aten::cat([i8[5000000000000000000], i8[5000000000000000000]])"),
              HasSubstr("more than 2^63 bytes in all"));
}

TEST(Dispatcher, KernelsKnowWhereTheyComeFrom) {
  const Program kernels = KernelsOf("aten::linear(f32[2,3,8], f32[5,8], f32[5])");
  for (const Node& node : kernels.main().nodes) {
    EXPECT_EQ(node.origin, 0u);
    EXPECT_NE(node.frame, 0u);
  }
}

// Steps that compute nothing apart are within one call of the innermost operator of PyTorch.
TEST(Dispatcher, OperatorsWithStepsAreWholeCalls) {
  const Result<Program> kernels = RunText(
      "input %w: f32[10,4]\ninput %i: i64[6]\ninput %o: i64[3]\n"
      "%a = aten::tanh(%w)\n"
      "%b, %c, %d, %e = aten::embedding_bag(%a, %i, %o)\n"
      "return %b\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  ASSERT_EQ(kernels->whole_calls.size(), 1u);
  const WholeCall& whole = kernels->whole_calls[0];
  EXPECT_EQ(kernels->op_name(whole.op), "aten::_embedding_bag_forward_only");
  EXPECT_EQ(whole.first, 1u);
  EXPECT_EQ(whole.outputs.count, 4u);
  EXPECT_EQ(kernels->outputs[whole.outputs.begin], kernels->main().outputs[0].value);
}

// The operators that are one call in what a call becomes.
std::vector<std::string> WholeCallsOf(std::string_view call, const Target& target = {}) {
  const Result<Program> program = ProgramOfCall(call);
  EXPECT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, target).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  std::vector<std::string> out;
  for (const WholeCall& whole : kernels->whole_calls) out.emplace_back(kernels->op_name(whole.op));
  return out;
}

// So are operators whose parts stand for a kernel, or are given numbers that only the data tell.
TEST(Dispatcher, OperatorsWithStandInsAreWholeCalls) {
  EXPECT_THAT(WholeCallsOf("aten::quantile.scalar(f32[2,8], 0.5, 1)"),
              ElementsAre("aten::quantile.scalar"));
  EXPECT_THAT(WholeCallsOf("aten::quantile.scalar(f32[2,3], 0.5, 1)"), IsEmpty());
  EXPECT_THAT(WholeCallsOf("aten::normal.float_Tensor(1.0, f32[8])"),
              ElementsAre("aten::normal.float_Tensor"));
  EXPECT_THAT(WholeCallsOf("aten::trace_backward(f32[], [3,4])"),
              ElementsAre("aten::index_fill_.int_Tensor"));
  EXPECT_THAT(WholeCallsOf("aten::masked_scatter_backward(f32[4], bool[4], [8])"),
              ElementsAre("aten::masked_scatter_backward"));
  EXPECT_THAT(WholeCallsOf("aten::ctc_loss.IntList(f32[9,2,5], i64[2,3], [9,9], [3,3])"),
              IsEmpty());
  EXPECT_THAT(WholeCallsOf("aten::ctc_loss.Tensor(f32[9,2,5], i64[2,3], i64[2], i64[2])"),
              ElementsAre("aten::ctc_loss.Tensor"));
}

TEST(Dispatcher, NormsThatAreOneKernelOfCudaAreAWholeCall) {
  const std::string_view norms = "aten::_foreach_norm.Scalar([f32[4], f32[2,3]])";
  EXPECT_THAT(WholeCallsOf(norms, {.device = Device::kCuda}),
              ElementsAre("aten::_foreach_norm.Scalar"));
  EXPECT_THAT(WholeCallsOf(norms), IsEmpty());
}

// Autograd keeps the places, which the operator makes itself and does not return.
TEST(Dispatcher, WhatAutogradSeesThePartsOfIsNoWholeCall) {
  const Result<Program> forward =
      RunText("input %x: f32[4]\n%a = aten::combinations(%x)\nreturn %a\n");
  ASSERT_TRUE(forward) << Describe(forward.error());
  EXPECT_EQ(forward->whole_calls.size(), 1u);
  const Result<Program> step = RunText(
      "parameter %x: f32[4]\n%a = aten::combinations(%x)\n%l = aten::sum(%a)\n"
      "steelyard::backward(%l)\nreturn %l\n");
  ASSERT_TRUE(step) << Describe(step.error());
  EXPECT_TRUE(step->whole_calls.empty());
}

}  // namespace
}  // namespace steelyard
