// SPDX-License-Identifier: Apache-2.0
#include "session/device_at_hand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

SyDevice Device90() {
  SyDevice device{};
  device.capability = 90;
  device.multiprocessors = 132;
  device.multiprocessor_threads = 2048;
  device.memory = 79 * kGiB;
  return device;
}

TEST(DeviceAtHand, OfDevicesAlikeTheRowWithTheNearestMemoryPredicts) {
  Target target;
  target.deterministic = true;
  SyDevice device = Device90();
  Result<Target> found = TargetFor(device, target, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "h100");
  EXPECT_EQ(found->memory, 79 * kGiB);  // its own
  EXPECT_TRUE(found->deterministic);    // as asked
  device.memory = 140 * kGiB;
  found = TargetFor(device, target, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "h200");
}

TEST(DeviceAtHand, OneThatNoRowIsLikeIsRefused) {
  SyDevice device = Device90();
  device.multiprocessors = 7;
  const Result<Target> found = TargetFor(device, {}, true);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("compute capability 9.0 with 7 multiprocessors"));
  EXPECT_THAT(found.error().hint, HasSubstr("a100-80gb"));
}

TEST(DeviceAtHand, AnotherThanTheOneThatWasNamedIsRefused) {
  const Result<Target> found = TargetFor(Device90(), *TargetNamed("a100-80gb"), false);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().hint, HasSubstr("--device cuda"));
  EXPECT_TRUE(TargetFor(Device90(), *TargetNamed("h100"), false));
}

TEST(DeviceAtHand, WhatTheDeviceDoesNotTellIsTakenFromTheRow) {
  const Result<Target> found = TargetFor(SyDevice{}, *TargetNamed("h100"), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->memory, TargetNamed("h100")->memory);
}

TEST(DeviceAtHand, TheEngineKnowsTwoDevices) {
  RunOptions options;
  EXPECT_EQ(EngineDevice(options), "cpu");
  options.device_at_hand = true;
  EXPECT_EQ(EngineDevice(options), "cuda");
  options.device_at_hand = false;
  options.weigh.target = *TargetNamed("h100");
  EXPECT_EQ(EngineDevice(options), "cuda");
}

TEST(DeviceAtHand, ADeviceThatCannotBeOpenedIsAnErrorThatSaysWhatItTakes) {
  SyEngine engine{};
  engine.open_device = [](const char*, SyDevice*, SyError* error) {
    *error = {.message = "No CUDA GPUs are available\nmore of it", .call = 0, .problem = {}};
    return false;
  };
  RunOptions options;
  options.device_at_hand = true;
  const Result<SyDevice> opened = OpenDevice(engine, options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "No CUDA GPUs are available");
  EXPECT_THAT(opened.error().hint, HasSubstr("driver"));
}

}  // namespace
}  // namespace steelyard
