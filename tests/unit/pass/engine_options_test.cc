// SPDX-License-Identifier: Apache-2.0
#include "pass/engine_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "parsed.h"

namespace steelyard {
namespace {

using testing::HasSubstr;

TrainOptions TrainedBy(std::string wrapper, std::vector<OptimizerOption> arguments = {}) {
  return {.optimizer = "adamw",
          .ranks = 2,
          .parallel = {.wrapper = std::move(wrapper), .arguments = std::move(arguments)}};
}

Program Empty() { return Parsed("input %x: f32[3]\nreturn %x\n"); }

std::string RefusalOf(OptimizerOption argument) {
  Program program = Empty();
  const auto read = ReadEngineOptions(program, TrainedBy("deepspeed3", {std::move(argument)}));
  return read ? "" : Describe(read.error());
}

TEST(EngineOptions, AreAsTheyAreGivenElseAsTheEngineHasThem) {
  Program program = Empty();
  const TrainOptions train = TrainedBy("deepspeed3", {{"sub_group_size", "1e8"}});
  const auto read = ReadEngineOptions(program, train);
  ASSERT_TRUE(read) << Describe(read.error());
  ASSERT_EQ(read->given.size(), 1u);
  EXPECT_EQ(program.text(read->given[0].name), "sub_group_size");
  EXPECT_EQ(read->Named("sub_group_size").dim.number(), 100'000'000);
  EXPECT_EQ(read->Named("reduce_bucket_size").dim.number(), 500'000'000);
  EXPECT_EQ(read->Named("contiguous_gradients").kind, ArgKind::kBool);
}

TEST(EngineOptions, StagesHaveTheirOwn) {
  EXPECT_EQ(EnterOf(TrainedBy("deepspeed2")), "steelyard::enter_deepspeed");
  EXPECT_EQ(EnterOf(TrainedBy("deepspeed3")), "steelyard::enter_partitioned_engine");
  Program program = Empty();
  const auto read =
      ReadEngineOptions(program, TrainedBy("deepspeed1", {{"sub_group_size", "1e8"}}));
  ASSERT_FALSE(read);
  EXPECT_THAT(Describe(read.error()), HasSubstr("\"sub_group_size\" is not one"));
}

TEST(EngineOptions, WhatIsNoValueOfOneIsRefused) {
  EXPECT_THAT(RefusalOf({"overlap_comm", "perhaps"}), HasSubstr("Write True or False"));
  EXPECT_THAT(RefusalOf({"sub_group_size", "1.5"}), HasSubstr("a whole number"));
  EXPECT_THAT(RefusalOf({"sub_group_size", "-1"}), HasSubstr("from 0 on"));
  EXPECT_THAT(RefusalOf({"sub_group_size", "1e300"}), HasSubstr("no value"));
  EXPECT_THAT(RefusalOf({"gradient_clipping", "nan"}), HasSubstr("Write a number"));
}

TEST(EngineOptions, OneThatIsGivenTwiceIsRefused) {
  Program program = Empty();
  const auto read = ReadEngineOptions(
      program, TrainedBy("deepspeed2", {{"overlap_comm", "True"}, {"overlap_comm", "True"}}));
  ASSERT_FALSE(read);
  EXPECT_THAT(Describe(read.error()), HasSubstr("given twice"));
}

}  // namespace
}  // namespace steelyard
