// SPDX-License-Identifier: Apache-2.0
//
// Streams of a device beside the one that computes. An allocator keeps segments of each apart: what
// is freed on one is not reused on another.
#pragma once

#include <cstdint>

#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops {

inline constexpr std::uint8_t kComputeStream = 0;
inline constexpr std::uint8_t kGatherStream = 1;  // where parameters are gathered
inline constexpr std::uint8_t kReduceStream = 2;  // where gradients are reduced

// What `run` calls allocates on that stream (torch.cuda.stream); on the CPU there is none.
template <class Run>
void OnStream(Dispatcher& d, std::uint8_t stream, const Run& run) {
  const bool changes = stream != kComputeStream && d.target().device != Device::kCpu;
  if (changes) d.Call("steelyard::use_stream", stream);
  run();
  if (changes) d.Call("steelyard::use_stream", kComputeStream);
}

}  // namespace steelyard::ops
