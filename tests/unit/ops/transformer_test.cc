// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "cuda/cuda_events.h"
#include "events.h"

namespace steelyard {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// 2 texts of 5 tokens, 2 heads of 4.
constexpr std::int64_t kFloat = 4, kTokens = 2LL * 5 * 8 * kFloat,
                       kScores = 2LL * 2 * 5 * 5 * kFloat;

std::string Layer(std::string_view rest) {
  return "aten::_native_multi_head_attention(f32[2,5,8], f32[2,5,8], f32[2,5,8], 8, 2, "
         "f32[24,8], f32[24], f32[8,8], f32[8], " +
         std::string(rest) + ")";
}

TEST(AttentionLayer, WithoutAMaskScoresAndQueriesAreOverwritten) {
  const std::vector<std::string> events = EventsOf(Layer("None, False"));
  EXPECT_THAT(events, AllOf(Contains(Line(kScores, "bmm")).Times(1),
                            Contains(Line(3 * kTokens, "empty")).Times(1),
                            Not(Contains(Line(kScores, "_softmax")))));
}

TEST(AttentionLayer, AMaskOfNumbersBecomesOneOfBooleansAndDiesAfterTheScores) {
  const std::string_view name = "_native_multi_head_attention";
  const std::vector<std::string> events = EventsOf(Layer("f32[2,5], False, True, 1"));
  const std::array during{Line(2 * 5, "empty_strided"), Line(kScores, "empty_strided"),
                          Line(-kScores, name), Line(-2 * 5, name)};
  EXPECT_FALSE(std::ranges::search(events, during).empty());
}

TEST(AttentionLayer, GivesWeightsOfAllHeadsOrTheirMean) {
  EXPECT_EQ(ResultOf(Layer("None, True, True"), 1), "f32[2,5,5]");
  EXPECT_EQ(ResultOf(Layer("None, True, False"), 1), "f32[2,2,5,5]");
}

TEST(MaskedSoftmax, AMaskForAllHeadsIsSpreadWhereItIsNotSaidThatTheLastDimensionIsMeant) {
  const auto copies = [](std::string_view dim) {
    const std::string call =
        "aten::_masked_softmax(f32[2,4,5,5], bool[2,5], " + std::string(dim) + ", 1)";
    return testing::Value(EventsOf(call), Contains(Line(2 * 4 * 5 * 5, "empty")));
  };
  EXPECT_FALSE(copies("3"));
  EXPECT_TRUE(copies("-1"));
  EXPECT_TRUE(copies("None"));
}

TEST(MaskedSoftmax, OnCudaLongRowsAreFilledFirst) {
  const auto bytes = [](std::string_view keys) {
    const std::string k(keys);
    return CudaBytesOf("aten::_masked_softmax(f32[1,2," + k + "," + k + "], bool[1," + k +
                       "], 3, 1)");
  };
  constexpr std::int64_t kShort = 2LL * 1024 * 1024 * kFloat, kLong = 2LL * 1025 * 1025 * kFloat;
  EXPECT_THAT(bytes("1024"), ElementsAre(kShort));
  EXPECT_THAT(bytes("1025"), ElementsAre(kLong, kLong, kLong, -kLong, -kLong));
}

TEST(EncoderLayer, CountsWhatItsPartsCount) {
  // 10 rows by 8: three projections, scores of 5 keys and what they weigh, one projection; then 16.
  constexpr std::int64_t kRows = 10;
  const Work work = WorkOf(
      "aten::_transformer_encoder_layer_fwd(f32[2,5,8], 8, 2, f32[24,8], f32[24], f32[8,8], "
      "f32[8], True, False, 1e-05, f32[8], f32[8], f32[8], f32[8], f32[16,8], f32[16], f32[8,16], "
      "f32[8])");
  EXPECT_EQ(work.mac, Count(kRows * (8 * 24 + 2 * 5 * 8 + 8 * 8 + 2 * 8 * 16)));
}

}  // namespace
}  // namespace steelyard
