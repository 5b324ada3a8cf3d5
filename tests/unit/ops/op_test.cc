// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <set>

#include "calls.h"
#include "ops/op_def.h"

namespace steelyard {
namespace {

TEST(Count, RemembersOverflow) {
  EXPECT_EQ((Count(1'000'000'000) * 1'000'000'000).value(), 1'000'000'000'000'000'000);
  EXPECT_TRUE((Count(INT64_MAX) + 1).overflowed());
  EXPECT_TRUE((Count(INT64_MAX) * 2 * 0).overflowed());
}

TEST(Signature, ReadsPyTorchsSchema) {
  constexpr Signature s(
      "(Tensor(a!) self, int dim=-1, int[2] pad=[0, 1], *, ScalarType? dtype=None) -> (Tensor(a!), "
      "Tensor b)");
  static_assert(s.params().size() == 4 && s.returns() == 2);
  static_assert(s.params()[0].written && s.params()[2].list && s.params()[3].optional);
  static_assert(s.params()[2].default_text == "[0, 1]" && s.IndexOf("pad") == 2 &&
                s.IndexOf("none") == -1);
  constexpr Signature list("(Tensor(a -> *) self) -> Tensor(a)[]");
  static_assert(list.returns() == -1);
}

TEST(OpDef, LabelsLeaveTheOverloadOut) {
  EXPECT_EQ(FindOp("aten::transpose.int")->label(), "aten::transpose");
  EXPECT_EQ(FindOp("aten::view")->label(), "aten::view");
}

TEST(OpView, ReadsAreChecked) {
  Program program;
  const Argument args[] = {Argument::OfFloat(2.5), Argument::None()};
  const OpView op(program, *FindOp("aten::t"), args, {});
  EXPECT_EQ(op.integer(0), 2);
  EXPECT_DOUBLE_EQ(op.real(0), 2.5);
  EXPECT_EQ(op.integer(1, 7), 7);
  EXPECT_FALSE(op.given(2));
  EXPECT_THROW((void)op.tensor(0), RuleError);
  EXPECT_THROW((void)op.dim(0, 2), RuleError);
}

}  // namespace
}  // namespace steelyard
