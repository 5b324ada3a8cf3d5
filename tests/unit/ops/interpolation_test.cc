// SPDX-License-Identifier: Apache-2.0
#include "ops/interpolation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Bytes = std::vector<std::int64_t>;
enum class Corners : std::uint8_t { kApart, kAligned };

Target Deterministic() {
  Target target = kH100;
  target.deterministic = true;
  return target;
}

// Of the result, too, which goes last.
Bytes WrittenOut(std::string_view arguments, std::string_view op = "bilinear2d") {
  const Result<Program> program =
      ProgramOfCall("aten::upsample_" + std::string(op) + ".vec(" + std::string(arguments) + ")");
  EXPECT_TRUE(program) << Describe(program.error());
  if (!program) return {};
  const Result<Program> kernels = Dispatcher(*program, Deterministic()).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  if (!kernels) return {};
  Bytes out;
  for (const Event& event : RunEager(*kernels, Deterministic()).events) out.push_back(event.bytes);
  return out;
}

void Append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

// Where so many pixels lie: counted, as numbers, shifted by half a pixel unless corners are
// aligned; between which two; 4 and 8 bytes each.
Bytes AxisBytes(std::int64_t pixels, Corners corners) {
  const std::int64_t number = 4 * pixels, index = 8 * pixels;
  Bytes out{index, 8, -8, number, -index, number};
  if (corners == Corners::kApart) Append(out, {number, -number, number, -number});
  Append(out, {number, -number, index, index, index, -index, -number});
  return out;
}

// Recorded, as all figures here, of two images of three channels, that become 8 x 10.
Bytes BilinearBytes(Corners corners) {
  constexpr std::int64_t kImages = 2 * 3 * 8 * 10 * 4, kIndex = 8 * 10 * 8;
  constexpr std::int64_t kRows = 8 * 4, kColumns = 10 * 4;
  Bytes out = AxisBytes(8, corners);
  Append(out, AxisBytes(10, corners));
  for (int corner = 0; corner < 4; ++corner) {
    Append(out, {kIndex, kIndex, kImages, -kIndex, -kIndex});
  }
  Append(out, {kColumns, kColumns, -kColumns});
  for (int pair = 0; pair < 2; ++pair) {
    Append(out, {kImages, kImages, -kImages, kImages, -kImages});
  }
  Append(out, {-kImages, -kImages, -kImages, kRows, kRows, -kRows, -kColumns});
  Append(out, {kImages, kImages, -kImages, kImages, -kImages, -kImages, -kImages});
  Append(out, {-kColumns, -kRows, -kImages, -2 * kColumns, -2 * kRows, -2 * kColumns, -2 * kRows,
               -kRows});
  return out;
}

TEST(Interpolation, IsWrittenOutWhereGradientsAddUpInOneOrder) {
  Bytes expected = BilinearBytes(Corners::kApart);
  expected.push_back(-2 * 3 * 8 * 10 * 4);
  EXPECT_EQ(WrittenOut("f32[2,3,4,5], [8,10], False, None"), expected);
  EXPECT_THAT(CudaBytesOf("aten::upsample_bilinear2d.vec(f32[2,3,4,5], [8,10], False, None)"),
              ElementsAre(2 * 3 * 8 * 10 * 4));
}

TEST(Interpolation, AlignedCornersNeedNoShift) {
  Bytes expected = BilinearBytes(Corners::kAligned);
  expected.push_back(-2 * 3 * 8 * 10 * 4);
  EXPECT_EQ(WrittenOut("f32[2,3,4,5], [8,10], True, None"), expected);
}

TEST(Interpolation, HalfPrecisionIsComputedInFloat32) {
  constexpr std::int64_t kImages = 2 * 3 * 4 * 5 * 4, kResult = 2 * 3 * 8 * 10 * 2;
  Bytes expected{kImages};
  Append(expected, BilinearBytes(Corners::kApart));
  Append(expected, {-kImages, kResult, -2 * kResult, -kResult});
  EXPECT_EQ(WrittenOut("bf16[2,3,4,5], [8,10], False, None"), expected);
}

// Of 16 and more: pixels are looked up by rows, and so a result of fewer is left.
TEST(Interpolation, ManyChannelsStayLast) {
  const Bytes few = WrittenOut("f32[1,3,4,5]{60,1,15,3}, [8,10], False, None");
  const Bytes many = WrittenOut("f32[1,16,4,5]{320,1,80,16}, [8,10], False, None");
  EXPECT_EQ(many.size(), few.size() + 2) << "a copy of the result";
}

// Recorded: sixteen neighbours of each pixel, four of which are mixed at once.
TEST(Interpolation, CubicOnesMixRowsOfFour) {
  const Bytes bytes = WrittenOut("f32[1,3,4,5], [8,10], False, None", "bicubic2d");
  constexpr std::int64_t kImage = 3 * 8 * 10 * 4, kIndex = 8 * 10 * 8;
  EXPECT_EQ(std::ranges::count(bytes, kIndex), 2 * 16);
  EXPECT_EQ(std::ranges::count(bytes, kImage), 16 + 5 * 7) << "pixels, and sums of four products";
  EXPECT_EQ(bytes.size(), 382u);
  EXPECT_EQ(bytes.back(), -kImage);
}

TEST(Interpolation, ImagesOfWholeNumbersAreRefused) {
  const Result<Program> program =
      ProgramOfCall("aten::upsample_bilinear2d.vec(u8[2,3,4,5], [8,10], False, None)");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Deterministic()).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().message, HasSubstr("images of whole numbers"));
}

}  // namespace
}  // namespace steelyard
