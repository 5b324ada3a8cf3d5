// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <string_view>

#include "steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::string Averaged(std::string_view ranks) {
  return "parameter %v: f32[4,8]\nparameter %w: f32[3,4]\ninput %x: f32[2,8]\n"
         "%y = aten::linear(%x, %v)\n%z = aten::linear(%y, %w)\n%loss = aten::sum(%z)\n"
         "steelyard::backward(%loss) phase backward\n"
         "steelyard::average_gradients([%v, %w], " +
         std::string(ranks) + ")\nreturn %loss\n";
}

// Both fit the first bucket.
TEST(DataParallel, GradientsAreAveragedInOneTensor) {
  EXPECT_THAT(EventsOfProgram(Averaged("2")), Contains(HasSubstr("+176 aten::cat")));
}

TEST(DataParallel, NoProcessesAverageNothing) {
  const Result<Program> program = ParseText(Averaged("0"), "");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().message, HasSubstr("0 processes"));
}

}  // namespace
}  // namespace steelyard
