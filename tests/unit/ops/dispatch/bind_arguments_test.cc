// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/bind_arguments.h"

#include <gmock/gmock.h>

#include "../calls.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(BindArguments, NamesMayComeInAnyOrder) {
  EXPECT_EQ(ResultOf("aten::transpose.int(f32[2,3,4], dim1=0, dim0=2)"), "f32[4,3,2]{1,4,12}");
}

TEST(BindArguments, DefaultsComeFromTheSignature) {
  Program program;
  const OpDef* def = FindOp("aten::slice.Tensor");
  ASSERT_NE(def, nullptr);
  const ValueId x = program.AddTensor(kNoString, DType::kFloat32, Dims{4}, Dims{1});
  const Argument given[] = {Argument::OfValue(x)};
  BoundArguments bound;
  BindArguments(program, *def, given, bound);
  EXPECT_EQ(bound[1].dim.number(), 0);       // dim=0
  EXPECT_EQ(bound[2].kind, ArgKind::kNone);  // start=None
  EXPECT_EQ(bound[4].dim.number(), 1);       // step=1
}

TEST(BindArguments, RefusesWhatTheOperatorDoesNotHave) {
  EXPECT_THAT(RefusalOf("aten::t(f32[2,3], speed=1)"), HasSubstr("has no argument \"speed\""));
  EXPECT_THAT(RefusalOf("aten::t(f32[2,3], 1)"), HasSubstr("takes 1 arguments"));
  EXPECT_THAT(RefusalOf("aten::transpose.int(f32[2,3], 0)"), HasSubstr("\"dim1\" is missing"));
  EXPECT_THAT(RefusalOf("aten::t([1])"), HasSubstr("must be a tensor"));
  EXPECT_THAT(RefusalOf("aten::transpose.int(f32[2,3], 0, dim0=1)"), HasSubstr("given twice"));
}

}  // namespace
}  // namespace steelyard
