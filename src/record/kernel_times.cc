// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_times.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace steelyard {

void KernelTimes::AddTo(ByName& kernels, const WatchedKernel& kernel) {
  const auto [found, is_new] = kernels.try_emplace(kernel.name, kernel);
  if (!is_new) found->second += kernel;
}

void KernelTimes::Add(const SyKernel& kernel, double seconds) {
  AddTo(kernels_, {.name = kernel.name,
                   .kind = static_cast<SyKernelKind>(kernel.kind),
                   .count = 1,
                   .seconds = seconds,
                   .bytes = static_cast<double>(kernel.bytes)});
  if (kernel.device < kMostDevices) busy_[kernel.device].emplace_back(kernel.begin, kernel.end);
}

std::uint64_t KernelTimes::TakeBusy() {
  std::uint64_t most = 0;
  for (auto& [device, stretches] : busy_) {
    std::ranges::sort(stretches);
    std::uint64_t sum = 0, until = 0;
    for (const auto& [begin, end] : stretches) {
      if (end > until) sum += end - std::max(begin, until);
      until = std::max(until, end);
    }
    most = std::max(most, sum);
  }
  busy_.clear();
  return most;
}

void KernelTimes::EndStep(bool first) {
  if (first) {
    counted_ = std::move(kernels_);
  } else {
    for (const auto& [name, kernel] : kernels_) AddTo(counted_, kernel);
  }
  kernels_.clear();
}

std::vector<WatchedKernel> KernelTimes::Tell() const {
  std::vector<WatchedKernel> kernels;
  for (const auto& [name, kernel] : counted_) kernels.push_back(kernel);
  std::ranges::stable_sort(kernels, std::greater(), &WatchedKernel::seconds);
  return kernels;
}

}  // namespace steelyard
