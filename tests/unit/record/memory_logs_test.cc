// SPDX-License-Identifier: Apache-2.0
#include "record/memory_logs.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace steelyard {
namespace {

// `thread` of events of memory is the device; 0 is the host.
SyEvent Of(std::uint16_t device, std::uint64_t amount, std::uint64_t key = 0) {
  SyEvent event{};
  event.thread = device;
  event.amount = amount;
  event.key = key;
  return event;
}

Watched Told(const MemoryLogs& logs, std::size_t steps) {
  Watched watched;
  watched.steps.resize(steps);
  watched.places.resize(1);
  logs.Tell(watched);
  return watched;
}

TEST(MemoryLogs, TheDeviceThatHoldsMostIsTold) {
  MemoryLogs logs;
  logs.Of(Of(SY_HOST, 0)).Allocate(1, 1000, 0, Phase::kForward);
  logs.Of(Of(1, 0)).Allocate(1, 8, 0, Phase::kForward);
  logs.Of(Of(2, 0)).Allocate(1, 64, 0, Phase::kForward);
  logs.EndStep();
  EXPECT_EQ(logs.Told(), 2u);
  const Watched watched = Told(logs, 1);
  EXPECT_EQ(watched.memory_told, 2u);
  EXPECT_EQ(watched.steps[0].peak, 64);
}

TEST(MemoryLogs, WithoutADeviceTheHostIs) {
  MemoryLogs logs;
  logs.Of(Of(SY_HOST, 0)).Allocate(1, 1000, 0, Phase::kForward);
  logs.EndStep();
  EXPECT_EQ(logs.Told(), std::size_t{SY_HOST});
  EXPECT_EQ(Told(logs, 1).steps[0].peak, 1000);
}

TEST(MemoryLogs, ADeviceThatComesLateHasTheStepsBefore) {
  MemoryLogs logs;
  logs.EndStep();
  logs.Of(Of(1, 0)).Allocate(1, 64, 0, Phase::kForward);
  logs.EndStep();
  const Watched watched = Told(logs, 2);
  EXPECT_EQ(watched.steps[0].peak, 0);
  EXPECT_EQ(watched.steps[1].peak, 64);
  EXPECT_EQ(watched.step_of_memory, 1u);
}

TEST(MemoryLogs, WhatWasReservedBeforeCountsOnce) {
  MemoryLogs logs;
  logs.Of(Of(1, 0)).Allocate(1, 64, 0, Phase::kForward);
  logs.Reserve(Of(1, 100));  // two listeners say it
  logs.Reserve(Of(1, 100));
  logs.Reserve(Of(1, 20, 0x7000));  // a segment
  logs.EndStep();
  EXPECT_EQ(Told(logs, 1).reserved_peak, 120);
}

TEST(MemoryLogs, ADeviceThatNoProcessHasIsTheHosts) {
  MemoryLogs logs;
  logs.Of(Of(UINT16_MAX, 0)).Allocate(1, 64, 0, Phase::kForward);
  logs.EndStep();
  EXPECT_EQ(logs.Told(), std::size_t{SY_HOST});
}

}  // namespace
}  // namespace steelyard
