// SPDX-License-Identifier: Apache-2.0
#include "pass/deepspeed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parsed.h"

namespace steelyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two parameters, of 15 and 21 elements.
constexpr std::string_view kTwo = R"(module "": Net
module fc: Linear
parameter %v: f32[5,3] "fc.v"
parameter %w: f32[3,7] "fc.w"
input %x: f32[2,3]
%a: f32[2,5] = aten::linear(%x, %v) in fc
%loss: f32[] = aten::sum(%a) phase loss
return %loss
)";

PassOptions Stage(std::string wrapper, std::vector<OptimizerOption> arguments = {}) {
  return {
      .train = {.optimizer = "adamw",
                .ranks = 2,
                .parallel = {.wrapper = std::move(wrapper), .arguments = std::move(arguments)}}};
}

std::vector<std::vector<Argument>> OneGroup(const Program& program) {
  std::vector<Argument> group;
  for (const NamedTensor& parameter : program.parameters) {
    group.push_back(Argument::OfValue(parameter.value));
  }
  return {group};
}

TEST(DeepSpeed, AProcessStepsItsPartOfAllParameters) {
  Program program = Parsed(kTwo);
  const auto stepped = EnterEngine(program, OneGroup(program), Stage("deepspeed2"));
  ASSERT_TRUE(stepped) << Describe(stepped.error());
  ASSERT_EQ(stepped->size(), 1u);
  EXPECT_THAT(program.sizes((*stepped)[0].master), ElementsAre((15 + 21) / 2));
  EXPECT_EQ(Operators(program, 0).front(), "steelyard::enter_deepspeed");
}

// The last stage's parameters are parts already.
TEST(DeepSpeed, SubGroupsEndWithTheParameterThatFillsThem) {
  Program program = Parsed(kTwo);
  const auto stepped =
      EnterEngine(program, OneGroup(program), Stage("deepspeed3", {{"sub_group_size", "10"}}));
  ASSERT_TRUE(stepped) << Describe(stepped.error());
  ASSERT_EQ(stepped->size(), 2u);
  EXPECT_THAT(program.sizes((*stepped)[0].master), ElementsAre(15));
  EXPECT_THAT(program.sizes((*stepped)[1].master), ElementsAre(21));
}

TEST(DeepSpeed, TheMakingOfTheEngineTakesTheProgramsPlace) {
  for (const auto& [wrapper, row] :
       {std::pair("deepspeed1", "steelyard::make_engine"),
        std::pair("deepspeed3", "steelyard::make_partitioned_engine")}) {
    Program program = Parsed(kTwo);
    PassOptions options = Stage(wrapper);
    options.train.makes_engine = true;
    const auto stepped = EnterEngine(program, OneGroup(program), options);
    ASSERT_TRUE(stepped) << Describe(stepped.error());
    EXPECT_TRUE(stepped->empty());
    EXPECT_THAT(Operators(program, 0), ElementsAre(row));
  }
}

TEST(DeepSpeed, WhatTheEngineDoesItselfIsNotAskedOfOthers) {
  const auto refusal = [](const PassOptions& options) {
    const Result<Program> program = BackwardInEngine(Parsed(kTwo), options);
    return program ? "" : Describe(program.error());
  };
  PassOptions options = Stage("deepspeed2");
  options.train.clip_norm = 1;
  EXPECT_THAT(refusal(options), HasSubstr("gradient_clipping=1.0"));
  options = Stage("deepspeed2");
  options.amp.dtype = DType::kBFloat16;
  EXPECT_THAT(refusal(options), HasSubstr("torch.autocast is not modelled"));
}

}  // namespace
}  // namespace steelyard
