// SPDX-License-Identifier: Apache-2.0
//
// Calls are told apart by all that a rule can see of them.

#include "ops/dispatch/known_kernels.h"

#include <gtest/gtest.h>

#include <vector>

#include "ops/registry.h"

namespace steelyard {
namespace {

class Calls {
 public:
  ValueId Tensor(const Dims& sizes, const Dims& strides, DType dtype = DType::kFloat32) {
    const ValueId id = program_.AddTensor(kNoString, dtype, sizes, strides);
    program_.values[id].dims = kernels_.Intern(sizes, strides);
    return id;
  }
  Argument List(std::vector<Argument> elements) {
    return Argument::OfList(program_.AddArguments(elements));
  }
  // Whether the call was known; it is afterwards, if it can be.
  bool Knows(OpName op, const std::vector<Argument>& args) {
    if (kernels_.Find(*FindOp(op), args) != kNoId) return true;
    const KnownKernels::Result result{.rank = 2};
    kernels_.Add({&result, 1}, 0);
    return false;
  }
  Program& program() { return program_; }
  KnownKernels& kernels() { return kernels_; }

 private:
  Program program_;
  KnownKernels kernels_{program_};
};

TEST(KnownKernels, EqualLayoutsAreTheSameCall) {
  Calls calls;
  const auto add = [&](ValueId a, ValueId b) {
    return calls.Knows("aten::add.Tensor",
                       {Argument::OfValue(a), Argument::OfValue(b), Argument::OfInt(1)});
  };
  const ValueId a = calls.Tensor({4, 8}, {8, 1}), b = calls.Tensor({4, 8}, {8, 1});
  const ValueId turned = calls.Tensor({4, 8}, {1, 4}), wide = calls.Tensor({4, 8}, {16, 1});
  EXPECT_FALSE(add(a, a));
  EXPECT_TRUE(add(a, b));
  EXPECT_TRUE(add(b, a));
  EXPECT_FALSE(add(a, turned));
  EXPECT_FALSE(add(a, wide));
  EXPECT_FALSE(add(a, calls.Tensor({4, 8}, {8, 1}, DType::kFloat64)));
  EXPECT_TRUE(add(b, turned));
}

TEST(KnownKernels, WhatATensorStandsForTellsCallsApart) {
  Calls calls;
  const auto exp = [&](ValueId id) { return calls.Knows("aten::exp", {Argument::OfValue(id)}); };
  EXPECT_FALSE(exp(calls.Tensor({}, {})));
  for (bool Value::*flag :
       {&Value::wrapped_number, &Value::conjugated, &Value::negated, &Value::on_host}) {
    const ValueId id = calls.Tensor({}, {});
    calls.program().values[id].*flag = true;
    EXPECT_FALSE(exp(id));
    EXPECT_TRUE(exp(id));
  }
  EXPECT_TRUE(exp(calls.Tensor({}, {})));
}

TEST(KnownKernels, OperatorsNumbersAndListsTellCallsApart) {
  Calls calls;
  const Argument x = Argument::OfValue(calls.Tensor({4, 8}, {8, 1}));
  const auto one = Argument::OfInt(1), two = Argument::OfInt(2);
  EXPECT_FALSE(calls.Knows("aten::sum.dim_IntList", {x, calls.List({one}), one}));
  EXPECT_TRUE(calls.Knows("aten::sum.dim_IntList", {x, calls.List({one}), one}));
  EXPECT_FALSE(calls.Knows("aten::mean.dim", {x, calls.List({one}), one}));
  EXPECT_FALSE(calls.Knows("aten::sum.dim_IntList", {x, calls.List({two}), one}));
  EXPECT_FALSE(calls.Knows("aten::sum.dim_IntList", {x, calls.List({one, one})}));
  EXPECT_FALSE(
      calls.Knows("aten::sum.dim_IntList", {x, calls.List({one}), Argument::OfBool(true)}));
  EXPECT_FALSE(calls.Knows("aten::sum.dim_IntList", {x, calls.List({one}), Argument::OfFloat(1)}));
  EXPECT_FALSE(calls.Knows("aten::sum.dim_IntList", {x, calls.List({one}), Argument::None()}));
}

TEST(KnownKernels, GraphsAreNeverKnown) {
  Calls calls;
  EXPECT_FALSE(calls.Knows("aten::exp", {Argument::OfGraph(0)}));
  EXPECT_FALSE(calls.Knows("aten::exp", {Argument::OfGraph(0)}));
}

TEST(KnownKernels, TellWhatWasSaidOfThem) {
  Calls calls;
  const std::vector<Argument> args{Argument::OfValue(calls.Tensor({4, 8}, {8, 1}))};
  constexpr int kMany = 1000;  // the tables grow
  for (int i = 0; i < kMany; ++i) {
    const std::vector<Argument> call{args[0], Argument::OfInt(i)};
    ASSERT_EQ(calls.kernels().Find(*FindOp("aten::exp"), call), kNoId);
    const std::vector<KnownKernels::Result> results(static_cast<std::size_t>(i % 3),
                                                    {.dims = static_cast<std::uint32_t>(i)});
    calls.kernels().Add(results, i);
  }
  for (int i = 0; i < kMany; ++i) {
    const std::vector<Argument> call{args[0], Argument::OfInt(i)};
    const KernelId kernel = calls.kernels().Find(*FindOp("aten::exp"), call);
    ASSERT_NE(kernel, kNoId);
    EXPECT_EQ(calls.kernels().bytes(kernel), Count(i));
    EXPECT_EQ(calls.kernels().results(kernel).size(), static_cast<std::size_t>(i % 3));
  }
}

}  // namespace
}  // namespace steelyard
