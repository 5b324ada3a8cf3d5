// SPDX-License-Identifier: Apache-2.0
#include "record/memory_logs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/recording.h"

namespace steelyard {

MemoryLog& MemoryLogs::Of(const SyEvent& event) {
  const std::size_t device = event.thread > kMostDevices ? SY_HOST : event.thread;
  while (logs_.size() <= device) {
    MemoryLog& log = logs_.emplace_back();
    for (std::size_t step = 0; step < steps_; ++step) log.EndStep();
  }
  logs_[device].SetTime(event.time);
  return logs_[device];
}

void MemoryLogs::Reserve(const SyEvent& event) {
  // What was there before is said by each who listens.
  if (event.key == 0 && !reserved_before_.insert(event.thread).second) return;
  Of(event).Reserve(static_cast<std::int64_t>(event.amount));
}

void MemoryLogs::TakeForInputs() {
  for (MemoryLog& log : logs_) log.TakeForInputs();
}

void MemoryLogs::KeepAllOf(Phase phase) {
  for (MemoryLog& log : logs_) log.KeepAllOf(phase);
}

void MemoryLogs::EndStep() {
  for (MemoryLog& log : logs_) log.EndStep();
  ++steps_;
}

std::size_t MemoryLogs::Told() const {
  std::size_t told = SY_HOST;
  std::int64_t highest = -1;
  for (std::size_t device = SY_HOST + 1; device < logs_.size(); ++device) {
    if (logs_[device].is_empty()) continue;
    const std::vector<std::int64_t> peaks = logs_[device].Peaks();
    const std::int64_t peak = peaks.empty() ? 0 : std::ranges::max(peaks);
    if (peak > highest) {
      told = device;
      highest = peak;
    }
  }
  return told;
}

void MemoryLogs::Tell(Watched& result) const {
  result.memory_told = Told();
  const MemoryLog& memory = logs_[result.memory_told];
  const std::vector<std::int64_t> peaks = memory.Peaks();
  for (std::size_t i = 0; i < peaks.size(); ++i) result.steps[i].peak = peaks[i];
  // The last of those that hold most.
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    if (peaks[i] >= peaks[result.step_of_memory]) result.step_of_memory = i;
  }
  if (result.memory_told != SY_HOST) {
    result.reserved_peak = memory.reserved_peaks()[result.step_of_memory];
  }
  memory.Tell(result.step_of_memory, result);
}

}  // namespace steelyard
