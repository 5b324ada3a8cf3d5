// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Collectives, GatherAndScatterByProcess) {
  EXPECT_EQ(ResultOf("_c10d_functional::all_gather_into_tensor(f32[2,3], 4, '0')"), "f32[8,3]");
  EXPECT_EQ(ResultOf("_c10d_functional::reduce_scatter_tensor(f32[8,3], 'sum', 4, '0')"),
            "f32[2,3]");
  EXPECT_THAT(RefusalOf("_c10d_functional::reduce_scatter_tensor(f32[7,3], 'sum', 4, '0')"),
              HasSubstr("for 4 processes"));
  EXPECT_EQ(ResultOf("_c10d_functional::all_to_all_single(f32[4,3], [1,4], [2,2], '0')"),
            "f32[5,3]");
}

TEST(Collectives, SumsAreCopies) {
  EXPECT_THAT(EventsOf("_c10d_functional::all_reduce(f32[2,3], 'sum', '0')"),
              ElementsAre(Line(2 * 3 * 4, "empty")));
  EXPECT_THAT(EventsOf("_c10d_functional::wait_tensor(f32[2,3])"), IsEmpty());
}

// What one sends in the backward pass is what it received in the forward pass, laid out densely.
TEST(Collectives, GradientsGoTheOtherWay) {
  EXPECT_THAT(BackwardOf("_c10d_functional::all_reduce(%p, 'sum', '0')"),
              ElementsAre("clone", "all_reduce"));
  EXPECT_THAT(BackwardOf("_c10d_functional_autograd::all_gather_into_tensor(%p, 4, '0')"),
              ElementsAre("clone", "reduce_scatter_tensor"));
  EXPECT_THAT(BackwardOf("_c10d_functional::reduce_scatter_tensor(%p, 'sum', 4, '0')"),
              ElementsAre("clone", "all_gather_into_tensor"));
  EXPECT_THAT(BackwardOf("_c10d_functional::all_to_all_single(%p, [3,3], [2,2], '0')"),
              ElementsAre("clone", "all_to_all_single"));
  EXPECT_THAT(BackwardOf("_c10d_functional::broadcast(%p, 0, '0')"),
              ElementsAre("new_empty_strided", "copy_"));
}

}  // namespace
}  // namespace steelyard
