// SPDX-License-Identifier: Apache-2.0

#include "pass/fully_shard.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "ir/verify.h"
#include "parsed.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two layers of one class, and a head whose weight is the root's.
constexpr std::string_view kLayers = R"(module "": Net
module layers.0: Linear
module layers.1: Linear
module head: Linear
parameter %v: f32[7,8] "layers.0.weight"
parameter %w: f32[8,7] "layers.1.weight"
parameter %h: f32[4,8] "head.weight"
input %x: f32[2,8]
%a: f32[2,7] = aten::linear(%x, %v) in layers.0
%b: f32[2,8] = aten::linear(%a, %w) in layers.1
%c: f32[2,4] = aten::linear(%b, %h) in head
%loss: f32[] = aten::sum(%c) phase loss
return %loss, %c
)";

TrainOptions Sharded(std::vector<std::string> units = {}) {
  return {
      .optimizer = "sgd", .ranks = 2, .parallel = {.wrapper = "fsdp", .units = std::move(units)}};
}

Result<Program> Sharded(std::string_view text, const TrainOptions& options) {
  return FullyShard(ParseText(text, "").value(), options);
}

std::string RefusalOf(std::string_view text, const TrainOptions& options) {
  const Result<Program> program = Sharded(text, options);
  return program ? "" : program.error().message;
}

TEST(FullyShard, MembersOfAListAreUnits) {
  const Result<Program> program = Sharded(kLayers, Sharded());
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(Verify(*program));
  EXPECT_THAT(Operators(*program, 0),
              ElementsAre("steelyard::enter_fully_shard", "steelyard::run_shard_unit",
                          "steelyard::run_shard_unit", "aten::linear",
                          "steelyard::leave_fully_shard", "aten::sum"));
}

TEST(FullyShard, UnitsHaveNames) {
  const Program program = Sharded(kLayers, Sharded({"layers.1"})).value();
  EXPECT_THAT(Operators(program, 0), ElementsAre("steelyard::enter_fully_shard", "aten::linear",
                                                 "steelyard::run_shard_unit", "aten::linear",
                                                 "steelyard::leave_fully_shard", "aten::sum"));
}

TEST(FullyShard, AProcessKeepsAPartRoundedUp) {
  const Program program = Sharded(kLayers, Sharded()).value();
  const auto rows = [&](std::size_t i) { return program.sizes(program.parameters[i].value)[0]; };
  EXPECT_EQ(rows(0), 4);
  EXPECT_EQ(rows(1), 4);
  EXPECT_EQ(rows(2), 2);
}

// The first call gives the root's parameters as a whole.
TEST(FullyShard, TheRootsParametersAreWholeBetweenItsCalls) {
  const Program program = Sharded(kLayers, Sharded()).value();
  const Node& head = program.main().nodes[3];
  const ValueId weight = program.args(head)[1].value;
  EXPECT_NE(weight, program.parameters[2].value);
  EXPECT_EQ(program.sizes(weight)[0], 4);
}

// Inputs are cast by the first call, what the model gives by the last, of which the loss is made.
TEST(FullyShard, APolicyCastsWhatTheModelTakesAndGives) {
  TrainOptions options = Sharded();
  options.parallel.precision = {.param = DType::kBFloat16, .output = DType::kFloat32};
  const Program program = Sharded(kLayers, options).value();
  EXPECT_TRUE(Verify(program));
  const std::vector<Node>& nodes = program.main().nodes;
  const ValueId input = program.results(nodes.front()).back();
  EXPECT_EQ(program.values[input].dtype, DType::kBFloat16);
  EXPECT_EQ(program.args(nodes[1])[3].value, input);
  const Node& leave = nodes[nodes.size() - 2];
  EXPECT_EQ(program.values[program.results(leave)[0]].dtype, DType::kFloat32);
  EXPECT_EQ(program.args(nodes.back())[0].value, program.results(leave)[0]);
  EXPECT_EQ(program.main().outputs[1].value, program.results(leave)[0]);
}

TEST(FullyShard, SumsAreNotNarrowerThanGradients) {
  TrainOptions options = Sharded();
  options.parallel.precision = {.reduce = DType::kBFloat16};
  EXPECT_THAT(RefusalOf(kLayers, options), HasSubstr("float32 that are reduced in bfloat16"));
  options.parallel.precision.param = DType::kBFloat16;
  EXPECT_EQ(RefusalOf(kLayers, options), "");
}

TEST(FullyShard, WhatIsNotKnownIsRefused) {
  EXPECT_THAT(RefusalOf(kLayers, Sharded({"none.*"})), HasSubstr("none.*"));
  TrainOptions options = Sharded();
  options.optimizer = "muon";
  EXPECT_THAT(RefusalOf(kLayers, options), HasSubstr("Muon on parts of parameters"));
  constexpr std::string_view kNested = R"(module "": Net
module a: Block
module a.b: Linear
parameter %v: f32[8,8] "a.b.weight"
input %x: f32[2,8]
%y: f32[2,8] = aten::linear(%x, %v) in a.b
return %y
)";
  EXPECT_THAT(RefusalOf(kNested, Sharded({"a", "a.b"})), HasSubstr("a unit within the unit \"a\""));
  constexpr std::string_view kOutside = R"(module "": Net
module a: Linear
parameter %v: f32[8,8] "a.weight"
input %x: f32[2,8]
%y: f32[2,8] = aten::linear(%x, %v) in a
%z: f32[2,8] = aten::linear(%y, %v)
return %z
)";
  EXPECT_THAT(RefusalOf(kOutside, Sharded({"a"})), HasSubstr("used outside of its unit, \"a\""));
  constexpr std::string_view kNumber = R"(parameter %v: f32[] "gain"
input %x: f32[2,8]
%y: f32[2,8] = aten::mul.Tensor(%x, %v)
return %y
)";
  EXPECT_THAT(RefusalOf(kNumber, Sharded()), HasSubstr("a single number"));
}

}  // namespace
}  // namespace steelyard
