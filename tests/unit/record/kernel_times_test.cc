// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_times.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

SyKernel Kernel(std::uint64_t begin, std::uint64_t end, std::uint32_t name = 1,
                std::uint16_t device = 0) {
  SyKernel kernel{};
  kernel.begin = begin;
  kernel.end = end;
  kernel.name = name;
  kernel.device = device;
  return kernel;
}

TEST(KernelTimes, TheLongestNameComesFirst) {
  KernelTimes times;
  times.Add(Kernel(0, 2, 1), 2);
  times.Add(Kernel(2, 7, 2), 5);
  times.Add(Kernel(7, 8, 1), 1);
  times.EndStep(true);
  const auto kernels = times.Tell();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, 2u);
  EXPECT_EQ(kernels[1].count, 2);
  EXPECT_EQ(kernels[1].seconds, 3);
}

TEST(KernelTimes, StretchesOfSeveralStreamsThatOverlapAreBusyOnce) {
  KernelTimes times;
  times.Add(Kernel(10, 20), 1);
  times.Add(Kernel(15, 18), 1);
  times.Add(Kernel(18, 25), 1);
  times.Add(Kernel(30, 31), 1);
  times.Add(Kernel(0, 5, 1, 1), 1);  // another device, less busy
  EXPECT_EQ(times.TakeBusy(), 16u);
  EXPECT_EQ(times.TakeBusy(), 0u);
}

TEST(KernelTimes, WhatWarmsUpGivesWayToTheFirstStepThatCounts) {
  KernelTimes times;
  times.Add(Kernel(0, 2), 2);
  times.EndStep(true);
  times.Add(Kernel(2, 3), 1);
  times.EndStep(true);
  times.Add(Kernel(3, 7), 4);
  times.EndStep(false);
  ASSERT_EQ(times.Tell().size(), 1u);
  EXPECT_EQ(times.Tell()[0].seconds, 5);
}

TEST(KernelTimes, ADeviceThatNoProcessHasIsNotBusy) {
  KernelTimes times;
  times.Add(Kernel(0, 2, 1, kMostDevices), 2);
  EXPECT_EQ(times.TakeBusy(), 0u);
}

}  // namespace
}  // namespace steelyard
