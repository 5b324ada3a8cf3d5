// SPDX-License-Identifier: Apache-2.0
#include "pass/arguments.h"

#include <gtest/gtest.h>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

// Where the parameter stands in a call of dropout(input, p, train).
std::optional<std::size_t> PlaceIn(std::string_view call, std::string_view name) {
  const std::string text = "input %x: f32[4]\n%a: f32[4] = " + std::string(call) + "\nreturn %a\n";
  const Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  const OpDef* def = FindOp("aten::dropout");
  return ArgumentNamed(*program, program->main().nodes[0], *def, name);
}

TEST(ArgumentsTest, AreFoundByPositionAndByName) {
  EXPECT_EQ(PlaceIn("aten::dropout(%x, 0.1, True)", "train"), 2u);
  EXPECT_EQ(PlaceIn("aten::dropout(%x, train=True, p=0.1)", "train"), 1u);
  EXPECT_EQ(PlaceIn("aten::dropout(%x, train=True, p=0.1)", "p"), 2u);
}

TEST(ArgumentsTest, AreNotThereWhereNobodyGaveThem) {
  EXPECT_EQ(PlaceIn("aten::dropout(%x, 0.1)", "train"), std::nullopt);
  EXPECT_EQ(PlaceIn("aten::dropout(%x, 0.1, True)", "training"), std::nullopt);
}

}  // namespace
}  // namespace steelyard
