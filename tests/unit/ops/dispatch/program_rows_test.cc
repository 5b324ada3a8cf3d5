// SPDX-License-Identifier: Apache-2.0
#include "ops/dispatch/program_rows.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(ProgramRows, AreByTheNumbersOfTheOperators) {
  Program program;
  const OpId relu = program.AddOpName("aten::relu");
  const OpId own = program.AddOpName("mine::secret");
  const std::vector<const OpDef*> rows = RowsOf(program);
  ASSERT_EQ(rows.size(), program.op_names.size());
  EXPECT_EQ(rows[relu], FindOp("aten::relu"));
  EXPECT_EQ(rows[own], nullptr);
}

}  // namespace
}  // namespace steelyard
