// SPDX-License-Identifier: Apache-2.0
//
// What devices ran, by name, and how long they were busy.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "record/format.h"
#include "record/watched.h"

namespace steelyard {

class KernelTimes {
 public:
  void Add(const SyKernel& kernel, double seconds);
  // Ticks in which a device ran something, in whatever stream, since this was last asked; the
  // longest of all devices.
  std::uint64_t TakeBusy();
  // `first`: what was added before counts no longer.
  void EndStep(bool first);
  // The longest first.
  std::vector<WatchedKernel> Tell() const;

 private:
  using ByName = std::map<std::uint32_t, WatchedKernel>;
  static void AddTo(ByName& kernels, const WatchedKernel& kernel);

  ByName kernels_, counted_;  // of this step, and of those before that count
  std::map<std::uint16_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> busy_;  // by device
};

}  // namespace steelyard
