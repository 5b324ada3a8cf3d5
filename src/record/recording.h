// SPDX-License-Identifier: Apache-2.0
//
// A record of a program that was watched, read: its events by thread, and what their ids stand for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "record/format.h"
#include "steelyard/error.h"
#include "steelyard/timeline.h"

namespace steelyard {

// More than any process has; a damaged record may speak of others.
inline constexpr std::uint16_t kMostDevices = 128;

struct RecordedModule {
  std::uint32_t parent = SY_NO_ID;
  std::uint32_t same_as = SY_NO_ID;  // of a second place of a module: the first
  bool trains = false;
  std::string path;        // "encoder.layer.0"; "" is a model
  std::string class_name;  // "BertLayer"
};

struct RecordedTensor {
  std::uint32_t module = SY_NO_ID;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::uint64_t address = 0;  // of the tensor, not of its elements
  Category category = Category::kParameters;
  std::string name;   // "encoder.layer.0.weight"
  std::string dtype;  // "float32"
};

struct RecordedCall {
  std::string text;       // "aten::mm(f32[2,3], f32[3,4])"; the name alone, where it is
  bool complete = false;  // not
};

// "aten::add" and "Tensor" of "aten::add.Tensor(...)"; what is no operator has no overload.
struct OperatorName {
  std::string_view name, overload;
};
OperatorName NameOfCall(const RecordedCall& call);

// What a call or a node was given, as the record writes it: "[2, 3]", "[3, 1]", "float", "".
struct RecordedInput {
  std::string sizes = "[]", strides = "[]";
  std::string type, value;
};

struct Recording {
  struct Thread {
    std::uint64_t id = 0;
    std::uint64_t system = 0;  // its number there, or 0
    std::vector<SyEvent> events;
  };
  SyLevel level = SY_LIGHT;
  std::uint32_t every = 1;
  bool has_inputs = false, has_memory = true;  // of the level SY_PROFILE
  bool has_ranges = false;                     // of that level: the program's own, optimizers' too
  std::int64_t lost = 0;                       // events
  std::int64_t dropped = 0;                    // of its beginning: they gave way to later ones
  std::size_t warmup = 1;                      // steps at its beginning that do not count
  std::uint32_t process = 0;                   // its id
  std::int64_t unix_nanoseconds = 0;           // when it began
  std::string torch;                           // its version
  double seconds_per_tick = 0;
  std::uint64_t first_tick = 0, last_tick = 0;
  std::vector<Thread> threads;
  std::vector<SyKernel> kernels;  // as the program asked for them
  std::vector<RecordedModule> modules;
  std::vector<RecordedTensor> tensors;
  std::vector<std::string> optimizers;  // their classes
  std::unordered_map<std::uint32_t, std::string> names;
  std::unordered_map<std::uint64_t, RecordedCall> calls;
  std::unordered_map<std::uint64_t, std::vector<RecordedInput>> inputs;  // by call
  std::vector<std::string> remarks;
  std::map<std::string, std::int64_t> facts;  // "rank", "ranks", "data_parallel"

  double Seconds(std::uint64_t ticks) const {
    return static_cast<double>(ticks) * seconds_per_tick;
  }
};

// When the program asked for it: in the midst of the call, for the clocks of the two may differ.
// Where nobody tells, when it began.
inline std::uint64_t AskedAt(const SyKernel& kernel) {
  if (kernel.asked == 0) return kernel.begin;
  return kernel.asked + (kernel.asked_end - kernel.asked) / 2;
}

// `where` names the record in errors. What was being written when the process ended is left out.
Result<Recording> ReadRecording(std::string_view bytes, std::string_view where);

}  // namespace steelyard
