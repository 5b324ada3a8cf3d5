// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Stft, FramesOverlap) {
  // (400 - 64) / 16 + 1 frames of 64 / 2 + 1 frequencies.
  EXPECT_EQ(ResultOf("aten::stft(f32[2,400], 64, 16, 64, f32[64], False, True, True)"),
            "c64[2,33,22]{726,1,33}");
  EXPECT_THAT(RefusalOf("aten::stft(f32[2,40], 64, 16, 64, f32[64], False, True, True)"),
              HasSubstr("longer than the signal"));
}

TEST(Stft, ASignalIsWhatItsFramesCoverLessTheMargins) {
  // 64 + 21 * 16 samples, of which 32 at both ends are margins.
  EXPECT_EQ(ResultOf("aten::istft(c64[2,33,22], 64, 16, 64, f32[64])"), "f32[2,336]");
  EXPECT_EQ(ResultOf("aten::istft(c64[33,22], 64, 16, 64, f32[64], False)"), "f32[400]");
  EXPECT_EQ(ResultOf("aten::istft(c64[33,22], 64, 16, 64, f32[64], True, False, None, 300)"),
            "f32[300]");
  EXPECT_THAT(RefusalOf("aten::istft(c64[2,32,22], 64, 16, 64, f32[64], onesided=True)"),
              HasSubstr("frequencies"));
  EXPECT_THAT(RefusalOf("aten::istft(f32[33,22], 64)"), HasSubstr("complex"));
}

TEST(Stft, SquaresOfTheWindowsAreAddedUpToo) {
  const auto events = EventsOf("aten::istft(c64[2,33,22], 64, 16, 64, f32[64])");
  EXPECT_THAT(events, Contains(Line(64 * 4, "pow")));
  EXPECT_THAT(events, Contains(Line((64 + 21 * 16) * 4, "empty")));
}

}  // namespace
}  // namespace steelyard
