// SPDX-License-Identifier: Apache-2.0
//
// What a program did on each of its threads, event by event, for tools that read the traces of
// PyTorch's profiler. Unlike a `Trace` it may have millions of events: they are numbers, and what
// they have in common stands once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace steelyard::report {

inline constexpr std::uint32_t kNone = 0xffffffffu;

enum class RecordedKind : std::uint8_t { kOperator, kAnnotation, kFunction };

enum class RecordedWork : std::uint8_t { kKernel, kCopy, kFill };

// Times are nanoseconds since `RecordedTrace::begin`.
struct RecordedSpan {
  std::int64_t begin = 0, end = 0;
  std::int64_t sequence = -1;  // of the node of autograd that it makes or runs
  std::uint32_t name = 0;
  std::uint32_t inputs = kNone;
  std::uint32_t module = kNone;  // a name: the module's path
  std::uint32_t parent = kNone;  // of a function: its number
  std::uint16_t thread = 0;
  std::uint16_t forward_thread = 0;
  RecordedKind kind = RecordedKind::kOperator;
};

// From an operator to the node of autograd that it has made.
struct RecordedArrow {
  std::uint32_t from = 0, to = 0;  // spans
};

struct RecordedBytes {
  std::int64_t at = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  // negative: freed
  std::int64_t total = 0;
  std::uint16_t thread = 0;
};

// What a device ran, and the call with which the program asked for it.
struct RecordedDevice {
  std::int64_t begin = 0, end = 0;
  std::int64_t asked = -1, asked_end = -1;  // negative: not known
  std::int64_t bytes = 0;                   // copied or filled
  std::uint32_t name = 0, call = 0;
  std::uint32_t span = kNone;  // in which it was asked for
  std::uint32_t stream = 0;
  std::uint16_t device = 0;
  std::uint16_t thread = 0;  // that asked
  RecordedWork work = RecordedWork::kKernel;
};

struct RecordedValue {
  std::string sizes, strides;  // "[2, 3]"
  std::string type, value;
};

struct RecordedTrace {
  std::int64_t begin = 0;  // nanoseconds of Unix time
  std::int64_t end = 0;
  std::uint32_t process = 0;
  std::string name;
  // What stands beside the events: "record_shapes", "1". A value that is JSON is written as it is.
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<std::string> names;
  std::vector<std::vector<RecordedValue>> inputs;
  std::vector<std::uint64_t> threads;
  std::vector<RecordedSpan> spans;  // in the order of their beginnings
  std::vector<RecordedArrow> arrows;
  std::vector<RecordedBytes> memory;
  std::vector<RecordedDevice> device;  // in the order of their beginnings
};

}  // namespace steelyard::report
