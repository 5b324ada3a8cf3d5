// SPDX-License-Identifier: Apache-2.0
//
// Counts of casts are those of RAF's own tests (tests/python/pass/test_pass_auto_cast.py), one test
// here for each there. Not among them is its in-place binding of a product to a parameter, which
// takes no operator: a program here has no such line.

#include "pass/cast_kernels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "ir/verify.h"
#include "pass/decompose.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Program Cast(std::string_view text, const AmpOptions& options = {.dtype = DType::kFloat16}) {
  const Result<Program> program = ParseText(text, "test.syt");
  EXPECT_TRUE(program) << Describe(program.error());
  Result<Program> kernels = Decompose(*program, Target{});
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  Result<Program> cast = CastKernels(*std::move(kernels), options, Target{});
  EXPECT_TRUE(cast) << Describe(cast.error());
  EXPECT_TRUE(Verify(*cast));
  return *std::move(cast);
}

std::vector<std::string> KernelsOf(const Program& program) {
  std::vector<std::string> out;
  for (const Node& node : program.main().nodes) {
    if (!program.is_drop(node)) out.emplace_back(program.op_name(node.op));
  }
  return out;
}
int CastsOf(const Program& program) {
  const std::vector<std::string> kernels = KernelsOf(program);
  return static_cast<int>(std::ranges::count(kernels, "raf::cast"));
}

AmpOptions Giving(DType results) {
  return {.dtype = DType::kFloat16, .policy = CastPolicy::kRaf, .results = results};
}

constexpr std::string_view kConvolution =
    "parameter %w: f32[32,3,3,3]\nparameter %b: f32[32]\ninput %x: f32[1,3,224,224]\n"
    "%c = raf::conv2d(%x, %w)\n%y = raf::bias_add(%c, %b, 1)\nreturn %y\n";

TEST(CastKernels, RafsBasicTest) {
  // The image, the weight and the bias.
  EXPECT_EQ(CastsOf(Cast(kConvolution)), 3);
}

TEST(CastKernels, RafsCustomHint) {
  // The bias stays; the result of the convolution is cast back.
  const Program program =
      Cast(kConvolution, {.dtype = DType::kFloat16, .casts = {{.of = "raf::bias_add"}}});
  EXPECT_EQ(CastsOf(program), 3);
  EXPECT_EQ(program.values[program.main().outputs[0].value].dtype, DType::kFloat32);
}

TEST(CastKernels, RafsTupleOfResults) {
  constexpr std::string_view kText =
      "parameter %w: f32[32,3,3,3]\ninput %x: f32[1,3,224,224]\n"
      "%y = raf::conv2d(%x, %w)\n%z = raf::relu(%y)\nreturn %y, %z\n";
  EXPECT_EQ(CastsOf(Cast(kText, Giving(DType::kFloat32))), 4);
  EXPECT_EQ(CastsOf(Cast(kText, Giving(DType::kFloat16))), 2);
}

TEST(CastKernels, RafsTupleOfAnOperator) {
  EXPECT_EQ(CastsOf(Cast("parameter %w: f32[32,3,3,3]\ninput %x: f32[2,3,224,224]\n"
                         "%c = raf::conv2d(%x, %w)\n%a, %b = raf::split(%c, 2)\n"
                         "%y = raf::concatenate([%a, %b])\nreturn %y\n")),
            2);
}

TEST(CastKernels, RafsCastsBeforeAProduct) {
  constexpr std::string_view kText =
      "parameter %w: f16[32,3,3,3]\ninput %x: f16[1,3,224,224]\n"
      "%wide = raf::cast(%x, f32)\n%weight = raf::cast(%w, f32)\n"
      "%c = raf::conv2d(%wide, %weight)\n%y = raf::cast(%c, f16)\nreturn %y\n";
  EXPECT_EQ(CastsOf(Cast(kText, Giving(DType::kFloat16))), 0);
  EXPECT_EQ(CastsOf(Cast(kText, Giving(DType::kFloat32))), 1);
}

TEST(CastKernels, RafsCastsBeforeAMajority) {
  constexpr std::string_view kText =
      "input %x: f16[10,10]\n%wide = raf::cast(%x, f32)\n%r = raf::relu(%wide)\n"
      "%y = raf::cast(%r, f16)\nreturn %y\n";
  EXPECT_EQ(CastsOf(Cast(kText, Giving(DType::kFloat16))), 0);
  EXPECT_EQ(CastsOf(Cast(kText, Giving(DType::kFloat32))), 1);
}

TEST(CastKernels, RafsCountOfDTypes) {
  // Both factors, and the full tensor: a tie goes to the low dtype.
  EXPECT_EQ(CastsOf(Cast("input %x: f32[5,5]\nparameter %w: f32[5,5]\n"
                         "%m = raf::matmul(%x, %w)\n%f = raf::full(1.0, [5,5], f32)\n"
                         "%y = raf::less_equal(%m, %f)\nreturn %y\n")),
            3);
}

TEST(CastKernels, RafsSumOverItsOperand) {
  // Both factors, and what is added to what is overwritten.
  const Program program = Cast(
      "input %x: f32[10,10]\ninput %y: f32[10,10]\nparameter %w: f32[10,10]\n"
      "%m = raf::matmul(%x, %w)\n%s = raf::add.out(%m, %m, %y)\nreturn %s\n");
  EXPECT_EQ(CastsOf(program), 3);
}

TEST(CastKernels, RafsCastsThatAreUsedAgain) {
  // Two factors once for both products, softmax's and exp's operands, and the sum that meets the
  // second product.
  EXPECT_EQ(CastsOf(Cast("input %x: f32[32,1024]\nparameter %w: f32[1024,1000]\n"
                         "%a = raf::matmul(%x, %w)\n%b = raf::matmul(%x, %w)\n"
                         "%s = raf::softmax(%a)\n%e = raf::exp(%a)\n%t = raf::add(%s, %e)\n"
                         "%y = raf::add(%t, %b)\nreturn %y\n")),
            5);
}

TEST(CastKernels, RafsConcatenations) {
  const auto casts = [](int wide, int low) {
    std::string text, names;
    for (int i = 0; i < wide + low; ++i) {
      const std::string name = "%x" + std::to_string(i);
      text += "input " + name + (i < wide ? ": f32[12,10]\n" : ": f16[12,10]\n");
      names += (i == 0 ? "" : ", ") + name;
    }
    return CastsOf(Cast(text + "%y = raf::concatenate([" + names + "])\nreturn %y\n"));
  };
  EXPECT_EQ(casts(2, 3), 2) << "most are low";
  EXPECT_EQ(casts(3, 2), 2) << "most are not";
  EXPECT_EQ(casts(3, 4), 4) << "most are low, but there are more than five";
}

TEST(CastKernels, RafsWhere) {
  EXPECT_EQ(CastsOf(Cast("input %c: bool[5,5]\ninput %x: f32[5,5]\ninput %y: f32[5,5]\n"
                         "parameter %w: f32[5,5]\n%m = raf::matmul(%x, %w)\n"
                         "%r = raf::where(%c, %m, %y)\nreturn %r\n")),
            3);
}

// --- What RAF's tests do not say
// ------------------------------------------------------------------

TEST(CastKernels, PyTorchsKernelsAreCastByPyTorch) {
  const Program program = Cast(
      "parameter %w: f32[4,4] \"w\"\ninput %x: f32[4,4]\n%m = aten::mm(%x, %w)\n"
      "%s = aten::_softmax(%m, 1, False)\nreturn %s\n");
  EXPECT_THAT(KernelsOf(program), ElementsAre("aten::_to_copy", "aten::_to_copy", "aten::mm",
                                              "aten::_to_copy", "aten::_softmax"));
}

TEST(CastKernels, ACastLivesUntilItsLastUse) {
  const Program program = Cast(
      "parameter %w: f32[4,4] \"w\"\ninput %x: f32[4,4]\n%a = aten::mm(%x, %w)\n"
      "%b = aten::mm(%a, %w)\nreturn %b\n");
  // Of %x, the weight's copy, and of %a: both products read the weight's.
  std::vector<std::string> names;
  for (const Node& node : program.main().nodes) {
    const bool drop = program.is_drop(node);
    names.push_back(
        drop ? "drop " + std::string(program.text(program.values[program.args(node)[0].value].name))
             : std::string(program.op_name(node.op)));
  }
  EXPECT_THAT(names, ElementsAre("aten::_to_copy", "aten::_to_copy", "aten::mm", "drop cast1",
                                 "aten::mm", "drop cast2", "drop a"));
}

TEST(CastKernels, WhatIsOverwrittenKeepsItsDType) {
  const Program program = Cast(
      "parameter %w: f32[4,4] \"w\"\ninput %x: f32[4,4]\n%m = aten::mm(%x, %w)\n"
      "%s = aten::add_.Tensor(%x, %m)\nreturn %s\n");
  EXPECT_THAT(KernelsOf(program), ElementsAre("aten::_to_copy", "aten::_to_copy", "aten::mm",
                                              "aten::_to_copy", "aten::add_.Tensor"));
  EXPECT_EQ(program.values[program.main().outputs[0].value].dtype, DType::kFloat32);
}

TEST(CastKernels, WhatHasNoRuleIsListed) {
  const Program program = Cast(
      "parameter %w: f32[4,4] \"w\"\ninput %x: f32[4,4]\n%m = aten::mm(%x, %w)\n"
      "%s = aten::erfc(%m)\nreturn %s\n");
  EXPECT_EQ(program.values[program.main().outputs[0].value].dtype, DType::kFloat32);
  ASSERT_EQ(program.notes.size(), 1u);
  EXPECT_THAT(program.text(program.notes[0]), HasSubstr("aten::erfc (1×)"));
}

TEST(CastKernels, WithoutADTypeNothingChanges) {
  EXPECT_THAT(KernelsOf(Cast(kConvolution, {})), ElementsAre("raf::conv2d", "raf::bias_add"));
}

TEST(CastPolicy, IsKnownByItsName) {
  EXPECT_EQ(CastPolicyNamed("raf"), CastPolicy::kRaf);
  EXPECT_EQ(CastPolicyNamed("torch"), CastPolicy::kTorch);
  EXPECT_EQ(CastPolicyNamed("xla"), std::nullopt);
}

}  // namespace
}  // namespace steelyard
