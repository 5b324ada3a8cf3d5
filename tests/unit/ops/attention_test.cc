// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool UsesFlash(std::string_view call) {
  return testing::Value(NodesOf(call), Contains("_scaled_dot_product_flash_attention_for_cpu"));
}

TEST(FlashAttention, ResultLiesLikeTheQuery) {
  EXPECT_EQ(ResultOf("aten::scaled_dot_product_attention(f32[2,3,9,8]{216,8,24,1}, f32[2,3,7,8], "
                     "f32[2,3,7,8])"),
            "f32[2,3,9,8]{216,8,24,1}");
  constexpr std::string_view kCall =
      "aten::_scaled_dot_product_flash_attention_for_cpu(bf16[2,3,9,8], bf16[2,3,7,8], "
      "bf16[2,3,7,8])";
  EXPECT_EQ(ResultOf(kCall), "bf16[2,3,9,8]");
  // Logarithms of the sums are made [batch, length, heads], in float32.
  EXPECT_EQ(ResultOf(kCall, 1), "f32[2,3,9]{27,1,3}");
}

TEST(FlashAttention, CausalityHidesTheKeysAfterAQuery) {
  const auto hidden = [](std::string_view queries, std::string_view keys) {
    const std::string k = "f32[2,3," + std::string(keys) + ",16]";
    return WorkOf("aten::_scaled_dot_product_flash_attention_for_cpu(f32[2,3," +
                  std::string(queries) + ",16], " + k + ", " + k + ", 0.0, True)")
        .masked;
  };
  // Two products of heads of 16 for each hidden score of 2 batches of 3 heads.
  constexpr std::int64_t kScore = 2LL * 3 * 16 * 2;
  EXPECT_EQ(hidden("4", "4"), Count(kScore * (3 + 2 + 1)));
  EXPECT_EQ(hidden("2", "4"), Count(kScore * (3 + 2)));
  EXPECT_EQ(hidden("9", "2"), Count(kScore * 1)) << "from the second query on all is seen";
}

TEST(FlashAttention, ScratchIsOneBlockOfScores) {
  // Rows of a block: all of 31; 32 below 192; 64 below 768; then 256. Columns: at most 512.
  const auto scratch = [](std::int64_t rows, std::int64_t columns) {
    return (rows * columns + 2 * rows + rows * 16) * 4;
  };
  const auto expect = [&](std::string_view length, std::string_view keys, std::int64_t bytes) {
    const std::string k = "f32[1,1," + std::string(keys) + ",16]";
    const std::string call = "aten::scaled_dot_product_attention(f32[1,1," + std::string(length) +
                             ",16], " + k + ", " + k + ")";
    EXPECT_THAT(EventsOf(call), Contains(Line(bytes, "empty"))) << call;
  };
  expect("31", "40", scratch(31, 40));
  expect("191", "600", scratch(32, 512));
  expect("192", "600", scratch(64, 512));
  expect("768", "600", scratch(256, 512));
}

TEST(FlashAttention, HalvesKeepTheScoresTwice) {
  const std::int64_t wide = (9 * 7 + 2 * 9 + 9 * 8) * 4, narrow = 9 * 7 * 2;
  EXPECT_THAT(
      EventsOf("aten::scaled_dot_product_attention(bf16[2,3,9,8], bf16[2,3,7,8], bf16[2,3,7,8])"),
      ElementsAre(Line(2 * 3 * 9 * 8 * 2, "empty_strided"), Line(2 * 3 * 9 * 4, "empty"),
                  Line(wide, "empty"), Line(narrow, "empty"),
                  Line(-narrow, "_scaled_dot_product_flash_attention_for_cpu"),
                  Line(-wide, "_scaled_dot_product_flash_attention_for_cpu"),
                  Line(-2 * 3 * 9 * 4, "scaled_dot_product_attention")));
}

TEST(FlashAttention, WorkIsTwoProductsAndASoftmax) {
  const Work work = WorkOf(
      "aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,2,7,8], f32[2,2,7,8], "
      "enable_gqa=True)");
  const std::int64_t scores = 2 * 4 * 9 * 7;
  EXPECT_EQ(work.mac, Count(2 * scores * 8));
  EXPECT_EQ(work.special, Count(scores));
  EXPECT_EQ(work.alu, Count(5 * scores));
}

TEST(Attention, IsFusedUnlessSomethingForbidsIt) {
  EXPECT_TRUE(
      UsesFlash("aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,8], f32[2,4,7,8])"));
  EXPECT_TRUE(
      UsesFlash("aten::scaled_dot_product_attention(f64[2,4,9,8], f64[2,1,7,8], f64[2,1,7,8])"));
  EXPECT_TRUE(UsesFlash("aten::scaled_dot_product_attention(f32[4,9,8], f32[4,7,8], f32[4,7,8])"));
  EXPECT_TRUE(
      UsesFlash("aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,8], f32[2,4,7,8], "
                "f32[2,1,1,7])"));
  // Dropout, another size of the value, a strided last dimension, other ranks, a mask that does not
  // broadcast to the scores, a batch that must be broadcast.
  EXPECT_FALSE(UsesFlash(
      "aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,8], f32[2,4,7,8], None, 0.1)"));
  EXPECT_FALSE(
      UsesFlash("aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,8], f32[2,4,7,6])"));
  EXPECT_FALSE(UsesFlash(
      "aten::scaled_dot_product_attention(f32[2,4,9,8]{288,72,1,9}, f32[2,4,7,8], f32[2,4,7,8])"));
  EXPECT_FALSE(UsesFlash("aten::scaled_dot_product_attention(f32[9,8], f32[7,8], f32[7,8])"));
  EXPECT_FALSE(UsesFlash(
      "aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,8], f32[2,4,7,8], f32[4,9,7])"));
  EXPECT_FALSE(
      UsesFlash("aten::scaled_dot_product_attention(f32[2,4,9,8], f32[1,4,7,8], f32[1,4,7,8])"));
}

TEST(Attention, BooleanMasksBecomeAdditiveOnes) {
  EXPECT_THAT(EventsOf("aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,8], "
                       "f32[2,4,7,8], bool[9,7])"),
              testing::AllOf(Contains(Line(9 * 7 * 4, "where")),
                             Contains(Line(-9 * 7 * 4, "scaled_dot_product_attention"))));
}

TEST(AttentionByProducts, ScoresOutliveEverythingElse) {
  const std::int64_t query = 9 * 8 * 4, key = 7 * 8 * 4, scores = 9 * 7 * 4;
  const std::vector<std::string> events =
      EventsOf("aten::scaled_dot_product_attention(f32[9,8], f32[7,8], f32[7,8])");
  EXPECT_THAT(events,
              ElementsAre(Line(8, "mul"), Line(4, "empty_strided"), Line(query, "mul"),
                          Line(-4, "mul"), Line(-8, "mul"),  // the query, scaled
                          Line(8, "mul"), Line(4, "empty_strided"), Line(key, "mul"),
                          Line(-4, "mul"), Line(-8, "mul"),  // the key, scaled
                          Line(scores, "mm"), Line(-key, "_scaled_dot_product_attention_math"),
                          Line(scores, "_softmax"), Line(9 * 7, "isneginf"), Line(9, "all"),
                          Line(4, "scalar_tensor"), Line(-4, "_safe_softmax"),
                          Line(-9, "_safe_softmax"), Line(-9 * 7, "_safe_softmax"),
                          Line(-scores, "_scaled_dot_product_attention_math"), Line(query, "mm"),
                          Line(-query, "_scaled_dot_product_attention_math"),
                          Line(-scores, "scaled_dot_product_attention")));
}

TEST(AttentionByProducts, HalvesAreComputedInFloat) {
  const std::vector<std::string> nodes =
      NodesOf("aten::scaled_dot_product_attention(bf16[2,4,9,8], bf16[2,4,7,8], bf16[2,4,7,6])");
  // Query, key and value before; scores and result after.
  EXPECT_EQ(std::ranges::count(nodes, "_to_copy"), 5);
}

TEST(AttentionByProducts, CausalMaskIsMadeForEachCall) {
  EXPECT_THAT(NodesOf("aten::_scaled_dot_product_attention_math(f32[2,4,9,8], f32[2,4,7,8], "
                      "f32[2,4,7,8], None, 0.0, True)"),
              Contains("tril"));
  EXPECT_THAT(RefusalOf("aten::_scaled_dot_product_attention_math(f32[9,8], f32[7,8], f32[7,8], "
                        "f32[9,7], 0.0, True)"),
              HasSubstr("takes no mask"));
}

TEST(AttentionByProducts, HeadsAreRepeatedOnRequest) {
  EXPECT_EQ(
      ResultOf(
          "aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,2,7,8], f32[2,2,7,8], None, 0.1, "
          "enable_gqa=True)"),
      "f32[2,4,9,8]");
  EXPECT_THAT(
      RefusalOf(
          "aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,3,7,8], f32[2,3,7,8], None, 0.1, "
          "enable_gqa=True)"),
      HasSubstr("do not repeat"));
}

TEST(Attention, WrongOperandsAreRefused) {
  EXPECT_THAT(
      RefusalOf("aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,6], f32[2,4,7,6])"),
      HasSubstr("head sizes of query and key differ: 8 vs 6"));
  EXPECT_THAT(
      RefusalOf("aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,8], f32[2,4,5,8])"),
      HasSubstr("lengths of key and value differ: 7 vs 5"));
  EXPECT_THAT(RefusalOf("aten::scaled_dot_product_attention(f32[8], f32[8], f32[8])"),
              HasSubstr("two dimensions"));
  EXPECT_THAT(RefusalOf("aten::_scaled_dot_product_flash_attention_for_cpu(f32[2,4,9,8], "
                        "f32[2,3,7,8], f32[2,3,7,8])"),
              HasSubstr("4 heads of the query"));
}

}  // namespace
}  // namespace steelyard
