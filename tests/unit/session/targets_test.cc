// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steelyard/op.h"

namespace steelyard {
namespace {

using ::testing::Contains;

TEST(Targets, TheCpuComesFirst) {
  ASSERT_FALSE(TargetNames().empty());
  EXPECT_EQ(TargetNames()[0], "cpu");
  EXPECT_EQ(TargetNamed("cpu")->device, Device::kCpu);
  EXPECT_THAT(TargetNames(), Contains("h100"));
}

TEST(Targets, EachNameIsOne) {
  for (const std::string_view name : TargetNames()) {
    const std::optional<Target> target = TargetNamed(name);
    ASSERT_TRUE(target) << name;
    EXPECT_EQ(target->name, name);
    if (target->device == Device::kCpu) continue;
    EXPECT_GE(target->capability, 70) << name;
    EXPECT_GT(target->multiprocessors, 0) << name;
    EXPECT_GT(target->multiprocessor_threads, 0) << name;
    EXPECT_GT(target->memory, 0) << name;
  }
  EXPECT_FALSE(TargetNamed("h1000"));
}

TEST(Targets, TheNewestReleaseIsMeantWhereNoneIsNamed) {
  ASSERT_FALSE(TorchReleases().empty());
  EXPECT_EQ(TorchMinorOf(TorchReleases().back()), Target().torch_minor);
  EXPECT_EQ(TorchMinorOf("2.9"), 9);
  EXPECT_FALSE(TorchMinorOf("2.8"));
}

}  // namespace
}  // namespace steelyard
