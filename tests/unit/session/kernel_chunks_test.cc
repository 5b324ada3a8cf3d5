// SPDX-License-Identifier: Apache-2.0
#include "session/kernel_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "../record_writer.h"
#include "record/recording.h"

namespace steelyard {
namespace {

using testing::HasSubstr;

// A record whose clock began at this time of the day and ticks four times in a nanosecond.
std::string RecordOf(std::uint64_t unix_nanoseconds) {
  std::string record = RecordWriter(SY_PROFILE).Bytes();
  SyRecordHeader header;
  std::memcpy(&header, record.data(), sizeof header);
  header.unix_nanoseconds = unix_nanoseconds;
  header.first_ticks = 100;
  header.last_ticks = 100 + 4'000'000;
  header.first_nanoseconds = 0;
  header.last_nanoseconds = 1'000'000;
  std::memcpy(record.data(), &header, sizeof header);
  return record;
}

// A kernel that ran from the second microsecond on, asked for in the first.
std::string TraceOf(const std::string& name) {
  return R"({"traceEvents": [
    {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1, "dur": 0.5, "tid": 7,
     "args": {"correlation": 3}},
    {"cat": "kernel", "name": ")" +
         name + R"(", "ts": 2, "dur": 3,
     "args": {"correlation": 3, "device": 1, "stream": 9}}]})";
}

Recording ReadWith(const std::string& record, const std::string& trace) {
  const Result<std::string> chunks = KernelChunks(record, trace, "trace");
  EXPECT_TRUE(chunks) << Describe(chunks.error());
  Result<Recording> recording = ReadRecording(record + *chunks, "test");
  EXPECT_TRUE(recording) << Describe(recording.error());
  return *std::move(recording);
}

TEST(KernelChunks, TellWhatRanInTheRecordsOwnTime) {
  const Recording recording = ReadWith(RecordOf(0), TraceOf("gemm"));
  ASSERT_EQ(recording.kernels.size(), 1u);
  const SyKernel& kernel = recording.kernels[0];
  EXPECT_EQ(recording.names.at(kernel.name), "gemm");
  EXPECT_EQ(recording.names.at(kernel.call), "cudaLaunchKernel");
  EXPECT_EQ(kernel.begin, 100u + 4 * 2000);
  EXPECT_EQ(kernel.end, 100u + 4 * 5000);
  EXPECT_EQ(kernel.asked, 100u + 4 * 1000);
  EXPECT_EQ(kernel.asked_end, 100u + 4 * 1500);
  EXPECT_EQ(kernel.thread, 7u);
  EXPECT_EQ(kernel.stream, 9u);
  EXPECT_EQ(kernel.device, 1u);
}

TEST(KernelChunks, NamesThatAreTooLongEndAtACharacter) {
  const std::string name = std::string(4095, 'k') + "\u00e4" + "rest";  // two bytes across the end
  const Recording recording = ReadWith(RecordOf(0), TraceOf(name));
  ASSERT_EQ(recording.kernels.size(), 1u);
  EXPECT_EQ(recording.names.at(recording.kernels[0].name), std::string(4095, 'k'));
}

TEST(KernelChunks, AClockThatCannotBeIsNoHarm) {
  for (const std::uint64_t clock : {UINT64_MAX, std::uint64_t{1} << 63U}) {
    EXPECT_EQ(ReadWith(RecordOf(clock), TraceOf("gemm")).kernels.size(), 1u);
  }
}

TEST(KernelChunks, NothingOfATraceWithoutKernels) {
  const Result<std::string> chunks = KernelChunks(RecordOf(0), R"({"traceEvents": []})", "trace");
  ASSERT_TRUE(chunks);
  EXPECT_EQ(*chunks, "");
}

TEST(KernelChunks, SayWhereATraceIsWrong) {
  const Result<std::string> chunks = KernelChunks(RecordOf(0), R"({"traceEvents": 3})", "trace");
  ASSERT_FALSE(chunks);
  EXPECT_THAT(Describe(chunks.error()), HasSubstr("trace: traceEvents"));
  EXPECT_FALSE(KernelChunks("short", R"({"traceEvents": []})", "trace"));
}

}  // namespace
}  // namespace steelyard
