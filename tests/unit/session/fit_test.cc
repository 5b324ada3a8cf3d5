// SPDX-License-Identifier: Apache-2.0
#include "session/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "steelyard/weigh.h"
#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

// Of kLinear: the weight, and of each image eight inputs and four outputs.
constexpr std::int64_t Peak(std::int64_t batch) { return 4 * (4 * 8 + batch * (8 + 4)); }

Result<Weighing> Fitting(const std::string& text, std::int64_t limit, BindOptions sizes = {}) {
  return Weigh({.path = WrittenModel(text), .bind = std::move(sizes), .fit = limit});
}

TEST(FitTest, TheLargestBatchIsWeighed) {
  for (std::int64_t batch : {1, 2, 3, 17, 63}) {
    for (std::int64_t spare : {std::int64_t{0}, Peak(1) - Peak(0) - 1}) {
      const Result<Weighing> w = Fitting(kLinear, Peak(batch) + spare);
      ASSERT_TRUE(w) << Describe(w.error());
      EXPECT_EQ(w->fit->size, batch);
      EXPECT_EQ(w->totals.peak_bytes, Peak(batch));
      EXPECT_EQ(w->fit->next_size, batch + 1);
      EXPECT_EQ(w->fit->next_peak, Peak(batch + 1));
      EXPECT_LE(w->fit->weighings, 5 + 3) << "the peak is a line, and three more are tried";
    }
  }
}

TEST(FitTest, TheFileMayEndTheSearch) {
  const Result<Weighing> w = Fitting(kLinear, std::int64_t{1} << 40);
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->fit->size, 64);
  EXPECT_EQ(w->fit->next_size, 0);
}

TEST(FitTest, NothingFits) {
  const Result<Weighing> w = Fitting(kLinear, Peak(1) - 1);
  ASSERT_FALSE(w);
  EXPECT_THAT(Describe(w.error()), HasSubstr("a batch of 1 takes 176 B, more than 175 B"));
}

TEST(FitTest, ALargerBatchMayNeedLess) {
  // oneDNN takes two images another way than one.
  const char* text =
      "symbol batch: 1..64 = 2\n"
      "input %x: f32[batch,32,16,16]\n"
      "parameter %w: f32[32,32,3,3] \"w\"\n"
      "%y: f32[batch,32,14,14] = aten::conv2d(%x, %w)\n"
      "return %y\n";
  const auto peak = [&](std::int64_t batch) {
    const Result<Weighing> w = Weigh({.path = WrittenModel(text), .bind = {.batch = batch}});
    EXPECT_TRUE(w) << Describe(w.error());
    return w ? w->totals.peak_bytes : 0;
  };
  ASSERT_LT(peak(2), peak(1));
  const Result<Weighing> w = Fitting(text, peak(2));
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->fit->size, 2);
}

TEST(FitTest, TheSequenceWhereTheBatchIsGivenAndOnlyItsMultiples) {
  // Scores of all pairs: the peak grows with the square.
  const char* text =
      "symbol batch: 1..64 = 2\n"
      "symbol blocks: 1..1024 = 2\n"
      "input %x: f32[batch,16*blocks,8]\n"
      "%t: f32[batch,8,16*blocks]{128*blocks,1,8} = aten::transpose.int(%x, 1, 2)\n"
      "%y: f32[batch,16*blocks,16*blocks] = aten::matmul(%x, %t)\n"
      "return %y\n";
  const auto peak = [](std::int64_t seq) { return 4 * 3 * (seq * 8 + seq * seq); };
  const Result<Weighing> w = Fitting(text, peak(320) + 100, {.inputs = {}, .batch = 3, .seq = {}});
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->fit->dimension, "seq");
  EXPECT_EQ(w->fit->size, 320);
  EXPECT_EQ(w->fit->next_size, 336);
  EXPECT_EQ(w->totals.peak_bytes, peak(320));
  EXPECT_LE(w->fit->weighings, 12);
}

constexpr char kTwoSizes[] =
    "symbol batch: 1..1024\nsymbol rows: 1..1024\ninput %x: f32[batch,8]\ninput %y: f32[rows,8]\n"
    "%a: f32[batch,8] = aten::relu(%x)\n%b: f32[rows,8] = aten::relu(%y)\nreturn %a, %b\n";

TEST(FitTest, WhatOneInputLeavesOpenIsSearched) {
  // 4 x 8 numbers in and out of one, 9 x 8 of the other.
  const std::int64_t limit = 4 * (2 * 4 * 8 + 2 * 9 * 8);
  for (const BindOptions& sizes : {BindOptions{.inputs = {{.name = "x", .sizes = {4, 8}}}},
                                   BindOptions{.sizes = {{.name = "batch", .size = 4}}}}) {
    const Result<Weighing> w = Fitting(kTwoSizes, limit, sizes);
    ASSERT_TRUE(w) << Describe(w.error());
    EXPECT_EQ(w->fit->size, 9);
  }
}

TEST(FitTest, TheLengthOfAVectorIsSearched) {
  const Result<Weighing> w = Fitting(
      "symbol n: 1..1024\ninput %x: f32[n]\n%y: f32[n] = aten::relu(%x)\nreturn %y\n", 4 * 2 * 50);
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->fit->size, 50);
}

constexpr char kImage[] =
    "symbol n: 1..64 = 2\nsymbol h: 2..400 = 8\nsymbol w: 2..400 = 8\n"
    "input %x: f32[n,3,h,w]\n%y: f32[n,3,h,w] = aten::relu(%x)\nreturn %y\n";

TEST(FitTest, TheHeightWhereTheBatchIsGiven) {
  // In and out: 2 images of 3 channels, 8 wide as exported, 30 high.
  const Result<Weighing> w =
      Fitting(kImage, 4 * 2 * 2 * 3 * 30 * 8, {.inputs = {}, .batch = 2, .seq = {}});
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->fit->dimension, "h");
  EXPECT_EQ(w->fit->place, "dimension 2 of x");
  EXPECT_EQ(w->fit->size, 30);
  EXPECT_EQ(w->fit->next_size, 31);
}

TEST(FitTest, NoHeightFits) {
  // In and out: an image of 3 channels, 8 wide, as low as the file allows.
  const std::int64_t least = 4 * 2 * 3 * 2 * 8;
  const Result<Weighing> w = Fitting(kImage, least - 1, {.inputs = {}, .batch = 1, .seq = {}});
  ASSERT_FALSE(w);
  EXPECT_THAT(Describe(w.error()),
              HasSubstr("h = 2 (dimension 2 of x) takes 384 B, more than 383 B"));
}

TEST(FitTest, TheBatchBeforeTheHeight) {
  const Result<Weighing> w = Fitting(kImage, 4 * 2 * 7 * 3 * 8 * 8);
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->fit->dimension, "batch");
  EXPECT_EQ(w->fit->size, 7);
}

TEST(FitTest, WhatAPoolRefusesIsTooSmall) {
  const Result<Weighing> w = Fitting(
      "symbol s: 1..400 = 32\ninput %x: f32[2,3,s,s]\n"
      "%y: f32[2,3,-4+s,-4+s] = aten::avg_pool2d(%x, [5, 5], [1, 1])\nreturn %y\n",
      4 * 2 * 3 * (20 * 20 + 16 * 16));
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->fit->place, "dimensions 2 and 3 of x");
  EXPECT_EQ(w->fit->size, 20);
}

TEST(FitTest, EverySizeIsGiven) {
  const Result<Weighing> w =
      Fitting(kImage, 1 << 20, {.inputs = {{.name = "x", .sizes = {2, 3, 8, 8}}}});
  ASSERT_FALSE(w);
  EXPECT_THAT(Describe(w.error()), HasSubstr("every size of the model's inputs is given"));
}

}  // namespace
}  // namespace steelyard
