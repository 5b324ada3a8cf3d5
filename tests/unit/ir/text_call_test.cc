// SPDX-License-Identifier: Apache-2.0
#include "ir/text_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

namespace steelyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Program Parsed(std::string_view call) {
  Result<Program> program = ProgramOfCall(call);
  EXPECT_TRUE(program) << call << ": " << (program ? "" : Describe(program.error()));
  return program ? *std::move(program) : Program();
}

std::span<const Argument> ArgumentsOf(const Program& program) {
  return program.args(program.main().nodes[0]);
}

std::string ErrorOf(std::string_view call) {
  const Result<Program> program = ProgramOfCall(call);
  return program ? "no error" : Describe(program.error());
}

TEST(ProgramOfCall, IsOneNode) {
  const Program program = Parsed("aten::t(f32[2,8])");
  ASSERT_EQ(program.main().nodes.size(), 1u);
  EXPECT_EQ(program.op_name(program.main().nodes[0].op), "aten::t");
  EXPECT_EQ(program.text(program.name), "aten::t");
}

TEST(ProgramOfCall, MakesTensorsInputsInOrder) {
  const Program program = Parsed("aten::linear(f32[2,3,8], bf16[5,8], bias=i64[])");
  ASSERT_EQ(program.main().inputs.size(), 3u);
  EXPECT_EQ(program.inputs, program.main().inputs);
  const std::span<const Argument> args = ArgumentsOf(program);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(args[i].value, program.inputs[i]);
  EXPECT_THAT(program.sizes(program.inputs[0]), ElementsAre(2, 3, 8));
  EXPECT_THAT(program.strides(program.inputs[0]), ElementsAre(3 * 8, 8, 1));
  EXPECT_EQ(program.values[program.inputs[1]].dtype, DType::kBFloat16);
  EXPECT_EQ(program.values[program.inputs[2]].rank, 0);
  EXPECT_EQ(program.values[program.inputs[2]].role, Role::kInput);
  EXPECT_EQ(program.text(args[2].name), "bias");
}

TEST(ProgramOfCall, TakesStrides) {
  const Program program = Parsed("aten::clone(f32[3,4]{1,3})");
  EXPECT_THAT(program.strides(program.inputs[0]), ElementsAre(1, 3));
}

TEST(ProgramOfCall, TensorsShareNoStorage) {
  const Program program = Parsed("aten::add.Tensor(f32[2], f32[2])");
  EXPECT_NE(program.values[program.inputs[0]].storage, program.values[program.inputs[1]].storage);
}

TEST(ProgramOfCall, ReadsEveryKindOfArgument) {
  const Program program =
      Parsed("aten::f(None, True, -3, 1e-05, 'mean', \"sum\", bf16, flag=False)");
  const std::span<const Argument> args = ArgumentsOf(program);
  ASSERT_EQ(args.size(), 8u);
  EXPECT_EQ(args[0].kind, ArgKind::kNone);
  EXPECT_EQ(args[1].kind, ArgKind::kBool);
  EXPECT_EQ(args[2].dim.number(), -3);
  EXPECT_DOUBLE_EQ(args[3].real, 1e-05);
  EXPECT_EQ(program.text(args[4].text), "mean");
  EXPECT_EQ(program.text(args[5].text), "sum");
  EXPECT_EQ(args[6].dtype, DType::kBFloat16);
  EXPECT_EQ(args[7].dim.number(), 0);
  EXPECT_EQ(program.text(args[7].name), "flag");
}

TEST(ProgramOfCall, ReadsListsOfNumbersAndOfTensors) {
  const Program program = Parsed("aten::cat([f32[2], f32[3]], [0, -1], [])");
  const std::span<const Argument> args = ArgumentsOf(program);
  const std::span<const Argument> tensors = program.list(args[0].list);
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[1].value, program.inputs[1]);
  EXPECT_EQ(program.list(args[1].list)[1].dim.number(), -1);
  EXPECT_EQ(args[2].list.count, 0u);
}

TEST(ProgramOfCall, LeavesResultsToTheRule) {
  const Program program = Parsed("aten::t(f32[2,8])");
  EXPECT_EQ(program.main().outputs.size(), static_cast<std::size_t>(kMaxCallOutputs));
  for (ValueId id : program.results(program.main().nodes[0])) {
    EXPECT_FALSE(program.values[id].has_layout);
  }
}

TEST(ProgramOfCall, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("expected an operator"));
  EXPECT_THAT(ErrorOf("aten::t f32[2]"), HasSubstr("expected '(' after the operator's name"));
  EXPECT_THAT(ErrorOf("aten::t(f32[2)"), HasSubstr("call:1:14"));
  EXPECT_THAT(ErrorOf("aten::t(f32[2,8]{1})"), HasSubstr("2 sizes but 1 strides"));
  EXPECT_THAT(ErrorOf("aten::t(f32[2,-8])"), HasSubstr("negative"));
  EXPECT_THAT(ErrorOf("aten::t(f32[9223372036854775807,8])"), HasSubstr("63 bits"));
  EXPECT_THAT(ErrorOf("aten::t(f32[n])"), HasSubstr("n"));
  EXPECT_THAT(ErrorOf("aten::t(%x)"), HasSubstr("x"));
  EXPECT_THAT(ErrorOf("aten::t(f32[2]) aten::t(f32[2])"), HasSubstr("expected one call"));
  EXPECT_THAT(ErrorOf(std::string(kMaxCallOutputs * 10, '[')), HasSubstr("expected an operator"));
  EXPECT_THAT(ErrorOf("aten::cat(" + std::string(300, '[')), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace steelyard
