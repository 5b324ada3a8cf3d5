// SPDX-License-Identifier: Apache-2.0
#include "ops/lapack.h"

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Lapack, RoutinesOverwriteAndTakeNothing) {
  EXPECT_THAT(EventsOf("steelyard::lapack(f32[3,3], 'getrf')"), ElementsAre());
  EXPECT_THAT(RefusalOf("steelyard::lapack(f32[3,3], 'nosuch')"), HasSubstr("no routine nosuch"));
}

TEST(Lapack, AFactorOfAnotherDtypeIsCastForAProduct) {
  EXPECT_THAT(EventsOf("steelyard::product_into(f32[2], i64[2], f32[2])"),
              ElementsAre(Line(8, "empty_strided"), Line(-8, "mul")));
}

TEST(Lapack, ErrorsAreAskedFor) {
  EXPECT_THAT(EventsOf("aten::_linalg_check_errors(i32[2], 'linalg.inv', is_matrix=False)"),
              ElementsAre(Line(1, "any"), Line(2, "empty_strided"), Line(-2, "any"),
                          Line(-1, "_linalg_check_errors")));
}

}  // namespace
}  // namespace steelyard
