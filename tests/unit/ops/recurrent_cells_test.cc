// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

// Five steps of two sequences, 8 inputs, 6 hidden units.
constexpr std::string_view kGru =
    "aten::gru.input(f32[5,2,8], f32[1,2,6], [f32[18,8],f32[18,6],f32[18],f32[18]], True, 1, 0.0, "
    "False, False, False)";

TEST(Gru, GivesOutputsAndTheLastState) {
  EXPECT_EQ(ResultOf(kGru), "f32[5,2,6]");
  EXPECT_EQ(ResultOf(kGru, 1), "f32[1,2,6]");
}

TEST(Gru, TheInputIsMultipliedAtOnce) {
  const std::int64_t product = 5 * 2 * 3 * 6 * 4;
  EXPECT_EQ(EventsOf(kGru).front(), Line(product, "addmm"));
  EXPECT_EQ(WorkOf(kGru).mac, Count(5 * 2 * 3 * 6 * (8 + 6)));
}

TEST(Gru, WrongOperandsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::gru.input(f32[5,2,8], f32[2,2,6], [f32[18,8],f32[18,6]], False, 1, "
                        "0.0, False, False, False)"),
              HasSubstr("2 states and 2 weights for 1 layers"));
  EXPECT_THAT(RefusalOf("aten::gru.input(f32[5,2,8], f32[1,2,6], [f32[12,8],f32[18,6]], False, 1, "
                        "0.0, False, False, False)"),
              HasSubstr("12 vs 18"));
}

TEST(Rnn, DirectionsAreSideBySide) {
  constexpr std::string_view kBoth =
      "aten::rnn_relu.input(f32[5,2,8], f32[2,2,6], [f32[6,8],f32[6,6],f32[6,8],f32[6,6]], False, "
      "1, 0.0, False, True, False)";
  EXPECT_EQ(ResultOf(kBoth), "f32[5,2,12]");
  EXPECT_EQ(ResultOf(kBoth, 1), "f32[2,2,6]");
}

TEST(Lstm, DoublePrecisionRunsStepByStep) {
  constexpr std::string_view kLstm =
      "aten::lstm.input(f64[5,2,3], [f64[1,2,2],f64[1,2,2]], [f64[8,3],f64[8,2],f64[8],f64[8]], "
      "True, 1, 0.0, False, False, False)";
  EXPECT_EQ(ResultOf(kLstm), "f64[5,2,2]");
  EXPECT_EQ(WorkOf(kLstm).mac, Count(5 * 2 * 4 * 2 * (3 + 2)));
}

TEST(Lstm, StatesMayBeProjected) {
  constexpr std::string_view kLstm =
      "aten::lstm.input(f32[5,2,8], [f32[1,2,4],f32[1,2,6]], [f32[24,8],f32[24,4],f32[4,6]], "
      "False, 1, 0.0, False, False, False)";
  EXPECT_EQ(ResultOf(kLstm), "f32[5,2,4]");
  EXPECT_EQ(ResultOf(kLstm, 2), "f32[1,2,6]");
}

TEST(Cells, TakeOneStep) {
  EXPECT_EQ(ResultOf("aten::gru_cell(f32[2,8], f32[2,6], f32[18,8], f32[18,6])"), "f32[2,6]");
  EXPECT_THAT(RefusalOf("aten::gru_cell(f32[3,8], f32[2,6], f32[18,8], f32[18,6])"),
              HasSubstr("batch sizes differ: 2 vs 3"));
}

}  // namespace
}  // namespace steelyard
