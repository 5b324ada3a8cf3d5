// SPDX-License-Identifier: Apache-2.0
//
// Memory of a program that is watched: the host's, and those of its devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "record/format.h"
#include "record/memory_log.h"
#include "record/watched.h"

namespace steelyard {

class MemoryLogs {
 public:
  // The log of the memory that an event is about, with all steps that have ended.
  MemoryLog& Of(const SyEvent& event);
  // An allocator got memory from its device, or had it before anybody listened.
  void Reserve(const SyEvent& event);

  // As those of MemoryLog, of all.
  void TakeForInputs();
  void KeepAllOf(Phase phase);
  void EndStep();

  // What is told of: the device whose peak is highest, or the host without any.
  std::size_t Told() const;
  std::vector<MemoryMoment> History() const { return logs_[Told()].History(); }
  // Requires: `result` has its steps.
  void Tell(Watched& result) const;

 private:
  std::vector<MemoryLog> logs_{1};
  std::size_t steps_ = 0;                    // that have ended
  std::set<std::uint16_t> reserved_before_;  // whose memory of before has been told of
};

}  // namespace steelyard
