// SPDX-License-Identifier: Apache-2.0
#include "analyze/device_memory.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(DeviceMemoryReport, TheProcessTakesMoreThanIsReserved) {
  DeviceMemoryReport report;
  report.use.reserved = 1000;
  report.overhead = {100, 200};
  report.total = 1200;
  EXPECT_EQ(report.process(), (Interval{1100, 1200}));
  EXPECT_TRUE(report.fits());
  report.total = 1199;
  EXPECT_FALSE(report.fits()) << "it may take the most";
}

TEST(DeviceMemoryReport, WhatFailedDoesNotFit) {
  DeviceMemoryReport report;
  report.total = 1000;
  report.use.out_of_memory.emplace().tried = 2000;
  EXPECT_FALSE(report.fits());
}

TEST(ProcessUseOf, AsksTheFamiliesOfTheKernels) {
  Program program;
  EXPECT_FALSE(ProcessUseOf(program).products);
  Node node;
  node.op = program.AddOpName("aten::mm");
  program.main().nodes.push_back(node);
  node.op = program.AddOpName("aten::cudnn_convolution");
  program.main().nodes.push_back(node);
  const ProcessUse use = ProcessUseOf(program);
  EXPECT_TRUE(use.products);
  EXPECT_TRUE(use.convolutions);
  EXPECT_FALSE(use.attention);
}

}  // namespace
}  // namespace steelyard
