// SPDX-License-Identifier: Apache-2.0
#include "render/utf8.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace steelyard::render {
namespace {

void ExpectInvalid(std::string_view text, std::size_t size) {
  const CodePoint point = DecodeUtf8(text);
  EXPECT_FALSE(point.valid) << text;
  EXPECT_EQ(point.value, kReplacement);
  EXPECT_EQ(point.size, size) << text;
}

TEST(Utf8Test, DecodesEachLength) {
  for (const char32_t value : {U'\0', U'a', U'\x7f', U'\x80', U'×', U'\x7ff', U'\x800', U'▁',
                               U'\xd7ff', U'\xe000', U'\xffff', U'\x10000', U'\x10ffff'}) {
    std::string text;
    AppendUtf8(value, &text);
    const std::size_t size = text.size();
    const CodePoint point = DecodeUtf8(text += "rest");
    EXPECT_TRUE(point.valid);
    EXPECT_EQ(point.value, value);
    EXPECT_EQ(point.size, size);
  }
}

TEST(Utf8Test, WhatIsNoUtf8IsTakenInMaximalParts) {
  ExpectInvalid("\x80", 1);              // a continuation alone
  ExpectInvalid("\xc0\xaf", 1);          // overlong '/'
  ExpectInvalid("\xe0\x80\xaf", 1);      // overlong in three
  ExpectInvalid("\xed\xa0\x80", 1);      // a surrogate
  ExpectInvalid("\xf4\x90\x80\x80", 1);  // beyond U+10FFFF
  ExpectInvalid("\xff", 1);
  ExpectInvalid("\xe2\x96", 2);   // cut short by the end
  ExpectInvalid("\xe2\x96x", 2);  // cut short by a letter
  ExpectInvalid("\xf0\x9f\x98", 3);
}

TEST(Utf8Test, WidthCountsColumns) {
  EXPECT_EQ(DisplayWidth("4×128"), 5U);
  EXPECT_EQ(DisplayWidth("▕██▏"), 4U);
  EXPECT_EQ(DisplayWidth("模型"), 2U + 2U);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);  // e with a combining accent
  EXPECT_EQ(DisplayWidth("\U0001F600"), 2U);
  EXPECT_EQ(DisplayWidth(""), 0U);
}

TEST(Utf8Test, PrintableLeavesNothingThatActs) {
  EXPECT_EQ(Printable("bert.encoder", Charset::kUnicode), "bert.encoder");
  EXPECT_EQ(Printable("a\tb\nc", Charset::kUnicode), "a b c");
  EXPECT_EQ(Printable("\x1b[31mred", Charset::kUnicode), "\uFFFD[31mred");
  EXPECT_EQ(Printable("a\u202Eb", Charset::kUnicode), "a\uFFFDb");  // writing direction
  EXPECT_EQ(Printable("\xff", Charset::kUnicode), "\uFFFD");
  EXPECT_EQ(Printable("4×128", Charset::kUnicode), "4×128");
}

TEST(Utf8Test, PrintableSpellsKnownSignsInAscii) {
  EXPECT_EQ(Printable("4×128 ≥ 1.5 µs…", Charset::kAscii), "4x128 >= 1.5 us...");
  EXPECT_EQ(Printable("模\x1b\xff", Charset::kAscii), "???");
}

TEST(Utf8Test, EllipsizeKeepsBothEndsOfANameOrTheBeginOfAWord) {
  // Ten columns: the mark takes one, the head four, the tail five.
  EXPECT_EQ(Ellipsize("bert.encoder.dense", 10, Cut::kMiddle, Charset::kUnicode), "bert…dense");
  EXPECT_EQ(Ellipsize("bert.encoder.dense", 10, Cut::kEnd, Charset::kUnicode), "bert.enco…");
  // The mark takes two, the head four, the tail four.
  EXPECT_EQ(Ellipsize("bert.encoder.dense", 10, Cut::kMiddle, Charset::kAscii), "bert..ense");
}

TEST(Utf8Test, EllipsizeLeavesWhatFits) {
  EXPECT_EQ(Ellipsize("dense", 5, Cut::kMiddle, Charset::kUnicode), "dense");
  EXPECT_EQ(Ellipsize("", 0, Cut::kMiddle, Charset::kUnicode), "");
}

TEST(Utf8Test, EllipsizeNeverExceedsItsWidth) {
  const std::string text = "模型ab×c模型模型xyz";
  for (std::size_t width = 0; width <= DisplayWidth(text); ++width) {
    for (const Cut cut : {Cut::kMiddle, Cut::kEnd}) {
      EXPECT_LE(DisplayWidth(Ellipsize(text, width, cut, Charset::kUnicode)), width);
    }
  }
}

}  // namespace
}  // namespace steelyard::render
