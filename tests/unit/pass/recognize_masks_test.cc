// SPDX-License-Identifier: Apache-2.0
#include "pass/recognize_masks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/text_printer.h"
#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A line of a library that makes masks, one that does not, and a model's own, which is called so.
constexpr std::string_view kLines =
    "source 0: \"transformers/t5.py\":1 forward \"mask = create_bidirectional_mask(\"\n"
    "source 1: \"transformers/t5.py\":2 forward \"keep = x > 0\"\n"
    "source 2: \"model.py\":3 forward \"bias = my_mask(x)\"\n";

Program Recognized(std::string_view mask, std::string_view key = "%k",
                   std::string_view lines = "") {
  const std::string text =
      std::string(lines) + "input %q: f32[2,4,8,16]\ninput %k: f32[2,4,8,16]\n" +
      std::string(mask) + "%o: f32[2,4,8,16] = aten::scaled_dot_product_attention(%q, " +
      std::string(key) + ", " + std::string(key) + ", %m)\nreturn %o\n";
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  Result<Program> out = RecognizeMasks(*std::move(program));
  EXPECT_TRUE(out);
  return *std::move(out);
}

TEST(RecognizeMasks, OneThatHidesWhatComesLaterIsCausal) {
  const Program p = Recognized(R"(%i: i64[8] = aten::arange(8)
%j: i64[8,1] = aten::unsqueeze(%i, 1)
%m: bool[8,8] = aten::le.Tensor(%i, %j)
)");
  const std::string text = Print(p);
  EXPECT_THAT(text, HasSubstr("is_causal=True"));
  EXPECT_THAT(text, Not(HasSubstr("arange"))) << "nothing needs it any more";
  ASSERT_EQ(p.notes.size(), 1u);
  EXPECT_THAT(std::string(p.text(p.notes[0])), HasSubstr("1 of 1 calls of attention"));
}

TEST(RecognizeMasks, OneThatHidesNothingIsNone) {
  const std::string text = Print(Recognized("%m: bool[8,8] = aten::ones([8,8], dtype=bool)\n"));
  EXPECT_THAT(text, HasSubstr("aten::scaled_dot_product_attention(%q, %k, %k, None)"));
}

TEST(RecognizeMasks, OthersStay) {
  // A window, and one that an input decides.
  const Program window = Recognized(R"(%i: i64[8] = aten::arange(8)
%j: i64[8,1] = aten::unsqueeze(%i, 1)
%d: i64[8,8] = aten::sub.Tensor(%j, %i)
%m: bool[8,8] = aten::le.Scalar(%d, 2)
)");
  EXPECT_THAT(window.notes, IsEmpty());
  EXPECT_THAT(Print(window), HasSubstr("%m)"));
  const Program given = Recognized(
      "%s: f32[8,8] = aten::select.int(%q, 0, 0)\n"
      "%m: bool[8,8] = aten::gt.Scalar(%s, 0)\n");
  EXPECT_THAT(given.notes, IsEmpty());
}

TEST(RecognizeMasks, HeadsThatWereRepeatedAreShared) {
  const std::string text = Print(Recognized(R"(%h: f32[2,2,8,16] = aten::narrow(%k, 1, 0, 2)
%u: f32[2,2,1,8,16] = aten::unsqueeze(%h, 2)
%e: f32[2,2,2,8,16]{512,128,0,16,1} = aten::expand(%u, [2,2,2,8,16])
%r: f32[2,4,8,16] = aten::reshape(%e, [2,4,8,16])
%m: bool[8,8] = aten::ones([8,8], dtype=bool)
)",
                                            "%r"));
  EXPECT_THAT(text, HasSubstr("(%q, %h, %h, None, enable_gqa=True)"));
  EXPECT_THAT(text, Not(HasSubstr("expand")));
}

Program OfBias(int line) {
  const std::string at = " at " + std::to_string(line) + "\n";
  const std::string text =
      std::string(kLines) +
      "input %q: f32[2,4,8,16]\ninput %b: f32[1,4,8,8]\n"
      "%dead: i64[8] = aten::arange(8)" +
      at + "%c: bool[2,1,8,8] = aten::ones([2,1,8,8], dtype=bool)" + at +
      "%w: f32[2,4,8,8] = aten::where.ScalarOther(%c, %b, -1e30)\n"
      "steelyard::leave([%c, %b])\n"
      "%o: f32[2,4,8,16] = aten::scaled_dot_product_attention(%q, %q, %q, %w)\n"
      "return %o\n";
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  Result<Program> out = RecognizeMasks(*std::move(program));
  EXPECT_TRUE(out);
  return *std::move(out);
}

// With the steps of that line that nothing reads; variables hold what is left.
TEST(RecognizeMasks, ABiasIsReadWhereALibrarysMaskHidesNothingOfIt) {
  const std::string text = Print(OfBias(0));
  EXPECT_THAT(text, HasSubstr("(%q, %q, %q, %b)"));
  EXPECT_THAT(text, HasSubstr("steelyard::leave([%b])"));
  EXPECT_THAT(text, Not(HasSubstr("where")));
  EXPECT_THAT(text, Not(HasSubstr("arange")));
}

// Its steps were recorded with a mask for each example.
TEST(RecognizeMasks, ABiasThatIsReadHasItsOwnSizes) {
  const Program p = OfBias(0);
  for (const Node& node : p.main().nodes) {
    for (const ValueId id : p.results(node)) {
      EXPECT_TRUE(!p.values[id].has_layout || p.values[id].rank == 4);
    }
  }
}

TEST(RecognizeMasks, ScoresThatALibrarysMaskIsAddedToForNothingAreRead) {
  const auto added = [](std::string_view at) {
    const std::string text = std::string(kLines) + "input %s: f32[2,4,8,8]\n" +
                             "%m: f32[2,1,8,8] = aten::zeros([2,1,8,8])" + std::string(at) +
                             "\n%a: f32[2,4,8,8] = aten::add.Tensor(%s, %m)\n" +
                             "%o: f32[2,4,8,8] = aten::_softmax(%a, -1, False)\nreturn %o\n";
    Result<Program> program = ParseText(text, "");
    EXPECT_TRUE(program) << Describe(program.error());
    Result<Program> out = RecognizeMasks(*std::move(program));
    EXPECT_TRUE(out);
    return Print(*out);
  };
  EXPECT_THAT(added(" at 0"), HasSubstr("aten::_softmax(%s, -1"));
  EXPECT_THAT(added(" at 0"), Not(HasSubstr("zeros")));
  EXPECT_THAT(added(" at 1"), HasSubstr("aten::_softmax(%a, -1"));
}

// Of a model that makes its masks itself, in lines of its own.
TEST(RecognizeMasks, AMaskOfTheModelsOwnStays) {
  const auto masked = [](std::string_view at) {
    return Print(Recognized(
        "%m: bool[8,8] = aten::ones([8,8], dtype=bool)" + std::string(at) + "\n", "%k", kLines));
  };
  EXPECT_THAT(masked(" at 0"), HasSubstr("(%q, %k, %k, None)"));
  EXPECT_THAT(masked(" at 1"), HasSubstr("(%q, %k, %k, %m)"));
  EXPECT_THAT(masked(" at 2"), HasSubstr("(%q, %k, %k, %m)"));
}

TEST(RecognizeMasks, WhatTheModelItselfMasksStays) {
  const std::string text = Print(OfBias(1));
  EXPECT_THAT(text, HasSubstr("(%q, %q, %q, %w)"));
  EXPECT_THAT(text, HasSubstr("arange"));
}

}  // namespace
}  // namespace steelyard
