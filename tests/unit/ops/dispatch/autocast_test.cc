// SPDX-License-Identifier: Apache-2.0
//
// The expected casts are the rules of aten/src/ATen/autocast_mode.h; tests/differential has
// PyTorch's.

#include "ops/dispatch/autocast.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kFullWeight = 4 * 8 * 8;       // f32[8,8]
constexpr std::int64_t kLowWeight = kFullWeight / 2;  // in bfloat16
constexpr std::int64_t kLowRow = 2 * 4 * 8;           // bf16[4,8]

// `body` in a region, of parameters %w f32[8,8] and %b f32[8], inputs %x f32[4,8] and %z f64[4,4].
std::string AutocastRegion(std::string_view body, std::string_view result) {
  return "parameter %w: f32[8,8]\nparameter %b: f32[8]\ninput %x: f32[4,8]\ninput %z: f64[4,4]\n"
         "steelyard::enter_autocast(bf16)\n" +
         std::string(body) + "\nsteelyard::leave_autocast()\nreturn " + std::string(result) + "\n";
}

std::vector<std::string> ResultsOf(const Program& kernels, std::string_view op) {
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    if (kernels.op_name(node.op) != op) continue;
    const ValueId id = kernels.results(node)[0];
    out.emplace_back(ShortNameOf(kernels.values[id].dtype));
  }
  return out;
}

TEST(Autocast, OperandsAreCastFromTheLastToTheFirst) {
  const std::vector<std::string> events =
      EventsOfProgram(AutocastRegion("%y = aten::addmm(%b, %x, %w)", "%y"));
  EXPECT_THAT(events, ElementsAre(Line(kLowWeight, "aten::empty_strided"),
                                  Line(kLowRow, "aten::empty_strided"),
                                  Line(2 * 8, "aten::empty_strided"), Line(kLowRow, "aten::addmm"),
                                  // Parameters' casts stay until the region ends.
                                  Line(-kLowRow, "aten::addmm"), Line(-kLowWeight, ""),
                                  Line(-2 * 8, ""), Line(-kLowRow, "")));  // the result
}

TEST(Autocast, AParameterIsCastOnceARegion) {
  const std::string twice = "%y = aten::mm(%x, %w)\n%v = aten::mm(%y, %w)";
  const std::vector<std::string> casts =
      ResultsOf(KernelsOfProgram(AutocastRegion(twice, "%v")), "aten::_to_copy");
  EXPECT_THAT(casts, ElementsAre("bf16", "bf16"));  // %w and %x
}

TEST(Autocast, WhatOperatorsCallIsLeftAloneOnlyInsideThoseOfTheLists) {
  // A mean of squares is one of the losses that are computed in float32.
  const Program kernels =
      KernelsOfProgram(AutocastRegion("%y = aten::mm(%x, %w)\n%l = aten::mse_loss(%y, %x)", "%l"));
  EXPECT_THAT(ResultsOf(kernels, "aten::_to_copy"), ElementsAre("bf16", "bf16", "f32"));
}

TEST(Autocast, DoublesAreNotCast) {
  const Program kernels = KernelsOfProgram(AutocastRegion("%y = aten::mm(%z, %z)", "%y"));
  EXPECT_THAT(ResultsOf(kernels, "aten::_to_copy"), ElementsAre());
}

TEST(Autocast, ConcatenationsArePromoted) {
  const std::string body =
      "%y = aten::mm(%x, %w)\n%c = aten::cat([%y, %x], 1)\n"
      "%d = aten::cat([%y, %y], 1)";
  const Program kernels = KernelsOfProgram(AutocastRegion(body, "%c, %d"));
  EXPECT_THAT(ResultsOf(kernels, "aten::cat"), ElementsAre("f32", "bf16"));
}

TEST(Autocast, TheGradientOfACastIsACast) {
  const Program kernels = KernelsOfProgram(
      "parameter %w: f32[8,8]\ninput %x: f32[4,8]\nsteelyard::enter_autocast(bf16)\n"
      "%y = aten::mm(%x, %w)\n%l = aten::sum(%y)\nsteelyard::leave_autocast()\n"
      "steelyard::backward(%l) phase backward\nreturn %l\n");
  EXPECT_THAT(ResultsOf(kernels, "aten::_to_copy"), ElementsAre("bf16", "bf16", "f32"));
}

TEST(Autocast, ParametersAreCastAgainWhereModulesRunAgain) {
  const Program kernels = KernelsOfProgram(
      "parameter %w: f32[8,8]\ninput %x: f32[4,8]\nsteelyard::enter_autocast(bf16)\n"
      "%a = aten::mm(%x, %w)\n%y = steelyard::checkpoint(@g, 1, False, %a, %w)\n"
      "%l = aten::sum(%y)\nsteelyard::leave_autocast()\n"
      "steelyard::backward(%l) phase backward\nreturn %l\n"
      "graph @g(%b: f32[4,8], %v: f32[8,8]) {\n  %h: f32[4,8] = aten::mm(%b, %v)\n"
      "  %t: f32[4,8] = aten::tanh(%h)\n  return %t\n}\n");
  int again = 0;
  for (const Node& node : kernels.main().nodes) {
    again +=
        node.phase == Phase::kRecompute && kernels.op_name(node.op) == "aten::_to_copy" ? 1 : 0;
  }
  EXPECT_EQ(again, 1);
}

TEST(Autocast, AnOverrideOfAnOperatorDecides) {
  const std::string body = "%y = aten::mm(%x, %w)\n%t = aten::tanh(%y)";
  const std::string low = AutocastRegion(body, "%t");
  EXPECT_THAT(ResultsOf(KernelsOfProgram(low), "aten::tanh"), ElementsAre("bf16"));
  std::string full = low;
  full.insert(full.find("steelyard::enter"), "steelyard::cast_operator(\"aten::tanh\", f32)\n");
  EXPECT_THAT(ResultsOf(KernelsOfProgram(full), "aten::tanh"), ElementsAre("f32"));
}

TEST(Autocast, CastsThatAreKeptAreActivations) {
  const Program kernels = KernelsOfProgram(AutocastRegion("%y = aten::mm(%x, %w)", "%y"));
  ASSERT_EQ(kernels.saved.size(), 1u);
  EXPECT_EQ(kernels.text(kernels.saved[0].by), "torch.autocast");
}

}  // namespace
}  // namespace steelyard
