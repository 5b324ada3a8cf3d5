// SPDX-License-Identifier: Apache-2.0

#include "pass/module_span.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kHead =
    "module \"\": Net\nmodule a: Block\nmodule a.up: Linear\nmodule b: Block\n"
    "parameter %v: f32[8,8] \"a.up.weight\"\ninput %x: f32[2,8]\n";

Program Parsed(std::string_view body) {
  return ParseText(std::string(kHead) + std::string(body), "").value();
}

std::vector<std::string_view> Names(const Program& program, const std::vector<ValueId>& values) {
  std::vector<std::string_view> names;
  for (const ValueId id : values) names.push_back(program.text(program.values[id].name));
  return names;
}

TEST(ModuleSpan, TellsWhatComesAndGoes) {
  const Program program = Parsed(
      "%h: f32[2,8] = aten::relu(%x) in b\n%u: f32[2,8] = aten::linear(%h, %v) in a.up\n"
      "%s: f32[2,8] = aten::add.Tensor(%u, %x) in a\n%y: f32[2,8] = aten::relu(%s) in b\n"
      "return %y\n");
  const auto span = SpanOf(program, 1);
  ASSERT_TRUE(span);
  EXPECT_EQ(span->first, 1u);
  EXPECT_EQ(span->last, 2u);
  EXPECT_THAT(Names(program, span->taken), ElementsAre("h", "x"));
  EXPECT_THAT(Names(program, span->given), ElementsAre("s"));
  EXPECT_TRUE(IsInModule(program, 2, 1));
  EXPECT_FALSE(IsInModule(program, 3, 1));
}

TEST(ModuleSpan, SeveralPiecesAreNone) {
  const Program program = Parsed(
      "%h: f32[2,8] = aten::relu(%x) in b\n%u: f32[2,8] = aten::linear(%h, %v) in a.up\n"
      "%y: f32[2,8] = aten::relu(%u) in b\nreturn %y\n");
  EXPECT_FALSE(SpanOf(program, 3));
  EXPECT_FALSE(SpanOf(Parsed("%y: f32[2,8] = aten::relu(%x)\nreturn %y\n"), 1)) << "never runs";
}

}  // namespace
}  // namespace steelyard
