// SPDX-License-Identifier: Apache-2.0

#include "ir/whole_calls.h"

#include <gmock/gmock.h>

#include <array>
#include <string_view>

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// x, then %0 = step(x), %1 = step(%0), and `last` of one of these; the first two are one call of
// aten::whole, which gives %1.
class Steps {
 public:
  explicit Steps(ValueId last_operand) {
    const ValueId x = Tensor();
    first_ = Add("steelyard::step", x, true);
    second_ = Add("steelyard::step", first_, true);
    Add("aten::last", last_operand == 0 ? first_ : second_, true);
    const std::array given{Argument::OfValue(x)};
    const std::array results{second_};
    program_.whole_calls.push_back({.first = 0,
                                    .count = 2,
                                    .op = program_.AddOpName("aten::whole"),
                                    .arguments = program_.AddArguments(given),
                                    .outputs = program_.AddOutputs(results)});
  }

  // Lets a value go within the call, or after it.
  void Drop(ValueId id, bool within) {
    Add(kDropMark, id, false);
    if (!within) return;
    std::swap(program_.main().nodes.back(), program_.main().nodes[2]);
    ++program_.whole_calls[0].count;
  }

  Program& program() { return program_; }
  ValueId x() const { return 0; }
  ValueId first() const { return first_; }

 private:
  ValueId Tensor() { return program_.AddTensor(kNoString, DType::kFloat32, {}, {}); }
  ValueId Add(std::string_view op, ValueId operand, bool gives) {
    const std::array given{Argument::OfValue(operand)};
    Node node;
    node.op = program_.AddOpName(op);
    node.arguments = program_.AddArguments(given);
    const std::array results{gives ? Tensor() : kNoId};
    node.outputs = program_.AddOutputs(std::span(results).first(gives ? 1 : 0));
    program_.main().nodes.push_back(node);
    return results[0];
  }

  Program program_;
  ValueId first_ = kNoId, second_ = kNoId;
};

TEST(WholeCalls, NodesKnowTheirCall) {
  Steps steps(1);
  const Program& program = steps.program();
  EXPECT_EQ(program.whole_call(1), program.whole_calls.data());
  EXPECT_EQ(program.whole_call(2), nullptr);
  EXPECT_EQ(program.op_name(program.op_at(1)), "aten::whole");
  EXPECT_EQ(program.op_name(program.op_at(2)), "aten::last");
}

TEST(WholeCalls, AreOneNodeEach) {
  Steps steps(1);
  FoldWholeCalls(steps.program());
  const Program& program = steps.program();
  ASSERT_THAT(program.main().nodes, SizeIs(2));
  EXPECT_EQ(program.op_name(program.main().nodes[0].op), "aten::whole");
  EXPECT_EQ(program.args(program.main().nodes[0])[0].value, steps.x());
  EXPECT_THAT(program.whole_calls, IsEmpty());
}

TEST(WholeCalls, WhatComesFromBeforeIsLetGoWhereItWas) {
  Steps of_before(1), of_within(1);
  of_before.Drop(of_before.x(), true);
  of_within.Drop(of_within.first(), true);
  EXPECT_THAT(InWholeCalls(of_before.program()), ElementsAre(true, true, false, false));
  EXPECT_THAT(InWholeCalls(of_within.program()), ElementsAre(true, true, true, false));
}

// As what autograd keeps of a part.
TEST(WholeCalls, AreForgottenWhereAPartIsUsedAfterwards) {
  Steps closed(1), open(0);
  KeepClosedCalls(closed.program());
  KeepClosedCalls(open.program());
  EXPECT_THAT(closed.program().whole_calls, SizeIs(1));
  EXPECT_THAT(open.program().whole_calls, IsEmpty());
}

TEST(WholeCalls, LettingAPartGoAfterwardsIsNoUse) {
  Steps steps(1);
  steps.Drop(steps.first(), false);
  KeepClosedCalls(steps.program());
  EXPECT_THAT(steps.program().whole_calls, SizeIs(1));
}

}  // namespace
}  // namespace steelyard
