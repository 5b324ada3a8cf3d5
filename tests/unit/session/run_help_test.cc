// SPDX-License-Identifier: Apache-2.0
#include "session/run_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(HelpOf, TellsWhatWasPredicted) {
  const Weighing weighing = Weigh({.path = WrittenModel(kLinear)}).value();
  const Help help = HelpOf(weighing);
  EXPECT_THAT(help.memory(),
              AllOf(HasSubstr("Its peak was predicted to be"), HasSubstr("a smaller --batch")));
  EXPECT_THAT(help.kernel, HasSubstr("float32 or bfloat16"));
}

TEST(HelpOf, UnderAutocastACastHelps) {
  const Weighing weighing =
      Weigh({.path = WrittenModel(kLinear), .amp = {.dtype = DType::kBFloat16}}).value();
  EXPECT_THAT(HelpOf(weighing).kernel, HasSubstr("--cast"));
}

TEST(WhereNotFinite, TellsWhatItIsMadeOf) {
  const Weighing weighing = Weigh({.path = WrittenModel(kLinear)}).value();
  EXPECT_EQ(WhereNotFinite({.nan = {}, .infinity = Origin{.tensor = "w"}}, weighing.kernels),
            "the infinity is first in \"w\", before anything runs");
  EXPECT_THAT(WhereNotFinite({.nan = Origin{.kernel = 0}, .infinity = Origin{.tensor = "w"}},
                             weighing.kernels),
              AllOf(HasSubstr("the NaN is first in kernel 0 ("),
                    HasSubstr("an infinity that is first in \"w\"")));
}

}  // namespace
}  // namespace steelyard
