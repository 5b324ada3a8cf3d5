// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "calls.h"
#include "events.h"
#include "programs.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Bookkeeping, NumbersLeaveTensorsForNothing) {
  EXPECT_THAT(EventsOf("aten::item(f32[1])"), IsEmpty());
}

TEST(Bookkeeping, ChecksRunNothing) {
  EXPECT_TRUE(KernelsOf("aten::_assert_tensor_metadata(f32[2])").main().nodes.empty());
}

TEST(Bookkeeping, ChecksOfDTypesAreLeftOutUnderAutocast) {
  const std::string check = "aten::_assert_tensor_metadata(%x, None, None, bf16)\nreturn %x\n";
  const Result<Program> plain = RunText("input %x: f32[4]\n" + check);
  ASSERT_TRUE(plain) << Describe(plain.error());
  EXPECT_THAT(Notes(*plain), ElementsAre());
  const Result<Program> cast =
      RunText("input %x: f32[4]\nsteelyard::enter_autocast(bf16)\n" + check);
  ASSERT_TRUE(cast) << Describe(cast.error());
  EXPECT_THAT(Notes(*cast), ElementsAre(HasSubstr("which fail under autocast, are left out")));
}

}  // namespace
}  // namespace steelyard
