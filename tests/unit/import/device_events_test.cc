// SPDX-License-Identifier: Apache-2.0
#include "import/device_events.h"

#include <gtest/gtest.h>

#include <string>

namespace steelyard {
namespace {

std::string Trace(std::string_view events, std::string_view more = "") {
  return R"({"schemaVersion": 1, "traceEvents": [)" + std::string(events) + "]" +
         std::string(more) + "}";
}

constexpr std::string_view kKernel =
    R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30.5, "dur": 4.25,
        "args": {"device": 1, "stream": 7, "correlation": 12, "grid": [1, 2, 3]}})";
constexpr std::string_view kLaunch =
    R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 55,
        "ts": 10, "dur": 6, "args": {"cbid": 211, "correlation": 12}})";

TEST(DeviceEvents, AKernelIsOfTheCallThatHasItsNumber) {
  // Of a trace the call may come behind the kernel, and its clock behind both.
  const std::string text = Trace(std::string(kKernel) + "," + std::string(kLaunch),
                                 R"(, "baseTimeNanoseconds": 1000000)");
  const Result<DeviceEvents> read = ReadDeviceEvents(text, "t.json");
  ASSERT_TRUE(read) << Describe(read.error());
  ASSERT_EQ(read->events.size(), 1u);
  const DeviceEvent& kernel = read->events[0];
  EXPECT_EQ(read->names.at(kernel.name), "gemm");
  EXPECT_EQ(kernel.begin, 1'000'000 + 30'500);
  EXPECT_EQ(kernel.end, kernel.begin + 4'250);
  EXPECT_EQ(kernel.asked, 1'000'000 + 10'000);
  EXPECT_EQ(kernel.asked_end, 1'000'000 + 16'000);
  EXPECT_EQ(read->names.at(kernel.call), "cudaLaunchKernel");
  EXPECT_EQ(kernel.thread, 55u);
  EXPECT_EQ(kernel.device, 1u);
  EXPECT_EQ(kernel.work, DeviceWork::kKernel);
}

TEST(DeviceEvents, WithoutSuchACallNobodyKnowsWhoAsked) {
  const Result<DeviceEvents> read = ReadDeviceEvents(Trace(kKernel), "t.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->events.at(0).asked, 0);
}

TEST(DeviceEvents, CopiesHaveTheirBytesAndAllElseIsLeftOut) {
  const std::string text = Trace(R"(
      {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "tid": 7, "ts": 1, "dur": 2,
       "args": {"bytes": 4096, "device": 0, "stream": 7, "correlation": 3}},
      {"ph": "M", "name": "process_name", "ts": 1, "pid": "Spans", "tid": "PyTorch Profiler"},
      {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "tid": 5, "ts": 1, "dur": 9, "args": {}})");
  const Result<DeviceEvents> read = ReadDeviceEvents(text, "t.json");
  ASSERT_TRUE(read) << Describe(read.error());
  ASSERT_EQ(read->events.size(), 1u);
  EXPECT_EQ(read->events[0].bytes, 4096);
  EXPECT_EQ(read->events[0].work, DeviceWork::kCopy);
}

TEST(DeviceEvents, WhatIsNoTraceIsRefused) {
  for (const std::string& text : {std::string("{"), std::string("[]"), Trace(R"({"ts": "soon"})"),
                                  Trace("7"), Trace(kKernel, R"(, "baseTimeNanoseconds": -1)")}) {
    const Result<DeviceEvents> read = ReadDeviceEvents(text, "t.json");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(Describe(read.error()).find("t.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace steelyard
