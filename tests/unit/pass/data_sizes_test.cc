// SPDX-License-Identifier: Apache-2.0
#include "pass/data_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What is assumed in a program: the notes, or the error.
std::vector<std::string> Assumed(std::string_view text) {
  const Result<Program> program = ParseText(text, "");
  if (!program) return {Describe(program.error())};
  SizeSolver solver(*program);
  solver.TakeExamples();
  DataSizes sizes(*program, solver);
  sizes.Assume();
  if (Status status = solver.Finish(); !status) return {Describe(status.error())};
  return sizes.Notes();
}

TEST(DataSizes, ARowKnowsTheMostThatItsResultCanBe) {
  EXPECT_THAT(Assumed("symbol u0\nsymbol s = 3\ninput %x: f32[s,8]\n"
                      "%y: i64[u0,2]{1,u0} = aten::nonzero(%x) at \"model.py\":7\nreturn %y\n"),
              ElementsAre("u0 = 24 is assumed, the most that aten::nonzero (model.py:7) can give; "
                          "--size u0=N sets it"));
}

TEST(DataSizes, AFileMayAllowLess) {
  EXPECT_THAT(Assumed("symbol u0: 0..5\ninput %x: f32[3,8]\n"
                      "%y: i64[u0,2]{1,u0} = aten::nonzero(%x)\nreturn %y\n"),
              ElementsAre("u0 = 5 is assumed, the most that the file allows for aten::nonzero; "
                          "--size u0=N sets it"));
  EXPECT_THAT(Assumed("symbol u0: 30..50\ninput %x: f32[3,8]\n"
                      "%y: i64[u0,2]{1,u0} = aten::nonzero(%x)\nreturn %y\n"),
              ElementsAre(HasSubstr("u0 = 24 is outside the model's range of 30 to 50")));
}

TEST(DataSizes, OneChoiceIsTheOperandOfTheNext) {
  // 8 positions of the mask, then as many rows of 2 numbers.
  EXPECT_THAT(
      Assumed("symbol u0\nsymbol u1\ninput %x: f32[8]\ninput %t: f32[8,2]\n"
              "%i: i64[u0] = aten::where(%x)\n"
              "%r: f32[u0,2] = aten::index.Tensor(%t, [%i])\n"
              "%b: bool[u0,2] = aten::gt.Scalar(%r, 0)\n"
              "%z: f32[u1] = aten::masked_select(%r, %b)\nreturn %z\n"),
      ElementsAre(HasSubstr("u0 = 8 is assumed, the most that aten::where can give"),
                  HasSubstr("u1 = 16 is assumed, the most that aten::masked_select can give")));
}

TEST(DataSizes, ANumberIsBoundByTheFileOnly) {
  constexpr std::string_view kItem =
      "input %n: i64[]\n%k: int(u0) = aten::item(%n)\n"
      "%y: f32[u0,4] = aten::zeros([%k, 4])\nreturn %y\n";
  EXPECT_THAT(Assumed("symbol u0: 0..6\n" + std::string(kItem)),
              ElementsAre(HasSubstr("u0 = 6 is assumed, the most that the file allows for "
                                    "aten::item")));
  EXPECT_THAT(Assumed("symbol u0\n" + std::string(kItem)), IsEmpty());
}

TEST(DataSizes, NumbersThatAreNoSizesAreLeftAlone) {
  EXPECT_THAT(Assumed("symbol u0: 0..6\ninput %n: i64[]\ninput %x: f32[8]\n"
                      "%k: int(u0) = aten::item(%n)\n"
                      "%y: f32[8] = aten::mul.Tensor(%x, %k)\nreturn %y\n"),
              IsEmpty());
}

TEST(DataSizes, SizesOfInputsAreNotAssumed) {
  EXPECT_THAT(Assumed("symbol n: 1..64\ninput %x: f32[n,8]\n"
                      "%y: f32[n,8] = aten::relu(%x)\nreturn %y\n"),
              IsEmpty());
}

TEST(DataSizes, WhatFollowsFromOperandsIsNotAssumed) {
  // A slice to the end: as long as its operand.
  EXPECT_THAT(Assumed("symbol u0\ninput %x: f32[8,2]\n"
                      "%y: f32[u0,2] = aten::slice.Tensor(%x, 0, 3)\nreturn %y\n"),
              IsEmpty());
}

TEST(DataSizes, ManyOfOneKindAreOneNote) {
  std::string text;
  for (int i = 0; i < 4; ++i) text += "symbol u" + std::to_string(i) + "\n";
  text += "input %x: f32[4]\n";
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    text.append("%y").append(n).append(": i64[u").append(n).append("] = aten::where(%x)\n");
  }
  EXPECT_THAT(Assumed(text),
              ElementsAre("u0 = 4, u1 = 4, u2 = 4 and 1 more are assumed, the most that "
                          "aten::where can give; --size u0=N sets one, --size 'u*=N' all"));
}

}  // namespace
}  // namespace steelyard
