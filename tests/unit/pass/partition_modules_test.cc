// SPDX-License-Identifier: Apache-2.0
#include "pass/partition_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/verify.h"
#include "parsed.h"

namespace steelyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kTwoLayers = R"(module "": Net
module fc: Linear
module head: Linear
parameter %p_fc_weight: f32[5,3] "fc.weight"
parameter %p_head_weight: f32[4,5] "head.weight"
input %x: f32[2,3]
%a: f32[2,5] = aten::linear(%x, %p_fc_weight) in fc
%b: f32[2,4] = aten::linear(%a, %p_head_weight) in head
%loss: f32[] = aten::sum(%b) phase loss
return %loss, %b
)";

TrainOptions InParts(int ranks) { return {.optimizer = "adamw", .ranks = ranks}; }

TEST(PartitionModules, HooksStandAroundEachCall) {
  const Result<Program> program = PartitionModules(Parsed(kTwoLayers), InParts(2));
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(Verify(*program));
  EXPECT_THAT(Operators(*program, 0),
              ElementsAre("steelyard::partition_parameters", "steelyard::enter_engine_module",
                          "steelyard::enter_engine_module", "steelyard::engine_linear",
                          "steelyard::leave_engine_module", "steelyard::enter_engine_module",
                          "steelyard::engine_linear", "steelyard::leave_engine_module",
                          "steelyard::leave_engine_module", "aten::sum"));
}

TEST(PartitionModules, AProcessKeepsItsPartRoundedUp) {
  const Result<Program> program = PartitionModules(Parsed(kTwoLayers), InParts(2));
  ASSERT_TRUE(program);
  const auto sizes = [&](std::size_t parameter) {
    return program->sizes(program->parameters[parameter].value);
  };
  EXPECT_THAT(sizes(0), ElementsAre(8));  // of 15
  EXPECT_THAT(sizes(1), ElementsAre(10));
  EXPECT_THAT(std::string(program->text(program->notes.back())), HasSubstr("72 of 140 bytes"));
}

TEST(PartitionModules, AnotherModulesParameterIsRefusedByItsName) {
  const Result<Program> program = PartitionModules(Parsed(R"(module "": Net
module fc: Linear
parameter %p_head_weight: f32[3,3] "head.weight"
input %x: f32[2,3]
%a: f32[2,3] = aten::linear(%x, %p_head_weight) in fc
%loss: f32[] = aten::sum(%a) phase loss
return %loss
)"),
                                                   InParts(2));
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message, HasSubstr("\"head.weight\", which is used outside"));
}

TEST(PartitionModules, RecomputingIsRefused) {
  TrainOptions options = InParts(2);
  options.recompute = {"fc"};
  const Result<Program> program = PartitionModules(Parsed(kTwoLayers), options);
  ASSERT_FALSE(program);
  EXPECT_THAT(Describe(program.error()), HasSubstr("--recompute"));
}

}  // namespace
}  // namespace steelyard
