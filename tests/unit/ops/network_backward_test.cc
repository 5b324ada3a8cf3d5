// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LayerNormBackward, HasARowOfSumsForEachThread) {
  constexpr std::string_view kCall =
      "aten::native_layer_norm_backward(f32[6,8], f32[6,8], [8], f32[6,1], f32[6,1], f32[8], "
      "f32[8], [True, True, True])";
  EXPECT_THAT(EventsOf(kCall), ElementsAre(Line(6 * 8 * 4, "empty"), Line(8 * 4, "empty"),
                                           Line(8 * 4, "empty"), Line(2 * 8 * 4, "resize_"),
                                           Line(-2 * 8 * 4, "native_layer_norm_backward")));
}

TEST(LayerNormBackward, GivesOnlyWhatIsWanted) {
  constexpr std::string_view kCall =
      "aten::native_layer_norm_backward(f32[6,8], f32[6,8], [8], f32[6,1], f32[6,1], f32[8], "
      "f32[8], [True, False, False])";
  EXPECT_THAT(EventsOf(kCall), ElementsAre(Line(6 * 8 * 4, "empty")));
}

TEST(FlashAttentionBackward, FiveProductsForEachScore) {
  constexpr std::string_view kCall =
      "aten::_scaled_dot_product_flash_attention_for_cpu_backward(f32[2,4,9,8], f32[2,4,9,8], "
      "f32[2,4,7,8], f32[2,4,7,8], f32[2,4,9,8], f32[2,9,4], 0.0, False)";
  EXPECT_EQ(WorkOf(kCall).mac, Count(std::int64_t{5} * 2 * 4 * 9 * 7 * 8));
}

TEST(EmbeddingBackward, HasTheSizeOfTheTable) {
  EXPECT_EQ(ResultOf("aten::embedding_dense_backward(f32[3,4,16], i64[3,4], 100, -1, False)"),
            "f32[100,16]");
}

}  // namespace
}  // namespace steelyard
