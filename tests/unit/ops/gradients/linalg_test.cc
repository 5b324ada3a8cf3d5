// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/linalg.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LinalgGradients, AColumnMajorFactorGetsAColumnMajorGradient) {
  // The transposed weight: (grad^T x)^T, which arrives in the layout of the weight.
  EXPECT_THAT(BackwardOf("aten::linear(%x, %p)"), ElementsAre("t", "mm", "t", "t"));
}

TEST(LinalgGradients, AProductSavesTheFactorsThatAreNeeded) {
  EXPECT_THAT(SavedIn("aten::linear(%x, %p)"), ElementsAre("x by MmBackward0"));
}

TEST(LinalgGradients, AProductPlusAVectorMultipliesEachGradient) {
  // alpha times the gradients of matrix and vector, beta times that of the sum.
  constexpr std::string_view kStep =
      "parameter %s: f32[4]\nparameter %m: f32[4,8]\nparameter %v: f32[8]\n"
      "%y = aten::addmv(%s, %m, %v, beta=2, alpha=3)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n";
  const std::vector<std::string> events = EventsOfProgram(std::string(kStep));
  EXPECT_THAT(events, Contains(Line(4 * 8 * 4, "aten::mul")).Times(2));  // ger, times alpha
  EXPECT_THAT(events, Contains(Line(8 * 4, "aten::empty")));             // mv
}

TEST(LinalgGradients, WhatPythonDifferentiatesHoldsTheGradientUntilItReturns) {
  constexpr std::string_view kStep =
      "parameter %r: f32[12,8]\nparameter %w: f32[4,8,5]\ninput %o: i32[4]\n"
      "%y = transformers::grouped_mm_fallback(%r, %w, %o)\n%loss = aten::mean(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n";
  EXPECT_THAT(EventsOfProgram(std::string(kStep)),
              Contains(Line(-12 * 5 * 4,
                            "GeneratedBackwardFor_transformers_grouped_mm_fallback_"
                            "defaultBackward")));
}

}  // namespace
}  // namespace steelyard
