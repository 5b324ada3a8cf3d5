// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/complex.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// A step that adds up the real and imaginary parts of %y.
std::string StepOfComplex(std::string_view call) {
  return "parameter %p: c64[4,8]\nparameter %r: f32[4,8]\nparameter %a: f32[4,8]\n"
         "input %x: c64[4,8]\n%y = " +
         std::string(call) +
         "\n%s = aten::resolve_conj(%y)\n%v = aten::view_as_real(%s)\n%loss = aten::sum(%v)\n"
         "steelyard::backward(%loss) phase backward\nreturn %loss\n";
}

// The kernels of its backward pass behind those of the sum and of the pairs.
std::vector<std::string> KernelsBehindPairs(std::string_view call) {
  const Program kernels = KernelsOfProgram(StepOfComplex(call));
  std::vector<std::string> out;
  bool behind = false;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase != Phase::kBackward || name == kDropMark) continue;
    if (behind) out.emplace_back(name.substr(name.find("::") + 2));
    behind |= name == "aten::view_as_complex";
  }
  EXPECT_TRUE(behind);
  return out;
}

std::vector<std::string> SavedOfComplex(std::string_view call) {
  const Program kernels = KernelsOfProgram(StepOfComplex(call));
  std::vector<std::string> out;
  for (const SavedTensor& saved : kernels.saved) {
    out.push_back(std::string(kernels.text(kernels.values[saved.value].name)) + " by " +
                  std::string(kernels.text(saved.by)));
  }
  return out;
}

TEST(ComplexGradients, AProductIsTimesTheConjugate) {
  EXPECT_THAT(KernelsBehindPairs("aten::mul.Tensor(%p, %x)"),
              ElementsAre("_conj", "clone", "mul.Tensor"));
}

TEST(ComplexGradients, ARealFactorTakesTheRealPart) {
  EXPECT_THAT(KernelsBehindPairs("aten::mul.Tensor(%r, %x)"),
              ElementsAre("_conj", "clone", "mul.Tensor", "view_as_real", "select.int",
                          "new_empty_strided", "copy_"));
}

TEST(ComplexGradients, PartsAreKeptForTheirNames) {
  EXPECT_THAT(SavedOfComplex("aten::complex(%r, %a)"),
              ElementsAre("a by ComplexBackward0", "r by ComplexBackward0"));
  EXPECT_THAT(SavedOfComplex("aten::polar(%r, %a)"), ElementsAre("y by PolarBackward0"));
}

TEST(ComplexGradients, ADirectionTurnsWithoutItsLength) {
  EXPECT_THAT(SavedOfComplex("aten::sgn(%p)"),
              ElementsAre("p by SgnBackward0", "y by SgnBackward0"));
  // The conjugate that is taken away, times the square of the direction.
  EXPECT_THAT(KernelsBehindPairs("aten::sgn(%p)"), Contains("clone").Times(1));
}

TEST(ComplexGradients, ATransformIsTransformedBack) {
  EXPECT_THAT(KernelsBehindPairs("aten::fft_fft(%p)"), ElementsAre("_fft_c2c"));
}

TEST(ComplexGradients, TheHalfThatWasLeftOutIsZeros) {
  EXPECT_THAT(KernelsBehindPairs("aten::fft_rfft(%r)"), Contains("new_zeros"));
  // All frequencies were given.
  EXPECT_THAT(KernelsBehindPairs("aten::_fft_r2c(%r, [1], 0, False)"), Not(Contains("new_zeros")));
}

}  // namespace
}  // namespace steelyard
