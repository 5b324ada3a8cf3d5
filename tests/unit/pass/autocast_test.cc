// SPDX-License-Identifier: Apache-2.0

#include "pass/autocast.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

Program OneProduct() {
  return ParseText(
             "parameter %w: f32[4,4] \"w\"\ninput %x: f32[4,4]\n"
             "%y = aten::mm(%x, %w)\nreturn %y\n",
             "")
      .value();
}

std::vector<std::string> CallsOf(const Program& program) {
  std::vector<std::string> out;
  for (const Node& node : program.main().nodes) out.emplace_back(program.op_name(node.op));
  return out;
}

TEST(InsertAutocast, TheProgramRunsInARegion) {
  const Result<Program> program = InsertAutocast(OneProduct(), {.dtype = DType::kBFloat16});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_THAT(CallsOf(*program),
              ElementsAre("steelyard::enter_autocast", "aten::mm", "steelyard::leave_autocast"));
}

TEST(InsertAutocast, WithoutADTypeNothingChanges) {
  EXPECT_THAT(CallsOf(InsertAutocast(OneProduct(), {}).value()), ElementsAre("aten::mm"));
}

TEST(InsertAutocast, AnOverrideSpeaksOfAllOverloads) {
  const Result<Program> program =
      InsertAutocast(OneProduct(), {.dtype = DType::kBFloat16, .casts = {{.of = "aten::pow"}}});
  ASSERT_TRUE(program) << Describe(program.error());
  // Scalar, Tensor_Scalar and Tensor_Tensor.
  EXPECT_THAT(CallsOf(*program),
              ElementsAre("steelyard::cast_operator", "steelyard::cast_operator",
                          "steelyard::cast_operator", "steelyard::enter_autocast", "aten::mm",
                          "steelyard::leave_autocast"));
}

TEST(InsertAutocast, AnOverrideNamesSomething) {
  for (const char* name : {"aten::sofmax", "encoder"}) {
    const Result<Program> program =
        InsertAutocast(OneProduct(), {.dtype = DType::kBFloat16, .casts = {{.of = name}}});
    ASSERT_FALSE(program) << name;
    EXPECT_EQ(program.error().code, ErrorCode::kNotFound);
    EXPECT_EQ(program.error().where, "--cast");
  }
}

TEST(InsertAutocast, OverridesAreOfARegion) {
  const Result<Program> program = InsertAutocast(OneProduct(), {.casts = {{.of = "aten::mm"}}});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace steelyard
