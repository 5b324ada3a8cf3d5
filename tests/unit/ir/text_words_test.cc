// SPDX-License-Identifier: Apache-2.0
#include "ir/text_words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace steelyard {
namespace {

TEST(PlainText, IsWhatTheReaderTakesWithoutQuotes) {
  EXPECT_TRUE(IsPlainWord("s70"));
  EXPECT_FALSE(IsPlainWord("70"));
  EXPECT_FALSE(IsPlainWord("a.b"));
  EXPECT_TRUE(IsPlainName("relu_1.out"));
  EXPECT_FALSE(IsPlainName("1"));
  EXPECT_FALSE(IsPlainName(""));
  EXPECT_TRUE(IsPlainPath("0.encoder"));
  EXPECT_FALSE(IsPlainPath("a-b"));
}

TEST(PlainText, OperatorsHaveNamespacesAndAreNoStatements) {
  EXPECT_TRUE(IsPlainOpName("aten::add.Tensor"));
  EXPECT_TRUE(IsPlainOpName("sink"));
  EXPECT_FALSE(IsPlainOpName("aten:add"));
  EXPECT_FALSE(IsPlainOpName("aten::"));
  EXPECT_FALSE(IsPlainOpName("return"));
  EXPECT_FALSE(IsPlainOpName("graph"));
  EXPECT_FALSE(IsPlainOpName("None"));
  EXPECT_FALSE(IsPlainOpName("<built-in function getitem>"));
}

TEST(Words, OfRolesPhasesAndKindsReadBack) {
  for (int i = 0; i <= static_cast<int>(Role::kOutput); ++i) {
    const auto role = static_cast<Role>(i);
    EXPECT_EQ(RoleNamed(WordOf(role)), role);
  }
  for (int i = 0; i <= static_cast<int>(Phase::kOptimizer); ++i) {
    const auto phase = static_cast<Phase>(i);
    EXPECT_EQ(PhaseNamed(WordOf(phase)), phase);
  }
  for (auto kind : {ValueKind::kInt, ValueKind::kFloat, ValueKind::kBool, ValueKind::kOther}) {
    EXPECT_EQ(ScalarKindNamed(WordOf(kind)), kind);
  }
  EXPECT_EQ(ScalarKindNamed(WordOf(ValueKind::kTensor)), std::nullopt);
}

TEST(AppendQuoted, EscapesWhatWouldEndOrHideTheString) {
  std::string out;
  AppendQuoted(std::string_view("a\"\\\n\t\0\x7f", 7), out);
  EXPECT_EQ(out, R"("a\"\\\n\t\x00\x7f")");
}

TEST(AppendReal, IsShortAndNeverLooksLikeAnInteger) {
  const auto text = [](double real) {
    std::string out;
    AppendReal(real, out);
    return out;
  };
  EXPECT_EQ(text(1.0), "1.0");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(1e22), "1e+22");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(text(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(NearestModule, IsTheLongestDottedPrefix) {
  StringTable strings;
  ModulesByPath modules = {{strings.Intern(""), 0},
                           {strings.Intern("encoder"), 1},
                           {strings.Intern("encoder.layer.0"), 2}};
  const auto nearest = [&](std::string_view path) {
    return NearestModule(strings, modules, strings.Intern(path));
  };
  EXPECT_EQ(nearest("encoder.layer.0.attention.self"), 2u);
  EXPECT_EQ(nearest("encoder.layer.1"), 1u);
  EXPECT_EQ(nearest("encoders.layer"), 0u);
  EXPECT_EQ(nearest("encoder"), 0u);
}

}  // namespace
}  // namespace steelyard
