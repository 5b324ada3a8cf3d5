// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Five steps of two sequences, 30 inputs, 20 hidden units.
constexpr std::string_view kLayer =
    "aten::mkldnn_rnn_layer(f32[5,2,30], f32[80,30], f32[80,20], f32[80], f32[80], f32[2,20], "
    "f32[2,20], False, [], 2, "
    "20, 1, True, False, False, False)";

std::string Lstm(std::string_view input, std::string_view options) {
  return "aten::lstm.input(" + std::string(input) +
         ", [f32[1,2,20],f32[1,2,20]], [f32[80,30],f32[80,20],f32[80],f32[80]], " +
         std::string(options) + ")";
}

TEST(LstmLayer, GivesOutputsAndLastStates) {
  EXPECT_EQ(ResultOf(kLayer), "f32[5,2,20]");
  EXPECT_EQ(ResultOf(kLayer, 1), "f32[2,20]");
  EXPECT_EQ(ResultOf(kLayer, 2), "f32[2,20]");
}

TEST(LstmLayer, CopiesWeightsInBlocksOfGates) {
  // 20 units fill blocks of 32; each part of the scratch fits one page.
  const std::int64_t input_weight = 4 * 32 * 30 * 4, state_weight = 4 * 32 * 20 * 4,
                     scratch = 5 * 4096 + 776;
  EXPECT_THAT(
      EventsOf(kLayer),
      ElementsAre(Line(5 * 2 * 20 * 4, "empty"), Line(2 * 20 * 4, "empty"),
                  Line(2 * 20 * 4, "empty"), Line(80 * 4, "add"),
                  Line(input_weight, "mkldnn_rnn_layer"), Line(state_weight, "mkldnn_rnn_layer"),
                  Line(scratch, "mkldnn_rnn_layer"), Line(-scratch, "mkldnn_rnn_layer"),
                  Line(-state_weight, "mkldnn_rnn_layer"), Line(-input_weight, "mkldnn_rnn_layer"),
                  Line(-80 * 4, "mkldnn_rnn_layer")));
}

TEST(LstmLayer, WorkIsTwoProductsPerStep) {
  EXPECT_EQ(WorkOf(kLayer).mac, Count(5 * 2 * 4 * 20 * (30 + 20)));
  EXPECT_EQ(WorkOf(kLayer).special, Count(5 * 2 * 20 * 5));
}

TEST(Lstm, BatchMayComeFirst) {
  EXPECT_EQ(ResultOf(Lstm("f32[2,5,30]", "True, 1, 0.0, False, False, True")),
            "f32[2,5,20]{20,40,1}");
  EXPECT_EQ(ResultOf(Lstm("f32[5,2,30]", "True, 1, 0.0, False, False, False")), "f32[5,2,20]");
  // The copy with time first lives to the end.
  EXPECT_EQ(EventsOf(Lstm("f32[2,5,30]", "True, 1, 0.0, False, False, True")).back(),
            Line(-2 * 5 * 30 * 4, "lstm"));
}

TEST(Lstm, LayersAndDirections) {
  constexpr std::string_view kDeep =
      "aten::lstm.input(f32[2,5,30], [f32[4,5,20],f32[4,5,20]], "
      "[f32[80,30],f32[80,20],f32[80],f32[80],f32[80,30],"
      "f32[80,20],f32[80],f32[80],f32[80,40],f32[80,20],f32[80],f32[80],f32[80,40],f32[80,20],f32["
      "80],f32[80]], True, 2, "
      "0.0, False, True, False)";
  EXPECT_EQ(ResultOf(kDeep), "f32[2,5,40]");
  EXPECT_EQ(ResultOf(kDeep, 1), "f32[4,5,20]");
  EXPECT_EQ(WorkOf(kDeep).mac, Count(2 * 5 * 4 * 20 * 2 * ((30 + 20) + (40 + 20))));
}

TEST(Lstm, WrongOperandsAreRefused) {
  EXPECT_THAT(RefusalOf(Lstm("f32[5,2,30]", "True, 2, 0.0, False, False, False")),
              HasSubstr("4 weights for 2 layers"));
  EXPECT_THAT(RefusalOf(Lstm("f32[5,2,31]", "True, 1, 0.0, False, False, False")),
              HasSubstr("30 vs 31"));
  EXPECT_THAT(RefusalOf(Lstm("f32[5,3,30]", "True, 1, 0.0, False, False, False")),
              HasSubstr("batch sizes differ: 2 vs 3"));
  EXPECT_THAT(RefusalOf(Lstm("f32[5,2,30]", "True, 0, 0.0, False, False, False")),
              HasSubstr("an LSTM of 0 layers"));
}

// The kernel that is run when gradients are on: 5 steps of 2, 30 inputs, 20 hidden units.
constexpr std::string_view kTrainedLayer =
    "steelyard::lstm_layer(f32[5,2,30], f32[80,30], f32[80,20], f32[80], f32[80], f32[2,20], "
    "f32[2,20], False, [], 2, 20, 1, True, False, False, True)";

TEST(LstmLayer, KeepsGatesStatesAndRoomForTheirGradients) {
  // Each of seven parts fits a page; the scratch has four pages and a tail.
  const std::int64_t workspace = 7 * 4096, scratch = 4 * 4096 + 568;
  EXPECT_EQ(ResultOf(kTrainedLayer, 3), "u8[28672]");
  const std::vector<std::string> events = EventsOf(kTrainedLayer);
  EXPECT_THAT(events, Contains(Line(workspace, "empty")));
  EXPECT_THAT(events, Contains(Line(scratch, "")));
}

TEST(LstmLayer, LargeStatesTakeWholePages) {
  // 33 steps of 4, 300 inputs, 200 hidden units: rows of 800 gates, 208 and 304 floats.
  constexpr std::string_view kCall =
      "steelyard::lstm_layer(f32[33,4,300], f32[800,300], f32[800,200], f32[800], f32[800], "
      "f32[4,200], f32[4,200], False, [], 2, 200, 1, True, False, False, True)";
  const auto pages = [](std::int64_t floats) { return (floats * 4 + 4095) / 4096; };
  const std::int64_t states = 2 * 4 * (33 + 1);
  const std::int64_t workspace =
      pages(33 * 4 * 800) + pages(33 * 4 * 208) + 3 * pages(states * 304) + 2 * pages(states * 200);
  EXPECT_EQ(ResultOf(kCall, 3), "u8[" + std::to_string(workspace * 4096) + "]");
}

TEST(LstmLayer, TheGradientsOfBothBiasesAreOneAndACopy) {
  constexpr std::string_view kCall =
      "aten::mkldnn_rnn_layer_backward(f32[5,2,30], f32[80,30], f32[80,20], f32[80], f32[80], "
      "f32[2,20], f32[2,20], f32[5,2,20], f32[2,20], f32[2,20], f32[5,2,20], None, None, False, 2, "
      "20, 1, True, True, False, [], False, u8[28672])";
  EXPECT_EQ(ResultOf(kCall, 3), "f32[80]");
  EXPECT_EQ(ResultOf(kCall, 4), "f32[80]");
  // Gradients of the last states that nobody computed are zeros.
  EXPECT_THAT(EventsOf(kCall), Contains(Line(2 * 20 * 4, "empty")).Times(2 + 2));
}

}  // namespace
}  // namespace steelyard
