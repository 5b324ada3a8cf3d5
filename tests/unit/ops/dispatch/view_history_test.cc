// SPDX-License-Identifier: Apache-2.0
//
// What the events should be, PyTorch 2.15 was measured to do: tests/data/train has such models
// whole.

#include <gmock/gmock.h>

#include "../steps.h"
#include "ops/dispatch/autograd.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// What a formula drops is freed in the record of its node; what is overwritten of a view in that of
// the node around it.
TEST(ViewHistory, AViewThatIsOverwrittenInPlaceIsPartOfItsBase) {
  const std::vector<std::string> events = EventsOfProgram(
      "parameter %p: f32[4,8]\n%a = aten::neg(%p)\n%v = aten::narrow(%a, 1, 0, 5)\n"
      "%s = aten::sin_(%v)\n%loss = aten::sum(%a)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  constexpr std::int64_t kPart = 4 * 5 * 4;
  EXPECT_THAT(events, Contains(Line(-kPart, "SinBackward0")));
  EXPECT_THAT(events, Contains(Line(-kPart, "torch::autograd::CopySlices")));
}

// Its elements are what they were, and its history goes on from what it was.
TEST(ViewHistory, AViewWhoseSizesChangeInPlaceStaysAView) {
  const std::vector<std::string> events = EventsOfProgram(
      "parameter %p: f32[4,8]\n%a = aten::neg(%p)\n%v = aten::narrow(%a, 1, 0, 5)\n"
      "%u = aten::unsqueeze_(%v, 0)\n%y = aten::sin(%a)\n%z = aten::cos(%u)\n"
      "%l = aten::sum(%y)\n%m = aten::sum(%z)\n%loss = aten::add.Tensor(%l, %m)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  EXPECT_THAT(events, Not(Contains(HasSubstr("CopySlices"))));
  EXPECT_THAT(events, Not(Contains(HasSubstr("AsStridedBackward0"))));
}

// Its real parts are no elements of it: they are taken anew of what it is by then.
TEST(ViewHistory, ARealViewOfComplexNumbersIsMadeOnceMore) {
  const std::vector<std::string> events = EventsOfProgram(
      "parameter %p: f32[4,8]\n%a = aten::complex(%p, %p)\n%v = aten::view_as_real(%a)\n"
      "%w = aten::mul_.Tensor(%v, 2)\n%loss = aten::sum(%v)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  EXPECT_THAT(events, Not(Contains(HasSubstr("AsStridedBackward0"))));
  EXPECT_THAT(events, Contains(HasSubstr("torch::autograd::CopySlices")));
}

}  // namespace
}  // namespace steelyard
