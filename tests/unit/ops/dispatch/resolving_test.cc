// SPDX-License-Identifier: Apache-2.0
//
// The expected events are PyTorch's rules applied to 4 x 4 complex numbers: a copy is 128 bytes.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kComplexMatrix = 4 * 4 * 8;

// The events of a program that returns %out, the last of these lines, but the caller's free of it.
std::vector<std::string> EventsOfLines(const std::string& lines) {
  std::vector<std::string> events =
      EventsOfProgram("input %x: c64[4,4]\ninput %y: c64[4,4]\n" + lines + "return %out\n");
  if (!events.empty() && events.back().ends_with(' ')) events.pop_back();
  return events;
}

std::string Copy() { return Line(kComplexMatrix, "aten::empty_strided"); }

TEST(Resolving, AConjugateIsAView) {
  EXPECT_THAT(EventsOfLines("%c = aten::conj(%x)\n%out = aten::transpose.int(%c, 0, 1)\n"),
              IsEmpty());
}

TEST(Resolving, AConjugateOfAConjugateIsTheTensor) {
  EXPECT_THAT(EventsOfLines("%c = aten::conj(%x)\n%d = aten::conj(%c)\n"
                            "%out = aten::view_as_real(%d)\n"),
              IsEmpty());
  EXPECT_THAT(EventsOfLines("%c = aten::conj(%x)\n%out = aten::resolve_conj(%c)\n"),
              ElementsAre(Copy()));
}

TEST(Resolving, OtherOperatorsAreGivenCopies) {
  EXPECT_THAT(
      EventsOfLines("%c = aten::conj(%x)\n%out = aten::mul.Tensor(%c, %y)\n"),
      ElementsAre(Copy(), Line(kComplexMatrix, "aten::mul"), Line(-kComplexMatrix, "aten::mul")));
  EXPECT_THAT(EventsOfLines("%c = aten::conj(%x)\n%out = aten::cat([%c, %y, %c])\n"),
              ElementsAre(Copy(), Copy(), Line(3 * kComplexMatrix, "aten::cat"),
                          Line(-kComplexMatrix, "aten::cat"), Line(-kComplexMatrix, "aten::cat")));
}

TEST(Resolving, ProductsReadTransposedConjugates) {
  const std::string turned = "%t = aten::t(%x)\n%c = aten::conj(%t)\n";
  EXPECT_THAT(EventsOfLines(turned + "%out = aten::mm(%y, %c)\n"),
              ElementsAre(Line(kComplexMatrix, "aten::mm")));
  EXPECT_THAT(
      EventsOfLines("%c = aten::conj(%x)\n%out = aten::mm(%y, %c)\n"),
      ElementsAre(Line(kComplexMatrix, "aten::mm"), Copy(), Line(-kComplexMatrix, "aten::mm")));
}

TEST(Resolving, AViewInPlaceKeepsTheBit) {
  for (const std::string call :
       {"t_(%c)", "swapaxes_(%c, 0, 1)", "squeeze_(%c)", "as_strided_(%c, [4,4], [1,4])"}) {
    EXPECT_THAT(EventsOfLines("%c = aten::conj(%x)\n%out = aten::" + call + "\n"), IsEmpty())
        << call;
  }
}

TEST(Resolving, AProductIsAddedInPlaceWithoutACopy) {
  EXPECT_THAT(EventsOfLines("%o = aten::clone(%x)\n%t = aten::t(%y)\n%c = aten::conj(%t)\n"
                            "%out = aten::addmm_(%o, %x, %c)\n"),
              ElementsAre(Copy()));
}

TEST(Resolving, WhatIsOverwrittenIsCopiedBack) {
  EXPECT_THAT(EventsOfLines("%o = aten::clone(%x)\n%c = aten::conj(%o)\n"
                            "%out = aten::add_.Tensor(%c, %y)\n"),
              ElementsAre(Copy(), Copy(), Line(-kComplexMatrix, "aten::add_")));
}

TEST(Resolving, TheImaginaryPartOfAConjugateIsANegativeView) {
  const std::string imaginary = "%c = aten::conj(%x)\n%i = aten::imag(%c)\n";
  EXPECT_THAT(EventsOfLines(imaginary + "%out = aten::t(%i)\n"), IsEmpty());
  EXPECT_THAT(
      EventsOfLines(imaginary + "%out = aten::exp(%i)\n"),
      ElementsAre(Line(kComplexMatrix / 2, "aten::empty_strided"),
                  Line(kComplexMatrix / 2, "aten::exp"), Line(-kComplexMatrix / 2, "aten::exp")));
}

TEST(Resolving, PartsOfACompositeAreAskedOneByOne) {
  // `linear` without a bias is a view and a product, and neither copies.
  EXPECT_THAT(EventsOfLines("%c = aten::conj(%x)\n%out = aten::linear(%y, %c)\n"),
              ElementsAre(Line(kComplexMatrix, "aten::mm")));
}

}  // namespace
}  // namespace steelyard
