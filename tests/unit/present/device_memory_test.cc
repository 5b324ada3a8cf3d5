// SPDX-License-Identifier: Apache-2.0
#include "present/device_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steelyard/units.h"
#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

DeviceMemoryReport Report() {
  DeviceMemoryReport report;
  report.use.requested = 3 * kKiB;
  report.use.allocated = 4 * kKiB;
  report.use.reserved = 5 * kKiB;
  report.use.segments = 2;
  report.use.inactive = kKiB;
  report.total = 20 * kKiB;
  report.overhead = {2 * kKiB, 3 * kKiB};
  return report;
}

std::string Told(const DeviceMemoryReport& device) {
  const WeighedModel model;
  Findings findings = model.findings();
  findings.device = &device;
  report::Document document;
  AppendDeviceMemory(findings, &document);
  return TextOf(document);
}

TEST(DeviceMemoryTest, ThreeNumbersAreNamed) {
  const std::string text = Told(Report());
  EXPECT_THAT(text, HasSubstr("allocated 4.0 KiB (requested 3.0 KiB, which the categories add up "
                              "to), reserved 5.0 KiB in 2 segments "
                              "(1.0 KiB of that free between blocks in the end), the process"));
  EXPECT_THAT(text, HasSubstr("the process about 7.0 KiB to about 8.0 KiB"));
  EXPECT_THAT(text, HasSubstr("not yet verified on this device"));
  EXPECT_THAT(text, HasSubstr("with at least 12.0 KiB to spare"));
}

TEST(DeviceMemoryTest, WhatMayNotFitSaysSo) {
  DeviceMemoryReport report = Report();
  report.total = 7 * kKiB;
  EXPECT_THAT(Told(report), HasSubstr("It may not fit into its 7.0 KiB"));
  OutOfMemory& error = report.use.out_of_memory.emplace();
  error.tried = 6 * kKiB;
  error.allocated = kKiB;
  const std::string text = Told(report);
  EXPECT_THAT(text, HasSubstr("PyTorch would fail to allocate 6.0 KiB, with 1.0 KiB allocated"));
  EXPECT_THAT(text, Not(HasSubstr("spare")));
  EXPECT_THAT(text, Not(HasSubstr("allowed")));
  error.allowed = 2 * kKiB;
  EXPECT_THAT(Told(report), HasSubstr("into its 7.0 KiB, of which 2.0 KiB are allowed: PyTorch"));
}

TEST(DeviceMemoryTest, TheDataHasThemAll) {
  const WeighedModel model;
  Findings findings = model.findings();
  const DeviceMemoryReport device = Report();
  findings.device = &device;
  report::Data data;
  AddDeviceMemoryData(findings, &data);
  EXPECT_EQ(At(data, "requested_peak").AsInt(), 3 * kKiB);
  EXPECT_EQ(At(data, "reserved_peak").AsInt(), 5 * kKiB);
  EXPECT_EQ(At(data, "process.high").AsInt(), 8 * kKiB);
  EXPECT_TRUE(At(data, "fits").AsBool());
}

TEST(DeviceMemoryTest, DevicesThatWereAskedForAreARowEach) {
  const WeighedModel model;
  Findings findings = model.findings();
  report::Document none;
  AppendDevices(findings, &none);
  EXPECT_TRUE(none.body.empty());
  const std::vector<DeviceFit> devices{
      {.name = "t4", .total = 4 * kKiB, .reserved = 5 * kKiB, .high = 8 * kKiB},
      {.name = "h100", .total = 20 * kKiB, .reserved = 5 * kKiB, .high = 8 * kKiB, .fits = true}};
  findings.devices = devices;
  report::Document document;
  AppendDevices(findings, &document);
  EXPECT_THAT(TextOf(document), HasSubstr("does not fit"));
  report::Data data;
  AddDevicesData(findings, &data);
  const report::DataView first = *At(data, "devices").begin();
  EXPECT_EQ(first.Find("device")->AsText(), "t4");
  EXPECT_FALSE(first.Find("fits")->AsBool());
}

}  // namespace
}  // namespace steelyard::present
