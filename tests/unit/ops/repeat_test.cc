// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <vector>

#include "calls.h"
#include "programs.h"
#include "runtime/eager.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Repeat, MultipliesSizes) {
  EXPECT_EQ(ResultOf("aten::repeat(f32[2,3], [4,1,2])"), "f32[4,2,6]");
  EXPECT_EQ(ResultOf("aten::tile(f32[2,3], [2])"), "f32[2,6]");
  EXPECT_THAT(RefusalOf("aten::repeat(f32[2,3], [4])"), HasSubstr("too few"));
}

TEST(Repeat, RepetitionsNeedASize) {
  EXPECT_EQ(ResultOf("aten::repeat_interleave.Tensor(i64[4], output_size=9)"), "i64[9]");
  EXPECT_EQ(ResultOf("aten::repeat_interleave.self_Tensor(f32[4,6], i32[4], 0, output_size=9)"),
            "f32[9,6]");
  // One number stands for all of them.
  EXPECT_EQ(ResultOf("aten::repeat_interleave.self_Tensor(f32[4,6], i64[1], 1, output_size=9)"),
            "f32[4,9]");
  EXPECT_THAT(RefusalOf("aten::repeat_interleave.Tensor(i64[4])"),
              HasSubstr("only the data tells"));
  EXPECT_THAT(RefusalOf("aten::repeat_interleave.self_Tensor(f32[4,6], i64[3], 0)"),
              HasSubstr("repetitions differ: 4 vs 3"));
}

TEST(Repeat, RepetitionsAreSummedAndTheirLeastIsLookedAt) {
  const Result<Program> kernels =
      RunText("input %r: i64[4]\n%y: i64[9] = aten::repeat_interleave.Tensor(%r)\nreturn %y\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  const Timeline timeline = RunEager(*kernels, Target{});
  std::vector<std::int64_t> bytes;
  for (const Event& event : timeline.events) bytes.push_back(event.bytes);
  EXPECT_THAT(bytes, ElementsAre(4 * 8, 8, -8, 9 * 8, -4 * 8, -9 * 8));
}

}  // namespace
}  // namespace steelyard
